"""Inverse dynamics of a clip: which forces would make this motion, and what the world would have to give at the root.

    M(q) a + c(q, v) = (root wrench; joint torques)

Nothing pulls a real body at its root: the six root forces are what ground and hands of others must have given. Written
as a force and a moment about the centre of mass they do not depend on which joint is the root.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.body.dynamics import Dynamics
from jostle.body.motion import CUTOFF, Motion, to_motion
from jostle.body.physics import Physics
from jostle.clips import Clip
from jostle.maths import quat
from jostle.types import Array, Float


@dataclass(frozen=True, eq=False)
class InverseDynamics:
    """What a motion needs, frame by frame. Without ground forces taken off, leg torques hold only in flight."""

    physics: Physics
    motion: Motion
    forces: Float[Array, "T nv"]  # generalised: N for the root's first three, N m for the others
    com: Float[Array, "T 3"]
    force: Float[Array, "T 3"]  # on the whole body, in the world: N
    moment: Float[Array, "T 3"]  # likewise, about the centre of mass: N m

    @property
    def torques(self) -> Float[Array, "T J 3"]:
        """At each ball joint, in its own frame; the root's row is zero, for nothing acts there."""
        return joint_torques(self.physics, self.forces)


def inverse_dynamics(physics: Physics, clip: Clip, cutoff: float | None = CUTOFF) -> InverseDynamics:
    """The forces that make a clip's motion, its accelerations low-passed at `cutoff` Hz."""
    return inverse_of(physics, to_motion(physics, clip, cutoff))


def inverse_of(physics: Physics, motion: Motion) -> InverseDynamics:
    """The same for a motion in MuJoCo's coordinates, whose derivatives may be exact."""
    instant = Dynamics(physics)
    forces, com = np.empty_like(motion.qvel), np.empty((len(motion.qpos), 3))
    for frame, (qpos, qvel, qacc) in enumerate(zip(motion.qpos, motion.qvel, motion.qacc, strict=True)):
        instant.set(qpos, qvel)
        forces[frame], com[frame] = instant.inverse(qacc), instant.com()
    force = forces[:, :3]
    about_root = quat.apply(motion.qpos[:, 3:7], forces[:, 3:6])  # MuJoCo's are in the root's own frame
    moment = about_root - np.cross(com - motion.qpos[:, :3], force)
    return InverseDynamics(physics, motion, forces, com, force.copy(), moment)


def joint_torques(physics: Physics, forces: Float[Array, "*t nv"]) -> Float[Array, "*t J 3"]:
    """Generalised forces by joint: three a ball in its own frame; hinges fill one each, what is missing is zero."""
    torques = np.zeros((*forces.shape[:-1], len(physics.bodies), 3))
    for joint in range(1, len(physics.bodies)):
        count = min(physics.position_count(joint), 3)
        at = physics.qvel_at[joint]
        torques[..., joint, :count] = forces[..., at : at + count]
    return torques
