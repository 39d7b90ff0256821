"""A skeleton with constant bone lengths through labelled points.

1. *Tree*: given, known (the dog recordings), or found from what keeps its distance (`clips.tree`).
2. *Rest pose*: every bone along its mean direction, as seen from the body, in the frames in which it stands. The mean
   pose of a creature on its feet is upright, and joints never turn far from it, so nothing flips. Bones that one joint
   carries together (both hips and the tail) keep the shape that they have among themselves.
3. *Rotations*, from the root out: with two or more bones to carry, the rotation that fits them best (Kabsch 1976);
   with one, the smallest turn from the parent's orientation. A joint that carries nothing does not turn.
4. *Refinement* where that leaves more than a millimetre (noise, soft tissue): damped least squares over all joints and
   the root (`skeleton.reach`). Points that were not seen have no say; what they leave open is interpolated in angles.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jostle.clips.clip import Clip
from jostle.clips.facing import body_yaw
from jostle.clips.points import Points, default_labels, read_points
from jostle.clips.tree import DOG_NAMES, DOG_PARENTS, as_parents, find_tree, is_dog, ordered
from jostle.errors import MotionError
from jostle.maths import quat
from jostle.skeleton import Pose, Skeleton, build_skeleton, find_twins, forward, locals_of
from jostle.skeleton.reach import Goal, reach
from jostle.types import Array, Bool, Float, PathLike

_FINE = 0.001  # metres: nearer than this, nothing is refined
_STIFFNESS = 0.003  # metres of missing a point that a radian of turning is worth
_CHUNK = 128  # frames refined at once, to bound memory
_ROUNDS = 4
_THIN = 0.05  # bones in one line, to this share of their length, leave the twist open


def read_solved(
    path: PathLike,
    fps: float | None = None,
    unit: float | None = None,
    up: str | None = None,
    parents: Sequence[int] | dict[str, str | None] | None = None,
    skeleton: Skeleton | None = None,
) -> Clip:
    """Labelled points from a file, as a clip of the skeleton through them."""
    return solve_skeleton(read_points(path, fps, unit, up), parents, skeleton=skeleton)


def solve_skeleton(
    points: Points,
    parents: Sequence[int] | dict[str, str | None] | None = None,
    facing: float | None = None,
    skeleton: Skeleton | None = None,
) -> Clip:
    """A clip whose joints are the points and whose bones keep their lengths.

    `parents` is the tree, by number (-1 for the root) or by name; without it, the one that the points know or suggest.
    `facing` is where the body faces in the first frame (radians, left of X), where left, right and travel do not tell.
    With `skeleton`, that of another recording of the same body, the points are put on it: every recording by itself
    would have a rest pose of its own.
    """
    points = _seen(points)
    if skeleton is not None:
        return _solved_on(skeleton, points)
    names, tree = _tree(points, parents)
    order = ordered(tree)
    new = {old: i for i, old in enumerate(order)}
    labels = [names[i] for i in order]
    up_tree = np.array([-1 if tree[i] < 0 else new[tree[i]] for i in order])
    observed = points.positions[:, order]
    seen = np.all(np.isfinite(observed), axis=-1)  # (T, J)
    filled = _filled(observed, seen)
    return _through(_rest(labels, up_tree, filled, body_yaw(labels, filled, facing)), points, observed)


def _solved_on(skeleton: Skeleton, points: Points) -> Clip:
    """The points on a skeleton that is known; its joints are called as they are."""
    labels = _tree(points, None)[0]
    if missing := [name for name in skeleton.names if name not in labels]:
        raise MotionError(
            f"'{points.name}' has no point for '{missing[0]}' of this skeleton; it has: {', '.join(labels[:60])}."
        )
    return _through(skeleton, points, points.positions[:, [labels.index(name) for name in skeleton.names]])


def _through(skeleton: Skeleton, points: Points, observed: Float[Array, "T J 3"]) -> Clip:
    """Rotations that bring a skeleton's joints to what was observed of each."""
    seen = np.all(np.isfinite(observed), axis=-1)
    pose = _interpolated(skeleton, _fitted(skeleton, _filled(observed, seen)), seen)
    pose = _refined(skeleton, pose, observed, seen)
    return Clip(skeleton, points.fps, pose.root, quat.continuous(pose.wxyz), name=points.name)


