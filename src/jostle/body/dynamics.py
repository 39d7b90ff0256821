# pyright: reportAttributeAccessIssue=false
# mujoco takes its names from compiled modules that have no type stubs.
"""The body at one instant: mass matrix, Jacobians, momentum, energy and forces.

    instant = Dynamics(physics)
    instant.set(qpos, qvel)
    M, J = instant.mass_matrix(), instant.jacobian(chest)

`set` computes positions once; everything after it costs one call to MuJoCo, some microseconds. Velocities and forces
are in MuJoCo's order (see physics.py). An instant is a workspace: keep one per thread.
"""

from __future__ import annotations

import mujoco
import numpy as np

from jostle.body.body import GRAVITY
from jostle.body.physics import Physics
from jostle.types import Array, Float, Int


class Dynamics:
    """One configuration of a body, set as often as you like."""

    def __init__(self, physics: Physics) -> None:
        self.physics = physics
        self.model = physics.model
        self.data = mujoco.MjData(physics.model)
        self._bodies = physics.bodies
        self._root = int(physics.bodies[0])
        self.set(self.data.qpos.copy())

    def set(self, qpos: Float[Array, "nq"], qvel: Float[Array, "nv"] | None = None) -> None:
        """Put the body into a configuration, at rest unless velocities are given."""
        self.data.qpos[:] = qpos
        self.data.qvel[:] = 0.0 if qvel is None else qvel
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)
        mujoco.mj_comVel(self.model, self.data)

    # Positions

    def between(self, start: Float[Array, "nq"], end: Float[Array, "nq"], dt: float) -> Float[Array, "nv"]:
        """`Physics.velocity_between` for one pair of configurations, by MuJoCo: thirty times as fast."""
        qvel = np.empty(self.model.nv)
        mujoco.mj_differentiatePos(self.model, qvel, dt, start, end)
        return qvel

    def displaced(self, qpos: Float[Array, "nq"], qvel: Float[Array, "nv"], dt: float) -> Float[Array, "nq"]:
        """`Physics.displaced` by qvel dt for one configuration, by MuJoCo."""
        out = qpos.copy()
        mujoco.mj_integratePos(self.model, out, qvel, dt)
        return out

    def positions(self, joints: Int[Array, "n"]) -> Float[Array, "n 3"]:
        """Where joints are in the world."""
        return self.data.xpos[self._bodies[joints]]

    def turns(self, joints: Int[Array, "n"]) -> Float[Array, "n 4"]:
        """How the frames of joints are turned in the world."""
        return self.data.xquat[self._bodies[joints]]

    def axes(self, joints: Int[Array, "*n"]) -> Float[Array, "*n 3 3"]:
        """The same as rotation matrices."""
        return self.data.xmat[self._bodies[joints]].reshape(*joints.shape, 3, 3)

    def wxyz_of(self, axes: Float[Array, "n 3 3"]) -> Float[Array, "n 4"]:
        """`quat.from_matrix`, by MuJoCo: ten times as fast for a few."""
        out = np.empty((len(axes), 4))
        for row, matrix in zip(out, axes.reshape(-1, 9), strict=True):
            mujoco.mju_mat2Quat(row, matrix)
        return out

    def coms(self) -> Float[Array, "J 3"]:
        """Where the centre of mass of every joint's part is."""
        return self.data.xipos[self._bodies]

    def com(self) -> Float[Array, "3"]:
        """Where the centre of mass of the whole body is."""
        return self.data.subtree_com[self._root].copy()

    def point(self, joint: int, point: Float[Array, "3"] | None = None) -> Float[Array, "3"]:
        """A point of a joint's frame in the world; None is the part's centre of mass."""
        body = self._bodies[joint]
        if point is None:
            return self.data.xipos[body].copy()
        return self.data.xpos[body] + self.data.xmat[body].reshape(3, 3) @ point

    # Jacobians

    def jacobian(self, joint: int, point: Float[Array, "3"] | None = None) -> Float[Array, "3 nv"]:
        """J with J qvel = the world velocity of a point of the joint's frame; None is the part's centre of mass."""
        jacobian = np.zeros((3, self.model.nv))
        mujoco.mj_jac(self.model, self.data, jacobian, None, self.point(joint, point), self._bodies[joint])
        return jacobian

    def jacobian_at(self, joint: int, world: Float[Array, "3"]) -> Float[Array, "3 nv"]:
        """The same for a point given in the world that moves with the joint."""
        jacobian = np.zeros((3, self.model.nv))
        mujoco.mj_jac(self.model, self.data, jacobian, None, world, self._bodies[joint])
        return jacobian

    def rotation_jacobian(self, joint: int) -> Float[Array, "3 nv"]:
        """J with J qvel = the angular velocity of a joint's frame, in the world."""
        jacobian = np.zeros((3, self.model.nv))
        mujoco.mj_jac(self.model, self.data, None, jacobian, np.zeros(3), self._bodies[joint])
        return jacobian

    def com_jacobian(self) -> Float[Array, "3 nv"]:
        """J with J qvel = the velocity of the body's centre of mass."""
        jacobian = np.zeros((3, self.model.nv))
        mujoco.mj_jacSubtreeCom(self.model, self.data, jacobian, self._root)
        return jacobian

    # Mass and motion

    def mass_matrix(self) -> Float[Array, "nv nv"]:
        """M, with kinetic energy qvel' M qvel / 2."""
        mujoco.mj_makeM(self.model, self.data)
        matrix = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, matrix)
        return matrix

    def momentum(self) -> tuple[Float[Array, "3"], Float[Array, "3"]]:
        """Linear momentum, and angular momentum about the centre of mass."""
        mujoco.mj_subtreeVel(self.model, self.data)
        linear = self.data.subtree_linvel[self._root] * self.model.body_subtreemass[self._root]
        return linear, self.data.subtree_angmom[self._root].copy()

    def kinetic_energy(self) -> float:
        """Joules."""
        mujoco.mj_makeM(self.model, self.data)
        product = np.zeros(self.model.nv)
        mujoco.mj_mulM(self.model, self.data, product, self.data.qvel)
        return 0.5 * float(self.data.qvel @ product)

    def potential_energy(self) -> float:
        """Joules above the height 0."""
        return GRAVITY * float(self.model.body_subtreemass[self._root] * self.com()[2])

    def effective_mass(self, joint: int, direction: Float[Array, "3"], point: Float[Array, "3"] | None = None) -> float:
        """What a point weighs to a push along `direction`: 1 / (n' J M^-1 J' n), in kg."""
        along = self.jacobian(joint, point).T @ (direction / np.linalg.norm(direction))
        return 1.0 / float(along @ np.linalg.solve(self.mass_matrix(), along))

    # Forces

    def bias_forces(self) -> Float[Array, "nv"]:
        """Gravity, Coriolis and centrifugal terms: c in M qacc + c = forces."""
        forces = np.zeros(self.model.nv)
        mujoco.mj_rne(self.model, self.data, 0, forces)
        return forces

    def inverse(self, qacc: Float[Array, "nv"]) -> Float[Array, "nv"]:
        """M qacc + c: the forces that make these accelerations, the root's six among them."""
        self.data.qacc[:] = qacc
        forces = np.zeros(self.model.nv)
        mujoco.mj_rne(self.model, self.data, 1, forces)
        return forces
