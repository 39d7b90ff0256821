"""Run a batch of walkers and keep what they did, step by step: everything that is scored or reported comes from here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jostle.body import Physics
from jostle.controllers.walker.walk import Senses, Walk
from jostle.types import Array, Bool, Float, Int

PATIENCE = 1.5  # seconds without a step after which a walker has stopped


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
    torques: Float[Array, "K B 30"]
    low: Bool[Array, "K B 4 6"]  # swing foot, stance foot, swing toe, stance toe: corners on the ground
    reach: Float[Array, "K B"]  # of the swing ankle ahead of the stance ankle
    foot: Float[Array, "K B"]  # sagittal angle of the swing foot: negative with its toe up
    com: Float[Array, "K B 3"]
    spin: Float[Array, "K B"]  # vertical angular momentum, N m s
    head: Float[Array, "K B 3"]
    head_angles: Float[Array, "K B 3"]  # coronal, sagittal, transverse
    qpos: Float[Array, "K B nq"] | None

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
) -> Trace:
    """Start the walkers and let them walk; those whose centre of mass sinks below `fallen` metres are dropped."""
    count, length = walk.many.count, round(seconds / walk.dt)
    trace = _empty(walk.physics, walk.dt, length, count, poses)
    walk.start(values)
    last_strike = np.zeros(count, dtype=int)
    torso = walk.physics.body.skeleton.index("Spine")
    head = int(walk.physics.bodies[walk.physics.body.skeleton.index("Head")])
    for k in range(length):
        rows = walk.rows
        _push(walk, torso, shoves, k * walk.dt)
        _note_body(walk, trace, k, rows, head)
        trace.phase[k, rows] = walk.state + 2 * walk.side
        trace.reach[k, rows] = walk.reach()
        senses, torques, struck = walk.step()
        _note(trace, k, rows, senses, torques, struck)
        last_strike[rows[struck]] = k
        height = ((walk.many.com[rows] - walk.pivot[rows]) * walk.normal[rows]).sum(axis=1) / walk.normal[rows, 2]
        on = (height > fallen) & ((k - last_strike[rows]) * walk.dt < PATIENCE) & walk.many.running[rows]
        trace.steps[rows] = k + 1
        if not on.all():
            walk.keep(on)
        if not len(walk.rows):
            break
    return trace


def _empty(physics: Physics, dt: float, length: int, count: int, poses: bool) -> Trace:
    def zeros(*shape: int, dtype: type = float) -> Array:
        return np.zeros((length, count, *shape), dtype)

    return Trace(
        physics, dt, np.zeros(count, dtype=int), zeros(dtype=np.int8), zeros(dtype=bool), zeros(30),
        zeros(4, 6, dtype=bool), zeros(), zeros(), zeros(3), zeros(), zeros(3), zeros(3),
        zeros(physics.model.nq) if poses else None,
    )  # fmt: skip


def _push(walk: Walk, torso: int, shoves: Sequence[Shove], time: float) -> None:
    half = 0.5 * walk.dt
    for shove in shoves:
        if abs(time - shove.time) < half:
            walk.many.push(torso, shove.force)
        elif abs(time - shove.time - shove.duration) < half:
            walk.many.push(torso, np.zeros(3))


def _note_body(walk: Walk, trace: Trace, k: int, rows: Int[Array, "n"], head: int) -> None:
    """What is needed of the body before it moves on."""
    many = walk.many
    trace.com[k, rows], trace.spin[k, rows] = many.com[rows], many.angular_momentum[rows, 2]
    trace.head[k, rows] = many.read("xpos")[rows, head]
    frame = many.read("xmat")[rows, head]
    trace.head_angles[k, rows, 0] = np.arctan2(-frame[:, 5], frame[:, 8])
    trace.head_angles[k, rows, 1] = np.arctan2(frame[:, 2], frame[:, 8])
    trace.head_angles[k, rows, 2] = np.arctan2(frame[:, 3], frame[:, 0])
    if trace.qpos is not None:
        trace.qpos[k, rows] = many.qpos[rows]


def _note(
    trace: Trace, k: int, rows: Int[Array, "n"], senses: Senses, torques: Float[Array, "n 30"], struck: Bool[Array, "n"]
) -> None:
    trace.struck[k, rows], trace.torques[k, rows] = struck, torques
    trace.low[k, rows], trace.foot[k, rows] = senses.low, senses.world[:, 2, 1]
