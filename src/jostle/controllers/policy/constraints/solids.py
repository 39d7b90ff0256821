"""Limbs stay out of what is solid: a post, a box, a wall.

The body is balls along its bones (`skin`). Of each bone the ball that is deepest in an obstacle, or nearest to it, asks
to be outside: an inequality along the obstacle's surface normal, linearised at that ball. As long as the mean is
outside nothing is asked for, and the character comes back at the pace of the data once it is.

The root goes where the velocities of the model take it, so no pose can keep the trunk out of a wall that the character
walks into. `stops` is for that: it takes from a step on the ground what leads the pelvis into an obstacle, and the
character goes along it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jostle.controllers.obstacles import Obstacle
from jostle.controllers.policy.constraints.configuration import Configuration
from jostle.controllers.policy.constraints.constraint import Anatomy, Moment
from jostle.controllers.policy.constraints.inference import Rows, at_least
from jostle.controllers.skin import Skin, skin_of
from jostle.types import Array, Float

NEAR = 0.08  # metres: obstacles further away are not looked at
OUTWARDS = 3.0  # metres a second: as fast as anything is pushed out
CREEP = 0.01  # metres a frame: as fast as the root comes out of an obstacle that it began in


@dataclass(frozen=True, eq=False)
class Clear:
    """Every part of the body keeps clear of obstacles, by a margin in metres."""

    obstacles: Sequence[Obstacle]
    margin: float = 0.01

    def init(self, anatomy: Anatomy) -> Skin:
        return skin_of(anatomy.body)

    def decide(self, moment: Moment, memory: Skin, share: float) -> Skin:
        return memory

    def rows(self, moment: Moment, here: Configuration, memory: Skin, share: float) -> Rows | None:
        at = here.points(memory.joints, memory.points)
        joints, points, normals, deep = [], [], [], []
        for obstacle in self.obstacles:
            far, normal = obstacle.distance(at)
            far = far - memory.radii - self.margin
            for ball in memory.deepest(far, NEAR):
                joints.append(memory.joints[ball])
                points.append(at[ball])
                normals.append(normal[ball])
                deep.append(-far[ball])
        if not joints:
            return None
        jacobian = here.jacobian(np.array(joints), np.array(points))
        along = np.einsum("nk,nkp->np", np.array(normals), jacobian)
        return at_least(along, np.minimum(share * np.array(deep), OUTWARDS * moment.dt))

    def stops(self, before: Float[Array, "3"], after: Float[Array, "3"], girth: float, share: float) -> Array:
        """Where the root really comes to: `after`, without what leads its girth into an obstacle."""
        both = np.stack([before, after])
        for obstacle in self.obstacles:
            far, normal = obstacle.distance(both)
            deep = girth + self.margin - float(far[1])
            level = normal[1] * [1.0, 1.0, 0.0]
            if deep > 0.0 and level @ level > 0.1:
                gone = min(deep, max(float(far[0] - far[1]), 0.0) + share * CREEP)
                both[1] = both[1] + share * gone * level / np.linalg.norm(level)
        return both[1]
