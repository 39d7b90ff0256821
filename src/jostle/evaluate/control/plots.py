"""Figure 6 of Levine et al. 2012: rewards, deviation from the target heading over time; and what agility costs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from jostle.evaluate.control.takes import FPS
from jostle.files import replacing

NAMES = {"ours": "ours", "noconn": "no connectivity prior", "fields": "motion fields", "graph": "motion graph"}
COLOURS = {"ours": "tab:blue", "noconn": "tab:cyan", "fields": "tab:orange", "graph": "tab:green"}


def draw(folder: Path, found: dict[str, Any]) -> None:
    """`rewards.png`, `deviation.png` and, where settings were swept, `tradeoff.png`."""
    sets = [name.removeprefix("ours ") for name in found if name.startswith("ours ")]
    _rewards(folder / "rewards.png", found, sets)
    _deviation(folder / "deviation.png", found, "walk 2" if "walk 2" in sets else sets[0])
    swept = list(dict.fromkeys(name.split(" ", 1)[1].split(",")[0] for name in found if name.startswith("swept ")))
    if swept:
        _tradeoff(folder / "tradeoff.png", found, swept)


def _figure(wide: float, high: float = 3.4) -> Any:
    from matplotlib.figure import Figure  # without pyplot: no window, no global state

    return Figure(figsize=(wide, high), layout="constrained")


def _rewards(path: Path, found: dict[str, Any], sets: list[str]) -> None:
    figure = _figure(max(5.0, 1.6 * len(sets)))
    axes = figure.add_subplot()
    for i, (method, title) in enumerate(NAMES.items()):
        known = [(n, found[f"{method} {name}"]) for n, name in enumerate(sets) if f"{method} {name}" in found]
        if known:
            bars = axes.bar([n + 0.2 * (i - 1.5) for n, _ in known], [result["reward"] for _, result in known], 0.19,
                            label=title, color=COLOURS[method])  # fmt: skip
            axes.bar_label(bars, [f"{result['acceleration_ratio']:.1f}" for _, result in known], fontsize=6)
    axes.set_xticks(range(len(sets)), sets)
    axes.set_ylabel("reward a step; above: acceleration")
    axes.legend(fontsize=8)
    _save(figure, path)


def _deviation(path: Path, found: dict[str, Any], name: str) -> None:
    figure = _figure(8.0)
    for place, degrees in enumerate((90, 180)):
        axes = figure.add_subplot(1, 2, place + 1)
        for method, title in NAMES.items():
            if f"{method} {name}" in found:
                off = found[f"{method} {name}"][f"off_{degrees}"]
                axes.plot(np.arange(len(off)) / FPS, off, label=title, color=COLOURS[method])
        axes.axhline(15.0, color="grey", lw=0.5)
        axes.legend(fontsize=8)
        axes.set_xlabel(f"seconds after {degrees} degrees, {name}")
        axes.set_ylabel("degrees off, on average")
    _save(figure, path)


def _tradeoff(path: Path, found: dict[str, Any], sets: list[str]) -> None:
    figure = _figure(4.2 * len(sets), 3.8)
    for place, name in enumerate(sets):
        axes = figure.add_subplot(1, len(sets), place + 1)
        for method in ("ours", "fields", "graph"):
            rows = found.get(f"swept {name}, {method}", {"rows": []})["rows"]
            rows = sorted(rows, key=lambda row: row["acceleration_ratio"])
            at = [row["acceleration_ratio"] for row in rows]
            axes.plot(
                at, [row["reward"] for row in rows], "o-", ms=3.5, lw=1, color=COLOURS[method], label=NAMES[method]
            )
            for row in rows:
                axes.annotate(row["setting"], (row["acceleration_ratio"], row["reward"]), fontsize=5,
                              xytext=(2, -6), textcoords="offset points")  # fmt: skip
        axes.axvline(1.5, color="grey", lw=0.5)
        axes.set_title(name)
        axes.set_xlabel("joint acceleration, times the data's")
        axes.set_ylabel("reward a step")
        axes.legend(fontsize=8)
    _save(figure, path)


def _save(figure: Any, path: Path) -> None:
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=110)
