"""`evaluate response`: characters of Ye & Liu 2010, learnt from three and from fourteen shipped pushes.

reproduce_…    pushed as in the training clips, at the same moment
heldout_…      pushed as in the second shipped folder
novel_…        pushed like in no example (`novel`), three examples and fourteen
one_example    one backward push learnt: how far it is moved by others, beside how far the walker is
endless_…      ten minutes unpushed
recovered, pops, slide_cm    five hundred random pushes
heldout_real_…, heldout_real_other_…    a standing person really pushed (`real`): other takes, and a file never seen
standing_…     the same person ten minutes unpushed
bases_…        other normal motions (`bases`): slower and faster walks, a run, a march
estimated_…    what is estimated from the shipped clips without their forces (`estimates`), and who learnt from that
switch_seam_cm    joints when one of four models takes over from another

Beside ours always: no answer at all (`…_none_cm`), and the nearest recorded answer (`…_replay_cm`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from jostle import assets
from jostle.evaluate.experiments import Request
from jostle.evaluate.jobs import Job, run_jobs
from jostle.evaluate.report import Report
from jostle.evaluate.response import bases, cases, estimates, real, runs
from jostle.evaluate.response.novel import KINDS, novel_cases

NOVEL, WILD, SWITCHES, SECONDS = 30, 500, 60, 600.0
OTHER_WILD = 50  # random pushes of each other motion
FOUR = 4  # models
BACK = (29,)  # the one example: pushed backwards at the torso
_NOTES = (
    "cm: root mean square distance of the centre of mass over the ground within two seconds; medians.",
    "in_band: the share whose largest displacement is within 0.7 to 1.4 of the true one.",
    "recovered: the share that is within the spread of the normal motion, the 99th percentile of other frames of it, "
    "for a cycle but for one frame, at most 3 s after the last push; pops: the share with a joint acceleration above "
    "1.3 times the training clips' largest.",
)


def run(request: Request) -> Report:
    begun = time.perf_counter()
    jobs = plan_jobs(request.seed, request.quick, request.data)
    done = run_jobs(list(jobs.values()), request.workers, request.checkpoint, request.progress)
    found = {name: done[job.key] for name, job in jobs.items()}
    rows = [{"experiment": name, **row} for name, result in found.items() for row in _rows(result)]
    seconds = time.perf_counter() - begun
    skipped = ["most trials: --quick."] if request.quick else []
    if "real" not in jobs:
        skipped.append(f"real pushes: they need the clips of {real.FOLDER}, in a folder named with --data.")
    if "march" not in jobs:
        skipped.append(f"a march: it needs {bases.MARCH} in a folder named with --data.")
    data = None if request.data is None else str(request.data)
    return Report("response", request.seed, seconds, data, summarise(found), rows, {}, skipped, list(_NOTES))


def plan_jobs(seed: int, quick: bool, data: Path | None = None) -> dict[str, Job]:
    share = 0.1 if quick else 1.0
    count, wild, switches = max(2, round(share * NOVEL)), round(share * WILD), max(6, round(share * SWITCHES))
    seconds, others = share * SECONDS, max(2, round(share * OTHER_WILD))
    plan: dict[str, tuple[Callable[..., Any], tuple[Any, ...], float]] = {
        "three": (known_answers, (cases.THREE, seed, quick), 2.0),
        "fourteen": (known_answers, (cases.FOURTEEN, seed, quick), 5.0),
        "novel": (new_answers, (cases.THREE, count, seed), 4.0),
        "novel_14": (new_answers, (cases.FOURTEEN, count, seed), 6.0),
        "one": (one_example, (count, seed), 3.0),
        "endless": (endless, (seconds, seed), 3.0),
        "wild": (wild_pushes, (wild, seed), 20.0 * share + 3.0),
        "switching": (switching, (switches, seed), 4.0),
        "estimates": (estimates.found_pushes, (10 if quick else 1, seed), 30.0 * share + 1.0),
        "estimated": (estimates.learnt_from_estimates, (cases.THREE, seed), 2.0),
        "run": (bases.unpushed_motion, (str(assets.clip_path("run")), others, seed), 3.0),
        **{name: (bases.other_walk, (name, count, others, seed), 5.0) for name in bases.WALKERS},
    }
    if data is not None and (data / bases.MARCH).exists():
        plan["march"] = (bases.unpushed_motion, (str(data / bases.MARCH), others, seed), 3.0)
    if real.has_pushes(data):
        plan["real"] = (real.heldout_real, (str(data), quick, seed), 6.0)
    return {
        name: Job(f"{name} {work.__name__} {arguments}", work, arguments, cost, 1.0)
        for name, (work, arguments, cost) in plan.items()
    }


def known_answers(which: tuple[int, ...], seed: int, quick: bool, tick: Callable[[float], None]) -> dict[str, Any]:
    """The training pushes, and those that are held out."""
    examples, person = _examples(which), cases.character(which, seed=seed)
    held = cases.shipped(held_out=True)[:: 5 if quick else 1]
    return {
        "reproduce": cases.figures_of(person, examples, examples, tick),
        "heldout": cases.figures_of(person, held, examples, tick),
    }


def new_answers(which: tuple[int, ...], count: int, seed: int, tick: Callable[[float], None]) -> dict[str, Any]:
    examples, person = _examples(which), cases.character(which, seed=seed)
    drawn = novel_cases(examples, count, seed)
    return {kind: cases.figures_of(person, drawn[kind], examples, tick) for kind in KINDS}


def one_example(count: int, seed: int, tick: Callable[[float], None]) -> dict[str, Any]:
    """New pushes of all directions, to one who learnt a single backward push."""
    examples, person = _examples(BACK), cases.character(BACK, seed=seed)
    drawn = novel_cases(examples, count, seed)
    return {"rows": cases.figures_of(person, [case for kind in KINDS for case in drawn[kind]], examples, tick)}


def endless(seconds: float, seed: int, tick: Callable[[float], None]) -> dict[str, Any]:
    return runs.endless(cases.character(cases.THREE, seed=seed), seconds, tick)


def wild_pushes(count: int, seed: int, tick: Callable[[float], None]) -> dict[str, Any]:
    wild = runs.Wild(cases.character(cases.FOURTEEN, seed=seed), cases.normal_walk())
    rows = []
    for i in range(count):
        rows.append(wild.run(1000 * seed + i))
        tick(1.0)
    return {"rows": rows, "source_slide_cm": wild.slide}


def switching(count: int, seed: int, tick: Callable[[float], None]) -> dict[str, Any]:
    return runs.seams(cases.character(cases.FOURTEEN, FOUR, seed), count, seed)


def _examples(which: tuple[int, ...]) -> list[cases.Case]:
    known = cases.shipped()
    return [known[i] for i in which]


def _rows(result: dict[str, Any]) -> list[dict[str, Any]]:
    lists = {name: rows for name, rows in result.items() if isinstance(rows, list)}
    return [{"of": name, **row} for name, rows in lists.items() for row in rows] if lists else [result]


def summarise(found: dict[str, Any]) -> dict[str, Any]:
    """Figures under their names, by the number of examples where there are two characters."""
    summary: dict[str, Any] = {}
    for column, key in (("3", "three"), ("14", "fourteen")):
        for what in ("reproduce", "heldout"):
            for name, value in _figures(found[key][what]).items():
                summary.setdefault(f"{what}_{name}", {})[column] = value
    for suffix, key in (("", "novel"), ("_14", "novel_14")):
        kinds = {kind: rows for kind, rows in found[key].items() if rows}
        every = [row for rows in kinds.values() for row in rows]
        summary[f"novel_win_rate{suffix}"] = _wins(every)
        for kind, rows in {**kinds, "all": every}.items():
            figures = _figures(rows) | {"wins": _wins(rows), "count": len(rows)}
            for name, value in figures.items():
                summary.setdefault(f"novel{suffix}_{name}", {})[kind] = value
    summary["one_example"] = _by_direction(found["one"]["rows"])
    summary |= {f"endless_{name}": value for name, value in found["endless"].items()}
    wild = found["wild"]["rows"]
    summary["recovered"] = float(np.mean([row["recovered"] for row in wild]))
    summary["stuck"] = float(np.mean([row["stuck"] for row in wild]))
    summary["pops"] = float(np.mean([row["jolt"] > runs.POPS for row in wild]))
    summary["jolt_most"] = float(np.max([row["jolt"] for row in wild]))
    summary["slide_cm"] = float(np.median([row["slide_cm"] for row in wild]))
    summary["source_slide_cm"] = found["wild"]["source_slide_cm"]
    if "real" in found:
        summary |= _real(found["real"])
    for name in (*bases.WALKERS, "run", "march"):
        figures = {key: value for key, value in found.get(name, {}).items() if key != "rows"}
        figures |= _figures(found[name]["rows"]) if name in bases.WALKERS else {}
        for key, value in figures.items():
            summary.setdefault(f"bases_{key}", {})[name] = value
    summary |= estimates.summarise(found["estimates"], found["estimated"])
    summary |= {"switch_seam_cm": found["switching"]["mean"], "switch_seam_most_cm": found["switching"]["most"]}
    return summary


def _figures(rows: list[dict[str, Any]]) -> dict[str, float]:
    cm, peak = np.array([row["cm"] for row in rows]), np.array([row["peak"] for row in rows])
    return {
        "cm": float(np.median(cm)),
        "p90_cm": float(np.quantile(cm, 0.9)),
        "replay_cm": float(np.median([row["replay_cm"] for row in rows])),
        "none_cm": float(np.median([row["none_cm"] for row in rows])),
        "in_band": float(np.mean((peak >= 0.7) & (peak <= 1.4))),
    }


def _real(found: dict[str, Any]) -> dict[str, Any]:
    """Of the real pushes; they have no band, for nobody knows where the person would have gone."""
    summary: dict[str, Any] = {}
    for prefix, which in (("heldout_real_", "same"), ("heldout_real_other_", "other")):
        figures = _figures(found[which])
        summary |= {f"{prefix}{name}": figures[name] for name in ("cm", "p90_cm", "replay_cm", "none_cm")}
    for name in found["standing"][0]:
        summary[f"standing_{name}"] = max(row[name] for row in found["standing"])
    return summary | {"heldout_real_missed": found["missed"]}


def _wins(rows: list[dict[str, Any]]) -> float:
    return float(np.mean([row["cm"] < row["replay_cm"] for row in rows]))


def _by_direction(rows: list[dict[str, Any]]) -> dict[str, float]:
    """How far it is moved, beside how far the walker is: pushed within 60 degrees of backwards, of forwards, aside."""
    found: dict[str, list[float]] = {"back": [], "aside": [], "forward": []}
    for row in rows:
        angle = abs(np.degrees(np.arctan2(row["impulse"][1], row["impulse"][0])))
        found["forward" if angle < 60.0 else "aside" if angle < 120.0 else "back"].append(row["peak"])
    return {way: float(np.median(peaks)) for way, peaks in found.items() if peaks}
