"""Unpushed, ours beside the paper to the letter; and the same push over the number of near-unactuated directions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from jostle.controllers import Start
from jostle.evaluate.compliance.takes import walker
from jostle.files import replacing

SECONDS = 5.0


def draw(folder: Path, path: str, sweep: dict[str, Any]) -> None:
    """`literal.png`, of the take at `path`, and `sweep.png`, of takes by k."""
    from matplotlib.figure import Figure  # without pyplot: no window, no global state

    figure = Figure(figsize=(6.5, 3.2), layout="constrained")
    axes = figure.add_subplot()
    for literal, name in ((False, "ours"), (True, "to the letter")):
        on = walker(path, literal=literal)
        run = on.go(on.character.init(Start()), round(SECONDS / on.character.dt))
        off = np.where(np.isfinite(run.worst), run.worst, 180.0)
        axes.semilogy(np.arange(len(off)) * on.character.dt, np.maximum(off, 1e-3), label=name)
    axes.set_xlabel("seconds, nobody pushes")
    axes.set_ylabel("joint furthest off the clip, degrees")
    axes.legend()
    _save(figure, folder / "literal.png")

    figure = Figure(figsize=(8.0, 3.2), layout="constrained")
    for place, (what, label) in enumerate((("peak", "largest angle, degrees"), ("back_s", "seconds until it is back"))):
        axes = figure.add_subplot(1, 2, place + 1)
        for take, by_k in sweep.items():
            known = {k: row[what] for k, row in sorted(by_k.items()) if np.isfinite(row[what]) and row["idle"] < 5.0}
            axes.plot(list(known), list(known.values()), marker="o", markersize=3, label=take)
        axes.set_xlabel("k")
        axes.set_ylabel(label)
    axes.legend()
    _save(figure, folder / "sweep.png")


def _save(figure: Any, path: Path) -> None:
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=110)