def _seen(points: Points) -> Points:
    """Without the points that were never seen."""
    ever = np.any(np.all(np.isfinite(points.positions), axis=-1), axis=0)
    if np.sum(ever) < 2:
        raise MotionError(f"'{points.name}' shows fewer than two points, and a skeleton needs a bone.")
    if np.all(ever):
        return points
    lost = [label for label, e in zip(points.labels, ever, strict=True) if not e]
    raise MotionError(f"These points of '{points.name}' were not seen in any frame; leave them out: {', '.join(lost)}.")


def _tree(
    points: Points, parents: Sequence[int] | dict[str, str | None] | None
) -> tuple[Sequence[str], tuple[int, ...]]:
    if parents is not None:
        return points.labels, as_parents(points.labels, parents)
    if points.parents is not None:
        return points.labels, points.parents
    if points.labels in (DOG_NAMES, default_labels(len(DOG_NAMES))) and is_dog(points.positions):
        return DOG_NAMES, DOG_PARENTS
    return points.labels, find_tree(points.labels, points.positions)


def _filled(positions: Float[Array, "T J 3"], seen: Bool[Array, "T J"]) -> Float[Array, "T J 3"]:
    """Gaps bridged in a straight line, for a first guess."""
    out = positions.copy()
    frames = np.arange(len(out))
    for joint in np.flatnonzero(~np.all(seen, axis=0)):
        there = seen[:, joint]
        for axis in range(3):
            out[:, joint, axis] = np.interp(frames, frames[there], positions[there, joint, axis])
    return out


def _rest(names: Sequence[str], parents: Array, positions: Float[Array, "T J 3"], yaw: Float[Array, "T"]) -> Skeleton:
    """Each bone, or each fan of bones that one joint carries, in its own shape and mean direction, on the ground."""
    upright = _upright(positions)
    bones = positions[:, 1:] - positions[:, parents[1:]]
    bones = np.concatenate([np.zeros((len(bones), 1, 3)), bones], axis=1)  # (T, J, 3)
    ahead = quat.apply(quat.from_yaw(-yaw[upright])[:, None], bones[upright])
    lengths = np.linalg.norm(ahead, axis=-1, keepdims=True)
    towards = _alike(build_skeleton(names, parents, np.mean(ahead / np.maximum(lengths, 1e-9), axis=0)))
    offsets = np.zeros((len(names), 3))
    for fan in build_skeleton(names, parents, offsets).children:
        if fan:
            offsets[list(fan)] = _placed(bones[:, list(fan)], towards[list(fan)])
    skeleton = build_skeleton(names, parents, offsets)
    offsets[0, 2] = -float(np.min(skeleton.rest_positions[:, 2]))
    return build_skeleton(names, parents, offsets)


def _upright(positions: Float[Array, "T J 3"]) -> Array:
    """The half of the frames in which the body is highest: who also sits or lies down rests standing all the same."""
    height = positions[..., 2].mean(axis=1) - positions[..., 2].min(axis=1)
    return np.flatnonzero(height >= np.median(height))


def _alike(skeleton: Skeleton) -> Float[Array, "J 3"]:
    """Directions averaged with their mirror images where joints are known to be twins."""
    try:
        twins = find_twins(skeleton)
    except MotionError:
        return skeleton.offsets.copy()
    return 0.5 * (skeleton.offsets + skeleton.offsets[twins] * np.array([1.0, -1.0, 1.0]))


