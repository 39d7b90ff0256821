"""One frame of a body that gives way: Ye & Liu 2008, section 4.2.

The upper body moves with the velocities v+ that make the best of

    |w1 (q + dt v+ - m+)|^2 + |w2 (v+ - v_ref)|^2 + |w3 Ea' (u(v+) - u)|^2      (3), (4), (5)
    with  E' u(v+) = 0                                                          (2)

where m+ is the next pose of the motion, u(v+) the torques that the equations of motion need, Ea and E the actuated and
the near-unactuated directions. u is linear in v+, so a frame is one linear system. Root and legs go where the motion
takes them.

The paper's own reading (`literal`) grows without a push, by some 5 a second: joints without any torque are pendulums,
and an upright spine is one that stands on its head. Departures that cure it:

- **Passive joints.** E' (u + D (v+ - v_ref) + K (q + dt v+ - m+)) = 0: muscles at rest are springs and dampers.
- **Velocities of the motion.** The paper damps v+ itself, so that the body lags behind what it should do.
- **Tracking where it is paid for.** Errors are weighed by Ea Ea' + 1/2: along near-unactuated directions only half, for
  there the constraint decides anyway, and tracking would fight it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.body import Dynamics, Physics
from jostle.controllers.compliant.actuation import Actuation, upper_joints
from jostle.skeleton import find_roles, unsided
from jostle.types import Array, Float, Int

TRACK, DAMP, DAMP_SPINE = 200.0, 10.0, 30.0  # w1 and w2 of the paper
_SPINE = ("spine", "chest")
_PASSIVE = {  # N m s/rad and N m/rad: dampers and springs of joints at rest
    "spine": (8.0, 60.0),
    "chest": (8.0, 60.0),
    "neck": (0.6, 4.0),
    "head": (0.6, 4.0),
    "clavicle": (2.0, 10.0),
    "upper_arm": (1.0, 3.0),
    "forearm": (0.4, 1.5),
}


@dataclass(frozen=True)
class Weights:
    track: float = TRACK
    damp: float = DAMP
    damp_spine: float = DAMP_SPINE
    off_basis: float = 0.5  # of tracking, along near-unactuated directions


@dataclass(frozen=True, eq=False)
class Moment:
    """What a frame needs to know."""

    qpos: Float[Array, "nq"]
    qvel: Float[Array, "nv"]
    now: Float[Array, "nq"]  # of the motion
    then: Float[Array, "nq"]  # of the motion, a frame later
    loads: Float[Array, "nv"]  # generalised forces of pushes
    torques: Float[Array, "D"]  # of the frame before
    startled: float = 0.0  # w3: how much torques should stay, while nobody has had time to answer


class Yielding:
    """The linear system of a frame. It is a workspace: keep one per thread."""

    def __init__(
        self, physics: Physics, actuation: Actuation, k: int, weights: Weights | None = None, literal: bool = False
    ) -> None:
        self.physics, self.dofs, self.literal = physics, actuation.dofs, literal
        self.actuated, self.free = actuation.split(k)
        self._others: Int[Array, "R"] = np.setdiff1d(np.arange(physics.velocity_count), self.dofs)
        self._instant = Dynamics(physics)
        kinds = dof_kinds(physics)
        given = Weights() if weights is None else weights
        self._track = given.track
        self._damp = np.array([given.damp_spine if kind in _SPINE else given.damp for kind in kinds])
        passive = np.array([(0.0, 0.0) if literal else _PASSIVE[kind] for kind in kinds])
        self._dampers, self._springs = passive.T
        metric = self.actuated @ self.actuated.T + given.off_basis * np.eye(len(self.dofs))
        self._metric = np.eye(len(self.dofs)) if literal else metric

    def step(self, at: Moment, dt: float) -> tuple[Float[Array, "nv"], Float[Array, "D"]]:
        """v+ of the whole body, and the torques of the upper body that make it so."""
        up, others, instant = self.dofs, self._others, self._instant
        wanted = self.physics.velocity_between(at.now, at.then, dt)[up]
        out = self.physics.velocity_between(at.qpos, at.then, dt)
        off = -dt * out[up]  # how far the body is from where the motion will be
        instant.set(at.qpos, at.qvel)
        mass, bias = instant.mass_matrix(), instant.bias_forces()
        own = mass[np.ix_(up, up)] / dt
        speeding = mass[np.ix_(up, others)] @ (out[others] - at.qvel[others]) / dt
        rest = speeding - own @ at.qvel[up] + bias[up] - at.loads[up]  # u = own v+ + rest
        free = self.free.T
        rows = free @ (own + np.diag(self._dampers + dt * self._springs))
        aim = -free @ (rest - self._dampers * wanted + self._springs * off)
        squares = (self._track * dt) ** 2 * self._metric + np.diag(self._damp**2)
        towards = -(self._track**2) * dt * (self._metric @ off)
        if not self.literal:
            towards = towards + self._damp**2 * wanted
        if at.startled:
            seen = at.startled * self.actuated.T
            squares = squares + own @ seen.T @ seen @ own
            towards = towards + own @ seen.T @ seen @ (at.torques - rest)
        k = len(rows)
        system = np.block([[squares, rows.T], [rows, np.zeros((k, k))]])
        out[up] = np.linalg.solve(system, np.concatenate([towards, aim]))[: len(up)]
        return out, own @ out[up] + rest


def dof_kinds(physics: Physics) -> list[str]:
    """What part each coordinate of the upper body belongs to; the spine's where a joint has no role."""
    known = {joint: unsided(role) for role, joint in find_roles(physics.body.skeleton).items()}
    kinds: list[str] = []
    for joint in upper_joints(physics.body.skeleton):
        kind = known.get(joint, "spine")
        kinds += [kind if kind in _PASSIVE else "spine"] * min(physics.position_count(joint), 3)
    return kinds
