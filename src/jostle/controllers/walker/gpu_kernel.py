# pyright: basic, reportArgumentType=false, reportIndexIssue=false, reportCallIssue=false, reportInvalidTypeForm=false
# pyright: reportMissingImports=false, reportOperatorIssue=false, reportAttributeAccessIssue=false, reportOptionalMemberAccess=false
# ruff: noqa: UP018, RUF046
# Warp compiles these functions for the GPU: types are Warp's, and `float(0.0)` is a variable where `0.0` is a constant.
"""`walk.py` for one walker, as the code that each thread of a GPU runs.

The equations are those of walk.py, in the mirror; a test holds both against each other.
"""

from __future__ import annotations

import math

import warp as wp

from jostle.controllers.walker.course import TO_MIDDLE
from jostle.controllers.walker.gpu_body import Body, Figure, ahead_of, feel, seen_frame, world_angles
from jostle.controllers.walker.gpu_return import Aim, note_instant, note_stride
from jostle.controllers.walker.gpu_tally import POWER, STRUCK_AT, add, note, note_strike
from jostle.controllers.walker.trace import PATIENCE
from jostle.controllers.walker.walk import NEAR, SHORTEST

# Columns of a walker's parameters: three tables of two states and thirty angles, then feedback and rhythm, and what is
# typical of it: mean and inverse spread of four features, and from how far away it recovers. Rows are those of all
# walkers and then, where they are reactive, those of all walkers when they recover.
TARGET, C_D, C_V, ALPHA, SWITCH, SPEED, TURN = (wp.constant(i) for i in (120, 180, 184, 188, 189, 190, 191))
HABIT = wp.constant(195)
WIDTH = 204

# Rows of `angle`: of which angle among the thirty the world-frame servos and their like are.
ANGLE_ROWS = (
    "lhip_x", "lhip_y", "lhip_z", "rhip_x", "rhip_y", "rhip_z", "lankle_x", "lankle_y", "rankle_x", "rankle_y",
    "larm_y", "rarm_y", "lknee_y", "rknee_y",
)  # fmt: skip
_SHORTEST, _PATIENCE = wp.constant(SHORTEST), wp.constant(PATIENCE)
_NEAR, _PI = wp.constant(NEAR), wp.constant(float(math.pi))
_TO_MIDDLE = wp.constant(TO_MIDDLE)
_FAST = wp.constant(200.0)  # rad/s: it explodes


@wp.func
def servo(p: wp.array2d(dtype=float), r: int, state: int, angle: int, aim: float, now: float, rate: float):
    """(3.1)"""
    return p[r, state * 30 + angle] * (aim - now) - p[r, 60 + state * 30 + angle] * rate


@wp.func
def world_torque(
    body: Body,
    figure: Figure,
    p: wp.array2d(dtype=float),
    b: int,
    r: int,
    state: int,
    flip: float,
    part: int,
    row: int,
    aim: wp.vec3,
):
    """On a part whose servos stand in `angle` from `row`; a foot has no servo about Z."""
    side = int(0.5 * (1.0 - flip))
    frame = seen_frame(body, b, figure.part[side, part])
    spin = ahead_of(wp.spatial_top(body.cvel[b, figure.part[side, part]]), body.heading[b])
    now = world_angles(frame, flip, part >= 2)
    x = servo(p, r, state, figure.angle[row], aim[0], now[0], spin[0] * flip)
    y = servo(p, r, state, figure.angle[row + 1], aim[1], now[1], spin[1])
    z = float(0.0)
    if part < 2:
        z = servo(p, r, state, figure.angle[row + 2], aim[2], now[2], spin[2] * flip)
    return wp.vec3(x, y, z)


@wp.func
def hinge_torque(body: Body, figure: Figure, b: int, side: int, row: int, turn: wp.vec3):
    """What a torque in the world is about the hinge of this row, in the mirror."""
    flip = 1.0 - 2.0 * float(side)
    axis = body.xaxis[b, figure.hinge[side, row]]
    world = ahead_of(wp.vec3(turn[0] * flip, turn[1], turn[2] * flip), -body.heading[b])
    return wp.dot(axis, world) * figure.sign[side, figure.angle[row]]


