"""Differences between poses as plain vectors, so that they can be split, decayed and added.

The vector of a difference is the root's displacement, one rotation vector per joint (the turn in its parent's
frame) and, where bones move, their displacements. Small differences add like vectors; `added` is exact for any.
"""

from __future__ import annotations

import numpy as np

from jostle.clips.clip import Clip
from jostle.maths import quat
from jostle.skeleton import Pose
from jostle.types import Array, Float

_VELOCITY_SPAN = 0.05  # seconds over which the velocity at a seam is measured: long enough to average noise


def difference(a: Pose, b: Pose) -> Float[Array, "*t D"]:
    """What must be added to pose b to get pose a."""
    lead = np.broadcast_shapes(a.root.shape[:-1], b.root.shape[:-1])
    turns = quat.log(quat.mul(a.wxyz, quat.inv(b.wxyz)))
    parts = [np.broadcast_to(a.root - b.root, (*lead, 3)), turns.reshape(*lead, -1)]
    if a.offsets is not None and b.offsets is not None:
        parts.append((a.offsets - b.offsets).reshape(*lead, -1))
    return np.concatenate(parts, axis=-1)


def added(pose: Pose, d: Float[Array, "*t D"]) -> Pose:
    """The pose after a difference was added to it."""
    joints = pose.wxyz.shape[-2]
    turns = d[..., 3 : 3 + 3 * joints].reshape(*d.shape[:-1], joints, 3)
    wxyz = quat.normalise(quat.mul(quat.exp(turns), pose.wxyz))
    offsets = pose.offsets
    if offsets is not None and d.shape[-1] > 3 + 3 * joints:
        offsets = offsets + d[..., 3 + 3 * joints :].reshape(*d.shape[:-1], joints, 3)
    return Pose(pose.root + d[..., :3], wxyz, offsets)


def velocity(clip: Clip, frame: int) -> Float[Array, "D"]:
    """How fast the pose changes at a frame, per second: a central difference, one-sided at the clip's ends."""
    reach = max(1, round(0.5 * _VELOCITY_SPAN * clip.fps))
    before, after = max(0, frame - reach), min(clip.frame_count - 1, frame + reach)
    if before == after:
        return np.zeros_like(difference(clip.pose(0), clip.pose(0)))
    return difference(clip.pose(after), clip.pose(before)) * clip.fps / (after - before)
