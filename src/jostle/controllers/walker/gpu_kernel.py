# pyright: basic, reportArgumentType=false, reportIndexIssue=false, reportCallIssue=false, reportInvalidTypeForm=false
# pyright: reportMissingImports=false, reportOperatorIssue=false, reportAttributeAccessIssue=false, reportOptionalMemberAccess=false
# ruff: noqa: UP018, RUF046
# Warp compiles these functions for the GPU: types are Warp's, and `float(0.0)` is a variable where `0.0` is a constant.
"""`walk.py` for one walker, as the code that each thread of a GPU runs, and the sums that a walk is judged by.

The equations are those of walk.py, in the mirror, with the heading along X; a test holds both against each other. Where
walk.py keeps a trace that is measured afterwards, a thread adds up as it goes. What only the end of a cycle can tell,
its length, is taken from the cycle before.
"""

from __future__ import annotations

import warp as wp

from jostle.controllers.walker.gait import LEAVING, MID_STANCE, SETTLING
from jostle.controllers.walker.senses import PLANTED, TOUCH
from jostle.controllers.walker.trace import PATIENCE
from jostle.controllers.walker.walk import SHORTEST

# What a walk is added up to: columns of the tally.
COLUMNS = (
    "steps", "strikes", "struck_at", "start_x", "start_y", "start_z", "com_x", "com_y", "com_z",
    "power", "hip", "knee", "ankle", "loose", "stubbed", "turning", "spin", "head", "head_squares", "tilted",
    "visits_0", "visits_1", "visits_2", "visits_3", "time_0", "time_1", "time_2", "time_3",
    "reach", "knees", "landings", "first", "last", "both", "both_now",
    "since_left", "since_right", "cycle_left", "cycle_right", "heel_left", "heel_right", "foot_left", "foot_right",
    "flat_left", "flat_right", "mid_left", "mid_right",
    "cycles", "cycle_steps", "heel_off", "toe_off", "flat",
)  # fmt: skip
C = {name: i for i, name in enumerate(COLUMNS)}


def _column(name: str) -> wp.constant:
    return wp.constant(C[name])


STEPS, STRIKES, STRUCK_AT, START, COM = (_column(n) for n in ("steps", "strikes", "struck_at", "start_x", "com_x"))
POWER, LOOSE, STUBBED, TURNING, SPIN = (_column(n) for n in ("power", "loose", "stubbed", "turning", "spin"))
HEAD, TILTED, VISITS, TIME = (_column(n) for n in ("head", "tilted", "visits_0", "time_0"))
REACH, FIRST, BOTH, SINCE = (_column(n) for n in ("reach", "first", "both", "since_left"))
CYCLE, HEEL, FOOT, FLAT, MID = (_column(f"{n}_left") for n in ("cycle", "heel", "foot", "flat", "mid"))
CYCLES = _column("cycles")

# Columns of a walker's parameters: three tables of two states and thirty angles, then feedback and rhythm.
TARGET, C_D, C_V, ALPHA, SWITCH, SPEED = (wp.constant(i) for i in (120, 180, 184, 188, 189, 190))
WIDTH = 191

# Rows of `angle`: of which angle among the thirty the world-frame servos and their like are.
ANGLE_ROWS = (
    "lhip_x", "lhip_y", "lhip_z", "rhip_x", "rhip_y", "rhip_z", "lankle_x", "lankle_y", "rankle_x", "rankle_y",
    "larm_y", "rarm_y", "lknee_y", "rknee_y",
)  # fmt: skip
_TOUCH, _SHORTEST, _PATIENCE, _PLANTED = (wp.constant(x) for x in (TOUCH, SHORTEST, PATIENCE, PLANTED))
_EARLY, _LATE, _LEAVING, _SETTLING = (wp.constant(float(x)) for x in (*MID_STANCE, LEAVING, SETTLING))
_FAST = wp.constant(200.0)  # rad/s: it explodes


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
    normal: wp.vec3
    fallen: float
    dt: float
    timed: int
    world_ankles: int
    early: int
    toe_up: float


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
def corners(body: Body, figure: Figure, b: int, part: int, points: wp.array(dtype=wp.vec3), first: int, last: int):
    """How many of these corners of a part touch the ground."""
    count = int(0)
    for c in range(first, last):
        if wp.dot(figure.normal, body.xpos[b, part] + body.xmat[b, part] * points[c]) < _TOUCH:
            count += 1
    return count