@wp.func
def act(
    body: Body,
    figure: Figure,
    p: wp.array2d(dtype=float),
    b: int,
    r: int,
    k: int,
    state: int,
    side: int,
    planted: bool,
    torques: wp.array2d(dtype=float),
    tally: wp.array2d(dtype=float),
):
    """All thirty servos, with the parameters of row r, and their squared torques added up."""
    flip = 1.0 - 2.0 * float(side)
    away = ahead_of(body.com[b, 1] - body.xpos[b, figure.part[side, 3]], body.heading[b])
    velocity = ahead_of(body.velocity[b, 1], body.heading[b])
    sagittal = p[r, C_D + 2 * state] * away[0] + p[r, C_V + 2 * state] * velocity[0]
    coronal = (p[r, C_D + 2 * state + 1] * away[1] + p[r, C_V + 2 * state + 1] * velocity[1]) * flip
    table = TARGET + state * 30
    aim = wp.vec3(coronal, p[r, table + figure.angle[1]] - sagittal, 0.0)
    on_thigh = world_torque(body, figure, p, b, r, state, flip, 1, 0, aim)
    on_torso = world_torque(body, figure, p, b, r, state, flip, 0, 3, wp.vec3(0.0, p[r, table + figure.angle[4]], 0.0))
    flat = wp.vec3(p[r, table + figure.angle[6]], p[r, table + figure.angle[7]], 0.0)
    on_swing = world_torque(body, figure, p, b, r, state, flip, 2, 6, flat)
    level = wp.vec3(p[r, table + figure.angle[8]], p[r, table + figure.angle[9]], 0.0)
    on_stance = world_torque(body, figure, p, b, r, state, flip, 3, 8, level)
    stride = body.qpos[b, 7 + figure.perm[side, figure.angle[4]]] - body.qpos[b, 7 + figure.perm[side, figure.angle[1]]]
    arm = p[r, ALPHA] * stride  # (3.2)

    squares = wp.vec4(0.0, 0.0, 0.0, 0.0)  # of all joints, hips, knees and ankles
    for j in range(30):
        column, sign = figure.perm[side, j], figure.sign[side, j]
        angle, rate = body.qpos[b, 7 + column] * sign, body.qvel[b, 6 + column] * sign
        kp, kd = p[r, state * 30 + j], p[r, 60 + state * 30 + j]
        torque = kp * (p[r, table + j] - angle)
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
        if figure.noise > 0.0:
            drawn = wp.randn(wp.rand_init(body.fate[b], 30 * k + j))
            torque += figure.noise * drawn * wp.abs(torque - kd * rate) * wp.pow(kp, -0.25)  # (4.14), MVT = kp
        torques[b, 6 + column] = torque * sign
        torque -= kd * rate  # with the damper that MuJoCo applies
        squares[0] += torque * torque
        if group > 0:
            squares[group] += torque * torque
    for group in range(4):
        add(tally, b, POWER + group, squares[group])


@wp.func
def steer(body: Body, figure: Figure, p: wp.array2d(dtype=float), b: int, r: int, state: int, side: int):
    """(4.3): at once to a wish that is near, otherwise nearer to it by a share."""
    gap = body.wish[b] - body.heading[b]
    gap = gap - 2.0 * _PI * wp.floor((gap + _PI) / (2.0 * _PI))
    to = int(0)  # the side of the swing leg, of the stance leg
    if gap * (1.0 - 2.0 * float(side)) < 0.0:
        to = 1
    share = wp.min(p[r, TURN + 2 * state + to] * figure.dt, 1.0)
    if wp.abs(gap) < _NEAR:
        share = 1.0
    body.heading[b] = body.heading[b] + share * gap


