"""The controller of Wang 2010, section 3.2, for many walkers at once; SIMBICON (Yin et al. 2007) is a setting of it.

Everything is computed *in the mirror* (mirror.py): whichever leg swings is called left, so the equations below know one
swing leg, one stance leg and two states.

Dampers work inside MuJoCo as joint damping, which it integrates implicitly: that is what permits steps of 2 ms. Where a
servo is in the world frame, the difference between its damping and the joint's is added to the applied torque.

    on paper            in code     inside, with walkers along the last axis
    theta, theta-dot    angles      (30, n) in the mirror, as all of these
    tau (3.1)           torques     (30, n)
    k_p, k_d, theta_d   kp, …       (30, n), and (3, 4, n) about X, Y, Z for torso, swing thigh and the feet
    d, v                balance     (3, 3, n): from the stance ankle to the centre of mass, its velocity, and the stride
    m                   aside       (n,): from the middle of a beam to the centre of mass
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from jostle.body import Physics, Simulations
from jostle.controllers.walker.joints import INDEX
from jostle.controllers.walker.mirror import WORLD, Mirror
from jostle.controllers.walker.parameters import SPACES, Gains, Reaction
from jostle.controllers.walker.senses import TOUCH, Senses, corners, ground_normal, half_width, world_angles
from jostle.maths import quat
from jostle.maths.angles import wrapped
from jostle.types import Array, Bool, Float, Int

TOE_UP = 0.1  # radians: a swing foot strikes only if its toe points up by this (section 3.2)
NEAR = 0.1  # radians: a wished heading within this of the present one is taken at once (4.3)
SHORTEST = 0.1  # seconds: a step takes at least this long; a foot that has just struck does not strike again

_L_ARM, _R_ARM, _L_HIP, _R_HIP = (INDEX[name] for name in ("larm_y", "rarm_y", "lhip_y", "rhip_y"))
_STANCE_ANKLE = INDEX["rankle_x"]  # to the side
# of torso, swing thigh, swing foot and stance foot: the angle whose gains and target hold about X, Y, Z; -1 for none
_GAINS_OF = np.array([[INDEX.get(f"{j}_{a}", -1) for j in ("rhip", "lhip", "lankle", "rankle")] for a in "xyz"])
_TORSO, _THIGH = 0, 1
# of WORLD: which of the torques on stance hip, swing hip, swing ankle and stance ankle acts about each
_TORQUE_OF = np.repeat([1, 0, 2, 3], [3, 3, 2, 2])
_HIPS = slice(0, 6)  # of WORLD
_HEADING = list(WORLD).index(INDEX["rhip_z"])  # of WORLD: the stance hip about Z


@dataclass(frozen=True, eq=False)
class Begun:
    """Walks in the middle of a step, as many as there are simulations."""

    qpos: Float[Array, "n nq"]
    qvel: Float[Array, "n nv"]
    state: Int[Array, "n"]
    side: Int[Array, "n"]
    since: Float[Array, "n"]

    def tiled(self, count: int) -> Begun:
        """These again and again, until there are so many."""
        which = np.arange(count) % len(self.side)
        return Begun(self.qpos[which], self.qvel[which], self.state[which], self.side[which], self.since[which])


@dataclass(frozen=True)
class Style:
    """What differs between the thesis's controller and SIMBICON."""

    timed: bool = False  # state 0 ends after a time, not when the centre of mass has passed the ankle
    world_ankles: bool = True
    toe_up: float = TOE_UP  # -inf: any contact is a strike
    early: bool = True  # may state 0 go straight to the next step when the foot strikes?
    guided: bool = False  # does it turn by itself to the heading that is wished (4.3)?


_YIN = Style(timed=True, world_ankles=False, toe_up=-np.inf, early=False)
STYLES = {"walker": Style(), "simbicon": _YIN, "paced": replace(_YIN, guided=True)}
STYLES["poised"] = STYLES["paced"]
STYLES |= {kind: Style(guided=True) for kind in ("guided", "reactive")}