@wp.func
def servo(p: wp.array2d(dtype=float), b: int, state: int, angle: int, aim: float, now: float, rate: float):
    """(3.1)"""
    return p[b, state * 30 + angle] * (aim - now) - p[b, 60 + state * 30 + angle] * rate


@wp.func
def world_angles(frame: wp.mat33, flip: float, is_foot: bool):
    """Coronal, sagittal and transverse."""
    sagittal = wp.atan2(frame[0, 2], frame[2, 2])
    if is_foot:
        sagittal = wp.asin(wp.clamp(-frame[2, 0], -1.0, 1.0))
    return wp.vec3(wp.atan2(-frame[1, 2] * flip, frame[2, 2]), sagittal, wp.atan2(frame[1, 0] * flip, frame[0, 0]))


@wp.func
def world_torque(
    body: Body,
    figure: Figure,
    p: wp.array2d(dtype=float),
    b: int,
    state: int,
    flip: float,
    part: int,
    row: int,
    aim: wp.vec3,
):
    """On a part whose servos stand in `angle` from `row`; a foot has no servo about Z."""
    side = int(0.5 * (1.0 - flip))
    frame = body.xmat[b, figure.part[side, part]]
    spin = wp.spatial_top(body.cvel[b, figure.part[side, part]])
    now = world_angles(frame, flip, part >= 2)
    x = servo(p, b, state, figure.angle[row], aim[0], now[0], spin[0] * flip)
    y = servo(p, b, state, figure.angle[row + 1], aim[1], now[1], spin[1])
    z = float(0.0)
    if part < 2:
        z = servo(p, b, state, figure.angle[row + 2], aim[2], now[2], spin[2] * flip)
    return wp.vec3(x, y, z)


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
            add(tally, b, CYCLES + 1, length)
            add(tally, b, CYCLES + 2, wp.max(tally[b, HEEL + foot] - since, 0.0) / length)
            add(tally, b, CYCLES + 3, wp.max(tally[b, FOOT + foot] - since, 0.0) / length)
            add(tally, b, CYCLES + 4, tally[b, FLAT + foot] / wp.max(tally[b, MID + foot], 1.0))
        tally[b, CYCLE + foot] = length
    tally[b, SINCE + foot] = float(k)
    tally[b, HEEL + foot] = float(k)
    tally[b, FOOT + foot] = float(k)
    tally[b, FLAT + foot] = 0.0
    tally[b, MID + foot] = 0.0


@wp.func
def note_body(body: Body, figure: Figure, p: wp.array2d(dtype=float), tally: wp.array2d(dtype=float), b: int, k: int):
    """Centre of mass, turning and head."""
    com, spin, head = body.com[b, 1], body.spin[b, 1][2], figure.part[0, 6]
    for axis in range(3):
        if k == 0:
            tally[b, START + axis] = com[axis]
        tally[b, COM + axis] = com[axis]
    motion = body.cvel[b, head]
    ahead = wp.spatial_bottom(motion) + wp.cross(wp.spatial_top(motion), body.xpos[b, head] - com)
    if k > 0:
        rate = (spin - tally[b, SPIN]) / figure.dt
        extra = ahead[0] - p[b, SPEED]  # about the start's speed, for the precision of single numbers
        add(tally, b, TURNING, rate * rate)
        add(tally, b, HEAD, extra)
        add(tally, b, HEAD + 1, extra * extra)
    tally[b, SPIN] = spin
    if wp.length(world_angles(body.xmat[b, head], 1.0, False)) > 0.1:
        add(tally, b, TILTED, 1.0)


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
def hinge_torque(body: Body, figure: Figure, b: int, side: int, row: int, turn: wp.vec3):
    """What a torque in the world is about the hinge of this row, in the mirror."""
    flip = 1.0 - 2.0 * float(side)
    axis = body.xaxis[b, figure.hinge[side, row]]
    return wp.dot(axis, wp.vec3(turn[0] * flip, turn[1], turn[2] * flip)) * figure.sign[side, figure.angle[row]]


