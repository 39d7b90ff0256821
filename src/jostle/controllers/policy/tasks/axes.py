"""The parameters of a task, on a grid: values are kept at its points, and lie between them linearly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.types import Array, Float


@dataclass(frozen=True)
class Axis:
    """One parameter: where it is sampled. A round one comes back to its beginning after its last value."""

    name: str
    low: float
    high: float
    count: int
    round: bool = False

    @property
    def values(self) -> Float[Array, "n"]:
        return np.linspace(self.low, self.high, self.count, endpoint=not self.round)

    def cells(self, at: Float[Array, "*b"]) -> tuple[Array, Array, Float[Array, "*b"]]:
        """The grid points on either side, and the share of the second: linear interpolation."""
        place = (at - self.low) / (self.high - self.low) * (self.count if self.round else self.count - 1)
        place = place % self.count if self.round else np.clip(place, 0.0, self.count - 1.000001)
        first = np.floor(place)
        second = (first + 1) % self.count if self.round else first + 1
        whole = [np.asarray(cell, dtype=np.int64) for cell in (first % self.count, second)]
        return whole[0], whole[1], np.asarray(place - first)


def direction(count: int) -> Axis:
    """All round the character, radians to the left of where it faces."""
    return Axis("direction", -np.pi, np.pi, count, round=True)
