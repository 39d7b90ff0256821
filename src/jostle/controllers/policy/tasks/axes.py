"""The parameters of a task, on a grid: values are kept at its points, and lie between them linearly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jostle.types import Array, Float


@dataclass(frozen=True)
class Axis:
    """One parameter: where it is sampled, evenly or at `points` of one's own, from `low` to `high`. A round one comes
    back to its beginning after its last value.
    """

    name: str
    low: float
    high: float
    count: int
    round: bool = False
    points: tuple[float, ...] = ()

    @classmethod
    def at(cls, name: str, points: Float[Array, "n"], *, end: float | None = None) -> Axis:
        """Where these points lie; with `end`, round: there the first one is met again."""
        last = float(points[-1]) if end is None else end
        return cls(name, float(points[0]), last, len(points), end is not None, tuple(float(p) for p in points))

    @property
    def values(self) -> Float[Array, "n"]:
        if self.points:
            return np.array(self.points)
        return np.linspace(self.low, self.high, self.count, endpoint=not self.round)

    def cells(self, at: Float[Array, "*b"]) -> tuple[Array, Array, Float[Array, "*b"]]:
        """The grid points on either side, and the share of the second: linear interpolation."""
        place = np.asarray(self._place(at))
        place = place % self.count if self.round else np.clip(place, 0.0, self.count - 1.000001)
        first = np.floor(place)
        second = (first + 1) % self.count if self.round else first + 1
        whole = [np.asarray(cell, dtype=np.int64) for cell in (first % self.count, second)]
        return whole[0], whole[1], np.asarray(place - first)

    def _place(self, at: Float[Array, "*b"]) -> Any:
        """Which point it is, counted with what lies between."""
        if not self.points:
            return (at - self.low) / (self.high - self.low) * (self.count if self.round else self.count - 1)
        if not self.round:
            return np.interp(at, self.points, np.arange(self.count))
        on = (at - self.low) % (self.high - self.low) + self.low
        return np.interp(on, [*self.points, self.high], np.arange(self.count + 1))


def direction(count: int) -> Axis:
    """All round the character, radians to the left of where it faces."""
    return Axis("direction", -np.pi, np.pi, count, round=True)
