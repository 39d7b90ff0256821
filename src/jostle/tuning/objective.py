"""The objective of Wang 2010, equations (3.4)-(3.17): what makes a walk human, term by term.

Every term is computed from a trace and can be read on its own. The weights and thresholds are the thesis's. Three
terms are ours, off by default: what they see, the eye sees at once, and the thesis's objective does not. `stance`:
whether a foot stands flat, when its heel leaves the ground, whether there is a phase with both feet down and how
straight a leg strikes. `swing`: whether knees are lifted as in marching, thighs thrown ahead and pulled back before the
strike, standing legs locked, and feet set down flat. `foot`: whether a foot hangs as it swings and strikes with its toe
up as far as people's do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.controllers.walker.gait import HEAD_TILT, SLOWEST, measure
from jostle.controllers.walker.joints import ANKLES, HIPS, KNEES
from jostle.controllers.walker.people import com_height
from jostle.controllers.walker.senses import PLANTED
from jostle.controllers.walker.trace import Trace
from jostle.tuning.goal import Goal, weights_of
from jostle.types import Array, Bool, Float

LEGS = ("knee_at_strike", "knee_swing", "knee_stance", "thigh_drop", "toe_down", "toe_up")
LAMBDA_VEL, LAMBDA_HEAD = 0.01, 0.012
EPS_VEL, EPS_STEP, EPS_TIME = 0.025, 0.025, 0.025  # m/s, m, s
EPS_ANG, EPS_HEAD = 0.05, 0.1  # 1/s2, m/s
RATIO = np.array([0.43, 0.04, 0.53])  # hip, knee, ankle in human walking

# of our own terms: the middle of what people do
_DOUBLE_SUPPORT, _HEEL_OFF, _FLAT, _KNEE = (0.14, 0.26), 0.40, 0.9, 0.12
_BENT_SWINGING, _BENT_STANDING, _DROP, _TOE_UP = 1.1, (0.12, 0.3), 0.1, 0.3  # radians
_HANGING, _STRIKING = (0.85, 1.25), 0.45


@dataclass(frozen=True, eq=False)
class Score:
    terms: dict[str, Float[Array, "B"]]  # E_s of (3.17), unweighted
    cost: Float[Array, "B"]
    seen: dict[str, Float[Array, "B ..."]]  # speed, step, ratio, power, …: what the terms were made from


def thresholded(d: Float[Array, "*n"], epsilon: float | Float[Array, "3"]) -> Float[Array, "*n"]:
    """Q(d; epsilon) (3.4)"""
    return np.where(np.abs(d) > epsilon, d * d, 0.0)


def score(trace: Trace, goal: Goal, start_speed: Float[Array, "B"]) -> Score:
    """Score every walker of a trace; `start_speed` is v_0x of (3.6)."""
    return judge(observe(trace), goal, start_speed, trace.physics.body.total_mass)


def judge(seen: dict[str, Float[Array, "B ..."]], goal: Goal, start_speed: Float[Array, "B"], mass: float) -> Score:
    """Score walks of which this was seen, whoever added it up, by bodies of this mass in kilograms."""
    terms = {
        "user": _user(seen, goal),
        "vel": _vel(seen, goal, start_speed),
        "land": seen["loose"] + seen["stubbed"],  # (3.7)
        "fail": 1.0 - seen["lasted"],  # (3.8)
        "sym": _sym(seen["states"]),
        "ang": thresholded(seen["torque"], np.sqrt(EPS_ANG)),  # (3.11)
        "head": thresholded(np.sqrt(seen["head_speed_sd"]), np.sqrt(EPS_HEAD)) + LAMBDA_HEAD * seen["tilted"],  # (3.12)
        "power": _power(seen, goal),
        "ratio": np.linalg.norm(seen["ratio"] - RATIO, axis=1),  # (3.16)
        **feet_terms(seen),
    }
    weights = weights_of(goal, mass)
    cost = sum((weights[name] * term for name, term in terms.items()), np.zeros(len(start_speed)))  # (3.17)
    return Score(terms, np.where(np.isfinite(cost), cost, 1e9), seen)


def observe(trace: Trace) -> dict[str, Float[Array, "B ..."]]:
    """All that the objective needs of every walk: speed, torques, states, head and feet."""
    rows, steps, length = np.arange(len(trace.steps)), np.maximum(trace.steps, 1), len(trace.phase)
    velocity = (trace.com[steps - 1, rows] - trace.com[0]) / (steps * trace.dt)[:, None]
    squares = np.square(trace.torques).sum(axis=0) / steps[:, None]  # (B, 30)
    shares = np.stack([squares[:, group].sum(axis=1) for group in (HIPS, KNEES, ANKLES)], axis=1)  # (3.15)
    loose, stubbed = landing(trace)
    tilted = (np.linalg.norm(trace.head_angles, axis=2) > HEAD_TILT) & trace.walked
    seen = {
        "seconds": trace.seconds,
        "lasted": trace.steps / length,
        "velocity": velocity - velocity[:, :1] * _rise(trace),
        "power": squares.sum(axis=1),  # (3.13)
        "ratio": shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-9),  # (3.14)
        "torque": _turning(trace) / np.maximum(velocity[:, 0], SLOWEST),
        "head_speed_sd": _unsteadiness(trace),
        "tilted": tilted.sum(axis=0) / length,
        "loose": loose.sum(axis=0) / length,
        "stubbed": stubbed.sum(axis=0) / length,
        "states": state_seconds(trace),
    }
    gaits = [measure(trace, walker) for walker in range(len(steps))]
    for name in ("step_m", "cycle_s", "double_support", "heel_off", "toe_off", "flat", *LEGS, "cycles"):
        seen[name] = np.array([float(getattr(gait, name)) for gait in gaits])
    return seen


def _rise(trace: Trace) -> Float[Array, "B 3"]:
    """How the ground rises per metre ahead: climbing a slope is no bobbing."""
    x, _, z = trace.normal.T
    return np.stack([0.0 * x, 0.0 * x, -x / z], axis=1)


def _turning(trace: Trace) -> Float[Array, "B"]:
    """Root of (3.10) over mass and height of the centre of mass (Herr & Popovic 2008); not yet over speed."""
    rate = np.diff(trace.spin, axis=0) / trace.dt * trace.walked[1:]
    body = trace.physics.body
    scale = body.total_mass * com_height(body)
    return np.sqrt(np.square(rate).sum(axis=0) / np.maximum(trace.steps, 1)) / scale


def _unsteadiness(trace: Trace) -> Float[Array, "B"]:
    """Standard deviation of the head's speed ahead (3.12)."""
    on, steps = trace.walked[1:], np.maximum(trace.steps, 1)
    speed = np.diff(trace.head[:, :, 0], axis=0) / trace.dt
    mean = (speed * on).sum(axis=0) / steps
    return np.sqrt((np.square(speed - mean) * on).sum(axis=0) / steps)


