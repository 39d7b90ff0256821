"""A strike that ends on its target: inverse kinematics at the strike, and only there.

The policy brings the joint near the target; the last centimetres are inference. The nearer the joint is to the target
by itself, the more of what is missing it goes: all of it within `near`, none from `far` on, and nothing unless it comes
nearer. So guard and the way out stay as they were. Once it has hit, or turns back, it is let go over some frames, until
it comes from afar again. (Held on to, it would stay: what it returns from is where it was held.) What takes hold does
so no faster than the joint goes: a guard that a new target lies next to is not snatched away.
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
COMES = 0.5  # metres a second: what goes slower does not strike
RISE, FALL = 0.25, 0.15  # of all pull, in a frame: as much at least, as much at most


@dataclass(frozen=True)
class Aim:
    limb: Limb
    done: bool = False  # it has hit, and is on its way back
    pull: float = 0.0  # how much of what is missing it goes


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
        done = was < AGAIN * self.far if memory.done else was < THERE or (was < self.near and now > was)
        comes = not done and was - now > COMES * moment.dt
        wished = 1.0 - smooth((now - self.near) / (self.far - self.near)) if comes else 0.0
        way = float(np.linalg.norm(moment.mean.positions[joint] - moment.before.positions[joint]))
        rise = max(RISE, way / (self.far - self.near))
        return replace(memory, done=done, pull=min(max(wished, memory.pull - FALL), memory.pull + rise))

    def rows(self, moment: Moment, here: Configuration, memory: Aim, share: float) -> Rows | None:
        if moment.target is None or memory.pull <= 0.0:
            return None
        limb = memory.limb
        _, cares = limb.reached(moment.mean, self._target(moment))
        share = share * memory.pull * cares
        return pinned(moment, here, limb.joint, self._target(moment), share)  # the trunk goes with it

    def _target(self, moment: Moment) -> Float[Array, "3"]:
        target = np.zeros(3) if moment.target is None else moment.target
        return target if target[2] > ON_GROUND else np.append(target[:2], self.height)

    def _missing(self, moment: Moment, place: Float[Array, "3"]) -> float:
        return float(np.linalg.norm(self._target(moment) - place))
