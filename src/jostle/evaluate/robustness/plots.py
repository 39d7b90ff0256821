"""The picture of figure 4.3."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from jostle.files import replacing


def draw_success(path: Path, gusts: Mapping[str, Mapping[str, float]]) -> None:
    """The share of trials without a fall over the force of gusts, one curve a walker."""
    from matplotlib.figure import Figure  # without pyplot: no window, no global state

    figure = Figure(figsize=(6.5, 4.0), layout="constrained")
    axes = figure.subplots()
    shades = np.linspace(0.25, 1.0, max(len(gusts), 1))
    for (name, shares), shade in zip(gusts.items(), shades, strict=True):
        newtons, share = [float(force.split()[0]) for force in shares], np.array(list(shares.values()))
        error = 2.0 * np.sqrt(share * (1.0 - share) / 100.0)
        axes.errorbar(newtons, share, error, label=name, color=(0.18, 0.40, 0.56, shade), marker="o", ms=3, capsize=2)
    axes.set(xlabel="gusts, N", ylabel="trials without a fall", ylim=(-0.02, 1.02))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=110)
