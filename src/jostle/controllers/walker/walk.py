"""The controller of Wang 2010, section 3.2, for a batch of walkers at once; SIMBICON (Yin et al. 2007) is a setting of it.

Everything is computed *in the mirror*: whichever leg swings is called left. A walker whose right leg swings is looked at
in a mirror along its heading, so the equations below know one swing leg, one stance leg, two states. `Mirror` holds, for
each walker, which numbers of the simulation those are and with which sign; it changes only when a foot strikes.

World-frame angles of a part are those of its up and forward vectors in the coronal, sagittal and transverse planes; a
foot's sagittal angle is that of its forward vector. Angles count about X, Y, Z by the right-hand rule in the frame
of the heading: X ahead, Y to the side of the swing leg, Z up.

Dampers work inside MuJoCo as joint damping, which it integrates implicitly: that is what permits steps of 2 ms. Where a
servo is in the world frame, the difference between its damping and the joint's is added to the applied torque.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.body import Physics, Simulations
from jostle.controllers.walker.joints import INDEX, MIRROR, SIGN, columns
from jostle.controllers.walker.parameters import SPACES, Gains
from jostle.controllers.walker.people import foot_corners
from jostle.maths import quat
from jostle.types import Array, Bool, Float, Int

TOUCH = 0.002  # metres: a corner lower than this touches the ground
TOE_UP = 0.1  # radians: a swing foot strikes only if its toe points up by this (section 3.2)
SHORTEST = 0.1  # seconds: a step takes at least this long; a foot that has just struck does not strike again
PLANTED = 3  # corners of foot or toe that make a stance foot planted

_SWING, _STANCE, _S_ANKLE, _T_ANKLE = columns("lhip"), columns("rhip"), columns("lankle"), columns("rankle")
_WORLD = np.concatenate([_SWING, _STANCE, _S_ANKLE, _T_ANKLE])  # servoed in the world frame
_TORQUE_OF = np.repeat([0, 1, 2, 3], [3, 3, 2, 2])  # which world torque each of them takes
_L_ARM, _R_ARM, _L_HIP, _R_HIP = (INDEX[name] for name in ("larm_y", "rarm_y", "lhip_y", "rhip_y"))
_HEADING = len(_SWING) + 2  # of _WORLD: the stance hip about Z
_PARTS = ("Spine", "LeftUpLeg", "LeftFoot", "RightFoot", "LeftToe", "RightToe")  # torso, swing thigh, feet, toes


@dataclass(frozen=True)
class Style:
    """What differs between the thesis's controller and SIMBICON."""

    timed: bool = False  # state 0 ends after a time, not when the centre of mass has passed the ankle
    world_ankles: bool = True
    toe_up: float = TOE_UP  # -inf: any contact is a strike
    early: bool = True  # may state 0 go straight to the next step when the foot strikes?


STYLES = {"walker": Style(), "simbicon": Style(timed=True, world_ankles=False, toe_up=-np.inf, early=False)}


@dataclass(frozen=True, eq=False)
class Senses:
    """What a walker feels, in the mirror."""

    angles: Float[Array, "B 30"]
    rates: Float[Array, "B 30"]
    world: Float[Array, "B 4 3"]  # coronal, sagittal, transverse angles of torso, swing thigh, swing and stance foot
    turning: Float[Array, "B 4 3"]  # their angular velocities
    distance: Float[Array, "B 3"]  # from the stance ankle to the centre of mass
    velocity: Float[Array, "B 3"]  # of the centre of mass
    low: Bool[Array, "B 4 6"]  # swing foot, stance foot, swing toe, stance toe: corners on the ground
    axes: Float[Array, "B 10 3"]  # of the hinges servoed in the world frame, in the world

    @property
    def planted(self) -> Bool[Array, "B"]:
        counts = self.low[:, 1::2, :4].sum(axis=2)
        return (counts >= PLANTED).any(axis=1)

    @property
    def swing_touches(self) -> Bool[Array, "B"]:
        return self.low[:, ::2, :4].any(axis=(1, 2))

    @property
    def stubbed(self) -> Bool[Array, "B"]:
        """The top of the swing toe is on the ground."""
        return self.low[:, 2, 4:].any(axis=1)


