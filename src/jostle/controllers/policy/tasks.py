"""What a steered character is rewarded for: Levine et al. 2012, section 7.1.

A task has parameters, on a grid: the direction in which to go, the place of a target, seen by the character. It says
how good a step is for each of them, and how they look after it, since the character turns and moves while what it is
asked for stays where it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from jostle.maths.angles import wrapped
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


@dataclass(frozen=True, eq=False)
class Step:
    """What a step does, in the frame of the character before it."""

    travel: Float[Array, "*b 3"]  # ahead, aside, turn; per second
    dt: float


@runtime_checkable
class Task(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def axes(self) -> tuple[Axis, ...]: ...

    def reward(self, step: Step, theta: Float[Array, "*b d"]) -> Float[Array, "*b"]:
        """From 0 to 1."""
        ...

    def after(self, step: Step, theta: Float[Array, "*b d"]) -> Float[Array, "*b d"]:
        """How the parameters look from where the step led."""
        ...


@dataclass(frozen=True)
class Heading:
    """Go into a direction, radians to the left of where the character faces. The reward is e^(-sharp |off|)."""

    sharp: float = 2.0
    slowest: float = 0.3  # metres a second: who hardly moves goes nowhere
    count: int = 24

    name = "heading"

    @property
    def axes(self) -> tuple[Axis, ...]:
        return (Axis("direction", -np.pi, np.pi, self.count, round=True),)

    def reward(self, step: Step, theta: Float[Array, "*b 1"]) -> Float[Array, "*b"]:
        ahead, aside = step.travel[..., 0], step.travel[..., 1]
        off = np.abs(wrapped(theta[..., 0] - np.arctan2(aside, ahead)))
        return np.exp(-self.sharp * off) * np.clip(np.hypot(ahead, aside) / self.slowest, 0.0, 1.0)

    def after(self, step: Step, theta: Float[Array, "*b 1"]) -> Float[Array, "*b 1"]:
        return wrapped(theta - step.dt * step.travel[..., 2:])
