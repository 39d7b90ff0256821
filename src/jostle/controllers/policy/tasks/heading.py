"""Go into a direction: the locomotion of Levine et al. 2012, section 7.1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.controllers.policy.tasks.axes import Axis, direction
from jostle.controllers.policy.tasks.step import Step
from jostle.controllers.policy.tasks.task import Task
from jostle.maths.angles import wrapped
from jostle.types import Array, Float


@dataclass(frozen=True)
class Heading(Task):
    """Theta is the direction, radians to the left of where the character faces. The reward is e^(-sharp |off|)."""

    sharp: float = 2.0
    slowest: float = 0.3  # metres a second: who hardly moves goes nowhere
    count: int = 24

    name = "heading"

    @property
    def axes(self) -> tuple[Axis, ...]:
        return (direction(self.count),)

    def reward(self, step: Step, theta: Float[Array, "*b 1"]) -> Float[Array, "*b"]:
        return towards(step, theta[..., 0], self.sharp, self.slowest)


def towards(step: Step, course: Float[Array, "*b"], sharp: float, slowest: float) -> Float[Array, "*b"]:
    """What going into a direction is worth, from 0 to 1."""
    off = np.abs(wrapped(course - step.course))
    return np.exp(-sharp * off) * np.clip(step.speed / slowest, 0.0, 1.0)
