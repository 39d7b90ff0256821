"""A pose, or a stack of them, and forward kinematics."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from jostle.maths import quat
from jostle.skeleton.skeleton import Skeleton
from jostle.types import Array, Float


@dataclass(frozen=True, eq=False)
class Pose:
    """Where the root is and how every joint is turned from its parent. Leading axes are free: frames, simulations.

    `offsets` is None unless bones themselves move (hand-animated rigs whose feet hang from control bones, BVH files
    with six channels on a joint); then it replaces the skeleton's offsets. The root's row of it is never read.
    """

    root: Float[Array, "*t 3"]
    wxyz: Float[Array, "*t J 4"]
    offsets: Float[Array, "*t J 3"] | None = None

    def rows(self, rows: int | slice | Array) -> Pose:
        """Some of a stack of poses, by number, slice or index."""
        return Pose(self.root[rows], self.wxyz[rows], None if self.offsets is None else self.offsets[rows])


def rest_pose(skeleton: Skeleton) -> Pose:
    return Pose(skeleton.offsets[0].copy(), quat.identity((skeleton.joint_count,)))


def interpolate(a: Pose, b: Pose, t: float) -> Pose:
    """Between two poses: roots on the straight line, joints on the shortest turn. Bones move in both or in neither."""
    offsets = None if a.offsets is None or b.offsets is None else (1 - t) * a.offsets + t * b.offsets
    return Pose((1 - t) * a.root + t * b.root, quat.slerp(a.wxyz, b.wxyz, t), offsets)


@dataclass(frozen=True, eq=False)
class Globals:
    """World positions and rotations of every joint, and world positions of the tips."""

    positions: Float[Array, "*t J 3"]
    wxyz: Float[Array, "*t J 4"]
    ends: Float[Array, "*t E 3"]


def forward(skeleton: Skeleton, pose: Pose) -> Globals:
    """Forward kinematics: x_j = x_p + R_p o_j, R_j = R_p r_j, from the root outwards, for all leading axes at once."""
    lead = pose.root.shape[:-1]
    count = skeleton.joint_count
    # Joint-major and component-major, so that each joint's numbers are contiguous over frames.
    local = np.ascontiguousarray(np.moveaxis(pose.wxyz, (-2, -1), (0, 1)))  # (J, 4, *t)
    offsets = _joint_major_offsets(skeleton, pose)
    turned = np.empty_like(local)
    at = np.empty((count, 3, *lead))
    turned[0], at[0] = local[0], np.moveaxis(pose.root, -1, 0)
    for joint in range(1, count):
        parent = skeleton.parents[joint]
        _mul_into(turned[joint], turned[parent], local[joint])
        _place_into(at[joint], at[parent], turned[parent], offsets[joint])
    ends = np.empty((len(skeleton.end_parents), 3, *lead))
    for i, joint in enumerate(skeleton.end_parents):
        _place_into(ends[i], at[joint], turned[joint], skeleton.end_offsets[i])
    return Globals(*(np.ascontiguousarray(np.moveaxis(a, (0, 1), (-2, -1))) for a in (at, turned, ends)))


def position_of(skeleton: Skeleton, pose: Pose, joint: int) -> Float[Array, "*t 3"]:
    """Where one joint is: `forward` along the way to it and no further, for a fraction of its cost."""
    chain = [joint]
    while chain[-1] != 0:
        chain.append(int(skeleton.parents[chain[-1]]))
    offsets = skeleton.offsets if pose.offsets is None else pose.offsets
    at, turned = pose.root, pose.wxyz[..., 0, :]
    for parent, child in pairwise(reversed(chain)):
        if parent != 0:
            turned = quat.mul(turned, pose.wxyz[..., parent, :])
        at = at + quat.apply(turned, offsets[..., child, :])
    return np.array(at)


def _joint_major_offsets(skeleton: Skeleton, pose: Pose) -> Array:
    if pose.offsets is None:
        return skeleton.offsets
    return np.ascontiguousarray(np.moveaxis(pose.offsets, (-2, -1), (0, 1)))  # (J, 3, *t)


def _mul_into(out: Array, a: Array, b: Array) -> None:
    """Quaternion product over component-major arrays (4, *t)."""
    out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3]
    out[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2]
    out[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1]
    out[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]


def _place_into(out: Array, at: Array, q: Array, v: Array) -> None:
    """out = at + q v, component-major."""
    w, x, y, z = q
    tx, ty, tz = 2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])
    out[0] = at[0] + v[0] + w * tx + y * tz - z * ty
    out[1] = at[1] + v[1] + w * ty + z * tx - x * tz
    out[2] = at[2] + v[2] + w * tz + x * ty - y * tx


def locals_of(
    skeleton: Skeleton,
    positions: Float[Array, "*t J 3"],
    wxyz: Float[Array, "*t J 4"],
    keep_offsets: bool = False,
) -> Pose:
    """The pose whose world rotations are these: the inverse of `forward`. With `keep_offsets`, bones may have moved."""
    parents = skeleton.parents[1:]
    local = wxyz.copy()
    local[..., 1:, :] = quat.inv_mul(wxyz[..., parents, :], wxyz[..., 1:, :])
    offsets = None
    if keep_offsets:
        offsets = positions.copy()
        offsets[..., 1:, :] = quat.inv_apply(wxyz[..., parents, :], positions[..., 1:, :] - positions[..., parents, :])
    return Pose(positions[..., 0, :].copy(), local, offsets)
