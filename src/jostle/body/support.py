"""Ground forces estimated from motion alone, and the root residual: what feet could not have given.

Inverse dynamics says which force and moment the world gave the body (inverse.py). Planted feet can give forces at the
corners of their soles that stay in the friction cone; any sum of such forces has its centre of pressure inside the foot
by construction. With the cone's four edges as generators, each frame is a small non-negative least squares,

    min |W (G x - w)|^2 + sum over corners |R f|^2,   x >= 0,

w the root wrench, f the corner forces that x makes, G x their wrench. W measures forces in body weights and moments
(about the centre of mass) in body weights times the body's height, so that both are plain numbers of one kind. Two feet
on the ground can also press against each other, and the wrench alone does not say how much; the faint second term
decides: it shares the load evenly and prefers forces that point at the centre of mass, as those of walking people do.
What is left, w - G x, is the **root residual**: a push by another hand, a foot that the contact finder missed, noise,
or motion that no body could make.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.optimize

from jostle.body.dynamics import Dynamics
from jostle.body.inverse import InverseDynamics, inverse_dynamics, joint_torques
from jostle.body.motion import CUTOFF
from jostle.body.physics import Physics
from jostle.clips import Clip
from jostle.clips.contacts import Contacts, find_contacts
from jostle.maths import quat
from jostle.types import Array, Bool, Float, Int

FRICTION = 0.8  # rubber on a dry floor
_EVEN, _ASIDE = 1e-3, 1e-2  # weights of a corner's force towards the centre of mass, and across that line


@dataclass(frozen=True, eq=False)
class Support:
    """The points by which feet touch the ground, frame by frame."""

    names: tuple[str, ...]  # of the feet
    foot: Int[Array, "P"]  # which foot each point belongs to
    joint: Int[Array, "P"]  # which joint carries it
    points: Float[Array, "T P 3"]  # in the world, on the floor
    planted: Bool[Array, "T P"]


@dataclass(frozen=True, eq=False)
class GroundForces:
    """Forces at every support point, and what they leave unexplained."""

    dynamics: InverseDynamics
    support: Support
    forces: Float[Array, "T P 3"]  # on the body: N
    residual_force: Float[Array, "T 3"]  # N
    residual_moment: Float[Array, "T 3"]  # N m, about the centre of mass
    residual: Float[Array, "T"]  # norm of both, in body weights (moments per body height)

    @property
    def by_foot(self) -> Float[Array, "T F 3"]:
        """The force on each foot, in the order of `support.names`: N."""
        feet = np.arange(len(self.support.names))
        return np.stack([self.forces[:, self.support.foot == f].sum(axis=1) for f in feet], axis=1)

    @property
    def cop(self) -> Float[Array, "T F 3"]:
        """Each foot's centre of pressure, on the floor; NaN where it bears nothing."""
        centres = np.full((*self.forces.shape[:1], len(self.support.names), 3), np.nan)
        for f in range(len(self.support.names)):
            mine = self.support.foot == f
            weights = self.forces[:, mine, 2]  # (T, p)
            total = weights.sum(axis=1)
            bears = total > 1e-6 * self.dynamics.physics.body.weight
            moments = np.einsum("tp,tpk->tk", weights[bears], self.support.points[bears][:, mine])
            centres[bears, f] = moments / total[bears, None]
        return centres

    @property
    def torques(self) -> Float[Array, "T J 3"]:
        """Joint torques with the ground forces taken off: what muscles would have given."""
        physics, motion = self.dynamics.physics, self.dynamics.motion
        instant, left = Dynamics(physics), self.dynamics.forces.copy()
        for frame, qpos in enumerate(motion.qpos):
            instant.set(qpos)
            for p in np.flatnonzero(self.support.planted[frame]):
                jacobian = instant.jacobian_at(int(self.support.joint[p]), self.support.points[frame, p])
                left[frame] -= jacobian.T @ self.forces[frame, p]
        return joint_torques(physics, left)


def ground_forces(
    physics: Physics,
    clip: Clip,
    contacts: Contacts | None = None,
    cutoff: float | None = CUTOFF,
    friction: float = FRICTION,
) -> GroundForces:
    """Distribute a clip's root wrench to its planted feet; contacts are found in the clip unless given."""
    needs = inverse_dynamics(physics, clip, cutoff)
    return distribute(needs, find_support(physics, clip, contacts or find_contacts(clip)), friction)