@wp.func
def act(
    body: Body,
    figure: Figure,
    p: wp.array2d(dtype=float),
    b: int,
    state: int,
    side: int,
    planted: bool,
    torques: wp.array2d(dtype=float),
    tally: wp.array2d(dtype=float),
):
    """All thirty servos, and their squared torques added up."""
    flip = 1.0 - 2.0 * float(side)
    away, velocity = body.com[b, 1] - body.xpos[b, figure.part[side, 3]], body.velocity[b, 1]
    sagittal = p[b, C_D + 2 * state] * away[0] + p[b, C_V + 2 * state] * velocity[0]
    coronal = (p[b, C_D + 2 * state + 1] * away[1] + p[b, C_V + 2 * state + 1] * velocity[1]) * flip
    table = TARGET + state * 30
    aim = wp.vec3(coronal, p[b, table + figure.angle[1]] - sagittal, 0.0)
    on_thigh = world_torque(body, figure, p, b, state, flip, 1, 0, aim)
    on_torso = world_torque(body, figure, p, b, state, flip, 0, 3, wp.vec3(0.0, p[b, table + figure.angle[4]], 0.0))
    flat = wp.vec3(p[b, table + figure.angle[6]], p[b, table + figure.angle[7]], 0.0)
    on_swing = world_torque(body, figure, p, b, state, flip, 2, 6, flat)
    level = wp.vec3(p[b, table + figure.angle[8]], p[b, table + figure.angle[9]], 0.0)
    on_stance = world_torque(body, figure, p, b, state, flip, 3, 8, level)
    stride = body.qpos[b, 7 + figure.perm[side, figure.angle[4]]] - body.qpos[b, 7 + figure.perm[side, figure.angle[1]]]
    arm = p[b, ALPHA] * stride  # (3.2)

    squares = wp.vec4(0.0, 0.0, 0.0, 0.0)  # of all joints, hips, knees and ankles
    for j in range(30):
        column, sign = figure.perm[side, j], figure.sign[side, j]
        angle, rate = body.qpos[b, 7 + column] * sign, body.qvel[b, 6 + column] * sign
        kp, kd = p[b, state * 30 + j], p[b, 60 + state * 30 + j]
        torque = kp * (p[b, table + j] - angle)
        group = int(0)
        if j == figure.angle[10]:
            torque += kp * arm
        if j == figure.angle[11]:
            torque -= kp * arm  # (3.3)
        if j == figure.angle[12] or j == figure.angle[13]:
            group = 2
        for row in range(10):
            if figure.angle[row] == j:
                group = 1 if row < 6 else 3
                turn = on_thigh
                if row >= 3:
                    turn = -on_torso - on_thigh
                if row >= 6:
                    turn = on_swing
                if row >= 8:
                    turn = on_stance
                if (row != 5 or planted) and (row < 6 or figure.world_ankles == 1):
                    torque = hinge_torque(body, figure, b, side, row, turn) + kd * rate
        torques[b, 6 + column] = torque * sign
        torque -= kd * rate  # with the damper that MuJoCo applies
        squares[0] += torque * torque
        if group > 0:
            squares[group] += torque * torque
    for group in range(4):
        add(tally, b, POWER + group, squares[group])


@wp.func
def note(
    body: Body,
    figure: Figure,
    p: wp.array2d(dtype=float),
    b: int,
    k: int,
    state: int,
    side: int,
    feet: Feet,
    tally: wp.array2d(dtype=float),
):
    """What is added up in every step."""
    add(tally, b, STEPS, 1.0)
    note_body(body, figure, p, tally, b, k)
    if state == 1 and not feet.planted:
        add(tally, b, LOOSE, 1.0)
    if corners(body, figure, b, figure.part[side, 4], figure.toe, 4, 6) > 0:
        add(tally, b, STUBBED, 1.0)
    add(tally, b, TIME + state + 2 * side, 1.0)
    if tally[b, STRIKES] > _SETTLING and feet.touches and feet.stands:
        add(tally, b, BOTH + 1, 1.0)
    watch_feet(tally, b, k, side, feet.swing_heel, feet.swing_ball, feet.touches)
    watch_feet(tally, b, k, 1 - side, feet.stance_heel, feet.stance_ball, feet.stands)


