"""A rest pose for skeletons that come without a usable one.

jostle's invariant is that the identity pose stands upright and faces X. Files break it in two ways.

1. The identity pose stands, but along another axis or facing elsewhere (Z-up exports, figures that face -Z).
   One turn of the whole figure by right angles mends it.
2. The identity pose is no figure at all: rigs with every bone along its own X axis (Bandai Namco's) fold into a
   heap when all rotations are zero. Then the motion tells how the figure is meant: each joint's mean rotation over
   the frames, heading removed, is turned until legs hang down, arms point sideways and feet point forward, and is
   rounded to right angles where the rig is built on right angles. The rounding is what makes every clip of such a
   rig come out with *the same* skeleton, a T-pose, whatever its motion.

World positions never change: only the frames in which rotations are told. What is no person is left as it is.
"""

from __future__ import annotations

from itertools import permutations, product

import numpy as np

from jostle.maths import quat
from jostle.skeleton import Pose, Skeleton, aligned_to_rest, find_roles, forward, is_humanoid
from jostle.types import Array, Float

_UP = np.array([0.0, 0.0, 1.0])
_FORWARD = np.array([1.0, 0.0, 0.0])
_LEFT = np.array([0.0, 1.0, 0.0])
_BALL_BELOW_ANKLE = np.radians(20.0)  # the slope from ankle to ball in a foot that stands flat
_SNAP = np.radians(25.0)
_SAMPLES = 200  # frames are plenty for a mean


def standing_axes(skeleton: Skeleton) -> Float[Array, "3 3"] | None:
    """Forward, left and up of the figure's identity pose as rows, rounded to the axes; None where it is no figure."""
    roles, at = find_roles(skeleton), skeleton.rest_positions
    feet = 0.5 * (at[roles["left_foot"]] + at[roles["right_foot"]])
    trunk, leg = at[roles["head"]] - at[roles["pelvis"]], at[roles["pelvis"]] - feet
    up = _nearest_axis(trunk + leg)
    left = _nearest_axis(at[roles["left_thigh"]] - at[roles["right_thigh"]])
    stretched = trunk @ up > 0.5 * _chain_length(skeleton, "pelvis", "head")
    stretched &= leg @ up > 0.5 * _chain_length(skeleton, "left_thigh", "left_foot")
    if not stretched or abs(left @ up) > 0.5:
        return None
    return np.stack([np.cross(left, up), left, up])


def stand_up(skeleton: Skeleton, pose: Pose) -> tuple[Skeleton, Pose]:
    """The same motion told from a rest pose that stands upright and faces X."""
    if not is_humanoid(skeleton):
        return skeleton, pose
    axes = standing_axes(skeleton)
    if axes is not None and np.array_equal(axes, np.eye(3)):
        return skeleton, pose
    if axes is not None:
        rest = quat.identity((skeleton.joint_count,))
        rest[0] = quat.from_matrix(axes)
    else:
        rest = _rest_from_motion(skeleton, pose)
    turned, wxyz, offsets = aligned_to_rest(skeleton, rest, pose.wxyz, pose.offsets)
    return _grounded(turned), Pose(pose.root, wxyz, offsets)


def _nearest_axis(v: Float[Array, "3"]) -> Float[Array, "3"]:
    axis = np.zeros(3)
    axis[np.argmax(np.abs(v))] = np.sign(v[np.argmax(np.abs(v))]) or 1.0
    return axis


def _chain_length(skeleton: Skeleton, top: str, bottom: str) -> float:
    roles = find_roles(skeleton)
    chain = skeleton.chain(roles[bottom])
    below = chain[chain.index(roles[top]) + 1 :] if roles[top] in chain else chain[1:]
    return float(np.linalg.norm(skeleton.offsets[below], axis=-1).sum())


