"""The line on the ground that a walker follows: straight, then an arc, then straight again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.interpolate import CubicSpline

from jostle.assets.curves import smooth
from jostle.types import Array, Float

_GRID = 0.01  # seconds


@dataclass(frozen=True)
class Path:
    """Walked at constant speed; between `start` and `end` seconds the heading turns left by `turn` radians."""

    speed: float
    turn: float = 0.0
    start: float = 0.0
    end: float = 1.0
    ramp: float = 0.5  # seconds over which the turning begins, and over which it ends

    def turning(self, t: Float[Array, "n"]) -> Float[Array, "n"]:
        """Radians a second."""
        rate = self.turn / (self.end - self.start - self.ramp)
        return rate * (smooth((t - self.start) / self.ramp) - smooth((t - self.end + self.ramp) / self.ramp))

    def heading(self, t: Float[Array, "n"]) -> Float[Array, "n"]:
        return self._track(t)[:, 2]

    def position(self, t: Float[Array, "n"]) -> Float[Array, "n 2"]:
        return self._track(t)[:, :2]

    @cached_property
    def _track(self) -> CubicSpline:
        """x, y and heading against time, integrated from the turning rate; two seconds more at either end."""
        t = np.arange(-2.0, self.end + 20.0, _GRID)
        zero = round(2.0 / _GRID)
        heading = CubicSpline(t, self.turning(t)).antiderivative()(t)
        heading -= heading[zero]
        steps = self.speed * np.stack([np.cos(heading), np.sin(heading)], axis=-1)
        along = CubicSpline(t, steps).antiderivative()(t)
        return CubicSpline(t, np.column_stack([along - along[zero], heading]))


def quarter_turn(speed: float, side: float, cycle: float) -> Path:
    """Half a cycle straight, 90 degrees over three cycles, half a cycle straight: it joins the walk at both ends."""
    return Path(speed, side * np.pi / 2.0, start=0.5 * cycle, end=3.5 * cycle, ramp=0.75 * cycle)
