"""A strike that ends on its target: inverse kinematics at the strike, and only there.

The policy brings the joint near the target; the last centimetres are inference. The nearer the joint is to the target
by itself, the more of what is missing it goes: all of it within `near`, none from `far` on. So guard and the way out
stay what they were. Once it has hit, or turns back, it is let go until it comes from afar again, and the conditional
mean leads the arm back as smoothly as it came. (Held on to, it would stay: what it returns from is where it was held.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from jostle.controllers.policy.constraints.configuration import Configuration
from jostle.controllers.policy.constraints.constraint import Anatomy, Moment
from jostle.controllers.policy.constraints.inference import Rows
from jostle.controllers.policy.constraints.places import Limb, pinned, smooth
from jostle.errors import CommandError
from jostle.types import Array, Float

ON_GROUND = 0.05  # metres: what was pointed at no higher is the ground below the target
THERE = 0.02  # metres from the target: hit
AGAIN = 0.6  # of `far`: from there on it strikes anew


@dataclass(frozen=True)
class Aim:
    limb: Limb
    done: bool = False  # it has hit, and is on its way back


@dataclass(frozen=True)
class Hit:
    """A joint hits what the user points at; at `height`, where that is a point of the ground."""

    part: str
    height: float
    near: float = 0.12
    far: float = 0.3

    def __post_init__(self) -> None:
        if not 0.0 <= self.near < self.far:
            raise CommandError(
                f"A hit is wholly helped within {self.near} m and not at all from {self.far} m on: give 0 or more for "
                "the first, and less than the second."
            )

    def init(self, anatomy: Anatomy) -> Aim:
        return Aim(Limb.of(anatomy, self.part))

    def decide(self, moment: Moment, memory: Aim, share: float) -> Aim:
        if moment.target is None:
            return memory
        joint = memory.limb.joint
        was, now = (self._missing(moment, c.positions[joint]) for c in (moment.before, moment.mean))
        if memory.done:
            return replace(memory, done=was < AGAIN * self.far)
        return replace(memory, done=was < THERE or (was < self.near and now > was))

    def rows(self, moment: Moment, here: Configuration, memory: Aim, share: float) -> Rows | None:
        if moment.target is None or memory.done:
            return None
        limb = memory.limb
        missing = self._missing(moment, moment.mean.positions[limb.joint])
        share = share * (1.0 - smooth((missing - self.near) / (self.far - self.near)))
        _, cares = limb.reached(moment.mean, self._target(moment))
        return pinned(moment, here, limb.joint, self._target(moment), share * cares)  # the trunk goes with it

    def _target(self, moment: Moment) -> Float[Array, "3"]:
        target = np.zeros(3) if moment.target is None else moment.target
        return target if target[2] > ON_GROUND else np.append(target[:2], self.height)

    def _missing(self, moment: Moment, place: Float[Array, "3"]) -> float:
        return float(np.linalg.norm(self._target(moment) - place))
