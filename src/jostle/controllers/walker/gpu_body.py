# pyright: basic, reportArgumentType=false, reportIndexIssue=false, reportCallIssue=false, reportInvalidTypeForm=false
# pyright: reportMissingImports=false, reportOperatorIssue=false, reportAttributeAccessIssue=false, reportOptionalMemberAccess=false
# ruff: noqa: UP018, RUF046
# Warp compiles these functions for the GPU: types are Warp's, and `float(0.0)` is a variable where `0.0` is a constant.
"""What each thread of a GPU knows of its walker: its body in the mirror, angles in the world, feet on the ground."""

from __future__ import annotations

import warp as wp

from jostle.controllers.walker.senses import PLANTED, TOUCH

_TOUCH, _PLANTED = wp.constant(TOUCH), wp.constant(PLANTED)


@wp.struct
class Body:
    """What MuJoCo knows of the walkers."""

    qpos: wp.array2d(dtype=float)
    qvel: wp.array2d(dtype=float)
    xpos: wp.array2d(dtype=wp.vec3)
    xmat: wp.array2d(dtype=wp.mat33)
    cvel: wp.array2d(dtype=wp.spatial_vector)
    xaxis: wp.array2d(dtype=wp.vec3)
    com: wp.array2d(dtype=wp.vec3)
    velocity: wp.array2d(dtype=wp.vec3)
    spin: wp.array2d(dtype=wp.vec3)
    heading: wp.array(dtype=float)
    wish: wp.array(dtype=float)
    normal: wp.array(dtype=wp.vec3)  # of the ground
    fate: wp.array(dtype=int)  # seeds of motor noise: equal for equal fates


@wp.struct
class Figure:
    """The body in the mirror: first for a left, then for a right swing leg."""

    perm: wp.array2d(dtype=int)  # of the thirty angles
    sign: wp.array2d(dtype=float)
    part: wp.array2d(dtype=int)  # torso, swing thigh, swing foot, stance foot, swing toe, stance toe, head
    angle: wp.array(dtype=int)  # ANGLE_ROWS
    hinge: wp.array2d(dtype=int)  # joints of the first ten of them
    foot: wp.array(dtype=wp.vec3)  # four corners
    toe: wp.array(dtype=wp.vec3)  # four corners and two on top of the tip
    half: float  # metres from the middle of the ground to its edge
    fallen: float
    dt: float
    timed: int
    world_ankles: int
    early: int
    guided: int
    reactive: int
    carrying: int  # the part that holds a mug
    toe_up: float
    noise: float  # torque over |torque| / kp^0.25 (4.15)
    middle: float  # metres ahead at which someone steers it over the middle of a beam; 0: nobody does


@wp.struct
class Feet:
    """How many corners of each part touch the ground, and what that means."""

    swing_heel: int
    swing_ball: int
    stance_heel: int
    stance_ball: int
    planted: bool  # does the stance foot bear?
    touches: bool  # the swing foot
    stands: bool  # the stance foot


@wp.func
def ahead_of(v: wp.vec3, heading: float):
    """A vector of the world in the frame of a heading."""
    c, s = wp.cos(heading), wp.sin(heading)
    return wp.vec3(c * v[0] + s * v[1], c * v[1] - s * v[0], v[2])


@wp.func
def frame_from(m: wp.mat33, heading: float):
    """A frame of the world in that of a heading."""
    c, s = wp.cos(heading), wp.sin(heading)
    return wp.mat33(
        c * m[0, 0] + s * m[1, 0], c * m[0, 1] + s * m[1, 1], c * m[0, 2] + s * m[1, 2],
        c * m[1, 0] - s * m[0, 0], c * m[1, 1] - s * m[0, 1], c * m[1, 2] - s * m[0, 2],
        m[2, 0], m[2, 1], m[2, 2],
    )  # fmt: skip


@wp.func
def seen_frame(body: Body, b: int, part: int):
    """Of a part, in the frame of the heading."""
    return frame_from(body.xmat[b, part], body.heading[b])


@wp.func
def corners(body: Body, figure: Figure, b: int, part: int, points: wp.array(dtype=wp.vec3), first: int, last: int):
    """How many of these corners of a part touch the ground."""
    count = int(0)
    for c in range(first, last):
        at = body.xpos[b, part] + body.xmat[b, part] * points[c]
        if wp.dot(body.normal[b], at) < _TOUCH and wp.abs(at[1]) < figure.half:
            count += 1
    return count


@wp.func
def feel(body: Body, figure: Figure, b: int, side: int):
    swing, stance = figure.part[side, 2], figure.part[side, 3]
    swing_tip = corners(body, figure, b, figure.part[side, 4], figure.toe, 0, 4)
    stance_tip = corners(body, figure, b, figure.part[side, 5], figure.toe, 0, 4)
    feet = Feet()
    feet.swing_heel = corners(body, figure, b, swing, figure.foot, 0, 2)
    feet.swing_ball = corners(body, figure, b, swing, figure.foot, 2, 4)
    feet.stance_heel = corners(body, figure, b, stance, figure.foot, 0, 2)
    feet.stance_ball = corners(body, figure, b, stance, figure.foot, 2, 4)
    feet.planted = feet.stance_heel + feet.stance_ball >= _PLANTED or stance_tip >= _PLANTED
    feet.touches = feet.swing_heel + feet.swing_ball + swing_tip > 0
    feet.stands = feet.stance_heel + feet.stance_ball + stance_tip > 0
    return feet


@wp.func
def world_angles(frame: wp.mat33, flip: float, is_foot: bool):
    """Coronal, sagittal and transverse."""
    sagittal = wp.atan2(frame[0, 2], frame[2, 2])
    if is_foot:
        sagittal = wp.asin(wp.clamp(-frame[2, 0], -1.0, 1.0))
    return wp.vec3(wp.atan2(-frame[1, 2] * flip, frame[2, 2]), sagittal, wp.atan2(frame[1, 0] * flip, frame[0, 0]))
