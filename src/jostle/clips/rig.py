"""An animator's rig as a plain body: what walks is kept, the handles by which it was moved are left out.

In rigs the feet of animals often are no children of their legs. They hang from a control bone on the ground, and the
leg is solved to reach them, frame by frame. Such a file plays, but a body cannot be learnt from it: foot and leg are
two motions that only happen to meet, and whatever bends one of them tears the leg. Here every stray foot becomes a
child of the limb that ends where it is, bones keep their lengths, and legs are solved once more to bring feet where
the rig had them. `retarget` onto the rig is the way back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from jostle.clips.clip import Clip
from jostle.clips.feet import body_size
from jostle.clips.joints import rebuilt, simplify
from jostle.errors import MotionError
from jostle.skeleton import Pose, Skeleton, is_humanoid, locals_of, rest_pose
from jostle.skeleton.cones import is_control
from jostle.skeleton.ik import pin_limb
from jostle.skeleton.roles import is_helper, split_side
from jostle.types import Array, Float

_GROUND = 0.1  # of the height: a root this low carries the rig and is no part of the body
_MEETS = 0.05  # of the size of the body: a foot begins no farther from the end of its limb


@dataclass(frozen=True)
class Parts:
    """The joints of the body among those of a rig; `adopted` tells from which limb a stray foot hangs."""

    kept: tuple[int, ...]
    adopted: Mapping[int, int]


def plain(clip: Clip) -> Clip:
    """The clip without the rig's handles, as a body whose bones keep their lengths; a plain one as it is."""
    if is_humanoid(clip.skeleton):
        return simplify(clip)
    parts = find_parts(clip.skeleton)
    if len(parts.kept) == clip.skeleton.joint_count and clip.offsets is None:
        return clip
    loose = rebuilt(clip, list(parts.kept), parts.adopted)
    feet = [loose.skeleton.names.index(clip.skeleton.names[foot]) for foot in parts.adopted]
    skeleton = _body(clip.skeleton, parts)
    pose = locals_of(skeleton, loose.positions, loose.globals.wxyz)
    for foot in feet:
        pose = _reached(skeleton, pose, foot, loose.positions[:, foot])
    return clip.with_poses(pose, skeleton=skeleton)


def plain_body(rig: Skeleton) -> Skeleton | None:
    """The skeleton of a rig without its handles; None of one that has none, or is a person's."""
    if is_humanoid(rig):
        return None
    parts = find_parts(rig)
    return None if len(parts.kept) == rig.joint_count else _body(rig, parts)


def _body(rig: Skeleton, parts: Parts) -> Skeleton:
    """As at rest, so that it is one and the same for all motions of a rig. A limb that has a foot ends in it."""
    pose = rest_pose(rig)
    body = rebuilt(Clip(rig, 1.0, pose.root[None], pose.wxyz[None]), list(parts.kept), parts.adopted).skeleton
    limbs = {rig.names[limb] for limb in parts.adopted.values()}
    ends = [i for i, j in enumerate(body.end_parents) if body.names[int(j)] not in limbs]
    return Skeleton(body.names, body.parents, body.offsets, body.end_parents[ends], body.end_offsets[ends])


def find_parts(skeleton: Skeleton) -> Parts:
    """What of a rig is body: what is named as a part of one, and handles in between, such as one that is an ankle."""
    top, names = _top(skeleton), skeleton.names
    flesh = [j for j in range(skeleton.joint_count) if not (is_helper(names[j]) or is_control(skeleton, j))]
    carries = {above for j in flesh for above in skeleton.chain(j)}
    kept = [j for j in range(skeleton.joint_count) if j in carries and j not in skeleton.chain(top)[:-1]]
    body = [j for j in kept if top in skeleton.chain(j)]
    feet = [j for j in kept if j not in body and int(skeleton.parents[j]) not in kept]
    return Parts(tuple(kept), {foot: _limb_of(skeleton, body, foot) for foot in feet})


def _top(skeleton: Skeleton) -> int:
    """The joint that carries the body: the root, or what hangs from a root that lies on the ground among handles.

    What carries handles and one other joint is a handle itself.
    """
    top, lowest = 0, float(skeleton.rest_positions[:, 2].min())
    if skeleton.offsets[0][2] - lowest < _GROUND * skeleton.height and len(skeleton.children[0]) > 1:
        top = max(skeleton.children[0], key=lambda j: len(skeleton.subtree(j)))
    while len(below := skeleton.children[top]) > 1:
        carried = [j for j in below if not all(is_control(skeleton, c) for c in skeleton.subtree(j))]
        if len(carried) != 1:
            break
        top = carried[0]
    return top


def _limb_of(skeleton: Skeleton, body: list[int], foot: int) -> int:
    """The last joint of the limb that ends where a stray foot begins, on its own side."""
    side, at = split_side(skeleton.names[foot])[0], skeleton.rest_positions
    last = [j for j in body if not set(skeleton.children[j]) & set(body) and split_side(skeleton.names[j])[0] == side]
    ends = {j: at[j] + max(skeleton.ends_of(j), key=np.linalg.norm, default=np.zeros(3)) for j in last}
    away = {j: float(np.linalg.norm(end - at[foot])) for j, end in ends.items()}
    nearest = min(away, key=away.__getitem__, default=None)
    if nearest is None or away[nearest] > _MEETS * body_size(skeleton):
        raise MotionError(f"'{skeleton.names[foot]}' hangs from a handle of the rig, and no limb ends where it is.")
    return nearest


def _reached(skeleton: Skeleton, pose: Pose, foot: int, targets: Float[Array, "T 3"]) -> Pose:
    chain = skeleton.chain(foot)
    return pose if len(chain) < 4 else pin_limb(skeleton, pose, chain[-3], chain[-2], foot, targets, pole=None)