def root_residual(
    physics: Physics, clip: Clip, contacts: Contacts | None = None, cutoff: float | None = CUTOFF
) -> Float[Array, "T"]:
    """Norm of the six root forces that planted feet cannot give, in body weights (moments per body height)."""
    return ground_forces(physics, clip, contacts, cutoff).residual


def find_support(physics: Physics, clip: Clip, contacts: Contacts) -> Support:
    """Sole corners on the floor for a person, one point a paw for an animal, and in which frames they are down."""
    soles = {sole.name: sole for sole in physics.body.soles}
    foot, joints, points, planted = [], [], [], []
    for f, (name, paw) in enumerate(zip(contacts.names, contacts.joints, strict=True)):
        if name not in soles:
            foot, joints = [*foot, f], [*joints, paw]
            points.append(clip.positions[:, paw])
            planted.append(contacts.planted[:, f])
            continue
        sole = soles[name]
        for label, joint, point in zip(sole.labels, sole.joints, sole.points, strict=True):
            foot, joints = [*foot, f], [*joints, joint]
            points.append(clip.positions[:, joint] + quat.apply(clip.globals.wxyz[:, joint], point))
            planted.append((contacts.heel if "heel" in label else contacts.toe)[:, f] & contacts.planted[:, f])
    at = np.stack(points, axis=1)
    at[..., 2] = contacts.ground
    return Support(contacts.names, np.array(foot), np.array(joints), at, np.stack(planted, axis=1))


def distribute(needs: InverseDynamics, support: Support, friction: float = FRICTION) -> GroundForces:
    """Solve every frame's small problem; frames without a planted foot leave their whole wrench as residual."""
    body = needs.physics.body
    scale = np.repeat([1.0, 1.0 / body.height], 3) / body.weight
    wrench = np.concatenate([needs.force, needs.moment], axis=1)  # (T, 6)
    edges = friction / np.sqrt(2.0) * np.array([[1, 1, 0], [1, -1, 0], [-1, -1, 0], [-1, 1, 0]]) + [0, 0, 1]  # (4, 3)
    forces, left = np.zeros(support.points.shape), wrench.copy()
    for frame, planted in enumerate(support.planted):
        if planted.any():
            arms = support.points[frame, planted] - needs.com[frame]
            found = _share(arms, edges, wrench[frame] * scale, body.height) * body.weight
            forces[frame, planted] = found
            left[frame] -= np.concatenate([found.sum(axis=0), np.cross(arms, found).sum(axis=0)])
    size = np.linalg.norm(left * scale, axis=1)
    return GroundForces(needs, support, forces, left[:, :3], left[:, 3:], size)


def _share(
    arms: Float[Array, "p 3"], edges: Float[Array, "4 3"], wrench: Float[Array, "6"], height: float
) -> Float[Array, "p 3"]:
    """One frame: corner forces in body weights whose wrench comes nearest to the one asked for."""
    pushes = np.broadcast_to(edges, (len(arms), 4, 3))
    generators = np.concatenate([pushes, np.cross(arms[:, None], edges) / height], axis=2).reshape(-1, 6).T  # (6, 4p)
    taste = _taste(arms, edges)
    goal = np.concatenate([wrench, np.zeros(len(taste))])
    amounts = scipy.optimize.nnls(np.concatenate([generators, taste]), goal, maxiter=50 * len(goal))[0]
    return amounts.reshape(-1, 4) @ edges


def _taste(arms: Float[Array, "p 3"], edges: Float[Array, "4 3"]) -> Float[Array, "m m"]:
    """R for all corners, in blocks: weigh each force along and across the line to the centre of mass.

    Four edges span three dimensions, so a fourth row weighs the one mix of amounts that makes no force.
    """
    count = len(arms)
    along = arms[:, :, None] * arms[:, None, :] / np.sum(arms**2, axis=1)[:, None, None]  # (p, 3, 3)
    blocks = np.empty((count, 4, 4))
    blocks[:, :3] = (_EVEN * along + _ASIDE * (np.eye(3) - along)) @ edges.T
    blocks[:, 3] = [_EVEN, -_EVEN, _EVEN, -_EVEN]
    rows = np.zeros((count, 4, count, 4))
    rows[np.arange(count), :, np.arange(count)] = blocks
    return rows.reshape(4 * count, 4 * count)