@wp.func
def recovers(body: Body, figure: Figure, p: wp.array2d(dtype=float), b: int, side: int):
    """(4.16)"""
    flip = 1.0 - 2.0 * float(side)
    away = ahead_of(body.com[b, 1] - body.xpos[b, figure.part[side, 3]], body.heading[b])
    velocity = ahead_of(body.velocity[b, 1], body.heading[b])
    felt = wp.vec4(away[0], away[1] * flip, velocity[0], velocity[1] * flip)
    far = float(0.0)
    for i in range(4):
        apart = (felt[i] - p[b, HABIT + i]) * p[b, HABIT + 4 + i]
        far += apart * apart
    mode = int(0)
    if far > p[b, HABIT + 8]:
        mode = 1
    return mode


@wp.func
def has_fallen(body: Body, figure: Figure, b: int, k: int, tally: wp.array2d(dtype=float)):
    fastest = float(0.0)
    for j in range(36):
        fastest = wp.max(fastest, wp.abs(body.qvel[b, j]))
    stopped = (float(k) - tally[b, STRUCK_AT]) * figure.dt > _PATIENCE
    low = wp.dot(body.com[b, 1], body.normal[b]) / body.normal[b][2] < figure.fallen
    return low or stopped or not (fastest < _FAST)  # so that NaN has fallen as well


@wp.kernel
def control(
    body: Body,
    figure: Figure,
    aim: Aim,
    p: wp.array2d(dtype=float),
    push_from: wp.array2d(dtype=int),
    push_until: wp.array2d(dtype=int),
    push_force: wp.array2d(dtype=wp.vec3),
    turn_at: wp.array2d(dtype=int),
    turn_to: wp.array2d(dtype=float),
    clock: wp.array(dtype=int),
    states: wp.array(dtype=int),
    sides: wp.array(dtype=int),
    modes: wp.array(dtype=int),
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

    for n in range(turn_at.shape[1]):
        if k == turn_at[b, n]:
            body.wish[b] = turn_to[b, n]
    if figure.middle > 0.0:
        body.wish[b] = wp.clamp(-wp.atan(body.com[b, 1][1] / figure.middle), -_TO_MIDDLE, _TO_MIDDLE)

    mode, r = int(0), int(b)
    if figure.reactive == 1:
        mode = recovers(body, figure, p, b, side)
        r = b + mode * alive.shape[0]
        if mode != modes[b]:
            modes[b] = mode
            for j in range(30):
                damping[b, 6 + figure.perm[side, j]] = p[r, 60 + state * 30 + j]

    feet = feel(body, figure, b, side)
    act(body, figure, p, b, r, k, state, side, feet.planted, torques, tally)
    note(body, figure, b, k, state, side, feet, p[b, SPEED], tally)
    note_instant(body, figure, aim, b, k, state, side, mode, feet, tally)

    if figure.guided == 1:
        steer(body, figure, p, b, r, state, side)

    # figure 3.1
    swing, stance = figure.part[side, 2], figure.part[side, 3]
    pitch = world_angles(body.xmat[b, swing], 1.0, True)[1]
    ready = since[b] > _SHORTEST and (state == 1 or figure.early == 1)
    struck = feet.touches and pitch < -figure.toe_up and ready
    away = ahead_of(body.com[b, 1] - body.xpos[b, stance], body.heading[b])
    passed = since[b] if figure.timed == 1 else away[0]
    pushes_off = state == 0 and passed > p[r, SWITCH]
    since[b] = since[b] + figure.dt
    note_stride(body, figure, aim, b, side, struck, p[b, SPEED], tally)
    if struck:
        note_strike(body, figure, b, k, side, tally)
        states[b] = 0
        sides[b] = 1 - side
        since[b] = 0.0
    elif pushes_off:
        states[b] = 1
    if struck or pushes_off:
        for j in range(30):
            damping[b, 6 + figure.perm[sides[b], j]] = p[r, 60 + states[b] * 30 + j]
    if has_fallen(body, figure, b, k, tally):
        alive[b] = 0


@wp.kernel
def tick(clock: wp.array(dtype=int)):
    clock[0] = clock[0] + 1
