"""A clip as generalised positions, velocities and accelerations.

Differentiating twice multiplies noise by the square of its frequency: a millimetre at 15 Hz is an acceleration of 9
m/s2, as much as gravity. So positions and quaternions pass a Butterworth low-pass first, forwards and backwards so that
nothing is delayed, with the cut-off stated; 6 Hz is the custom for walking. Velocities live half-way between frames,
v(t + 1/2) = log(q(t)^-1 q(t + 1)) / dt, and accelerations are their differences, a(t) = (v(t + 1/2) - v(t - 1/2)) / dt.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from jostle.body.physics import Physics
from jostle.clips import Clip
from jostle.errors import JostleWarning, MotionError
from jostle.maths import filters, quat
from jostle.types import Array, Float

CUTOFF = 6.0  # Hz


@dataclass(frozen=True, eq=False)
class Motion:
    """T frames in MuJoCo's coordinates."""

    qpos: Float[Array, "T nq"]
    qvel: Float[Array, "T nv"]
    qacc: Float[Array, "T nv"]
    fps: float


def to_motion(physics: Physics, clip: Clip, cutoff: float | None = CUTOFF) -> Motion:
    """Positions, velocities and accelerations of a clip, low-passed at `cutoff` Hz (None: as they are)."""
    if not clip.skeleton.same_as(physics.body.skeleton):
        raise MotionError(f"Clip '{clip.name}' has another skeleton than the body; build the body from the clip's own.")
    if clip.frame_count < 3:
        raise MotionError(f"Clip '{clip.name}' has {clip.frame_count} frames; accelerations need at least three.")
    if clip.offsets is not None:
        warnings.warn(
            f"The bones of clip '{clip.name}' move; physics keeps them at their rest lengths.",
            JostleWarning,
            stacklevel=2,
        )
    qpos = _continuous(physics, physics.to_qpos(clip.poses))
    if cutoff is not None:
        qpos = _normalised(physics, low_pass(qpos, clip.fps, cutoff))
    half = physics.velocity_between(qpos[:-1], qpos[1:], clip.dt)  # (T-1, V), between frames
    qvel, qacc = np.empty((len(qpos), half.shape[1])), np.empty((len(qpos), half.shape[1]))
    qvel[1:-1], qacc[1:-1] = 0.5 * (half[1:] + half[:-1]), (half[1:] - half[:-1]) / clip.dt
    qacc[0], qacc[-1] = qacc[1], qacc[-2]  # the ends carry their neighbours' on
    qvel[0], qvel[-1] = half[0] - 0.5 * clip.dt * qacc[0], half[-1] + 0.5 * clip.dt * qacc[-1]
    return Motion(qpos, qvel, qacc, clip.fps)


def low_pass(x: Float[Array, "T *b"], fps: float, cutoff: float) -> Float[Array, "T *b"]:
    """A Butterworth filter of second order, forwards and backwards: no delay, and a gain of one half at `cutoff`."""
    if cutoff <= 0:
        raise MotionError(f"A low-pass filter needs a positive cut-off in Hz, not {cutoff}.")
    if cutoff >= 0.49 * fps:  # nothing in the data is faster
        return x
    return filters.low_pass(x, fps, cutoff, pad=int(np.ceil(2.0 * fps / cutoff)))  # two periods of what passes


def _continuous(physics: Physics, qpos: Float[Array, "T nq"]) -> Float[Array, "T nq"]:
    """Quaternions in one hemisphere and hinge angles without jumps of a turn, so that they can be filtered."""
    out = qpos.copy()
    for joint, at in enumerate(physics.qpos_at):
        count = physics.position_count(joint)
        block = out[:, at : at + count]
        if count == 4:
            out[:, at : at + 4] = quat.continuous(block)
        elif count:
            out[:, at : at + count] = np.unwrap(block, axis=0)
    return out


def _normalised(physics: Physics, qpos: Float[Array, "T nq"]) -> Float[Array, "T nq"]:
    for joint, at in enumerate(physics.qpos_at):
        if physics.position_count(joint) == 4:
            qpos[:, at : at + 4] = quat.normalise(qpos[:, at : at + 4])
    return qpos
