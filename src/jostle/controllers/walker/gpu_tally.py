# pyright: basic, reportArgumentType=false, reportIndexIssue=false, reportCallIssue=false, reportInvalidTypeForm=false
# pyright: reportMissingImports=false, reportOperatorIssue=false, reportAttributeAccessIssue=false, reportOptionalMemberAccess=false
# Warp compiles these functions for the GPU: types are Warp's.
"""The sums that a walk on a GPU is judged by.

Where walk.py keeps a trace that is measured afterwards, a thread adds up as it goes. What only the end of a cycle can
tell, its length, is taken from the cycle before.
"""

from __future__ import annotations

import warp as wp

from jostle.controllers.walker.gait import HEAD_TILT, LEAVING, MID_STANCE, SETTLING
from jostle.controllers.walker.gpu_body import Body, Feet, Figure, ahead_of, corners, seen_frame, world_angles

# What a walk is added up to: columns of the tally.
COLUMNS = (
    "steps", "strikes", "struck_at", "start_x", "start_y", "start_z", "com_x", "com_y", "com_z",
    "power", "hip", "knee", "ankle", "loose", "stubbed", "turning", "spin", "head", "head_squares", "tilted",
    "visits_0", "visits_1", "visits_2", "visits_3", "time_0", "time_1", "time_2", "time_3", "was",
    "reach", "knees", "raised", "bent", "drop", "tipped", "stood", "paces", "landings",
    "bent_now", "ahead_now", "tipped_now", "stood_now", "first", "last", "both", "both_now",
    "since_left", "since_right", "cycle_left", "cycle_right", "heel_left", "heel_right", "foot_left", "foot_right",
    "flat_left", "flat_right", "mid_left", "mid_right",
    "r_user", "r_pace", "r_side", "r_turned", "r_momenta", "r_unsteady", "r_askew", "r_loose", "r_stubbed",
    "r_recovering", "r_spilled",
    "from_x", "from_y", "most_x", "most_y", "most_z", "sway", "sway_squares", "in_stride",
    "cycles", "cycle_steps", "heel_off", "toe_off", "flat",
)  # fmt: skip
C = {name: i for i, name in enumerate(COLUMNS)}


def _column(name: str) -> wp.constant:
    return wp.constant(C[name])


STEPS, STRIKES, STRUCK_AT, START, COM = (_column(n) for n in ("steps", "strikes", "struck_at", "start_x", "com_x"))
POWER, LOOSE, STUBBED, TURNING, SPIN = (_column(n) for n in ("power", "loose", "stubbed", "turning", "spin"))
HEAD, TILTED, VISITS, TIME, WAS = (_column(n) for n in ("head", "tilted", "visits_0", "time_0", "was"))
REACH, KNEES, RAISED, BENT = (_column(n) for n in ("reach", "knees", "raised", "bent"))
DROP, TIPPED, STOOD, PACES, LANDINGS = (_column(n) for n in ("drop", "tipped", "stood", "paces", "landings"))
BENT_NOW, AHEAD_NOW, TIPPED_NOW, STOOD_NOW = (_column(f"{n}_now") for n in ("bent", "ahead", "tipped", "stood"))
FIRST, LAST, BOTH, BOTH_NOW, SINCE = (_column(n) for n in ("first", "last", "both", "both_now", "since_left"))
CYCLE, HEEL, FOOT, FLAT, MID = (_column(f"{n}_left") for n in ("cycle", "heel", "foot", "flat", "mid"))
CYCLES, CYCLE_STEPS, HEEL_OFF, TOE_OFF, FLATNESS = (_column(n) for n in COLUMNS[-5:])
_EARLY, _LATE, _LEAVING, _SETTLING = (wp.constant(float(x)) for x in (*MID_STANCE, LEAVING, SETTLING))
_HEAD_TILT = wp.constant(HEAD_TILT)


@wp.func
def add(tally: wp.array2d(dtype=float), b: int, column: int, value: float):
    tally[b, column] = tally[b, column] + value


@wp.func
def watch_feet(tally: wp.array2d(dtype=float), b: int, k: int, foot: int, heel: int, ball: int, down: bool):
    """Of one foot within its cycle: until when heel and foot are down, and whether it is flat in mid-stance."""
    since, cycle = tally[b, SINCE + foot], tally[b, CYCLE + foot]
    if cycle > 0.0:
        share = (float(k) - since) / cycle
        if share < _LEAVING and heel > 0:
            tally[b, HEEL + foot] = float(k) + 1.0
        if share < _LEAVING and down:
            tally[b, FOOT + foot] = float(k) + 1.0
        if share >= _EARLY and share < _LATE:
            add(tally, b, MID + foot, 1.0)
            if heel > 0 and ball > 0:
                add(tally, b, FLAT + foot, 1.0)


@wp.func
def close_cycle(tally: wp.array2d(dtype=float), b: int, k: int, foot: int):
    """A foot strikes: its cycle is over, and the next one begins."""
    since = tally[b, SINCE + foot]
    if since > 0.0:
        length = float(k) - since
        if tally[b, CYCLE + foot] > 0.0 and tally[b, FIRST] > 0.0 and since >= tally[b, FIRST]:
            add(tally, b, CYCLES, 1.0)
            add(tally, b, CYCLE_STEPS, length)
            add(tally, b, HEEL_OFF, wp.max(tally[b, HEEL + foot] - since, 0.0) / length)
            add(tally, b, TOE_OFF, wp.max(tally[b, FOOT + foot] - since, 0.0) / length)
            add(tally, b, FLATNESS, tally[b, FLAT + foot] / wp.max(tally[b, MID + foot], 1.0))
        tally[b, CYCLE + foot] = length
    tally[b, SINCE + foot] = float(k)
    tally[b, HEEL + foot] = float(k)
    tally[b, FOOT + foot] = float(k)
    tally[b, FLAT + foot] = 0.0
    tally[b, MID + foot] = 0.0


