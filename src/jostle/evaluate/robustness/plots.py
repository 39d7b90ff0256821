"""The picture of figure 4.3."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from jostle.files import replacing


def draw_success(path: Path, gusts: Mapping[str, Mapping[str, float]]) -> None:
    """The share of trials without a fall over the force of gusts, one curve a walker."""
    from matplotlib.figure import Figure  # without pyplot: no window, no global state

    figure = Figure(figsize=(7.5, 4.0), layout="constrained")
    axes = figure.subplots()
    for name, shares in gusts.items():
        newtons, share = [float(force.split()[0]) for force in shares], np.array(list(shares.values()))
        error = 2.0 * np.sqrt(share * (1.0 - share) / 100.0)
        axes.errorbar(newtons, share, error, label=name, marker="o", ms=3, capsize=2)
    axes.set(xlabel="gusts, N", ylabel="trials without a fall", ylim=(-0.02, 1.02))
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside right center", frameon=False)
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=110)
