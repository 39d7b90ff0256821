"""Run a batch of walkers and keep what they did, step by step: all that is scored or reported comes from here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from jostle.body import Physics
from jostle.controllers.walker.joints import INDEX
from jostle.controllers.walker.senses import Senses
from jostle.controllers.walker.walk import Begun, Walk
from jostle.types import Array, Bool, Float, Int

_KNEE, _STANCE_KNEE = INDEX["lknee_y"], INDEX["rknee_y"]
PATIENCE = 1.5  # seconds without a step after which a walker has stopped
CARRYING = "RightForeArm"  # what a mug is held with


@dataclass(frozen=True, eq=False)
class Shove:
    """A push on the torso of every walker in a batch, each with its own force."""

    time: float
    duration: float
    force: Float[Array, "B 3"]  # newtons


@dataclass(frozen=True, eq=False)
class Trace:
    """K steps of B walkers; after `steps[b]` walker b had fallen or stopped and its rows are zero.

    Rows are as felt before each step. Torques and corners are in the mirror: swing leg left, stance leg right.
    """

    physics: Physics
    dt: float
    steps: Int[Array, "B"]
    phase: Int[Array, "K B"]  # state + 2 * side: the four states of figure 3.1
    struck: Bool[Array, "K B"]  # the swing foot strikes in this step
    recovering: Bool[Array, "K B"]  # (4.16)
    torques: Float[Array, "K B 30"]
    low: Bool[Array, "K B 4 6"]  # swing foot, stance foot, swing toe, stance toe: corners on the ground
    reach: Float[Array, "K B"]  # of the swing ankle ahead of the stance ankle
    foot: Float[Array, "K B"]  # sagittal angle of the swing foot: negative with its toe up
    thigh: Float[Array, "K B"]  # sagittal angle of the swing thigh: negative ahead
    knee: Float[Array, "K B"]  # flexion of the swing knee
    stance_knee: Float[Array, "K B"]  # flexion of the stance knee
    com: Float[Array, "K B 3"]
    momentum: Float[Array, "K B 3"]  # angular, about the centre of mass, N m s
    head: Float[Array, "K B 3"]
    head_angles: Float[Array, "K B 3"]  # coronal, sagittal, transverse
    mug: Float[Array, "K B 3"]  # which way up is for a mug in the right hand, level when the elbow is at a right angle
    facing: Float[Array, "K B"]  # where the torso looks, radians about Z
    wish: Float[Array, "K B"]  # the heading that is wished
    normal: Float[Array, "B 3"]  # of the ground under each
    qpos: Float[Array, "K B nq"] | None

    @property
    def spin(self) -> Float[Array, "K B"]:
        """Angular momentum about the vertical."""
        return self.momentum[..., 2]

    @property
    def walked(self) -> Bool[Array, "K B"]:
        """Which rows were walked."""
        return np.arange(len(self.phase))[:, None] < self.steps

    @property
    def seconds(self) -> Float[Array, "B"]:
        return self.steps * self.dt


def rollout(
    walk: Walk,
    values: Float[Array, "B P"],
    seconds: float,
    fallen: float,
    shoves: Sequence[Shove] = (),
    poses: bool = False,
    happens: Callable[[Walk, int], None] | None = None,
    begun: Begun | None = None,
) -> Trace:
    """Start the walkers and let them walk; those whose centre of mass sinks below `fallen` metres are dropped.

    What `happens` is told of every step before it is made. They start by themselves, or where others left off.
    """
    log = _Log(walk, round(seconds / walk.dt), poses)
    walk.start(values) if begun is None else walk.take_over(values, begun)
    last_strike = np.zeros(walk.many.count, dtype=int)
    torso = walk.physics.body.skeleton.index("Spine")
    upright = walk.normal / walk.normal[:, 2:]  # height is counted along Z, from the ground
    level = (upright * walk.pivot).sum(axis=1)
    for k in range(log.length):
        rows = walk.rows
        _push(walk, torso, shoves, k * walk.dt)
        if happens is not None:
            happens(walk, k)
        log.before(k, walk)
        struck = log.after(k, rows, *walk.step())
        log.recovering[k, rows] = walk.mode == 1
        last_strike[rows[struck]] = k
        height = (walk.many.com * upright).sum(axis=1) - level
        on = walk.many.running & (height > fallen) & ((k - last_strike) * walk.dt < PATIENCE)
        if not on[rows].all():
            walk.keep(on[rows])
        if not len(walk.rows):
            break
    return log.trace(walk)


class _Log:
    """What is noted while walkers walk. Steps come first and walkers last, so that a step is written in one piece.

    Bodies are noted whole, dropped ones too, and cleared in the end: that costs less than choosing at every step.
    """

    def __init__(self, walk: Walk, length: int, poses: bool) -> None:
        def zeros(*shape: int, dtype: type = float) -> Array:
            return np.zeros((length, *shape), dtype)

        many, physics, self.length = walk.many, walk.physics, length
        count, names = many.count, physics.body.skeleton.names
        head, torso, arm = (int(physics.bodies[names.index(name)]) for name in ("Head", "Spine", CARRYING))
        self.steps = np.zeros(count, dtype=int)
        self.phase, self.struck = zeros(count, dtype=np.int8), zeros(count, dtype=bool)
        self.recovering = zeros(count, dtype=bool)
        self.torques, self.low = zeros(30, count), zeros(6, 4, count, dtype=bool)
        self.reach, self.foot, self.thigh, self.knee, self.stance_knee = (zeros(count) for _ in range(5))
        places, frames = many.read("xpos"), many.read("xmat")
        self._live = [many.com, many.angular_momentum, places[:, head], frames[:, head], frames[:, torso], walk.wish]
        self._live += [frames[:, arm, 0::3]]  # where its X axis points
        self._live += [many.qpos] if poses else []
        self._noted = [zeros(*live.shape) for live in self._live]

    def before(self, k: int, walk: Walk) -> None:
        """Where the bodies are before a step."""
        for noted, live in zip(self._noted, self._live, strict=True):
            noted[k] = live
        self.phase[k, walk.rows] = walk.state + 2 * walk.side
        self.steps[walk.rows] = k + 1

    def after(
        self, k: int, rows: Int[Array, "n"], now: Senses, torques: Float[Array, "n 30"], struck: Bool[Array, "n"]
    ) -> Bool[Array, "n"]:
        """What the step told; who struck."""
        every = slice(None) if len(rows) == len(self.steps) else rows
        self.torques[k][:, every], self.low[k][:, :, every] = torques.T, now.low.T
        self.reach[k, every], self.foot[k, every], self.struck[k, every] = now.stride[:, 0], now.world[:, 2, 1], struck
        self.thigh[k, every] = now.world[:, 1, 1]
        self.knee[k, every], self.stance_knee[k, every] = now.angles[:, _KNEE], now.angles[:, _STANCE_KNEE]
        return struck

    def trace(self, walk: Walk) -> Trace:
        over = np.arange(self.length)[:, None] >= self.steps
        if over.any():
            for noted in self._noted:
                noted[over] = 0.0
        com, momentum, head, frame, torso, wish, mug, *poses = self._noted
        torques, low = self.torques.transpose(0, 2, 1), self.low.transpose(0, 3, 2, 1)
        return Trace(
            walk.physics, walk.dt, self.steps, self.phase, self.struck, self.recovering, torques, low, self.reach,
            self.foot, self.thigh, self.knee, self.stance_knee, com, momentum, head, _world_angles(frame), mug,
            np.arctan2(torso[..., 3], torso[..., 0]), wish, walk.normal.copy(), poses[0] if poses else None,
        )  # fmt: skip


def _world_angles(frame: Float[Array, "K B 9"]) -> Float[Array, "K B 3"]:
    """Coronal and sagittal of the up vector, transverse of the forward vector."""
    forward, up = frame[..., 0::3], frame[..., 2::3]
    coronal, sagittal = np.arctan2(-up[..., 1], up[..., 2]), np.arctan2(up[..., 0], up[..., 2])
    return np.stack([coronal, sagittal, np.arctan2(forward[..., 1], forward[..., 0])], axis=-1)


def _push(walk: Walk, torso: int, shoves: Sequence[Shove], time: float) -> None:
    half = 0.5 * walk.dt
    for shove in shoves:
        if abs(time - shove.time) < half:
            walk.many.push(torso, shove.force)
        elif abs(time - shove.time - shove.duration) < half:
            walk.many.push(torso, np.zeros(3))
