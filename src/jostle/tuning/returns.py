"""The return of Wang 2010, equations (4.4)-(4.11) and (4.17): what a walk in an uncertain world is worth.

Rewards are given over time: some a hundred and twenty times a second, the others at every strike of a foot, for the
stride that ends there. Everything that has a direction is counted in the frame of the heading that is wished, so that
a walker who is told to turn is judged by where it should go.

    E_user, E_step, E_ang, Q(v_y), Q(v_head)     at strikes
    Q(theta_d - theta), orient, stance, stubbed  at every instant
    spilled                                      at every instant, where a mug is carried (section 4.4.3)
    failed                                       at every instant that is left after a fall
    E_power, E_ratio                             once

The cost is the negative return. Terms carry the thesis's factors already, so their weights are 1, but for power, ratio
and what a recipe changes. Carrying a mug, and our own two terms of the other objective, are off unless asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jostle.body import GRAVITY, Body
from jostle.controllers.walker.gait import HEAD_TILT, SLOWEST, strikes
from jostle.controllers.walker.people import com_height, leg_length
from jostle.controllers.walker.trace import Trace
from jostle.maths.angles import wrapped
from jostle.tuning.goal import USUAL_MASS, Goal, weights_of
from jostle.tuning.objective import RATIO, Score, feet_terms, landing, observe, thresholded
from jostle.types import Array, Bool, Float, Int

INSTANTS = 120.0  # a second: every 20th of the thesis's steps of 1/2400 s
EPS_USER, EPS_SIDE, EPS_FACING, EPS_HEAD = 0.05, 0.05, 0.1, 0.25  # m/s and m, m/s, rad, m/s
EPS_ANG = np.array([0.04, 0.05, 0.01])  # about X, Y, Z; of mass x height x speed
FACING, TILTED, LANDING, FALLEN = 0.005, 0.001, 0.001, 100.0  # what an instant of each costs
RECOVERING, SPILLED = 0.01, 1.0
SPILLS = 0.1  # radians: a mug tilted further than this


@dataclass(frozen=True, eq=False)
class Strides:
    """All strides of a batch, one after the other: from one strike of a foot to the next, of the other."""

    walker: Array  # whose
    velocity: Float[Array, "n 2"]  # of the centre of mass: along the wished heading, and to its left
    step: Float[Array, "n"]  # metres
    momentum: Float[Array, "n 3"]  # largest in the stride, over mass, height and speed
    head: Float[Array, "n"]  # standard deviation of the head's speed along the heading


def score_return(trace: Trace, goal: Goal) -> Score:
    """The negative return of every walk, as terms."""
    strides, at, count = find_strides(trace), instants(len(trace.phase), trace.dt), len(trace.steps)

    def summed(values: Float[Array, "n"]) -> Float[Array, "B"]:
        return np.bincount(strides.walker, values, count).astype(float)  # of no strides it would be whole numbers

    def counted(what: Float[Array, "K B"] | Bool[Array, "K B"]) -> Float[Array, "B"]:
        return (what * trace.walked)[at].sum(axis=0).astype(float)

    loose, stubbed = landing(trace)
    asked = goal.speed is not None or goal.step is not None
    sums = {
        "user": summed(_user(strides, goal)),
        "pace": np.zeros(count) if asked else summed(_pace(trace, strides)),
        "side": summed(thresholded(strides.velocity[:, 1], EPS_SIDE)),
        "turned": counted(thresholded(wrapped(trace.wish - trace.facing), EPS_FACING)),
        "momenta": summed(thresholded(strides.momentum, EPS_ANG).sum(axis=1)),
        "unsteady": summed(thresholded(strides.head, EPS_HEAD)),
        "askew": counted(_askew(trace)),
        "loose": counted(loose),
        "stubbed": counted(stubbed),
        "spilled": counted(mug_tilt(trace) > SPILLS),
        "steps": trace.steps.astype(float),
    }
    return judge_return(sums, observe(trace), goal, trace.physics.body.total_mass, at)


def judge_return(
    sums: dict[str, Float[Array, "B"]],
    seen: dict[str, Float[Array, "B ..."]],
    goal: Goal,
    mass: float,
    at: Int[Array, "n"],
) -> Score:
    """The negative return from what was added up over strides and at instants `at`, whoever did it."""
    terms = {
        "user": sums["user"],  # (4.5)
        "step": sums["pace"],  # (4.6)
        "facing": sums["side"] + FACING * sums["turned"],  # (4.7)
        "ang": sums["momenta"],  # (4.8)
        "head": sums["unsteady"] + TILTED * sums["askew"],  # (4.9)
        "land": LANDING * (sums["loose"] + sums["stubbed"]),  # (4.10)
        "fail": FALLEN * (at[:, None] >= sums["steps"]).sum(axis=0),  # (4.11)
        "spill": SPILLED * sums["spilled"],
        "power": seen["power"],
        "ratio": np.linalg.norm(seen["ratio"] - RATIO, axis=1),
        **feet_terms(seen),
    }
    weights = weights_of(goal, mass)
    cost = sum((weights[name] * term for name, term in terms.items()), np.zeros(len(sums["steps"])))  # (4.4)
    return Score(terms, np.where(np.isfinite(cost), cost, 1e9), seen)


def score_recovery(trace: Trace, goal: Goal) -> Score:
    """The negative return of (4.17)."""
    at = instants(len(trace.phase), trace.dt)
    recovering = (trace.recovering & trace.walked)[at].sum(axis=0).astype(float)
    sums = {"recovering": recovering, "steps": trace.steps.astype(float)}
    return judge_recovery(sums, observe(trace), goal, at)


def judge_recovery(
    sums: dict[str, Float[Array, "B"]], seen: dict[str, Float[Array, "B ..."]], goal: Goal, at: Int[Array, "n"]
) -> Score:
    """(4.17): what an instant of recovering costs, and one after a fall."""
    terms = {
        "recover": RECOVERING * sums["recovering"],
        "fail": FALLEN * (at[:, None] >= sums["steps"]).sum(axis=0).astype(float),
    }
    weights = weights_of(goal, USUAL_MASS["return"])
    cost = sum((weights[name] * term for name, term in terms.items()), np.zeros(len(sums["steps"])))
    return Score(terms, cost, seen | {"recovering": sums["recovering"] / len(at)})


def aim_of(goal: Goal, body: Body, dt: float) -> dict[str, Any]:
    """What a GPU must know to add up the same sums."""
    asked = {"speed": -1.0 if goal.speed is None else goal.speed, "step": -1.0 if goal.step is None else goal.step}
    free = {
        "mug": SPILLS,
        "user": EPS_USER,
        "side": EPS_SIDE,
        "facing": EPS_FACING,
        "head": EPS_HEAD,
        "momenta": EPS_ANG,
    }
    size = {"leg": leg_length(body), "scale": body.total_mass * com_height(body), "rate": INSTANTS * dt}
    return asked | size | {f"free_{name}": value for name, value in free.items()}


def instants(steps: int, dt: float) -> Int[Array, "n"]:
    """The steps that end an instant of 1/120 s."""
    passed = np.floor(np.arange(steps + 1) * dt * INSTANTS + 1e-4)
    return np.flatnonzero(np.diff(passed) > 0)


def _askew(trace: Trace) -> Bool[Array, "K B"]:
    """Is the head tilted, or turned away from the wish? Its angles are those in the frame of the wish."""
    coronal, sagittal, yaw = np.moveaxis(trace.head_angles, 2, 0)
    cos, sin, x, y = np.cos(trace.wish), np.sin(trace.wish), np.tan(sagittal), -np.tan(coronal)  # of the up vector
    tilts = np.arctan(cos * y - sin * x), np.arctan(cos * x + sin * y), wrapped(yaw - trace.wish)
    return np.linalg.norm(tilts, axis=0) > HEAD_TILT


def mug_tilt(trace: Trace) -> Float[Array, "K B"]:
    """m(t) of section 4.4.3: coronal and sagittal tilt of the mug, in the frame of the wish; radians."""
    x, y, z = np.moveaxis(trace.mug, 2, 0)
    cos, sin = np.cos(trace.wish), np.sin(trace.wish)
    return np.hypot(np.arctan2(cos * y - sin * x, z), np.arctan2(cos * x + sin * y, z))


def find_strides(trace: Trace) -> Strides:
    body = trace.physics.body
    rows = [_strides(trace, walker) for walker in range(len(trace.steps))]
    walker = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    table = np.concatenate([row for row in rows if len(row)] or [np.zeros((0, 7))])
    velocity, step, momentum, head = table[:, :2], table[:, 2], table[:, 3:6], table[:, 6]
    scale = body.total_mass * com_height(body) * np.maximum(velocity[:, 0], SLOWEST)
    return Strides(walker, velocity, step, momentum / scale[:, None], head)


def _strides(trace: Trace, walker: int) -> Float[Array, "n 7"]:
    """Of one walker: velocity ahead and aside, step length, largest momenta, unsteadiness of the head."""
    at = strikes(trace, walker)
    if len(at) < 2:
        return np.zeros((0, 7))
    first, last = at[:-1], at[1:]
    seconds, wish = (last - first) * trace.dt, trace.wish[last, walker]
    ahead, aside = _turned(trace.com[last, walker] - trace.com[first, walker], wish)
    rows = slice(int(at[0]), int(at[-1]))
    within = trace.wish[rows, walker]
    begin = first - at[0]
    x, y = _turned(trace.momentum[rows, walker], within)
    largest = np.maximum.reduceat(np.abs(np.stack([x, y, trace.momentum[rows, walker, 2]], axis=1)), begin)
    moved = np.diff(trace.head[at[0] : at[-1] + 1, walker], axis=0) / trace.dt
    speed, _ = _turned(moved, within)
    mean = np.add.reduceat(speed, begin) / (last - first)
    spread = np.add.reduceat(np.square(speed - np.repeat(mean, last - first)), begin) / (last - first)
    reach = trace.reach[last, walker]
    return np.column_stack([ahead / seconds, aside / seconds, reach, largest, np.sqrt(spread)])


def _turned(v: Float[Array, "n 3"], heading: Float[Array, "n"]) -> tuple[Float[Array, "n"], Float[Array, "n"]]:
    """Along a heading and to its left."""
    cos, sin = np.cos(heading), np.sin(heading)
    return cos * v[:, 0] + sin * v[:, 1], cos * v[:, 1] - sin * v[:, 0]


def _user(strides: Strides, goal: Goal) -> Float[Array, "n"]:
    cost = np.zeros(len(strides.walker))
    if goal.speed is not None:
        cost += thresholded(strides.velocity[:, 0] - goal.speed, EPS_USER)
    if goal.step is not None:
        cost += thresholded(strides.step - goal.step, EPS_USER)
    return cost


def _pace(trace: Trace, strides: Strides) -> Float[Array, "n"]:
    """How far from a person's step length at this speed."""
    leg = leg_length(trace.physics.body)
    wanted = leg * (np.maximum(strides.velocity[:, 0], 0.0) / np.sqrt(GRAVITY * leg)) ** 0.42
    return thresholded(strides.step - wanted, EPS_USER)