class Walk:
    """A batch of walkers with one body and a parameter vector each: `start`, then `step` again and again.

    `rows` are those that still walk; `state` (0, 1), `side` (the leg that swings: 0 left, 1 right) and `since` (seconds
    since the last strike) have one entry a row. `heading`, `normal` and `pivot` have one entry a simulation; call
    `look` after changing them.
    """

    def __init__(self, physics: Physics, count: int, kind: str = "walker", threads: int = 0) -> None:
        self.physics, self.space, self.style = physics, SPACES[kind], STYLES[kind]
        self.many = Simulations(physics, count, threads)
        self.dt = float(physics.model.opt.timestep)
        self.heading: Float[Array, "B"] = np.zeros(count)
        self.normal: Float[Array, "B 3"] = np.tile(_ground_normal(physics), (count, 1))
        self.pivot: Float[Array, "B 3"] = np.zeros((count, 3))  # a point of the ground
        self._tables, self._corners = _tables(physics), _corners(physics)
        self._damping = self.many.vary("dof_damping", 1.0)
        self._xmat, self._xpos, self._cvel, self._xaxis = (
            self.many.read(field) for field in ("xmat", "xpos", "cvel", "xaxis")
        )

    def start(self, values: Float[Array, "B P"], heading: Float[Array, "B"] | float = 0.0) -> None:
        """Put every walker into the start state of its parameters, facing its heading, its feet on the ground."""
        gains, count = self.space.unpack(values), self.many.count
        self.heading[:] = heading
        qpos, qvel = _start_state(gains, self.heading)
        self.many.start(qpos, qvel)
        self.resume(gains, np.zeros(count, int), np.zeros(count, int), np.zeros(count))
        lowest = self._heights()[:, :, :4].min(axis=(1, 2))
        qpos[:, 2] += (gains.lift - lowest) / self.normal[:, 2]
        self.many.start(qpos, qvel)

    def resume(self, gains: Gains, state: Int[Array, "B"], side: Int[Array, "B"], since: Float[Array, "B"]) -> None:
        """Go on from where the simulations are."""
        self._gains = gains
        self.rows = np.flatnonzero(self.many.running)
        self.state, self.side, self.since = state[self.rows], side[self.rows], since[self.rows]
        self.look()

    def keep(self, which: Bool[Array, "n"]) -> None:
        """Of the rows that walk, go on with these only; the others stop costing time."""
        self.many.drop(self.rows[~which])
        self.rows = self.rows[which]
        self.state, self.side, self.since = self.state[which], self.side[which], self.since[which]
        self.look()

    def step(self) -> tuple[Senses, Float[Array, "n 30"], Bool[Array, "n"]]:
        """One time step. What the rows felt before it, the torques they answered with, and who struck the ground."""
        senses = self.sense()
        torques = self._torques(senses)
        self.many.forces[self._rate_at] = torques * self._sign
        torques -= self._kd * senses.rates  # with the dampers that MuJoCo applies
        struck = self._next_state(senses)
        self.many.step()
        return senses, torques, struck

    def look(self) -> None:
        """Point the mirror: which numbers of the simulation are swing and stance for each row, and with which sign."""
        rows, side, tables, gains = self.rows, self.side, self._tables, self._gains
        column = rows[:, None]
        self._angle_at, self._rate_at = (column, 7 + tables.angles[side]), (column, 6 + tables.angles[side])
        self._part_at, self._axis_at = (column, tables.parts[side]), (column, tables.axes[side])
        self._sign = tables.signs[side]
        flip = 1.0 - 2.0 * side
        self._polar = np.zeros((len(rows), 3, 3))  # v @ polar: the vector v in the mirror
        self._polar[:, 0, 0] = np.cos(self.heading[rows])
        self._polar[:, 1, 0] = np.sin(self.heading[rows])
        self._polar[:, 0, 1], self._polar[:, 1, 1] = -flip * self._polar[:, 1, 0], flip * self._polar[:, 0, 0]
        self._polar[:, 2, 2] = 1.0
        self._axial = flip[:, None, None] * self._polar  # for what turns
        self._kp, self._kd, self._target = (a[rows, self.state] for a in (gains.kp, gains.kd, gains.target))
        self._c_d, self._c_v = gains.c_d[rows, self.state], gains.c_v[rows, self.state]
        self._arm, self._switch = gains.alpha_arm[rows], gains.switch[rows]
        self._damping[self._rate_at] = self._kd

    def sense(self) -> Senses:
        frames, column = self._xmat[self._part_at], self.rows[:, None]  # (n, 6, 9)
        up, ahead = frames[:, :4, 2::3] @ self._polar, frames[:, :4, 0::3] @ self._polar
        world = np.empty(up.shape)
        world[:, :, 0] = np.arctan2(-up[:, :, 1], up[:, :, 2])
        world[:, :2, 1] = np.arctan2(up[:, :2, 0], up[:, :2, 2])
        world[:, 2:, 1] = np.arcsin(np.clip(-ahead[:, 2:, 2], -1.0, 1.0))
        world[:, :, 2] = np.arctan2(ahead[:, :, 1], ahead[:, :, 0])
        ankle = self._xpos[self.rows, self._tables.stance[self.side]]
        balance = np.stack([self.many.com[self.rows] - ankle, self.many.com_velocity[self.rows]], axis=1) @ self._polar
        return Senses(
            self.many.qpos[self._angle_at] * self._sign,
            self.many.qvel[self._rate_at] * self._sign,
            world,
            self._cvel[column, self._part_at[1][:, :4], :3] @ self._axial,
            balance[:, 0],
            balance[:, 1],
            self._heights() < TOUCH,
            self._xaxis[self._axis_at],
        )

    def reach(self) -> Float[Array, "n"]:
        """How far the swing ankle is ahead of the stance ankle."""
        feet = self._xpos[self.rows[:, None], self._tables.parts[self.side][:, 2:4]]
        return ((feet[:, 0] - feet[:, 1]) * self._polar[:, :, 0]).sum(axis=1)

    def _heights(self) -> Float[Array, "n 4 6"]:
        """Of the corners of swing foot, stance foot, swing toe and stance toe above the ground."""
        column, parts = self.rows[:, None], self._part_at[1][:, 2:]
        frames, places = self._xmat[column, parts].reshape(-1, 4, 3, 3), self._xpos[column, parts]
        normal = self.normal[self.rows]
        down = normal[:, None, None] @ frames  # (n, 4, 1, 3)
        return (down @ self._corners)[:, :, 0] + (places - self.pivot[self.rows, None]) @ normal[:, :, None]

    def _torques(self, now: Senses) -> Float[Array, "n 30"]:
        """Of the thirty joints, in the mirror, without the joints' own dampers (3.1)-(3.3)."""
        kp, kd, target = self._kp, self._kd, self._target
        arm = self._arm * (now.angles[:, _R_HIP] - now.angles[:, _L_HIP])  # (3.2)
        torques = kp * (target - now.angles)
        torques[:, _L_ARM] += kp[:, _L_ARM] * arm
        torques[:, _R_ARM] -= kp[:, _R_ARM] * arm  # (3.3)
        turned = self._world_torques(now) @ self._axial.transpose(0, 2, 1)  # back in the world
        own = (now.axes * turned[:, _TORQUE_OF]).sum(axis=2) * self._sign[:, _WORLD]
        own += kd[:, _WORLD] * now.rates[:, _WORLD]
        free = -kp[:, _STANCE[2]] * now.angles[:, _STANCE[2]]
        own[:, _HEADING] = np.where(now.planted, own[:, _HEADING], free)
        servoed = len(_WORLD) if self.style.world_ankles else len(_SWING) + len(_STANCE)
        torques[:, _WORLD[:servoed]] = own[:, :servoed]
        return torques

    def _world_torques(self, now: Senses) -> Float[Array, "n 4 3"]:
        """About the axes of the mirror, on swing hip, stance hip, swing ankle and stance ankle."""
        kp, kd, target = self._kp, self._kd, self._target
        feedback = self._c_d * now.distance[:, :2] + self._c_v * now.velocity[:, :2]  # sagittal, coronal
        aim = np.zeros((len(kp), 3))
        aim[:, 0], aim[:, 1] = feedback[:, 1], target[:, _L_HIP] - feedback[:, 0]
        upright = np.zeros((len(kp), 3))
        upright[:, 1] = target[:, _R_HIP]
        torques = np.zeros((len(kp), 4, 3))
        torques[:, 0] = kp[:, _SWING] * (aim - now.world[:, 1]) - kd[:, _SWING] * now.turning[:, 1]
        torso = kp[:, _STANCE] * (upright - now.world[:, 0]) - kd[:, _STANCE] * now.turning[:, 0]
        torques[:, 1] = -torso - torques[:, 0]
        for part, ankle in ((2, _S_ANKLE), (3, _T_ANKLE)):
            error = target[:, ankle] - now.world[:, part, :2]
            torques[:, part, :2] = kp[:, ankle] * error - kd[:, ankle] * now.turning[:, part, :2]
        return torques

    def _next_state(self, now: Senses) -> Bool[Array, "n"]:
        """Figure 3.1: state 1 when the centre of mass has passed, the mirror image when the swing foot strikes."""
        style = self.style
        passed = self.since if style.timed else now.distance[:, 0]
        struck = now.swing_touches & (now.world[:, 2, 1] < -style.toe_up) & (self.since > SHORTEST)
        if not style.early:
            struck &= self.state == 1
        pushes = (self.state == 0) & (passed > self._switch)
        self.since += self.dt
        if pushes.any() or struck.any():
            self.state = np.where(struck, 0, np.where(pushes, 1, self.state))
            self.side = np.where(struck, 1 - self.side, self.side)
            self.since[struck] = 0.0
            self.look()
        return struck