def _placed(bones: Float[Array, "T c 3"], towards: Float[Array, "c 3"]) -> Float[Array, "c 3"]:
    """The bones that one joint carries: their common shape, turned to lie along their mean directions."""
    lengths = np.median(np.linalg.norm(bones, axis=-1), axis=0)
    size = np.linalg.norm(towards, axis=-1, keepdims=True)
    aims = np.where(size > 1e-6, towards / np.maximum(size, 1e-6), [0.0, 0.0, -1.0]) * lengths[:, None]
    shape = bones[len(bones) // 2]
    if not _spans(shape):
        return aims
    for _ in range(_ROUNDS):  # generalised Procrustes: turn every frame onto the mean, take the mean, and again
        turned = quat.inv_apply(_fit(shape, bones, quat.identity((len(bones),)))[:, None], bones)
        shape = np.median(turned, axis=0)
    shape *= (lengths / np.maximum(np.linalg.norm(shape, axis=-1), 1e-12))[:, None]
    return quat.apply(_fit(shape, aims[None], quat.identity((1,)))[0], shape)


def _fitted(skeleton: Skeleton, positions: Float[Array, "T J 3"]) -> Pose:
    """Local rotations, from the root out."""
    world = quat.identity((len(positions), skeleton.joint_count))
    for joint, children in enumerate(skeleton.children):
        parent = skeleton.parents[joint]
        above = world[:, parent] if parent >= 0 else quat.identity((len(positions),))
        carried = [c for c in children if np.linalg.norm(skeleton.offsets[c]) > 1e-6]
        world[:, joint] = above
        if carried:
            offsets = skeleton.offsets[carried]
            bones = positions[:, carried] - positions[:, joint, None]  # (T, c, 3)
            world[:, joint] = _fit(offsets, bones, above) if _spans(offsets) else _swing(offsets, bones, above)
    return locals_of(skeleton, positions, world)


def _spans(offsets: Float[Array, "c 3"]) -> bool:
    """Whether the bones point in more than one direction, so that they fix the twist."""
    sizes = np.linalg.svd(offsets, compute_uv=False)
    return len(sizes) > 1 and bool(sizes[1] > _THIN * sizes[0])


def _fit(offsets: Float[Array, "c 3"], bones: Float[Array, "T c 3"], above: Float[Array, "T 4"]) -> Float[Array, "T 4"]:
    """The rotation R that is best in sum |b - R o|², by the singular value decomposition of sum b o' (Kabsch 1976).

    A trace of the parent's rotation keeps it from turning inside out when all bones lie in a plane.
    """
    scatter = np.einsum("tci,cj->tij", bones, offsets)
    scatter += 1e-9 * np.sum(offsets**2) * quat.to_matrix(above)
    u, _, vt = np.linalg.svd(scatter)
    u[..., :, 2] *= np.sign(np.linalg.det(u @ vt))[:, None]
    return quat.from_matrix(u @ vt)


def _swing(
    offsets: Float[Array, "c 3"], bones: Float[Array, "T c 3"], above: Float[Array, "T 4"]
) -> Float[Array, "T 4"]:
    """The smallest turn from the parent's orientation that lays one bone (or several in a line) along what was seen."""
    line = offsets[np.argmax(np.linalg.norm(offsets, axis=-1))]
    sign = np.where(offsets @ line < 0.0, -1.0, 1.0)
    seen = np.sum(bones * sign[:, None], axis=1)
    short = np.linalg.norm(seen, axis=-1, keepdims=True) < 1e-9
    was = quat.apply(above, line)
    return quat.mul(quat.between(was, np.where(short, was, seen)), above)


def _interpolated(skeleton: Skeleton, pose: Pose, seen: Bool[Array, "T J"]) -> Pose:
    """Where a joint or what it carries was not seen, its angles go evenly from the last known to the next known."""
    wxyz = quat.continuous(pose.wxyz)
    for joint, children in enumerate(skeleton.children):
        known = np.all(seen[:, [joint, *children]], axis=1)
        if np.all(known) or not np.any(known):
            continue
        at = np.flatnonzero(known)
        lost = np.flatnonzero(~known)
        after = np.clip(np.searchsorted(at, lost), 0, len(at) - 1)
        before = np.clip(after - (at[after] > lost), 0, len(at) - 1)
        a, b = at[before], at[after]
        share = np.clip((lost - a) / np.maximum(b - a, 1), 0.0, 1.0)
        wxyz[lost, joint] = quat.slerp(wxyz[a, joint], wxyz[b, joint], share)
    return Pose(pose.root, wxyz)


def _refined(skeleton: Skeleton, pose: Pose, observed: Float[Array, "T J 3"], seen: Bool[Array, "T J"]) -> Pose:
    """Damped least squares in the frames that are more than a millimetre off."""
    miss = np.linalg.norm(forward(skeleton, pose).positions - observed, axis=-1)
    off = np.flatnonzero(np.any((miss > _FINE) & seen, axis=1))
    root, wxyz = pose.root.copy(), pose.wxyz.copy()
    wanted = np.where(seen[..., None], observed, 0.0)
    turning = [joint for joint, children in enumerate(skeleton.children) if children]
    for start in range(0, len(off), _CHUNK):
        rows = off[start : start + _CHUNK]
        goals = [Goal(j, wanted[rows, j], weight=seen[rows, j].astype(float)) for j in range(skeleton.joint_count)]
        better = reach(skeleton, Pose(root[rows], wxyz[rows]), goals, turning, True, _STIFFNESS, 12, 1e-5)
        root[rows], wxyz[rows] = better.root, better.wxyz
    return Pose(root, wxyz)
