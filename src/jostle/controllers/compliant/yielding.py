"""One frame of a body that gives way: Ye & Liu 2008, section 4.2.

The upper body moves with the velocities v+ that make the best of

    |w1 (q + dt v+ - m+)|^2 + |w2 (v+ - v_ref)|^2 + |w3 Ea' (u(v+) - u)|^2 + objectives      (3), (4), (5)
    with  E' u(v+) = 0                                                                       (2)

where m+ is the next pose of the motion, u(v+) the torques that the equations of motion need, Ea and E the actuated and
the near-unactuated directions. u is linear in v+, so a frame is one linear system. Root and legs go where the motion
takes them.

The paper's own reading (`literal`) leaves the motion within a second, without a push: joints without any torque are
pendulums, and an upright spine is one that stands on its head. Departures that cure it:

- **Passive joints.** E' (u + D (v+ - v_ref) + K (q + dt v+ - m+)) = 0: muscles at rest are springs and dampers.
- **Velocities of the motion.** The paper damps v+ itself, so that the body lags behind what it should do.
- **Tracking where it is paid for.** Errors are weighed by Ea Ea' + 1: along near-unactuated directions only half as
  much, for there the constraint decides anyway, and tracking would fight it.

Objectives are wanted with muscle: each of their rows may pull with a torque of its own, which enters (2).

And one that keeps it whole: **joints end.** Where a frame would take a joint too fast towards its limit (or towards
where the motion itself takes it, if that is further), it is solved again with a stop there, whose torque enters (2)
too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jostle.body import Dynamics, Physics
from jostle.controllers.compliant.actuation import Actuation
from jostle.controllers.compliant.joints import TRUNK, Stops, fingers_dofs, passive_joints, upper_kinds
from jostle.controllers.compliant.objectives import Objective, View
from jostle.maths import linalg, vec
from jostle.types import Array, Float, Int

TRACK, DAMP, DAMP_SPINE = 200.0, 10.0, 30.0  # w1 and w2 of the paper
_FIRM = 2000.0  # how hard a joint ends, beside w2
_MUSCLE = 5.0  # N m of ends and of objectives that count as much as a radian a second off the motion does with w2 = 1
_FASTEST = 25.0  # radians a second: nobody's joints part faster from a motion
_TRIES = 4  # times that a frame is solved, at most


@dataclass(frozen=True)
class Weights:
    track: float = TRACK
    damp: float = DAMP
    damp_spine: float = DAMP_SPINE
    off_basis: float = 1.0  # of tracking, along near-unactuated directions


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


@dataclass(frozen=True, eq=False)
class Yielded:
    """What came of a frame."""

    qpos: Float[Array, "nq"]
    qvel: Float[Array, "nv"]
    torques: Float[Array, "D"]  # of the upper body, that make it so


class Yielding:
    """The linear system of a frame. It is a workspace: keep one per thread."""

    def __init__(
        self,
        physics: Physics,
        actuation: Actuation,
        k: int,
        objectives: Sequence[Objective] = (),
        weights: Weights | None = None,
        literal: bool = False,
    ) -> None:
        self.physics, self.dofs, self.objectives, self.literal = physics, actuation.dofs, tuple(objectives), literal
        self.actuated, self.free = actuation.split(k)
        self.here, self._now, self._then = Dynamics(physics), Dynamics(physics), Dynamics(physics)
        self._others: Int[Array, "R"] = np.setdiff1d(np.arange(physics.velocity_count), self.dofs)
        self.fingers = fingers_dofs(physics)
        self._own, self._between = np.ix_(self.dofs, self.dofs), np.ix_(self.dofs, self._others)
        given = Weights() if weights is None else weights
        self.track = given.track
        self.damp = np.array([given.damp_spine if kind in TRUNK else given.damp for kind in upper_kinds(physics)])
        size = len(self.dofs)
        metric = self.actuated @ self.actuated.T + given.off_basis * np.eye(size)
        self.metric = np.eye(size) if literal else metric
        self.dampers, self.springs = passive_joints(physics)
        if literal:
            self.dampers, self.springs = np.zeros((size, size)), np.zeros((size, size))
        self._stops = Stops(physics)
        self._damping = np.diag(self.damp**2)
        self._system = np.zeros((size + k, size + k))

    def step(self, at: Moment, dt: float) -> Yielded:
        up, here, free = self.dofs, self.here, self.free.T
        wanted = here.between(at.now, at.then, dt)[up]  # v_ref
        out = here.between(at.qpos, at.then, dt)  # root and legs get there; the upper body's is found below
        off = -dt * out[up]  # q - m+
        own, rest = self._torques(at, out, dt)
        squares, towards = self._aims(at, off, wanted, own, rest, dt)
        passive, pull = self.dampers + dt * self.springs, self.springs @ off - self.dampers @ wanted
        kept, aim = free @ (own + passive), -free @ (rest + pull)  # (2)
        wishes, ends, tries = self._wishes(at, out, dt), _nothing(len(up)), 1 if self.literal else _TRIES
        while True:
            found = self._solved(squares, towards, kept, aim, wishes, ends)
            out[up] = found if self.literal else wanted + np.clip(found - wanted, -_FASTEST, _FASTEST)
            qpos, tries = here.displaced(at.qpos, out, dt), tries - 1
            ended = self._stops.beyond(qpos, at.qpos, at.now, at.then, dt) if tries else None
            if ended is None:
                return Yielded(qpos, out, own @ out[up] + rest)
            rows, room = ended
            ends = _both(ends, (_FIRM * rows, _FIRM * room / dt))

    def _torques(self, at: Moment, out: Float[Array, "nv"], dt: float) -> tuple[Float[Array, "D D"], Float[Array, "D"]]:
        """u = own v+ + rest: the torques that the equations of motion need."""
        up, others = self.dofs, self._others
        speeding, qvel = (out - at.qvel) / dt, at.qvel.copy()
        speeding[self.fingers], qvel[self.fingers] = 0.0, 0.0
        self.here.set(at.qpos, qvel)
        mass, bias = self.here.mass_matrix(), self.here.bias_forces()
        own = mass[self._own] / dt
        return own, mass[self._between] @ speeding[others] - own @ at.qvel[up] + bias[up] - at.loads[up]

    def _aims(
        self,
        at: Moment,
        off: Float[Array, "D"],
        wanted: Float[Array, "D"],
        own: Float[Array, "D D"],
        rest: Float[Array, "D"],
        dt: float,
    ) -> tuple[Float[Array, "D D"], Float[Array, "D"]]:
        """(3), (4) and (5) as v+' squares v+ / 2 - towards' v+."""
        squares = (self.track * dt) ** 2 * self.metric + self._damping
        towards = -(self.track**2) * dt * (self.metric @ off)
        if not self.literal:
            towards = towards + self.damp**2 * wanted
        if at.startled:
            seen = at.startled * (self.actuated.T @ own)
            squares = squares + seen.T @ seen
            towards = towards + seen.T @ (at.startled * (self.actuated.T @ (at.torques - rest)))
        return squares, towards

    def _solved(
        self,
        squares: Float[Array, "D D"],
        towards: Float[Array, "D"],
        kept: Float[Array, "k D"],
        aim: Float[Array, "k"],
        *more: tuple[Float[Array, "_ D"], Float[Array, "_"]],
    ) -> Float[Array, "D"]:
        """The least squares with kept v = aim, by its multipliers. `more` is wanted with muscle: rows v = speeds."""
        rows, speeds = _both(*more)
        size, torques = len(towards), len(speeds)
        if not torques:
            system = self._system
            system[:size, :size], system[size:, :size], system[:size, size:] = squares, kept, kept.T
            return linalg.solve(system, np.concatenate([towards, aim]))[:size]
        inner = size + torques
        pulls = rows / np.maximum(vec.length(rows), 1e-12)
        system = np.zeros((inner + len(aim), inner + len(aim)))
        system[:size, :size], system[size:inner, size:inner] = squares + rows.T @ rows, np.eye(torques) / _MUSCLE**2
        system[inner:, :inner] = np.concatenate([kept, -self.free.T @ pulls.T], axis=1)
        system[:inner, inner:] = system[inner:, :inner].T
        return linalg.solve(system, np.concatenate([towards + rows.T @ speeds, np.zeros(torques), aim]))[:size]

    def _wishes(self, at: Moment, out: Float[Array, "nv"], dt: float) -> tuple[Float[Array, "n D"], Float[Array, "n"]]:
        """The rows of all objectives, with what root and legs do already taken off."""
        if not self.objectives:
            return _nothing(len(self.dofs))
        self._now.set(at.now)
        self._then.set(at.then)
        view = View(self.here, self._now, self._then, dt)
        asked = [rows for objective in self.objectives if (rows := objective.rows(view)) is not None]
        if not asked:
            return _nothing(len(self.dofs))
        jacobian, wanted = (np.concatenate([getattr(rows, name) for rows in asked]) for name in ("jacobian", "wanted"))
        return jacobian[:, self.dofs], wanted - jacobian[:, self._others] @ out[self._others]


def _nothing(size: int) -> tuple[Float[Array, "n D"], Float[Array, "n"]]:
    return np.zeros((0, size)), np.zeros(0)


def _both(
    one: tuple[Float[Array, "_ D"], Float[Array, "_"]], other: tuple[Float[Array, "_ D"], Float[Array, "_"]]
) -> tuple[Float[Array, "_ D"], Float[Array, "_"]]:
    if not len(one[1]) or not len(other[1]):
        return one if len(one[1]) else other
    return np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1]])
