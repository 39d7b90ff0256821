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
    """Walk down from the root, pairing the children of twins so that their reflected subtrees lie closest."""
    tolerance = 0.05 * max(skeleton.height, 1e-6)
    below = [skeleton.subtree(j) for j in range(skeleton.joint_count)]
    centres, counts = np.array([skeleton.rest_positions[b].mean(axis=0) for b in below]), [len(b) for b in below]
    places = np.stack([skeleton.rest_positions, centres], axis=1)  # (J, 2, 3): a joint, and what hangs from it
    places[..., 1] -= skeleton.offsets[0, 1]
    twins = np.full(skeleton.joint_count, -1)
    twins[0] = 0
    for joint in range(skeleton.joint_count):
        for child in skeleton.children[joint]:
            if twins[child] >= 0:
                continue
            free = [c for c in skeleton.children[twins[joint]] if twins[c] < 0]
            free = [c for c in free if counts[c] == counts[child]] or free  # a hand is no thumb, wherever it lies
            misfits = {c: np.linalg.norm(places[c] * _FLIP - places[child], axis=-1).max() for c in free}
            best = min(misfits, key=misfits.__getitem__, default=None)
            if best is None or misfits[best] > tolerance:
                name = skeleton.names[child]
                raise MotionError(f"No mirror twin of joint '{name}' could be found, by name or by its place at rest.")
            twins[child], twins[best] = best, child
    return twins


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
