"""A strike that ends on its target: inverse kinematics at the strike, and only there.

The policy brings the joint near the target; the last centimetres are inference. The nearer the joint is to the target
by itself, the more of what is missing it goes: all of it within `near`, none from `far` on. So guard and the way out
stay what they were, and the conditional mean leads the arm back as smoothly as it came.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.controllers.policy.constraints.configuration import Configuration
from jostle.controllers.policy.constraints.constraint import Anatomy, Moment
from jostle.controllers.policy.constraints.inference import Rows
from jostle.controllers.policy.constraints.places import Limb, pinned, smooth
from jostle.errors import CommandError

ON_GROUND = 0.05  # metres: what was pointed at no higher is the ground below the target


@dataclass(frozen=True)
class Hit:
    """A joint hits what the user points at; at `height`, where that is a point of the ground."""

    part: str
    height: float
    near: float = 0.1
    far: float = 0.25

    def __post_init__(self) -> None:
        if not 0.0 <= self.near < self.far:
            raise CommandError(
                f"A hit is wholly helped within {self.near} m and not at all from {self.far} m on: give a first that is "
                "less than the second, 0 or more."
            )

    def init(self, anatomy: Anatomy) -> Limb:
        return Limb.of(anatomy, self.part)

    def decide(self, moment: Moment, memory: Limb, share: float) -> Limb:
        return memory

    def rows(self, moment: Moment, here: Configuration, memory: Limb, share: float) -> Rows | None:
        if moment.target is None:
            return None
        target = moment.target if moment.target[2] > ON_GROUND else np.append(moment.target[:2], self.height)
        missing = float(np.linalg.norm(target - moment.mean.positions[memory.joint]))
        share = share * (1.0 - smooth((missing - self.near) / (self.far - self.near)))
        goal, cares = memory.reached(moment.mean, target)
        return pinned(moment, here, memory.joint, goal, share * cares)
