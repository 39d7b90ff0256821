"""Left becomes right: which joint is whose twin, and the reflection of a pose through the X-Z plane."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from jostle.errors import MotionError
from jostle.skeleton.pose import Pose
from jostle.skeleton.roles import split_side
from jostle.skeleton.skeleton import Skeleton
from jostle.types import Array, Int

_FLIP = np.array([1.0, -1.0, 1.0])  # Y is left
_FLIP_WXYZ = np.array([1.0, -1.0, 1.0, -1.0])  # a reflection keeps the turn about Y and reverses those about X and Z


@lru_cache(maxsize=256)
def _cached_twins(skeleton: Skeleton) -> tuple[int, ...]:
    twins = _twins_by_name(skeleton)
    if twins is None:
        twins = _twins_by_geometry(skeleton)
    return tuple(int(t) for t in twins)


def find_twins(skeleton: Skeleton) -> Int[Array, "J"]:
    """For each joint the joint on the other side, itself on the midline: by name, or by geometry where names fail."""
    return np.array(_cached_twins(skeleton))


def _twins_by_name(skeleton: Skeleton) -> Array | None:
    """None where a sided name has no partner, or no name has a side."""
    sided = {}
    for joint, name in enumerate(skeleton.names):
        side, word = split_side(name)
        digits = "".join(c for c in name.rsplit(":", 1)[-1] if c.isdigit())
        if side:
            sided.setdefault((word, digits), {}).setdefault(side, []).append(joint)
    if not sided:
        return None
    twins = np.arange(skeleton.joint_count)
    for pair in sided.values():
        left, right = pair.get("left", []), pair.get("right", [])
        if len(left) != len(right):
            return None
        twins[left], twins[right] = right, left
    parents = skeleton.parents
    if any(twins[parents[j]] != parents[twins[j]] for j in range(1, skeleton.joint_count)):
        return None
    return twins


def _twins_by_geometry(skeleton: Skeleton) -> Array:
    """Walk down from the root, pairing the children of twins so that reflected rest positions agree best."""
    rest = skeleton.rest_positions
    tolerance = 0.03 * max(skeleton.height, 1e-6)
    twins = np.full(skeleton.joint_count, -1)
    twins[0] = 0
    for joint in range(skeleton.joint_count):
        free = list(skeleton.children[twins[joint]])
        for child in skeleton.children[joint]:
            if twins[child] >= 0:
                free = [f for f in free if f != twins[child]]
                continue
            wanted = rest[child] - rest[joint]
            best = min(free, key=lambda f: _misfit(skeleton, f, twins[joint], wanted), default=None)
            if best is None or _misfit(skeleton, best, int(twins[joint]), wanted) > tolerance:
                raise MotionError(
                    f"No mirror twin could be found for joint '{skeleton.names[child]}', by name or by its place in the rest pose."
                )
            twins[child], twins[best] = best, child
            free = [f for f in free if f not in (best, child)]
    return twins


def _misfit(skeleton: Skeleton, joint: int, parent: int, wanted: Array) -> float:
    """How far a joint's subtree root is from the reflection of `wanted`, with the number of joints below as a tie-break."""
    rest = skeleton.rest_positions
    return float(np.linalg.norm((rest[joint] - rest[parent]) * _FLIP - wanted))


def mirror_pose(skeleton: Skeleton, pose: Pose) -> Pose:
    """The pose in a mirror that stands in the X-Z plane, on the same skeleton."""
    twins = find_twins(skeleton)
    offsets = None if pose.offsets is None else pose.offsets[..., twins, :] * _FLIP
    return Pose(pose.root * _FLIP, pose.wxyz[..., twins, :] * _FLIP_WXYZ, offsets)


def mirror_skeleton(skeleton: Skeleton) -> Skeleton:
    """The skeleton whose left limbs have the measures of this one's right limbs."""
    twins = find_twins(skeleton)
    ends = np.array([twins[j] for j in skeleton.end_parents], dtype=np.int64)
    return Skeleton(
        skeleton.names, skeleton.parents, skeleton.offsets[twins] * _FLIP, ends, skeleton.end_offsets * _FLIP
    )
