"""Fewer joints: drop fingers, control bones or static roots while everything kept stays where it is in the world.

Rigs carry joints that are no bones of a body: a root on the ground above the pelvis, inverse-kinematics handles, slots
for swords. Kept joints hang from their nearest kept ancestor. Where what was dropped between the two did
not move, the bone is rigid and becomes part of the skeleton; where it did, the clip keeps it in `Clip.offsets`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from jostle.clips.clip import Clip
from jostle.errors import MotionError
from jostle.maths import quat
from jostle.skeleton import Skeleton, locals_of, require_humanoid, rest_pose
from jostle.skeleton.roles import is_helper
from jostle.types import Array, Float

_RIGID = 1e-4  # metres: a bone whose ends move less than this against each other is rigid


def keep_joints(clip: Clip, names: Sequence[str]) -> Clip:
    """The clip with these joints only, each at its place in the world; the first of them carries all the others."""
    return rebuilt(clip, sorted({clip.skeleton.index(name) for name in names}), {})


def reroot(clip: Clip, joint: str) -> Clip:
    """The clip from `joint` outwards, with `joint` as its root."""
    return rebuilt(clip, clip.skeleton.subtree(clip.skeleton.index(joint)), {})


def simplify(clip: Clip) -> Clip:
    """A plain person: the pelvis as root, and of what hangs from it no handles, slots or dummies.

    Feet that hang from a control bone are hung from the shins. World positions of what is kept do not change.
    """
    roles = require_humanoid(clip.skeleton, "Simplifying")
    skeleton, body = clip.skeleton, set(roles.values())
    adopted = {roles[f"{s}_foot"]: roles[f"{s}_shin"] for s in ("left", "right")}
    kept = set(skeleton.subtree(roles["pelvis"])) | {j for f in adopted for j in skeleton.subtree(f)}
    kept = {j for j in kept if j in body or not is_helper(skeleton.names[j])}
    moved = {foot: shin for foot, shin in adopted.items() if shin not in skeleton.chain(foot)}
    if len(kept) == skeleton.joint_count and not moved:
        return clip
    return rebuilt(clip, sorted(kept), moved)


def plain_skeleton(skeleton: Skeleton) -> Skeleton | None:
    """A rig of a person with its feet hung from the shins; None where they hang from them already."""
    roles = require_humanoid(skeleton, "Hanging feet from shins")
    if all(roles[f"{side}_shin"] in skeleton.chain(roles[f"{side}_foot"]) for side in ("left", "right")):
        return None
    pose = rest_pose(skeleton)
    return simplify(Clip(skeleton, 1.0, pose.root[None], pose.wxyz[None])).skeleton


def on_rig(clip: Clip, rig: Skeleton) -> Clip:
    """A clip of the `plain_skeleton` of a rig on the rig itself: joints of one name stand in one place, and what the
    plain one lacks goes along with its parent. Feet that hang from a control bone move in `Clip.offsets`.
    """
    rows = {rig.index(name): row for row, name in enumerate(clip.skeleton.names)}
    at = np.empty((clip.frame_count, rig.joint_count, 3))
    turned = np.empty((clip.frame_count, rig.joint_count, 4))
    pelvis = rig.index(clip.skeleton.names[0])
    facing = quat.from_yaw(quat.yaw(clip.wxyz[:, 0]))
    for joint, parent in enumerate(rig.parents):
        if joint in rows:
            at[:, joint], turned[:, joint] = clip.positions[:, rows[joint]], clip.globals.wxyz[:, rows[joint]]
        elif parent < 0:
            turned[:, joint] = facing
            at[:, joint] = clip.root - quat.apply(facing, rig.rest_positions[pelvis] - rig.rest_positions[joint])
        else:
            turned[:, joint] = turned[:, parent]
            at[:, joint] = at[:, parent] + quat.apply(turned[:, parent], rig.offsets[joint])
    return clip.with_poses(locals_of(rig, at, turned, keep_offsets=True), skeleton=rig)


def rebuilt(clip: Clip, kept: list[int], adopted: Mapping[int, int]) -> Clip:
    """The clip with joints `kept`; `adopted` names a new parent where it is not the nearest kept ancestor."""
    old = clip.skeleton
    order, parents = _ordered(old, kept, adopted)
    at, turned = clip.positions[:, order], clip.globals.wxyz[:, order]
    rest = old.rest_positions[order]
    above = np.maximum(parents, 0)
    bones = quat.inv_apply(turned[:, above], at - at[:, above])  # (T, J, 3)
    offsets = np.where((parents < 0)[:, None], rest, rest - rest[above])
    middle = np.median(bones, axis=0)
    rigid = np.max(np.linalg.norm(bones - middle, axis=-1), axis=0) < _RIGID
    rigid[0] = True
    offsets[1:] = np.where(rigid[1:, None], middle[1:], offsets[1:])
    end_parents, end_offsets = _ends(old, order)
    skeleton = Skeleton(tuple(old.names[j] for j in order), parents, offsets, end_parents, end_offsets)
    poses = locals_of(skeleton, at, turned, keep_offsets=not bool(np.all(rigid)))
    return clip.with_poses(poses, skeleton=skeleton)


def _ordered(old: Skeleton, kept: list[int], adopted: Mapping[int, int]) -> tuple[list[int], Array]:
    """The kept joints, parents first, and each one's row of its parent."""
    keep = set(kept)
    parent_of = {j: adopted.get(j, next((p for p in reversed(old.chain(j)[:-1]) if p in keep), -1)) for j in kept}
    tops = [j for j in kept if parent_of[j] < 0]
    if len(tops) != 1:
        names = ", ".join(f"'{old.names[j]}'" for j in tops)
        raise MotionError(f"The joints to keep have no common root but several: {names}; keep what joins them, too.")
    order: list[int] = []
    waiting = tops
    while waiting:
        joint = waiting.pop(0)
        order.append(joint)
        waiting = [j for j in kept if parent_of[j] == joint] + waiting
    row = {joint: i for i, joint in enumerate(order)}
    return order, np.array([row.get(parent_of[j], -1) for j in order], dtype=np.int64)


def _ends(old: Skeleton, order: list[int]) -> tuple[Array, Float[Array, "E 3"]]:
    """The tips that kept joints carry; a joint that lost all below it gets the farthest of that as its tip."""
    parents: list[int] = []
    offsets: list[Array] = []
    keep = set(order)
    for row, joint in enumerate(order):
        tips = list(old.ends_of(joint))
        below = old.subtree(joint)[1:]
        if not tips and below and not keep & set(below):
            lost = old.rest_positions[below]
            tips = [max(lost - old.rest_positions[joint], key=lambda v: float(v @ v))]
        parents += [row] * len(tips)
        offsets += tips
    return np.array(parents, dtype=np.int64), np.array(offsets, dtype=float).reshape(-1, 3)
