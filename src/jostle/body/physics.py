# pyright: reportAttributeAccessIssue=false
# mujoco takes its names from compiled modules that have no type stubs.
"""A body in MuJoCo's terms: the compiled model, and poses and velocities in and out of its coordinates.

MuJoCo's conventions, which every controller lives with: `qpos` holds the root's position, its quaternion, and then one
quaternion a ball joint (one angle a hinge). `qvel` holds the root's linear velocity in the *world*, its angular
velocity in the root's *own* frame, and each ball's angular velocity in the joint's *own* frame. So `qvel` is not the
derivative of `qpos`, and every quaternion brings one more position than velocities.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import mujoco
import numpy as np

from jostle.body.body import Body
from jostle.body.dofs import Ball, Dof, Hinges, angles_of, turn_by
from jostle.body.mjcf import Ground, Options, build_spec, compile_spec, name_of
from jostle.errors import BodyError
from jostle.maths import quat
from jostle.skeleton import Pose
from jostle.types import Array, Float, Int


@dataclass(frozen=True, eq=False)
class Physics:
    """A body and its MuJoCo model. `model` is not to be changed; a batch of simulations keeps changes of its own."""

    body: Body
    model: mujoco.MjModel
    dofs: Mapping[int, Dof]  # joint -> how it turns; the joints that are not here are balls

    @cached_property
    def bodies(self) -> Int[Array, "J"]:
        """The MuJoCo body of each joint."""
        names = [name_of(self.body, j) for j in range(self.body.skeleton.joint_count)]
        return np.array([self.model.body(name).id for name in names])

    @cached_property
    def qpos_at(self) -> Int[Array, "J"]:
        """Where each joint's numbers begin in qpos; the root's quaternion for the root, -1 for a weld."""
        return self._starts(self.model.jnt_qposadr)

    @cached_property
    def qvel_at(self) -> Int[Array, "J"]:
        """Where each joint's numbers begin in qvel; the root's angular velocity for the root, -1 for a weld."""
        return self._starts(self.model.jnt_dofadr)

    def _starts(self, addresses: Int[Array, "n"]) -> Int[Array, "J"]:
        first = self.model.body_jntadr[self.bodies]
        starts = np.where(first < 0, -1, addresses[first])
        starts[0] += 3
        return starts

    @property
    def velocity_count(self) -> int:
        return self.model.nv

    @cached_property
    def _balls(self) -> Int[Array, "n"]:
        return np.array([j for j in range(len(self.bodies)) if isinstance(self.dofs.get(j, Ball()), Ball)])

    @cached_property
    def _hinged(self) -> dict[int, Hinges]:
        return {joint: dof for joint, dof in self.dofs.items() if isinstance(dof, Hinges)}

    def position_count(self, joint: int) -> int:
        """How many numbers of qpos turn this joint: four for a ball and the root, one a hinge."""
        hinges = self._hinged.get(joint)
        return 4 if hinges is None else len(hinges.hinges)

    def to_qpos(self, pose: Pose) -> Float[Array, "*t nq"]:
        """MuJoCo's positions for a pose. What welds and hinges cannot do is left out; moving bones are not kept."""
        qpos = np.empty((*pose.root.shape[:-1], self.model.nq))
        qpos[..., :3] = pose.root
        at = self.qpos_at[self._balls][:, None] + np.arange(4)
        qpos[..., at] = quat.normalise(pose.wxyz[..., self._balls, :])
        for joint, hinges in self._hinged.items():
            start = self.qpos_at[joint]
            qpos[..., start : start + len(hinges.hinges)] = angles_of(hinges, pose.wxyz[..., joint, :])
        return qpos

    def to_pose(self, qpos: Float[Array, "*t nq"]) -> Pose:
        """The pose that MuJoCo's positions mean."""
        wxyz = quat.identity((*qpos.shape[:-1], self.body.skeleton.joint_count))
        at = self.qpos_at[self._balls][:, None] + np.arange(4)
        wxyz[..., self._balls, :] = quat.normalise(qpos[..., at])
        for joint, hinges in self._hinged.items():
            start = self.qpos_at[joint]
            wxyz[..., joint, :] = turn_by(hinges, qpos[..., start : start + len(hinges.hinges)])
        return Pose(qpos[..., :3].copy(), wxyz)

    def velocity_between(
        self, start: Float[Array, "*t nq"], end: Float[Array, "*t nq"], dt: float
    ) -> Float[Array, "*t nv"]:
        """The constant `qvel` that takes one configuration to the other in `dt` seconds."""
        qvel = np.zeros((*start.shape[:-1], self.model.nv))
        qvel[..., :3] = end[..., :3] - start[..., :3]
        from_at = self.qpos_at[self._balls][:, None] + np.arange(4)
        to_at = self.qvel_at[self._balls][:, None] + np.arange(3)
        qvel[..., to_at] = quat.log(quat.inv_mul(start[..., from_at], end[..., from_at]))
        for joint, hinges in self._hinged.items():
            n, p, v = len(hinges.hinges), self.qpos_at[joint], self.qvel_at[joint]
            qvel[..., v : v + n] = end[..., p : p + n] - start[..., p : p + n]
        return qvel / dt

    def displaced(self, qpos: Float[Array, "*t nq"], step: Float[Array, "*t nv"]) -> Float[Array, "*t nq"]:
        """Where a configuration comes when it moves by `step`, such as qvel dt: the inverse of `velocity_between`."""
        out = qpos.copy()
        out[..., :3] += step[..., :3]
        at = self.qpos_at[self._balls][:, None] + np.arange(4)
        turns = quat.exp(step[..., self.qvel_at[self._balls][:, None] + np.arange(3)])
        out[..., at] = quat.normalise(quat.mul(qpos[..., at], turns))
        for joint, hinges in self._hinged.items():
            n, p, v = len(hinges.hinges), self.qpos_at[joint], self.qvel_at[joint]
            out[..., p : p + n] += step[..., v : v + n]
        return out


def compile_body(
    body: Body,
    ground: Ground | None = None,
    options: Options | None = None,
    dofs: Mapping[str, Dof] | None = None,
) -> Physics:
    """Compile a body to MuJoCo: without a ground for analysis, with one for simulation.

    `dofs` maps parts (roles or joint names) to `Ball(limit)` or `Hinges(…)`; all other joints are balls without limits.
    """
    try:
        model = compile_spec(build_spec(body, ground, options, dofs))
    except ValueError as error:
        raise BodyError(f"MuJoCo cannot make a model of this body: {' '.join(str(error).split())}.") from None
    return Physics(body, model, {body.part(name): dof for name, dof in (dofs or {}).items()})
