"""Go to a point, and stay there: far from it, what pays is going there; near it, standing, or being near at least."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.controllers.policy.tasks.axes import Axis, direction
from jostle.controllers.policy.tasks.heading import towards
from jostle.controllers.policy.tasks.step import Step
from jostle.controllers.policy.tasks.target import Targeted, flat
from jostle.types import Array, Float

_RINGS = np.array([0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0])  # metres; who is farther away is on his way all the same


@dataclass(frozen=True)
class GoTo(Targeted):
    """Theta is where the point is, in polar coordinates. On the way the reward is that of a heading; within `near` of
    the point it is 2 for who stands, and 1.2 for who walks about there, as those do who never learnt to stand.
    """

    near: float = 0.4  # metres
    still: float = 0.15  # metres a second: who goes slower stands
    sharp: float = 2.0
    slowest: float = 0.3
    count: int = 16

    name = "goto"
    ahead = 0.0

    @property
    def axes(self) -> tuple[Axis, ...]:
        return direction(self.count), Axis.at("distance", _RINGS)

    def reward(self, step: Step, theta: Float[Array, "*b 2"]) -> Float[Array, "*b"]:
        left = flat(theta) - step.dt * step.travel[..., :2]
        there = np.exp(-((np.hypot(left[..., 0], left[..., 1]) / self.near) ** 2))
        stands = np.exp(-((step.speed / self.still) ** 2))
        going = towards(step, theta[..., 0], self.sharp, self.slowest)
        return there * (1.2 + 0.8 * stands) + (1.0 - there) * going