def _start_state(gains: Gains, heading: Float[Array, "B"]) -> tuple[Float[Array, "B 37"], Float[Array, "B 36"]]:
    """Positions and velocities: turned to the heading, then pitched."""
    yaw, pitch = quat.from_yaw(heading), quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), gains.pitch)
    none = np.zeros((len(heading), 3))
    qpos = np.concatenate([none, quat.mul(yaw, pitch), gains.angles], axis=1)
    turning = np.stack([none[:, 0], gains.pitch_rate, none[:, 0]], axis=1)  # about the pelvis's own Y
    return qpos, np.concatenate([quat.apply(yaw, gains.velocity), turning, gains.rates], axis=1)


def _ground_normal(physics: Physics) -> Float[Array, "3"]:
    wxyz = physics.model.geom("ground").quat
    return quat.apply(np.asarray(wxyz, dtype=float), np.array([0.0, 0.0, 1.0]))


def _corners(physics: Physics) -> Float[Array, "4 3 6"]:
    """Of a foot, a foot, a toe and a toe: four under the sole and two on top of the tip, in the joint's frame."""
    points = foot_corners(physics.body, "Left")
    foot = np.concatenate([points["Foot"], points["Foot"][2:] + [0.0, 0.0, 1.0]])  # what is on top of a foot is nothing
    toe = np.concatenate([points["Toe"], points["Tip"]])
    return np.stack([foot.T, foot.T, toe.T, toe.T])


