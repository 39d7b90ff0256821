# pyright: basic, reportArgumentType=false, reportIndexIssue=false, reportCallIssue=false, reportInvalidTypeForm=false
# pyright: reportMissingImports=false, reportOperatorIssue=false, reportAttributeAccessIssue=false, reportOptionalMemberAccess=false
# Warp compiles these functions for the GPU: types are Warp's.
"""The sums of the return (4.4)-(4.11) of a walk on a GPU, as `tuning/returns.py` adds them up from a trace."""

from __future__ import annotations

import math

import warp as wp

from jostle.controllers.walker.gait import HEAD_TILT, SLOWEST
from jostle.controllers.walker.gpu_body import Body, Feet, Figure, ahead_of, corners, frame_from, world_angles
from jostle.controllers.walker.gpu_tally import C, add, head_velocity

# Columns of the tally: sums, and what is kept within a stride.
USER, PACE, SIDE, TURNED, MOMENTA, UNSTEADY, ASKEW, LOOSE, STUBBED, RECOVERING, SPILLED = (
    wp.constant(C[f"r_{name}"])
    for name in (
        "user",
        "pace",
        "side",
        "turned",
        "momenta",
        "unsteady",
        "askew",
        "loose",
        "stubbed",
        "recovering",
        "spilled",
    )
)
FROM, MOST, SWAY, SINCE = (wp.constant(C[name]) for name in ("from_x", "most_x", "sway", "in_stride"))
_HEAD_TILT, _SLOWEST, _PI = wp.constant(HEAD_TILT), wp.constant(SLOWEST), wp.constant(float(math.pi))


@wp.struct
class Aim:
    """What the return asks for, and how far from it is free."""

    speed: float  # m/s; negative: any
    step: float  # m; negative: any
    leg: float  # metres
    scale: float  # mass x height: of angular momentum, with speed
    rate: float  # instants a step
    free_user: float
    free_side: float
    free_facing: float
    free_head: float
    free_mug: float
    free_momenta: wp.vec3


@wp.func
def beyond(d: float, free: float):
    """Q(d; epsilon) (3.4)"""
    square = d * d
    if wp.abs(d) <= free:
        square = 0.0
    return square


@wp.func
def note_instant(
    body: Body,
    figure: Figure,
    aim: Aim,
    b: int,
    k: int,
    state: int,
    side: int,
    mode: int,
    feet: Feet,
    tally: wp.array2d(dtype=float),
):
    """Where it faces, how it holds its head, and its feet, and whether it recovers: at every instant."""
    if wp.floor(float(k + 1) * aim.rate + 1.0e-4) <= wp.floor(float(k) * aim.rate + 1.0e-4):
        return
    torso = body.xmat[b, figure.part[0, 0]]
    gap = body.wish[b] - wp.atan2(torso[1, 0], torso[0, 0])
    gap = gap - 2.0 * _PI * wp.floor((gap + _PI) / (2.0 * _PI))
    add(tally, b, TURNED, beyond(gap, aim.free_facing))
    if wp.length(world_angles(frame_from(body.xmat[b, figure.part[0, 6]], body.wish[b]), 1.0, False)) > _HEAD_TILT:
        add(tally, b, ASKEW, 1.0)
    add(tally, b, RECOVERING, float(mode))
    arm = frame_from(body.xmat[b, figure.carrying], body.wish[b])
    if wp.length(wp.vec2(wp.atan2(arm[1, 0], arm[2, 0]), wp.atan2(arm[0, 0], arm[2, 0]))) > aim.free_mug:
        add(tally, b, SPILLED, 1.0)
    if state == 1 and not feet.planted:
        add(tally, b, LOOSE, 1.0)
    if corners(body, figure, b, figure.part[side, 4], figure.toe, 4, 6) > 0:
        add(tally, b, STUBBED, 1.0)


@wp.func
def note_stride(
    body: Body, figure: Figure, aim: Aim, b: int, side: int, struck: bool, usual: float, tally: wp.array2d(dtype=float)
):
    """At a strike of `side` a stride ends and the next begins; between strikes its extremes and sums are kept."""
    com, steps = body.com[b, 1], tally[b, SINCE]
    if struck:
        if steps > 0.0:
            moved = wp.vec3(com[0] - tally[b, FROM], com[1] - tally[b, FROM + 1], 0.0)
            velocity = ahead_of(moved, body.wish[b]) / (steps * figure.dt)
            reach = ahead_of(body.xpos[b, figure.part[side, 2]] - body.xpos[b, figure.part[side, 3]], body.heading[b])[
                0
            ]
            if aim.speed >= 0.0:
                add(tally, b, USER, beyond(velocity[0] - aim.speed, aim.free_user))
            if aim.step >= 0.0:
                add(tally, b, USER, beyond(reach - aim.step, aim.free_user))
            if aim.speed < 0.0 and aim.step < 0.0:
                froude = wp.max(velocity[0], 0.0) / wp.sqrt(9.81 * aim.leg)
                add(tally, b, PACE, beyond(reach - aim.leg * wp.pow(froude, 0.42), aim.free_user))
            add(tally, b, SIDE, beyond(velocity[1], aim.free_side))
            scale = aim.scale * wp.max(velocity[0], _SLOWEST)
            for axis in range(3):
                add(tally, b, MOMENTA, beyond(tally[b, MOST + axis] / scale, aim.free_momenta[axis]))
            mean = tally[b, SWAY] / steps
            spread = wp.sqrt(wp.max(tally[b, SWAY + 1] / steps - mean * mean, 0.0))
            add(tally, b, UNSTEADY, beyond(spread, aim.free_head))
        tally[b, FROM] = com[0]
        tally[b, FROM + 1] = com[1]
        for axis in range(3):
            tally[b, MOST + axis] = 0.0
        tally[b, SWAY] = 0.0
        tally[b, SWAY + 1] = 0.0
        tally[b, SINCE] = 0.0
    if struck or tally[b, SINCE] > 0.0:
        momenta = ahead_of(body.spin[b, 1], body.wish[b])
        for axis in range(3):
            tally[b, MOST + axis] = wp.max(tally[b, MOST + axis], wp.abs(momenta[axis]))
        extra = ahead_of(head_velocity(body, figure, b), body.wish[b])[0] - usual  # for the precision of single numbers
        add(tally, b, SWAY, extra)
        add(tally, b, SWAY + 1, extra * extra)
        add(tally, b, SINCE, 1.0)