class Walk:
    """A batch of walkers with one body and a parameter vector each: `start`, then `step` again and again.

    `rows` are those that still walk; `state` (0, 1), `side` (the leg that swings: 0 left, 1 right), `since` (seconds
    since the last strike) and `mode` (1: a reactive walker recovers) have one entry a row. `heading`, `veer`, `normal`
    and `pivot` have one entry a simulation; call `look` after changing them. A guided walker turns `heading` towards
    `wish` itself.
    """

    def __init__(self, physics: Physics, count: int, kind: str = "walker", threads: int = 0) -> None:
        self.physics, self.space, self.style = physics, SPACES[kind], STYLES[kind]
        self.many = Simulations(physics, count, threads)
        self.dt = float(physics.model.opt.timestep)
        self.heading: Float[Array, "B"] = np.zeros(count)
        self.wish: Float[Array, "B"] = np.zeros(count)
        self.veer: Float[Array, "B"] = np.zeros(count)  # radians by which swing legs step to the right, to go left
        self.normal: Float[Array, "B 3"] = np.tile(ground_normal(physics), (count, 1))
        self.pivot: Float[Array, "B 3"] = np.zeros((count, 3))  # a point of the ground
        self.jitter: Float[Array, "30 B"] | None = None  # motor noise of the next step, in the mirror (4.14)
        self._mirror, self._corners, self._half = Mirror(self.many), corners(physics), half_width(physics)

    def start(self, values: Float[Array, "B P"], heading: Float[Array, "B"] | float = 0.0) -> None:
        """Put every walker into the start state of its parameters, facing its heading, its feet on the ground."""
        gains, count = self.space.unpack(values), self.many.count
        self.heading[:] = self.wish[:] = heading
        self.jitter = None
        qpos, qvel = start_state(gains, self.heading)
        self.many.start(qpos, qvel)
        self.resume(gains, np.zeros(count, int), np.zeros(count, int), np.zeros(count))
        heights = self._heights(self._mirror.see("frames"), self._mirror.see("places"))
        qpos[:, 2] += (gains.lift - heights[:4].min(axis=(0, 1))) / self.normal[:, 2]
        self.many.start(qpos, qvel)

    def lay_ground(self, slope: Float[Array, "B"], friction: Float[Array, "B"]) -> None:
        """A ground of its own under each walker, before they start; radians. A beam cannot be tilted so."""
        model, ground = self.physics.model, self.physics.model.geom("ground").id
        tilts = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), -slope)
        quats = np.tile(model.geom_quat, (self.many.count, 1, 1))
        quats[:, ground] = tilts
        self.many.vary("geom_quat", quats)
        self.free_ground()
        self.normal[:] = quat.apply(tilts, np.array([0.0, 0.0, 1.0]))
        self.many.set_friction(friction)

    def free_ground(self) -> int:
        """Let the ground move, or MuJoCo takes a level one for one that never does; its geom."""
        model = self.physics.model
        same = model.geom_sameframe.astype(float)
        same[model.geom("ground").id] = 0
        self.many.vary("geom_sameframe", same)
        return int(model.geom("ground").id)

    def take_over(self, values: Float[Array, "B P"], begun: Begun) -> None:
        """Go on with these parameters where others left off, straight on."""
        self.heading[:] = self.wish[:] = 0.0
        self.jitter = None
        self.many.start(begun.qpos, begun.qvel)
        self.resume(self.space.unpack(values), begun.state, begun.side, begun.since)

    def resume(self, gains: Gains, state: Int[Array, "B"], side: Int[Array, "B"], since: Float[Array, "B"]) -> None:
        """Go on from where the simulations are."""
        reaction, self._servos = gains.reaction, _servos(gains)
        self._habits = None
        if reaction is not None:
            self._servos = np.concatenate([self._servos, _servos(reaction.gains)], axis=1)
            self._habits = habits_of(reaction)
        self.rows = np.flatnonzero(self.many.running)
        self.state, self.side, self.since = state[self.rows], side[self.rows], since[self.rows]
        self.mode = np.zeros(len(self.rows), int)
        self.look()

    def keep(self, which: Bool[Array, "n"]) -> None:
        """Of the rows that walk, go on with these only; the others stop costing time."""
        self.many.drop(self.rows[~which])
        self.rows = self.rows[which]
        self.state, self.side, self.since = self.state[which], self.side[which], self.since[which]
        self.mode = self.mode[which]
        self.look()

    def step(self) -> tuple[Senses, Float[Array, "n 30"], Bool[Array, "n"]]:
        """One time step. What the rows felt before it, the torques they answered with, and who struck the ground."""
        senses = self.sense()
        if self._habits is not None:
            self._react(senses, self._habits[self.rows])
        damped = self._kd * senses.rates.T  # by MuJoCo
        torques = self._torques(senses, damped)
        if self.jitter is not None:
            torques += self.jitter[:, self.rows] * np.abs(torques - damped) * self._kp**-0.25  # (4.15), MVT = kp
        self._mirror.write("forces", torques * self._mirror.sign)
        torques -= damped
        if self.style.guided:
            self._steer()
        struck = self._next_state(senses)
        self.many.step()
        return senses, torques.T, struck

    def look(self) -> None:
        """Put the mirror before the walkers anew, with the ground and the gains that are theirs."""
        rows = self.rows
        self._mirror.face(rows, self.side, self.heading[rows])
        self._normal = np.ascontiguousarray(self.normal[rows].T)
        self._level = (self.normal[rows] * self.pivot[rows]).sum(axis=1)
        self._flat = bool(np.all(self.normal[rows] == [0.0, 0.0, 1.0]))
        self._servo = np.empty((self._servos.shape[2], len(rows)))
        self._kp, self._kd, self._target = self._servo[:90].reshape(3, 30, -1)
        self._world_kp, self._world_kd, self._world_target = self._servo[90:126].reshape(3, 3, 4, -1)
        self._c_d, self._c_v, self._alpha_hip = self._servo[126:132].reshape(3, 2, -1)
        self._arm, self._switch = self._servo[132:134]
        poise = self._servo[134:]  # of poised walkers
        self._poise = poise.reshape(len(poise) // 3, 3, len(rows))
        self._change(np.arange(len(rows)))

    def _change(self, which: Int[Array, "m"]) -> None:
        """Of these rows state, side or mode are new."""
        self._mirror.turn(which, self.side)
        self._servo[:, which] = self._servos[self.rows[which], self.state[which] + 2 * self.mode[which]].T
        self._world_target[0, _THIGH, which] += (2.0 * self.side[which] - 1.0) * self.veer[self.rows[which]]
        self._mirror.write("damping", self._kd[:, which], which)

    def sense(self) -> Senses:
        see = self._mirror.see
        frames, places = see("frames"), see("places")  # (9, 6, n), (3, 4, n)
        balance = np.concatenate([see("balance"), places[:, :1]], axis=1)  # centre of mass, velocity, swing ankle
        on_beam = self._half < np.inf
        aside = (1.0 - 2.0 * self.side) * balance[1, 0] if on_beam else np.zeros(len(self.rows))
        balance[:, ::2] -= places[:, 1:2]  # from the stance ankle
        balance[0], balance[1] = self._mirror.points(balance[0], balance[1])
        distance, velocity, stride = balance.transpose(1, 2, 0)
        low = self._heights(frames, places) < TOUCH
        if on_beam:
            low &= np.abs(self._across(frames, places)) < self._half
        angles, rates = see("motion") * self._mirror.sign
        world, turning = world_angles(self._mirror, frames), self._mirror.turns(see("turning"))
        return Senses(angles.T, rates.T, world.T, turning.T, distance, velocity, stride, low.T, aside)

    def _heights(self, frames: Float[Array, "9 6 n"], places: Float[Array, "3 4 n"]) -> Float[Array, "6 4 n"]:
        """Of the corners of swing foot, stance foot, swing toe and stance toe above the ground."""
        rise, joints = frames[6:9, 2:], places[2]  # (3, 4, n), (4, n): of each column of a frame, and of the joints
        if not self._flat:
            a, b, c = self._normal
            rise = a * frames[0:3, 2:] + b * frames[3:6, 2:] + c * rise
            joints = a * places[0] + b * places[1] + c * joints
        x, y, z = self._corners  # (6, 4, 1)
        return x * rise[0] + y * rise[1] + z * rise[2] + (joints - self._level)

    def _across(self, frames: Float[Array, "9 6 n"], places: Float[Array, "3 4 n"]) -> Float[Array, "6 4 n"]:
        """Where along Y these corners are."""
        x, y, z = self._corners
        side = frames[3:6, 2:]
        return x * side[0] + y * side[1] + z * side[2] + places[1]

    def _torques(self, now: Senses, damped: Float[Array, "30 n"]) -> Float[Array, "30 n"]:
        """Of the thirty joints, in the mirror, without the joints' own dampers (3.1)-(3.3)."""
        q, target = now.angles.T, self._target
        target[_L_ARM] = self._arm * (q[_R_HIP] - q[_L_HIP])  # (3.2)
        np.negative(target[_L_ARM], out=target[_R_ARM])  # (3.3)
        torques, poise = self._kp * (target - q), self._poised(now)
        if len(poise):
            torques[_STANCE_ANKLE] -= self._kp[_STANCE_ANKLE] * poise[2]
        turned = self._mirror.back(self._world_torques(now, poise))[:, _TORQUE_OF]  # (3, 10, n)
        x, y, z = self._mirror.see("axes") * turned
        own = (x + y + z) * self._mirror.sign[WORLD] + damped[WORLD]
        own[_HEADING] = np.where(now.planted, own[_HEADING], torques[WORLD[_HEADING]])
        servoed = slice(None) if self.style.world_ankles else _HIPS
        torques[WORLD[servoed]] = own[servoed]
        return torques

    def _poised(self, now: Senses) -> Float[Array, "k n"]:
        """By how much swing thigh and torso lean, and the stance foot presses, to where the centre of mass drifts."""
        by_d, by_v, by_m = self._poise.transpose(1, 0, 2)
        return by_d * now.distance.T[1] + by_v * now.velocity.T[1] + by_m * now.aside

    def _world_torques(self, now: Senses, poise: Float[Array, "k n"]) -> Float[Array, "3 4 n"]:
        """About the axes of the mirror, on stance hip, swing hip, swing ankle and stance ankle."""
        feedback = self._c_d * now.distance.T[:2] + self._c_v * now.velocity.T[:2]  # sagittal, coronal
        error = self._world_target - now.world.T
        error[1, _THIGH] -= feedback[0]
        error[0, _THIGH] += feedback[1]
        if len(poise):
            error[0, _THIGH] += poise[0]
            error[0, _TORSO] -= poise[1]
        torques = self._world_kp * error - self._world_kd * now.turning.T
        torques[:, _TORSO] = -(torques[:, _TORSO] + torques[:, _THIGH])  # the stance hip bears both
        return torques

    def _steer(self) -> None:
        """(4.3): at once to a wish that is near, otherwise nearer to it by a share."""
        gap = wrapped(self.wish[self.rows] - self.heading[self.rows])
        if not gap.any():
            return
        to = (gap * (1.0 - 2.0 * self.side) < 0.0).astype(int)  # the side of the swing leg, of the stance leg
        share = np.minimum(self._alpha_hip[to, np.arange(len(to))] * self.dt, 1.0)
        self.heading[self.rows] += np.where(np.abs(gap) < NEAR, gap, share * gap)
        self._mirror.aim(self.heading[self.rows])

    def _react(self, now: Senses, habits: Float[Array, "n 9"]) -> None:
        """(4.16): who is in a state that is not typical of it recovers."""
        mean, scale, least = habits[:, :4], habits[:, 4:8], habits[:, 8]
        away = (np.concatenate([now.distance[:, :2], now.velocity[:, :2]], axis=1) - mean) * scale
        mode = (np.square(away).sum(axis=1) > least).astype(int)
        changed = np.flatnonzero(mode != self.mode)
        if len(changed):
            self.mode = mode
            self._change(changed)

    def _next_state(self, now: Senses) -> Bool[Array, "n"]:
        """Figure 3.1: state 1 when the centre of mass has passed, the mirror image when the swing foot strikes."""
        style = self.style
        passed = self.since if style.timed else now.distance.T[0]
        struck = now.swing_touches & (now.world.T[1, 2] < -style.toe_up) & (self.since > SHORTEST)
        if not style.early:
            struck &= self.state == 1
        pushes = (self.state == 0) & (passed > self._switch)
        self.since = self.since + self.dt
        changed = np.flatnonzero(pushes | struck)
        if len(changed):
            self.state = np.where(struck, 0, np.where(pushes, 1, self.state))
            self.side = np.where(struck, 1 - self.side, self.side)
            self.since[struck] = 0.0
            self._change(changed)
        return struck


def _servos(gains: Gains) -> Float[Array, "B 2 p"]:
    """All that changes with the state, side by side.

    kp, kd, target, the same for world-frame servos, c_d, c_v and alpha_hip, alpha_arm and the switch; poise, if any.
    """
    own = [gains.kp, gains.kd, gains.target]
    none = np.zeros((*gains.kp.shape[:2], 1))
    world = [np.concatenate([group, none], axis=2)[:, :, _GAINS_OF.ravel()] for group in own]
    rhythm = np.repeat(np.stack([gains.alpha_arm, gains.switch], axis=1)[:, None], 2, axis=1)
    poise = [] if gains.poise is None else [gains.poise.reshape(*gains.kp.shape[:2], -1)]
    return np.concatenate([*own, *world, gains.c_d, gains.c_v, gains.alpha_hip, rhythm, *poise], axis=2)


def habits_of(reaction: Reaction) -> Float[Array, "B 9"]:
    """Mean and inverse spread of the features, and how far from it, squared, is as improbable as kappa."""
    volume = 2.0 * np.log(2.0 * np.pi) + np.log(reaction.spread).sum(axis=1)  # -log of the density at the mean
    far = np.maximum(-2.0 * (np.log(reaction.kappa) + volume), 0.0)
    return np.column_stack([reaction.mean, 1.0 / reaction.spread, far])


def start_state(gains: Gains, heading: Float[Array, "B"]) -> tuple[Float[Array, "B 37"], Float[Array, "B 36"]]:
    """Positions and velocities: turned to the heading, then pitched."""
    yaw, pitch = quat.from_yaw(heading), quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), gains.pitch)
    none = np.zeros((len(heading), 3))
    qpos = np.concatenate([none, quat.mul(yaw, pitch), gains.angles], axis=1)
    turning = np.stack([none[:, 0], gains.pitch_rate, none[:, 0]], axis=1)  # about the pelvis's own Y
    return qpos, np.concatenate([quat.apply(yaw, gains.velocity), turning, gains.rates], axis=1)
