"""The objective of Wang 2010, equations (3.4)-(3.17): what makes a walk human, term by term.

Every term is computed from a trace and can be read on its own. The weights and thresholds are the thesis's. One
term is ours, `stance`, off by default: the thesis's objective does not see whether a foot stands flat, when its
heel leaves the ground, and whether there is a phase with both feet down, and the eye sees it at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from jostle.controllers.walker.gait import measure
from jostle.controllers.walker.joints import ANKLES, HIPS, KNEES
from jostle.controllers.walker.trace import Trace
from jostle.errors import CommandError, unknown_name
from jostle.types import Array, Float

WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "user": 100.0,
        "vel": 100.0,
        "land": 1.2,
        "fail": 120000.0,
        "sym": 100.0,
        "ang": 10.0,
        "head": 100.0,
        "power": 1e-5,  # times 70 kg / mass
        "ratio": 1.0,
        "stance": 0.0,
    }
)
LAMBDA_VEL, LAMBDA_HEAD = 0.01, 0.012
EPS_VEL, EPS_STEP, EPS_TIME = 0.025, 0.025, 0.025  # m/s, m, s
EPS_ANG, EPS_HEAD = 0.05, 0.1  # 1/s2, m/s
RATIO = np.array([0.43, 0.04, 0.53])  # hip, knee, ankle in human walking
_TILTED = 0.1  # radians
_SLOWEST = 0.1  # m/s: the cost of transport of who does not advance is counted at this speed

# of our own term: the middle of what people do
_DOUBLE_SUPPORT, _HEEL_OFF, _FLAT = (0.14, 0.26), 0.40, 0.9


@dataclass(frozen=True)
class Goal:
    """What a walk is scored for. Without a speed the cost of transport is minimised."""

    speed: float | None = None  # m/s
    step: float | None = None  # m
    weights: Mapping[str, float] = field(default_factory=dict)  # those that differ from WEIGHTS
    fastest: bool = False  # 1 / v_x in place of the power term (section 3.4)

    def __post_init__(self) -> None:
        for name in self.weights:
            if name not in WEIGHTS:
                raise CommandError(unknown_name("term of the objective", name, WEIGHTS))


@dataclass(frozen=True, eq=False)
class Score:
    terms: dict[str, Float[Array, "B"]]  # E_s of (3.17), unweighted
    cost: Float[Array, "B"]
    seen: dict[str, Float[Array, "B ..."]]  # speed, step, ratio, power, …: what the terms were made from


def thresholded(d: Float[Array, "B"], epsilon: float) -> Float[Array, "B"]:
    """Q(d; epsilon) (3.4)"""
    return np.where(np.abs(d) > epsilon, d * d, 0.0)


def score(trace: Trace, goal: Goal, start_speed: Float[Array, "B"]) -> Score:
    """Score every walker of a trace; `start_speed` is v_0x of (3.6)."""
    seen = observe(trace)
    terms = {
        "user": _user(seen, goal),
        "vel": _vel(seen, goal, start_speed),
        "land": _land(trace),
        "fail": 1.0 - trace.steps / len(trace.phase),  # (3.8)
        "sym": _sym(trace),
        "ang": thresholded(seen["torque"], np.sqrt(EPS_ANG)),  # (3.11)
        "head": _head(trace, seen),
        "power": _power(seen, goal),
        "ratio": np.linalg.norm(seen["ratio"] - RATIO, axis=1),  # (3.16)
        "stance": _stance(seen),
    }
    weights = weights_of(goal, trace.physics.body.total_mass)
    cost = sum((weights[name] * term for name, term in terms.items()), np.zeros(len(trace.steps)))  # (3.17)
    return Score(terms, np.where(np.isfinite(cost), cost, 1e9), seen)


def weights_of(goal: Goal, mass: float) -> dict[str, float]:
    """w_s of (3.17) for a body of this mass in kilograms."""
    weights = {**WEIGHTS, **goal.weights}
    if not goal.fastest:
        weights["power"] *= 70.0 / mass
    return weights


def observe(trace: Trace) -> dict[str, Float[Array, "B ..."]]:
    """Speed, torques, head and feet of every walker."""
    rows, steps, on = np.arange(len(trace.steps)), np.maximum(trace.steps, 1), trace.walked
    velocity = (trace.com[steps - 1, rows] - trace.com[0]) / (steps * trace.dt)[:, None]
    squares = np.square(trace.torques).sum(axis=0) / steps[:, None]  # (B, 30)
    shares = np.stack([squares[:, group].sum(axis=1) for group in (HIPS, KNEES, ANKLES)], axis=1)  # (3.15)
    gaits = [measure(trace, walker) for walker in range(len(steps))]
    body = trace.physics.body
    spin_rate = np.diff(trace.spin, axis=0) / trace.dt * on[1:]
    scale = (
        body.total_mass * _com_height(trace) * np.maximum(velocity[:, 0], _SLOWEST)
    )  # normalised as in Herr & Popovic
    head = np.diff(trace.head[:, :, 0], axis=0) / trace.dt
    mean = (head * on[1:]).sum(axis=0) / steps
    spread = np.sqrt((np.square(head - mean) * on[1:]).sum(axis=0) / steps)
    seen = {
        "seconds": trace.seconds,
        "velocity": velocity,
        "power": squares.sum(axis=1),  # (3.13)
        "ratio": shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-9),  # (3.14)
        "torque": np.sqrt(np.square(spin_rate).sum(axis=0) / steps) / scale,  # root of (3.10)
        "head_speed_sd": spread,
    }
    for name in ("step_m", "cycle_s", "double_support", "heel_off", "toe_off", "flat", "cycles"):
        seen[name] = np.array([float(getattr(gait, name)) for gait in gaits])
    return seen


def _com_height(trace: Trace) -> float:
    """Of the standing body."""
    body = trace.physics.body
    rest = body.skeleton.rest_positions + body.com
    return float(body.mass @ rest[:, 2] / body.total_mass)


def _user(seen: dict[str, Array], goal: Goal) -> Float[Array, "B"]:
    """(3.5)"""
    cost = np.zeros(len(seen["power"]))
    if goal.speed is not None:
        cost += thresholded(seen["velocity"][:, 0] - goal.speed, EPS_VEL)
    if goal.step is not None:
        cost += thresholded(seen["step_m"] - goal.step, EPS_STEP)
    return cost


def _vel(seen: dict[str, Array], goal: Goal, start_speed: Float[Array, "B"]) -> Float[Array, "B"]:
    """(3.6)"""
    vx, vy, vz = seen["velocity"].T
    wanted = vx if goal.speed is None else goal.speed
    start = thresholded(start_speed - wanted, EPS_VEL)
    return thresholded(vy, EPS_VEL) + LAMBDA_VEL * (start + thresholded(vz, 2 * EPS_VEL))


def _land(trace: Trace) -> Float[Array, "B"]:
    """(3.7): push-off without a planted foot, and a swing toe on its top."""
    low = trace.low
    planted = (low[:, :, 1::2, :4].sum(axis=3) >= 3).any(axis=2)
    loose = (trace.phase % 2 == 1) & ~planted
    stubbed = low[:, :, 2, 4:].any(axis=2)
    return ((loose.astype(int) + stubbed) * trace.walked).sum(axis=0) / len(trace.phase)


def _sym(trace: Trace) -> Float[Array, "B"]:
    """(3.9)"""
    means = state_seconds(trace)
    return thresholded(means[:, 0] - means[:, 2], EPS_TIME) + thresholded(means[:, 1] - means[:, 3], EPS_TIME)


def state_seconds(trace: Trace) -> Float[Array, "B 4"]:
    """The mean duration of each state of figure 3.1."""
    on, means = trace.walked, []
    for state in range(4):
        here = (trace.phase == state) & on
        visits = here[0].astype(int) + (here[1:] & ~here[:-1]).sum(axis=0)
        means.append(here.sum(axis=0) * trace.dt / np.maximum(visits, 1))
    return np.stack(means, axis=1)


def _head(trace: Trace, seen: dict[str, Array]) -> Float[Array, "B"]:
    """(3.12)"""
    tilted = (np.linalg.norm(trace.head_angles, axis=2) > _TILTED) & trace.walked
    steady = thresholded(np.sqrt(seen["head_speed_sd"]), np.sqrt(EPS_HEAD))
    return steady + LAMBDA_HEAD * tilted.sum(axis=0) / len(trace.phase)


def _power(seen: dict[str, Array], goal: Goal) -> Float[Array, "B"]:
    """(3.13), or the cost of transport where no speed is asked, or 1 / v_x for the fastest walk."""
    speed = np.maximum(seen["velocity"][:, 0], _SLOWEST)
    if goal.fastest:
        return 1.0 / speed
    return seen["power"] if goal.speed is not None else seen["power"] / speed


def _stance(seen: dict[str, Array]) -> Float[Array, "B"]:
    """Ours: both feet down for a fifth of the cycle, the heel down until late, the foot flat in mid-stance."""
    low, high = _DOUBLE_SUPPORT
    both, heel, flat = seen["double_support"], seen["heel_off"], seen["flat"]
    missed = np.maximum(low - both, 0.0) + np.maximum(both - high, 0.0) + np.maximum(_HEEL_OFF - heel, 0.0)
    return 5.0 * missed + np.maximum(_FLAT - flat, 0.0)