@wp.func
def note_strike(body: Body, figure: Figure, b: int, k: int, side: int, tally: wp.array2d(dtype=float)):
    """What is added up when the swing foot strikes."""
    strikes = tally[b, STRIKES]
    if strikes >= _SETTLING:
        add(tally, b, REACH, body.xpos[b, figure.part[side, 2]][0] - body.xpos[b, figure.part[side, 3]][0])
        add(tally, b, REACH + 1, wp.abs(body.qpos[b, 7 + figure.perm[side, figure.angle[12]]]))
        add(tally, b, REACH + 2, 1.0)
    if strikes == _SETTLING:
        tally[b, FIRST] = float(k)
    close_cycle(tally, b, k, side)
    add(tally, b, BOTH, tally[b, BOTH + 1])
    tally[b, BOTH + 1] = 0.0
    tally[b, FIRST + 1] = float(k)
    tally[b, STRUCK_AT] = float(k)
    tally[b, STRIKES] = strikes + 1.0


@wp.func
def has_fallen(body: Body, figure: Figure, b: int, k: int, tally: wp.array2d(dtype=float)):
    fastest = float(0.0)
    for j in range(36):
        fastest = wp.max(fastest, wp.abs(body.qvel[b, j]))
    stopped = (float(k) - tally[b, STRUCK_AT]) * figure.dt > _PATIENCE
    low = wp.dot(body.com[b, 1], figure.normal) / figure.normal[2] < figure.fallen
    return low or stopped or not (fastest < _FAST)  # so that NaN has fallen as well


@wp.kernel
def control(
    body: Body,
    figure: Figure,
    p: wp.array2d(dtype=float),
    push_from: wp.array2d(dtype=int),
    push_until: wp.array2d(dtype=int),
    push_force: wp.array2d(dtype=wp.vec3),
    clock: wp.array(dtype=int),
    states: wp.array(dtype=int),
    sides: wp.array(dtype=int),
    since: wp.array(dtype=float),
    alive: wp.array(dtype=int),
    force: wp.array2d(dtype=wp.spatial_vector),
    torques: wp.array2d(dtype=float),
    damping: wp.array2d(dtype=float),
    tally: wp.array2d(dtype=float),
):
    b = wp.tid()
    k, state, side = clock[0], states[b], sides[b]
    if alive[b] == 0:
        for j in range(30):
            torques[b, 6 + j] = 0.0
        return

    pushed = wp.vec3(0.0, 0.0, 0.0)
    for n in range(push_from.shape[1]):
        if k >= push_from[b, n] and k < push_until[b, n]:
            pushed += push_force[b, n]
    force[b, figure.part[0, 0]] = wp.spatial_vector(pushed, wp.vec3(0.0, 0.0, 0.0))

    feet = feel(body, figure, b, side)
    act(body, figure, p, b, state, side, feet.planted, torques, tally)
    note(body, figure, p, b, k, state, side, feet, tally)

    # figure 3.1
    swing, stance = figure.part[side, 2], figure.part[side, 3]
    pitch = world_angles(body.xmat[b, swing], 1.0, True)[1]
    ready = since[b] > _SHORTEST and (state == 1 or figure.early == 1)
    struck = feet.touches and pitch < -figure.toe_up and ready
    passed = since[b] if figure.timed == 1 else body.com[b, 1][0] - body.xpos[b, stance][0]
    pushes_off = state == 0 and passed > p[b, SWITCH]
    since[b] = since[b] + figure.dt
    if struck or pushes_off:
        add(tally, b, VISITS + state + 2 * side, 1.0)
    if struck:
        note_strike(body, figure, b, k, side, tally)
        states[b] = 0
        sides[b] = 1 - side
        since[b] = 0.0
    elif pushes_off:
        states[b] = 1
    if struck or pushes_off:
        for j in range(30):
            damping[b, 6 + figure.perm[sides[b], j]] = p[b, 60 + states[b] * 30 + j]
    if has_fallen(body, figure, b, k, tally):
        alive[b] = 0


@wp.kernel
def tick(clock: wp.array(dtype=int)):
    clock[0] = clock[0] + 1