@dataclass(frozen=True, eq=False)
class _Tables:
    """For a left and for a right swing leg: where in the simulation the mirror's numbers are."""

    angles: Int[Array, "2 30"]
    signs: Float[Array, "2 30"]
    parts: Int[Array, "2 6"]  # MuJoCo bodies of _PARTS
    stance: Int[Array, "2"]  # of the stance foot
    axes: Int[Array, "2 10"]  # MuJoCo joints of _WORLD


def _tables(physics: Physics) -> _Tables:
    def other(name: str) -> str:
        return name.replace("Left", "\0").replace("Right", "Left").replace("\0", "Right")

    body = {name: int(physics.bodies[i]) for i, name in enumerate(physics.body.skeleton.names)}
    parts = np.array([[body[name] for name in _PARTS], [body[other(name)] for name in _PARTS]])
    angles = np.stack([np.arange(len(SIGN)), MIRROR])
    first = int(physics.model.jnt_dofadr[1])  # the free joint has six
    joint_of = {int(at) - first: joint for joint, at in enumerate(physics.model.jnt_dofadr) if at >= first}
    axes = np.array([[joint_of[int(a)] for a in row[_WORLD]] for row in angles])
    return _Tables(angles, np.stack([np.ones(len(SIGN)), SIGN]), parts, parts[:, 3], axes)
