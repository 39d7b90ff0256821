"""The pictures of chapter 3: gait curves over the band of people (figure 3.6), power shares, tolerance to pushes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jostle.evaluate.walk.humans import Humans
from jostle.evaluate.walk.legs import ANGLES, PERCENT
from jostle.evaluate.walk.pushes import tolerance
from jostle.evaluate.walk.thesis import DIRECTIONS, TOLERANCE
from jostle.files import replacing
from jostle.tuning.objective import RATIO

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TITLES = {"thigh": "thigh, from straight down", "knee": "knee flexion", "foot": "foot, from the ground"}
_PEER, _PEOPLE, _OURS = "#b3261e", "#e8a33d", "#2f6690"


def draw_all(
    folder: Path, steady: dict[str, dict[str, Any]], pushed: dict[str, dict[str, Any]], humans: Humans | None
) -> list[Path]:
    """Write gait.png, power.png and, where someone was pushed, pushes.png; returns what was written."""
    curves = {name: np.array(row["curve"]) for name, row in steady.items() if row["curve"] is not None}
    pictures = {"power": draw_shares({name: row["power_share"] for name, row in steady.items()})}
    if curves or humans is not None:
        pictures["gait"] = draw_gait(curves, humans)
    if pushed:
        pictures["pushes"] = draw_roses({name: tolerance(row) for name, row in pushed.items()})
    return [_save(figure, folder / f"{name}.png") for name, figure in pictures.items()]


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure  # without pyplot: no window, no global state

    return Figure(figsize=(width, height), layout="constrained")


def _save(figure: Figure, path: Path) -> Path:
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=110)
    return path


def draw_gait(curves: dict[str, Any], humans: Humans | None) -> Figure:
    """Figure 3.6: degrees over the percent of the cycle; one standard deviation of people as a band."""
    figure = _figure(12.0, 3.8)
    axes = figure.subplots(1, 3)
    shades = np.linspace(0.55, 1.0, max(len(curves), 1))
    for column, angle in enumerate(ANGLES):
        plot = axes[column]
        if humans is not None:
            mean, sd = humans.mean[:, column], humans.sd[:, column]
            plot.fill_between(PERCENT, mean - sd, mean + sd, color=_PEOPLE, alpha=0.35, lw=0)
            plot.plot(PERCENT, mean, color=_PEOPLE, lw=2.2, label=f"{humans.people} people")
        for (name, curve), shade in zip(curves.items(), shades, strict=False):
            peer = name == "simbicon"
            style = {"color": _PEER, "lw": 1.8} if peer else {"color": _OURS, "lw": 1.2, "alpha": float(shade)}
            plot.plot(PERCENT, curve[:, column], ls="--", label=name, **style)
        plot.set_title(_TITLES[angle], fontsize=10)
        plot.set_xlabel("percent of the gait cycle")
        plot.grid(alpha=0.25)
        plot.margins(x=0)
    axes[0].set_ylabel("degrees")
    axes[-1].legend(fontsize=7, ncols=2, loc="lower left", framealpha=0.8)
    return figure


def draw_shares(shares: dict[str, list[float]]) -> Figure:
    """Hip, knee and ankle power of each walker over that of people."""
    figure = _figure(8.0, 0.6 + 0.34 * (len(shares) + 1))
    plot = figure.subplots()
    names = ["people", *shares]
    table = np.array([RATIO, *shares.values()])
    left = np.zeros(len(names))
    for column, (joint, colour) in enumerate(
        zip(("hip", "knee", "ankle"), ("#4f8fba", "#c9d6df", _PEOPLE), strict=True)
    ):
        plot.barh(names, table[:, column], left=left, color=colour, label=joint)
        left += table[:, column]
    for edge in np.cumsum(RATIO)[:2]:
        plot.axvline(edge, color="black", lw=0.8, ls=":")
    plot.invert_yaxis()
    plot.set_xlim(0, 1)
    plot.set_xlabel("share of squared torque")
    figure.legend(loc="outside upper right", ncols=3, fontsize=8)
    return figure


def draw_roses(tolerances: dict[str, dict[str, float]]) -> Figure:
    """Newtons by direction, forward up and left to the left; the thesis's walker of that name in outline."""
    count = len(tolerances)
    figure = _figure(3.1 * min(count, 5), 3.4 * int(np.ceil(count / 5)))
    plots = figure.subplots(int(np.ceil(count / 5)), min(count, 5), subplot_kw={"projection": "polar"}, squeeze=False)
    for plot, (name, by_direction) in zip(plots.ravel(), tolerances.items(), strict=False):
        plot.set_theta_zero_location("N")
        _rose(plot, by_direction, color=_OURS, lw=1.8, label="ours", filled=True)
        if name in TOLERANCE:
            _rose(plot, TOLERANCE[name], color=_PEER, lw=1.2, ls="--", label="thesis")
        plot.set_title(name, fontsize=10)
        plot.set_xticks(np.arange(8) * np.pi / 4, ["forward", "", "left", "", "back", "", "right", ""], fontsize=7)
        plot.tick_params(axis="y", labelsize=6)
        plot.legend(fontsize=6, loc="lower right")
    for plot in plots.ravel()[count:]:
        plot.set_visible(False)
    return figure


def _rose(plot: Any, by_direction: Mapping[str, float], filled: bool = False, **style: Any) -> None:
    """A closed line; the length is that of a component, as the tables have it."""
    angles = [float(np.arctan2(DIRECTIONS[name][1], DIRECTIONS[name][0])) for name in by_direction]
    order = np.argsort(np.mod(angles, 2 * np.pi))
    turned = np.array(angles)[order]
    newtons = np.array(list(by_direction.values()), dtype=float)[order]
    turned, newtons = np.append(turned, turned[0]), np.append(newtons, newtons[0])
    plot.plot(turned, newtons, **style)
    if filled:
        plot.fill(turned, newtons, color=style["color"], alpha=0.2)
