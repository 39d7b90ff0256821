"""`evaluate prediction`: how well models continue a clip of somebody they have not seen, as in Wang 2010, 6.4.1.

Errors are norms of the difference of feature rows (angles in radians; speeds in the same per frame), the mean over
predicted frames, then over starts, then over clips: the measure of the thesis. Degrees are those that a joint's
rotation is off, the mean over joints that move.

What is chosen (dimensions, priors, where searches begin, how dynamics weigh) was chosen on other walks and runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from jostle.clips.edit import trim_frames
from jostle.evaluate.experiments import Request
from jostle.evaluate.jobs import Job, run_jobs
from jostle.evaluate.prediction.baselines import hold, nearest, nearest_paced
from jostle.evaluate.prediction.protocol import FULL, QUICK, Plan, Protocol, Window, protocol
from jostle.evaluate.prediction.thesis import MODELS, PAPER, SHORT_MODELS
from jostle.evaluate.report import Report
from jostle.features import AngleFeatures
from jostle.maths import quat
from jostle.types import Array, Float

BASELINES = ("hold", "nearest", "nearest_paced")
Predict = Callable[[Array, int], Array]  # given rows and a number of frames -> rows
_NOTES = (
    "norm: radians and radians a frame over all features, the measure of the thesis; deg: rotation of a joint, the "
    "mean over those that move. gpdm and bgpdm begin at principal components and have no styles (chapter 5).",
    "nearest_paced: windows at 0.7 to 1.4 times their rate, moved by their mean difference from what is given.",
)


def run(request: Request) -> Report:
    """The report, and with `request.plots` its picture."""
    begun, plan = time.perf_counter(), QUICK if request.quick else FULL
    made = protocol(request.data, plan, request.seed)
    jobs = {name: _job(name, request, plan, made) for name in (*MODELS, *BASELINES)}
    results = run_jobs(list(jobs.values()), request.workers, request.checkpoint, request.progress)
    rows = [row for job in jobs.values() for row in results[job.key]]
    summary = summarise(rows)
    if request.plots is not None:
        from jostle.evaluate.prediction.plots import draw_errors

        draw_errors(request.plots / "prediction.png", rows)
    skipped = [] if request.data else ["tables 6.1 and 6.2: they need the CMU clips, named with --data."]
    seconds, data = time.perf_counter() - begun, str(request.data) if request.data else None
    paper = PAPER if request.data else {}
    return Report("prediction", request.seed, seconds, data, summary, rows, paper, skipped, list(_NOTES))


def _job(name: str, request: Request, plan: Plan, made: Protocol) -> Job:
    arguments = (name, request.data, plan, request.seed)
    windows = sum(1 for w in made.windows if not w.short or name not in ("gpdm", "stylistic_gpdm"))
    learning = 0.0 if name in BASELINES else 20.0
    return Job(f"prediction {arguments}", measure, arguments, learning + windows, float(windows))


def measure(
    name: str, data: Path | None, plan: Plan, seed: int, tick: Callable[[float], None] = lambda ticks: None
) -> list[dict[str, Any]]:
    """One model or baseline: a row for every window."""
    made = protocol(data, plan, seed)
    features = AngleFeatures.of(made.training)
    predict = _predictor(name, features, made, plan, seed)
    windows = [w for w in made.windows if not w.short or name in (*SHORT_MODELS, *BASELINES)]
    rows = []
    for done, window in enumerate(windows, start=1):
        rows.append({"model": name, **_row(features, made, window, predict)})
        tick(done)
    return rows


def _row(features: AngleFeatures, made: Protocol, window: Window, predict: Predict) -> dict[str, Any]:
    clip, middle = made.tests[window.clip], window.start + window.given
    given = features.encode(trim_frames(clip, window.start, middle))
    truth = features.encode(clip)[middle : middle + window.asked]
    guess = predict(given, window.asked)
    kind = "short" if window.short else "long"
    norm = float(np.mean(np.linalg.norm(guess - truth, axis=1)))
    return {
        "kind": kind,
        "clip": window.clip,
        "start": window.start,
        "norm": norm,
        "deg": degrees(features, guess, truth),
    }


def degrees(features: AngleFeatures, a: Float[Array, "T D"], b: Float[Array, "T D"]) -> float:
    """How far joints that move are turned from where they should be."""
    joints = np.unique(features.joints)
    apart = quat.inv_mul(features.pose(a).wxyz[:, joints], features.pose(b).wxyz[:, joints])
    return float(np.degrees(np.mean(quat.angle(apart))))


def _predictor(name: str, features: AngleFeatures, made: Protocol, plan: Plan, seed: int) -> Predict:
    training = [features.encode(clip) for clip in made.training]
    if name == "hold":
        return lambda given, frames: hold(features, given, frames)
    if name == "nearest":
        return lambda given, frames: nearest(training, given, frames)
    if name == "nearest_paced":
        return lambda given, frames: nearest_paced(features, training, given, frames)
    from jostle.models.circle import fit_circle
    from jostle.models.factors import Labels
    from jostle.models.multifactor import fit_multifactor, learn_multifactor

    clips, gaits, steps = made.training, made.gaits, plan.iterations
    if name == "cdm":
        return fit_circle(clips, gaits=gaits, iterations=steps, seed=seed).continued
    smooth = name.endswith("bgpdm")
    if name.startswith("stylistic"):
        return fit_multifactor(clips, gaits=gaits, smooth=smooth, iterations=steps, seed=seed).continued
    plain = learn_multifactor(clips, Labels({}), smooth=smooth, principal=True, iterations=steps, seed=seed)
    return plain.continued


def summarise(rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Clips count alike, whatever their number of starts."""
    table: dict[tuple[str, str, str], list[tuple[float, float]]] = {}
    for row in rows:
        table.setdefault((row["kind"], row["clip"], row["model"]), []).append((row["norm"], row["deg"]))
    norm: dict[str, dict[str, float]] = {}
    deg: dict[str, dict[str, float]] = {}
    short: dict[str, dict[str, float]] = {}
    errors: dict[str, dict[str, float]] = {}
    for (kind, clip, model), found in table.items():
        values = np.array(found)
        if kind == "short":
            short.setdefault(clip, {})[model] = float(values[:, 0].mean())
            errors.setdefault(clip, {})[model] = float(values[:, 0].std() / np.sqrt(len(values)))
        else:
            norm.setdefault(clip, {})[model] = float(values[:, 0].mean())
            deg.setdefault(clip, {})[model] = float(values[:, 1].mean())
    summary: dict[str, Any] = {model: _mean(norm, model) for model in (*MODELS, *BASELINES)}
    summary |= {f"{model}_deg": _mean(deg, model) for model in (*MODELS, *BASELINES)}
    summary |= {
        "ratio_cdm": summary["cdm"] / summary["gpdm"],
        "ratio_baseline": summary["cdm"] / min(summary[name] for name in BASELINES),
        "ratio_gpdm": summary["stylistic_gpdm"] / summary["gpdm"],
        "ratio_bgpdm": summary["stylistic_bgpdm"] / summary["bgpdm"],
        "clips": len(norm),
        "clips_below_hold": sum(row["cdm"] < row["hold"] for row in norm.values()),
    }
    if short and all(clip in PAPER["short"] for clip in short):
        summary["ratio_short"] = max(row["cdm"] / PAPER["short"][clip]["cdm"] for clip, row in short.items())
    return summary | {"norm": norm, "deg": deg, "short": short, "short_se": errors}


def _mean(table: Mapping[str, Mapping[str, float]], model: str) -> float:
    return float(np.mean([row[model] for row in table.values()]))
