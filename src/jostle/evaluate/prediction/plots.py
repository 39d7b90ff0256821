"""The picture of table 6.1: every model's error on every clip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jostle.files import replacing


def draw_errors(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """A line a model over clips, its starts as dots."""
    from matplotlib.figure import Figure  # without pyplot: no window, no global state

    long = [row for row in rows if row["kind"] == "long"]
    clips, models = (list(dict.fromkeys(row[key] for row in long)) for key in ("clip", "model"))
    figure = Figure(figsize=(9.0, 4.0), layout="constrained")
    axes = figure.subplots()
    for i, model in enumerate(models):
        colour, own = f"C{i}", [row for row in long if row["model"] == model]
        means = [np.mean([row["norm"] for row in own if row["clip"] == clip]) for clip in clips]
        bold = model == "cdm"
        axes.plot(clips, means, color=colour, lw=2.5 if bold else 1.0, ls="--" if i >= 5 else "-", label=model)
        axes.scatter([row["clip"] for row in own], [row["norm"] for row in own], s=8, color=colour, alpha=0.5)
    axes.set(ylabel="error norm", ylim=(0.0, None))
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside right center", frameon=False)
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=110)
