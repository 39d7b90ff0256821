"""What a push does to a pose: the equations of motion of Ye & Liu 2010, (6) to (8).

The pose q~ that a model predicts is made by some forces, whatever they are. Under a push they are taken to stay as they
were, so only the push and what it moves is left of Lagrange's equations. In terms of the displacement d of the pose,

    G = M(q~) d / dt^2 - J' f,                                                                                 (8)

which is minimised together with C, the displacement of what supports the body (a foot that hardly moves). Two
departures:

- The paper minimises 1/2 |G|^2 + 1/2 |C|^2, which weighs newtons of one joint against newton metres of another. Here
  d is where the work is least, so it is one linear system with the mass matrix, whatever the units of the joints:

    (M + kappa diag(M_joints) + w C' C) d = dt^2 J' f.

- kappa is tension: a push on a relaxed chain of bones folds it at the joint next to it, and 300 N at the torso throw
  the head back by ten degrees in the first frame. People stiffen. Joints resist as if they had kappa times more
  inertia about their own axes; the six coordinates of the root resist nothing, so momentum is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jostle.body import Dynamics, Physics
from jostle.skeleton import Pose
from jostle.types import Array, Float

TENSION = 4.0  # kappa
HOLD = 30.0  # masses of the body: how firmly a planted foot stays where it is


@dataclass(frozen=True, eq=False)
class Load:
    """A force on a joint's part, now."""

    joint: int
    force: Float[Array, "3"]  # newtons, in the frame of the pose
    point: Float[Array, "3"] | None = None  # in the joint's frame; None is the part's centre of mass


@dataclass(frozen=True, eq=False)
class Stand:
    """A point of a joint's frame that supports the body."""

    joint: int
    place: Float[Array, "3"]


class Deformer:
    """A workspace for one body: keep one per thread."""

    def __init__(self, physics: Physics, dt: float, tension: float = TENSION, hold: float = HOLD) -> None:
        self.physics, self.dt, self.tension = physics, dt, tension
        self.hold = hold * physics.body.total_mass
        self._instant = Dynamics(physics)

    def deform(self, pose: Pose, loads: Sequence[Load], stands: Sequence[Stand] = ()) -> Pose:
        """The pose after a frame of these forces."""
        return self.displaced(pose, self.displacement(pose, loads, stands))

    def displacement(self, pose: Pose, loads: Sequence[Load], stands: Sequence[Stand] = ()) -> Float[Array, "nv"]:
        """What a frame of these forces adds to a pose, in MuJoCo's velocities times seconds."""
        matrix, pushed, across = self.parts(pose, loads, stands)
        inner = np.arange(6, len(matrix))
        matrix[inner, inner] *= 1.0 + self.tension
        matrix += self.hold * (across.T @ across)
        return self.dt**2 * np.linalg.solve(matrix, pushed)

    def parts(
        self, pose: Pose, loads: Sequence[Load], stands: Sequence[Stand]
    ) -> tuple[Float[Array, "nv nv"], Float[Array, "nv"], Float[Array, "C nv"]]:
        """M, J' f and the Jacobian of C, at a pose."""
        now = self._instant
        now.set(self.physics.to_qpos(pose))
        matrix = now.mass_matrix()
        pushed = sum((now.jacobian(load.joint, load.point).T @ load.force for load in loads), np.zeros(len(matrix)))
        rows = [now.jacobian(stand.joint, stand.place) for stand in stands]
        return matrix, pushed, np.concatenate([np.zeros((0, len(matrix))), *rows])

    def displaced(self, pose: Pose, step: Float[Array, "nv"]) -> Pose:
        return self.physics.to_pose(self.physics.displaced(self.physics.to_qpos(pose), step))
