"""Pushes that nobody recorded: what is estimated from the shipped clips without their forces, beside these.

`JITTERS` are degrees a joint and millimetres of the root by which every frame is shaken: shipped clips share frames
with the normal walk, which makes it easy. Plain motion is the clips in which nobody is pushed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from jostle import assets
from jostle.body import build_body
from jostle.clips import Clip, load_clip
from jostle.controllers.dynamic.estimate import estimate_pushes
from jostle.controllers.dynamic.learn import Example, fit_dynamic
from jostle.evaluate.response.cases import Case, figures_of, normal_walk, shipped, walking_body
from jostle.maths import quat
from jostle.types import Array

JITTERS = (0.0, 0.0), (0.3, 1.0), (1.0, 3.0)
PLAIN = ("stand", "turn_left", "turn_right", "weave", "run", "walk")
NEAR = 0.2  # seconds between an estimated push and the true one


def found_pushes(every: int, seed: int, tick: Callable[[float], None]) -> dict[str, Any]:
    """Of every pushed clip: whether its push is found, and by how much it is off."""
    rows = []
    cases = [*shipped(), *shipped(held_out=True)][::every]
    for degrees, millimetres in JITTERS:
        rng = np.random.default_rng([seed, int(10 * degrees)])
        usual = _shaken(normal_walk(), degrees, millimetres, rng)
        for case in cases:
            rows.append({"jitter": degrees, **_found(case, usual, _shaken(case.clip, degrees, millimetres, rng))})
            tick(1.0)
    plain = [load_clip(assets.clip_path(name)) for name in PLAIN]
    return {"rows": rows, "plain": sum(len(estimate_pushes(clip, build_body(clip.skeleton))) for clip in plain)}


def learnt_from_estimates(which: tuple[int, ...], seed: int, tick: Callable[[float], None]) -> dict[str, Any]:
    """A character that was told no forces."""
    known = shipped()
    examples = [known[i] for i in which]
    person = fit_dynamic([Example(normal_walk()), *(Example(case.clip) for case in examples)], seed=seed)
    return {
        "reproduce": figures_of(person, examples, examples, tick),
        "heldout": figures_of(person, shipped(held_out=True), examples, tick),
    }


def summarise(found: dict[str, Any], learnt: dict[str, Any]) -> dict[str, Any]:
    summary: dict[str, Any] = {"estimated_in_plain_motion": found["plain"]}
    for degrees, _ in JITTERS:
        rows = [row for row in found["rows"] if row["jitter"] == degrees]
        seen = [row for row in rows if row["found"]]
        figures = {"found": len(seen) / len(rows), "extra": sum(row["extra"] for row in rows)}
        for key in ("direction_deg", "impulse_off", "onset_s") if seen else ():
            figures[key] = float(np.median([row[key] for row in seen]))
            figures[f"{key}_p90"] = float(np.quantile([row[key] for row in seen], 0.9))
        for key, value in figures.items():
            summary.setdefault(f"estimated_{key}", {})[f"{degrees:g} deg"] = value
    for what, rows in learnt.items():
        summary[f"estimated_{what}_cm"] = float(np.median([row["cm"] for row in rows]))
    return summary


def _found(case: Case, usual: Clip, clip: Clip) -> dict[str, Any]:
    onset = case.onset / clip.fps
    told = estimate_pushes(clip, walking_body(), usual)
    near = [(time, push) for time, push in told if abs(time - onset) < NEAR]
    row: dict[str, Any] = {"clip": clip.name, "found": bool(near), "extra": len(told) - len(near[:1])}
    if not near:
        return row
    time, push = near[0]
    ours, true = push.impulse[:2], case.push.impulse[:2]
    turned = _angle(ours) - _angle(true)
    return row | {
        "direction_deg": abs(float(np.degrees((turned + np.pi) % (2.0 * np.pi) - np.pi))),
        "impulse_off": abs(float(np.linalg.norm(ours) / np.linalg.norm(true)) - 1.0),
        "onset_s": abs(time - onset),
    }


def _angle(way: Array) -> float:
    return float(np.arctan2(way[1], way[0]))


def _shaken(clip: Clip, degrees: float, millimetres: float, rng: np.random.Generator) -> Clip:
    if not degrees:
        return clip
    root = clip.root + rng.normal(0.0, millimetres / 1000.0, clip.root.shape)
    turns = quat.exp(rng.normal(0.0, np.radians(degrees), (*clip.wxyz.shape[:-1], 3)))
    return replace(clip, root=root, wxyz=quat.mul(clip.wxyz, turns))
