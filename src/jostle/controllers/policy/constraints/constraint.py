"""What a constraint is, and what it sees.

A constraint says at every frame, for a body near the answer, which change of the row it asks for. Anything that has
these three is one, and constraints add up:

    class Tall:                                                      # the head at 1.7 m at least
        def init(self, anatomy):
            return anatomy.part("head")                              # what it remembers from frame to frame

        def decide(self, moment, memory, share):                     # once a frame, before the pose is looked for
            return memory

        def rows(self, moment, here, memory, share):                 # for every pose on the way to the answer
            at = here.positions[[memory]]
            jacobian = here.jacobian(np.array([memory]), at)[0, 2]   # of its height
            return at_least(jacobian[None], np.array([1.7 - at[0, 2]]))

`share`, from 0 to 1, is how much of it is wanted: it grows and fades when a constraint is switched on and off.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np

from jostle.body import Body, Capsule, build_body
from jostle.controllers.policy.constraints.configuration import Configuration, RowKinematics
from jostle.controllers.policy.constraints.inference import Rows
from jostle.controllers.policy.constraints.soles import Soles, find_soles
from jostle.models.connected_model import Connected
from jostle.skeleton import Skeleton
from jostle.types import Array, Float


@dataclass(frozen=True, eq=False)
class Anatomy:
    """The body of a model."""

    model: Connected

    @cached_property
    def kinematics(self) -> RowKinematics:
        return RowKinematics(self.model.features)

    @property
    def skeleton(self) -> Skeleton:
        return self.model.features.skeleton

    @cached_property
    def body(self) -> Body:
        return build_body(self.skeleton)

    @cached_property
    def soles(self) -> Soles:
        return find_soles(self.model)

    @cached_property
    def girth(self) -> float:
        """Half of how wide the body is at the pelvis: as near as it comes to a wall."""
        own = [shape for shape in self.body.shapes if shape.joint == 0]
        sizes = [shape.radius if isinstance(shape, Capsule) else float(np.max(shape.half[:2])) for shape in own]
        return max(sizes, default=0.08 * self.soles.size)

    def part(self, name: str) -> int:
        return self.body.part(name)

    def limb(self, joint: int, bones: int = 2) -> tuple[int, float]:
        """The joint so many bones up, and how far it is at most: the shoulder of a hand, the hip of a foot."""
        length, parents, offsets = 0.0, self.skeleton.parents, self.skeleton.offsets
        while bones and parents[joint] >= 0:
            bone = float(np.linalg.norm(offsets[joint]))
            length, bones, joint = length + bone, bones - (bone > 1e-3), int(parents[joint])
        return joint, length


@dataclass(frozen=True, eq=False)
class Moment:
    """A frame, before its pose is found."""

    anatomy: Anatomy
    before: Configuration  # the last frame, as it was shown
    mean: Configuration  # the conditional mean, where the root is by now
    dt: float
    target: Float[Array, "3"] | None = None  # what the user pointed at last, in the world


@runtime_checkable
class Constraint(Protocol):
    def init(self, anatomy: Anatomy) -> Any:
        """What it remembers at first; refuses bodies that it cannot be for."""
        ...

    def decide(self, moment: Moment, memory: Any, share: float) -> Any:
        """What it remembers from now on."""
        ...

    def rows(self, moment: Moment, here: Configuration, memory: Any, share: float) -> Rows | None:
        """None where nothing is asked for now."""
        ...