@wp.func
def head_velocity(body: Body, figure: Figure, b: int):
    head = figure.part[0, 6]
    motion = body.cvel[b, head]
    return wp.spatial_bottom(motion) + wp.cross(wp.spatial_top(motion), body.xpos[b, head] - body.com[b, 1])


@wp.func
def note_body(body: Body, figure: Figure, tally: wp.array2d(dtype=float), b: int, k: int, usual: float):
    """Centre of mass, turning and head."""
    com, spin, head = body.com[b, 1], body.spin[b, 1][2], figure.part[0, 6]
    for axis in range(3):
        if k == 0:
            tally[b, START + axis] = com[axis]
        tally[b, COM + axis] = com[axis]
    ahead = head_velocity(body, figure, b)
    if k > 0:
        rate = (spin - tally[b, SPIN]) / figure.dt
        extra = ahead[0] - usual  # for the precision of single numbers
        add(tally, b, TURNING, rate * rate)
        add(tally, b, HEAD, extra)
        add(tally, b, HEAD + 1, extra * extra)
    tally[b, SPIN] = spin
    if wp.length(world_angles(body.xmat[b, head], 1.0, False)) > _HEAD_TILT:
        add(tally, b, TILTED, 1.0)


@wp.func
def thigh_angle(body: Body, figure: Figure, b: int, side: int):
    return world_angles(seen_frame(body, b, figure.part[side, 1]), 1.0, False)[1]


@wp.func
def foot_angle(body: Body, figure: Figure, b: int, side: int):
    return world_angles(body.xmat[b, figure.part[side, 2]], 1.0, False)[1]


@wp.func
def watch_legs(body: Body, figure: Figure, tally: wp.array2d(dtype=float), b: int, side: int):
    """Within a step: how far the swing knee bends, thigh and toe go, and how bent the stance knee is."""
    tally[b, BENT_NOW] = wp.max(tally[b, BENT_NOW], body.qpos[b, 7 + figure.perm[side, figure.angle[12]]])
    tally[b, AHEAD_NOW] = wp.min(tally[b, AHEAD_NOW], thigh_angle(body, figure, b, side))
    tally[b, TIPPED_NOW] = wp.max(tally[b, TIPPED_NOW], foot_angle(body, figure, b, side))
    add(tally, b, STOOD_NOW, body.qpos[b, 7 + figure.perm[side, figure.angle[13]]])


@wp.func
def note(
    body: Body,
    figure: Figure,
    b: int,
    k: int,
    state: int,
    side: int,
    feet: Feet,
    usual: float,
    tally: wp.array2d(dtype=float),
):
    """What is added up in every step; `usual` is about its speed."""
    add(tally, b, STEPS, 1.0)
    note_body(body, figure, tally, b, k, usual)
    if state == 1 and not feet.planted:
        add(tally, b, LOOSE, 1.0)
    if corners(body, figure, b, figure.part[side, 4], figure.toe, 4, 6) > 0:
        add(tally, b, STUBBED, 1.0)
    phase = state + 2 * side
    if tally[b, WAS] != float(phase) + 1.0:
        add(tally, b, VISITS + phase, 1.0)
        tally[b, WAS] = float(phase) + 1.0
    add(tally, b, TIME + phase, 1.0)
    if tally[b, STRIKES] > _SETTLING and feet.touches and feet.stands:
        add(tally, b, BOTH_NOW, 1.0)
    watch_legs(body, figure, tally, b, side)
    watch_feet(tally, b, k, side, feet.swing_heel, feet.swing_ball, feet.touches)
    watch_feet(tally, b, k, 1 - side, feet.stance_heel, feet.stance_ball, feet.stands)


@wp.func
def note_strike(body: Body, figure: Figure, b: int, k: int, side: int, tally: wp.array2d(dtype=float)):
    """What is added up when the swing foot strikes."""
    strikes = tally[b, STRIKES]
    if strikes >= _SETTLING:
        stride = body.xpos[b, figure.part[side, 2]] - body.xpos[b, figure.part[side, 3]]
        add(tally, b, REACH, ahead_of(stride, body.heading[b])[0])
        add(tally, b, KNEES, wp.abs(body.qpos[b, 7 + figure.perm[side, figure.angle[12]]]))
        add(tally, b, RAISED, -foot_angle(body, figure, b, side))
        add(tally, b, BENT, tally[b, BENT_NOW])
        add(tally, b, DROP, thigh_angle(body, figure, b, side) - tally[b, AHEAD_NOW])
        add(tally, b, TIPPED, tally[b, TIPPED_NOW])
        add(tally, b, STOOD, tally[b, STOOD_NOW])
        add(tally, b, PACES, float(k) - tally[b, STRUCK_AT])
        add(tally, b, LANDINGS, 1.0)
    tally[b, BENT_NOW] = -10.0
    tally[b, AHEAD_NOW] = 10.0
    tally[b, TIPPED_NOW] = -10.0
    tally[b, STOOD_NOW] = 0.0
    if strikes == _SETTLING:
        tally[b, FIRST] = float(k)
    close_cycle(tally, b, k, side)
    add(tally, b, BOTH, tally[b, BOTH_NOW])
    tally[b, BOTH_NOW] = 0.0
    tally[b, LAST] = float(k)
    tally[b, STRUCK_AT] = float(k)
    tally[b, STRIKES] = strikes + 1.0