def landing(trace: Trace) -> tuple[Bool[Array, "K B"], Bool[Array, "K B"]]:
    """(3.7): push-off without a planted foot, and a swing toe on its top."""
    low, on = trace.low, trace.walked
    planted = (low[:, :, 1::2, :4].sum(axis=3) >= PLANTED).any(axis=2)
    return (trace.phase % 2 == 1) & ~planted & on, low[:, :, 2, 4:].any(axis=2) & on


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


def _sym(states: Float[Array, "B 4"]) -> Float[Array, "B"]:
    """(3.9)"""
    return thresholded(states[:, 0] - states[:, 2], EPS_TIME) + thresholded(states[:, 1] - states[:, 3], EPS_TIME)


def state_seconds(trace: Trace) -> Float[Array, "B 4"]:
    """The mean duration of each state of figure 3.1."""
    on, means = trace.walked, []
    for state in range(4):
        here = (trace.phase == state) & on
        visits = here[0].astype(int) + (here[1:] & ~here[:-1]).sum(axis=0)
        means.append(here.sum(axis=0) * trace.dt / np.maximum(visits, 1))
    return np.stack(means, axis=1)


def _power(seen: dict[str, Array], goal: Goal) -> Float[Array, "B"]:
    """(3.13), or the cost of transport where no speed is asked, or 1 / v_x for the fastest walk."""
    speed = np.maximum(seen["velocity"][:, 0], SLOWEST)
    if goal.fastest:
        return 1.0 / speed
    return seen["power"] if goal.speed is not None else seen["power"] / speed


def feet_terms(seen: dict[str, Array]) -> dict[str, Float[Array, "B"]]:
    """Our own three."""
    return {"stance": _stance(seen), "swing": _swing(seen), "foot": _foot(seen)}


def _stance(seen: dict[str, Array]) -> Float[Array, "B"]:
    """Ours: both feet down for a fifth of the cycle, flat in mid-stance, a late heel, a straight leg at strike."""
    low, high = _DOUBLE_SUPPORT
    both, heel, flat, knee = (seen[name] for name in ("double_support", "heel_off", "flat", "knee_at_strike"))
    missed = np.maximum(low - both, 0.0) + np.maximum(both - high, 0.0) + np.maximum(_HEEL_OFF - heel, 0.0)
    return 5.0 * missed + np.maximum(_FLAT - flat, 0.0) + 3.0 * np.maximum(knee - _KNEE, 0.0)


def _swing(seen: dict[str, Array]) -> Float[Array, "B"]:
    """Ours: a swing knee bent no further than it must, a thigh that stays ahead, a soft stance knee, a heel first."""
    swinging, standing, drop, toe = (seen[name] for name in ("knee_swing", "knee_stance", "thigh_drop", "toe_up"))
    low, high = _BENT_STANDING
    locked = np.maximum(low - standing, 0.0) + np.maximum(standing - high, 0.0)
    marched = np.maximum(swinging - _BENT_SWINGING, 0.0) + np.maximum(drop - _DROP, 0.0)
    return 3.0 * (marched + locked + np.maximum(_TOE_UP - toe, 0.0))


def _foot(seen: dict[str, Array]) -> Float[Array, "B"]:
    """Ours: a toe that hangs while the foot swings, and is up when it strikes."""
    low, high = _HANGING
    hung, up = seen["toe_down"], seen["toe_up"]
    return 3.0 * (np.maximum(low - hung, 0.0) + np.maximum(hung - high, 0.0) + np.maximum(_STRIKING - up, 0.0))
