"""The pictures of figures 4.3 and 4.4."""

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


def draw_counts(path: Path, spread: Mapping[str, Mapping[str, float]]) -> None:
    """The share of trials without a fall over N, mean and standard error, with the walkers' deviation behind."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.5, 3.2), layout="constrained")
    axes = figure.subplots()
    counts = [int(name.split()[-1]) for name in spread]
    mean, error, deviation = (np.array([row[key] for row in spread.values()]) for key in ("mean", "error", "deviation"))
    axes.fill_between(counts, mean - deviation, mean + deviation, color="orange", alpha=0.3, lw=0)
    axes.errorbar(counts, mean, error, marker="o", ms=4, capsize=3)
    axes.set(xlabel="N", ylabel="trials without a fall", ylim=(0.0, 1.0), xticks=counts)
    axes.spines[["top", "right"]].set_visible(False)
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=110)
