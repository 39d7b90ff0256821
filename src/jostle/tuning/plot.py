"""A picture of a run: the cost, and what each term adds to it, generation by generation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jostle.files import replacing
from jostle.tuning.goal import TERMS
from jostle.tuning.journal import Row
from jostle.types import PathLike

_LEAST = 1e-3  # costs below this are drawn here: the axis is logarithmic


def draw_journal(rows: Sequence[Row], path: PathLike, title: str) -> None:
    """Write the picture as PNG (or as whatever the ending says)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 7), layout="constrained")
    FigureCanvasAgg(figure)
    costs, gait = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    at = np.array([row["generation"] for row in rows])
    _draw_costs(costs, rows, at)
    _draw_gait(gait, rows, at)
    costs.set_title(title, loc="left")
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=100, format="png")


def _draw_costs(axes: Any, rows: Sequence[Row], at: np.ndarray) -> None:
    for index, name in enumerate(TERMS):
        values = np.array([row[f"w_{name}"] for row in rows])
        if values.max(initial=0.0) > _LEAST:
            axes.plot(at, np.where(values > _LEAST, values, np.nan), lw=1.0, color=f"C{index}", label=name)
    axes.plot(at, [max(row["lowest"], _LEAST) for row in rows], lw=2.2, color="black", label="best so far")
    axes.set(yscale="log", ylabel="weighted terms of each generation's best")
    for name, style in (("stage", "-"), ("asked_s", ":")):
        values = np.array([row[name] for row in rows])
        for change in at[1:][np.diff(values) != 0]:
            axes.axvline(change - 0.5, color="0.6", lw=1.0, ls=style)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8)


def _draw_gait(axes: Any, rows: Sequence[Row], at: np.ndarray) -> None:
    for name, label in (("speed", "speed, m/s"), ("step_m", "step, m"), ("survived", "share that walks on")):
        axes.plot(at, [row[name] for row in rows], label=label, lw=1.4)
    walked = [row["seconds"] / row["asked_s"] for row in rows]
    axes.plot(at, walked, label="of the time, the best walks", lw=1.0, color="0.4")
    axes.set(xlabel="generation", ylim=(0, None))
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8)
