"""From what trials gave to the figures by which they are known. What spreads over takes has its mean and deviation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jostle.evaluate.compliance.takes import STYLES
from jostle.evaluate.compliance.trials import PARTS, WAYS

BACK = 3.0  # seconds within which who is pushed has to be back
_LONGEST = 4.0  # seconds of a run: who is not back by then
Rows = list[dict[str, Any]]
Found = dict[str, Any]  # "what take": what the trial gave


def summarise(found: Found) -> dict[str, Any]:
    takes = {name: result["rows"] for name, result in _of(found, "responses").items()}
    return {
        **_unpushed(found), "k_sweep": _sweep(found), **_parts(takes), "by_phase": _phases(takes),
        "by_direction": _directions(takes), "by_style": _styles(takes), "swapped_basis": _swaps(found),
        **_wild(found), **_rooted(found), **_cups(found), **_cycles(found),
    }  # fmt: skip


def _of(found: Found, what: str) -> dict[str, Any]:
    """The results of one kind of trial, by take."""
    return {name.removeprefix(what + " "): result for name, result in found.items() if name.startswith(what + " ")}


def _unpushed(found: Found) -> dict[str, Any]:
    idle = _of(found, "idle")
    return {
        "idle_deg": {take: {name: result[name] for name in ("rms", "most", "first", "last")}
                     for take, result in idle.items()},
        "suggested_k": {take: result["suggested_k"] for take, result in idle.items()},
        "growth_per_s": {take: result["per_s"] for take, result in _of(found, "growth").items()},
        "literal_lost_s": {take: result["lost_s"] for take, result in _of(found, "literal").items()},
        "wrong_basis_ratio": {take: result["ratio"] for take, result in _of(found, "wrong").items()},
    }  # fmt: skip


def _sweep(found: Found) -> dict[str, Any]:
    by_k: dict[str, Any] = {}
    for name, result in _of(found, "sweep").items():
        take, k = name.split()
        figures = {figure: result[figure] for figure in ("idle", "peak", "back_s", "recovered")}
        by_k.setdefault(f"k={k}", {})[take] = figures
    return by_k


def _parts(takes: dict[str, Rows]) -> dict[str, Any]:
    def moved(rows: Rows, part: str) -> float:
        return float(np.mean([row["moved_cm"] for row in rows if row["part"] == part]))

    by_part = {part: _figures(takes, ("peak", "moved_cm"), lambda row, part=part: row["part"] == part)
               for part in PARTS}  # fmt: skip
    ordered = [moved(rows, PARTS[0]) > moved(rows, PARTS[1]) > moved(rows, PARTS[2]) for rows in takes.values()]
    return {"by_part": by_part, "by_part_ordered": float(np.mean(ordered))}


def _phases(takes: dict[str, Rows]) -> dict[str, Any]:
    """`pushed on the bearing side`: arms are the left ones."""

    def borne_by(side: str) -> Callable[[dict[str, Any]], bool]:
        return lambda row: _feet(row) == 1 and row["planted"][0].startswith(side) and row["part"] in PARTS[:2]

    chosen = {
        "single support": lambda row: _feet(row) == 1,
        "double support": lambda row: _feet(row) == 2,
        "pushed on the bearing side": borne_by("left"),
        "on the other side": borne_by("right"),
    }
    return {stance: _figures(takes, ("peak",), choose) for stance, choose in chosen.items()}


def _directions(takes: dict[str, Rows]) -> dict[str, Any]:
    def these(way: str, part: str) -> Callable[[dict[str, Any]], bool]:
        return lambda row: row["way"] == way and row["part"] == part

    return {way: {part: _figures(takes, ("peak", "back_s"), these(way, part)) for part in ("chest", "head")}
            for way in WAYS}  # fmt: skip


def _styles(takes: dict[str, Rows]) -> dict[str, Any]:
    known = {style: {name: takes[name] for name in names if name in takes} for style, names in STYLES.items()}
    return {style: _figures(some, ("peak", "moved_cm"), lambda _: True) for style, some in known.items() if some}


def _swaps(found: Found) -> dict[str, Any]:
    """Nothing where bodies have other joints."""
    return {
        title: {whose: {figure: result[whose][figure] for figure in ("idle", "peak", "recovered")}
                for whose in ("own", "lent")}
        for title, result in _of(found, "swapped").items() if result is not None
    }  # fmt: skip


def _wild(found: Found) -> dict[str, Any]:
    wild = {take: result["rows"] for take, result in _of(found, "wild").items()}
    rows = [row for some in wild.values() for row in some]
    back = np.array([row["back_s"] for row in rows])
    return {
        "pushes": len(rows),
        "recovered": float(np.mean(back <= BACK)),
        "recover_s": float(np.median(back)),
        "whole": float(np.mean([row["whole"] for row in rows])),
        "beyond_deg": float(np.max([row["beyond"] for row in rows])),
        "recovered_by_take": {take: float(np.mean([r["back_s"] <= BACK for r in some])) for take, some in wild.items()},
    }


def _rooted(found: Found) -> dict[str, Any]:
    pushed, ground = (
        [row for result in _of(found, "rooted").values() for row in result[which]] for which in ("pushed", "ground")
    )
    return {
        "root_cm": float(np.median([row["cm"] for row in pushed])),
        "root_return_s": float(np.max([row["back_s"] for row in pushed])),
        "slide_cm": float(np.max([row["slide_cm"] for row in pushed])),
        **{f"ground_{figure}": float(np.max([row[figure] for row in ground]))
           for figure in ("cm", "peak", "back_s", "slide_cm", "below_cm")},
    }  # fmt: skip


def _cups(found: Found) -> dict[str, Any]:
    """`_own_arm`: the cup's own arm is pushed; `_without`: nobody minds the cup."""
    cups = {take: result for take, result in _of(found, "cup").items() if result is not None}
    out: dict[str, Any] = {}
    for key, figure in (("cup_deg", "cup_deg"), ("cup_trunk_share", "trunk_share")):
        for arm, own in (("left_arm", ""), ("right_arm", "_own_arm")):
            for whose, without in (("minds", ""), ("does not", "_without")):
                out[key + own + without] = {take: result[f"{whose}, {arm}"][figure] for take, result in cups.items()}
    return out


def _cycles(found: Found) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for kind in ("cycle", "noisy"):
        rows = [row for row in found["cycles"]["rows"] if row["of"] == kind]
        for figure in ("idle", "peak", "apart", "shared"):
            out.setdefault(f"cycles_{figure}", {})[kind] = float(np.median([row[figure] for row in rows]))
        out.setdefault("cycles_own_peak", {})[kind] = rows[0]["own_peak"]
    return out


def _feet(row: dict[str, Any]) -> int:
    return sum(name.endswith("foot") for name in row["planted"])


def _figures(
    takes: dict[str, Rows], figures: Sequence[str], choose: Callable[[dict[str, Any]], bool]
) -> dict[str, dict[str, float]]:
    """The mean over takes of their means, and its standard deviation over takes."""
    out: dict[str, dict[str, float]] = {}
    for figure in figures:
        chosen = [[min(row[figure], _LONGEST) if figure == "back_s" else row[figure] for row in rows if choose(row)]
                  for rows in takes.values()]  # fmt: skip
        means = [float(np.mean(some)) for some in chosen if some]
        if means:
            spread = float(np.std(means, ddof=1)) if len(means) > 1 else 0.0
            out[figure] = {"mean": float(np.mean(means)), "spread": spread}
    return out