def _grounded(skeleton: Skeleton) -> Skeleton:
    """The rest pose over the origin with its lowest point on the ground."""
    low = np.concatenate([skeleton.rest_positions, skeleton.rest_ends])[:, 2].min()
    offsets = skeleton.offsets.copy()
    offsets[0] = (0.0, 0.0, offsets[0, 2] - low)
    return Skeleton(skeleton.names, skeleton.parents, offsets, skeleton.end_parents, skeleton.end_offsets)


def _rest_from_motion(skeleton: Skeleton, pose: Pose) -> Float[Array, "J 4"]:
    """Local rotations of the rest pose that the motion suggests."""
    mean = _mean_without_heading(skeleton, pose)  # world rotations (J, 4)
    goals = _bone_goals(skeleton)
    world = mean.copy()
    for joint, parent in enumerate(skeleton.parents):
        if parent >= 0:  # carried along by what was done to the parent
            world[joint] = quat.mul(world[parent], quat.inv_mul(mean[parent], mean[joint]))
        if joint in goals:
            bone, goal, slope = goals[joint]
            world[joint] = quat.mul(quat.between(quat.apply(world[joint], bone), goal), world[joint])
            world[joint] = quat.mul(slope, _snapped(world[joint]))
        else:
            world[joint] = _snapped(world[joint])
    local = world.copy()
    local[1:] = quat.inv_mul(world[skeleton.parents[1:]], world[1:])
    return local


def _mean_without_heading(skeleton: Skeleton, pose: Pose) -> Float[Array, "J 4"]:
    """Each joint's mean world rotation, seen from a figure that faces X. Frames with gaps do not count."""
    whole = np.flatnonzero(np.isfinite(pose.wxyz).all(axis=(1, 2)))
    pick = whole[:: max(1, len(whole) // _SAMPLES)]
    if len(pick) == 0:
        return quat.identity((skeleton.joint_count,))
    offsets = None if pose.offsets is None else pose.offsets[pick]
    placed = forward(skeleton, Pose(np.zeros((len(pick), 3)), pose.wxyz[pick], offsets))
    roles = find_roles(skeleton)
    left = placed.positions[:, roles["left_thigh"]] - placed.positions[:, roles["right_thigh"]]
    heading = np.arctan2(-left[:, 0], left[:, 1])  # the left hip of a figure that faces X lies on Y
    return quat.mean(quat.mul(quat.from_yaw(-heading)[:, None], placed.wxyz))


def _bone_goals(skeleton: Skeleton) -> dict[int, tuple[Array, Array, Array]]:
    """Joint to its bone, where the bone shall point, and a tilt that is added last."""
    roles = find_roles(skeleton)
    flat, tilt = quat.identity(), quat.from_axis_angle(_LEFT, _BALL_BELOW_ANKLE)
    goals = {}
    for side, out in (("left", _LEFT), ("right", -_LEFT)):
        for role, child, goal, slope in (
            ("thigh", "shin", -_UP, flat),
            ("shin", "foot", -_UP, flat),
            ("foot", "toe", _FORWARD, tilt),
            ("upper_arm", "forearm", out, flat),
            ("forearm", "hand", out, flat),
        ):
            joint, end = roles.get(f"{side}_{role}"), roles.get(f"{side}_{child}")
            if joint is None or end is None or skeleton.parents[end] != joint:
                continue
            if np.linalg.norm(skeleton.offsets[end]) > 0.0:
                goals[joint] = (skeleton.offsets[end], goal, slope)
    return goals


def _right_angled() -> Float[Array, "24 4"]:
    """The rotations that take axes to axes."""
    found = []
    for order in permutations(range(3)):
        for signs in product((1.0, -1.0), repeat=3):
            matrix = np.eye(3)[list(order)] * signs
            if np.linalg.det(matrix) > 0.0:
                found.append(quat.from_matrix(matrix))
    return np.array(found)


_CUBE = _right_angled()


def _snapped(q: Float[Array, "4"]) -> Float[Array, "4"]:
    """The right-angled rotation where one is near, else q itself."""
    apart = quat.angle(quat.inv_mul(_CUBE, q))
    return _CUBE[np.argmin(apart)] if apart.min() < _SNAP else q
