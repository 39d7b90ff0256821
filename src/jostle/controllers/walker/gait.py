"""From a trace to a gait: steps, and what the eye sees of the feet, per walker.

A cycle runs from the strike of one foot to its next; cycles of both feet count. The first two steps are left out,
because the walker still falls into its rhythm.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from jostle.controllers.walker.trace import Trace
from jostle.types import Array, Bool, Int

SETTLING = 2  # strikes
HEAD_TILT = 0.1  # radians beyond which a head is held askew
MID_STANCE = (0.15, 0.30)  # of the cycle
LEAVING = 0.8  # of the cycle: what touches the ground later belongs to the next strike
SLOWEST = 0.1  # m/s: what is counted per metre is counted at this speed for those who do not advance


@dataclass(frozen=True)
class Gait:
    """Means over the cycles of one walk; zeros where there were none."""

    cycles: int
    double_support: float = 0.0  # share of the cycle with both feet on the ground
    heel_off: float = 0.0  # when the heel leaves the ground, as a share of the cycle
    toe_off: float = 0.0  # when the foot leaves the ground, as a share of the cycle
    flat: float = 0.0  # share of mid-stance with heel and ball on the ground
    cycle_s: float = 0.0
    step_m: float = 0.0
    step_spread_m: float = 0.0  # standard deviation
    knee_at_strike: float = 0.0  # radians from straight, of the leg that strikes
    knee_swing: float = 0.0  # radians: the largest flexion of a swinging knee
    knee_stance: float = 0.0  # radians: the mean flexion of a standing knee
    thigh_drop: float = 0.0  # radians that a thigh comes back before the foot strikes
    toe_down: float = 0.0  # radians from level: the furthest that the toe of a swinging foot points down
    toe_up: float = 0.0  # radians from level, of the foot that strikes


def strikes(trace: Trace, walker: int) -> Int[Array, "n"]:
    """The steps at which a foot struck."""
    return np.flatnonzero(trace.struck[: trace.steps[walker], walker])


def feet_down(trace: Trace, walker: int) -> Bool[Array, "k 2 6"]:
    """Left and right: heel (two corners), ball (two), toe tip (two) on the ground."""
    rows = slice(0, trace.steps[walker])
    low = trace.low[rows, walker]  # swing foot, stance foot, swing toe, stance toe
    both = np.concatenate([low[:, :2, :4], low[:, 2:, 2:4]], axis=2)  # swing, stance
    right_swings = trace.phase[rows, walker] >= 2
    return np.where(right_swings[:, None, None], both[:, ::-1], both)


def measure(trace: Trace, walker: int) -> Gait:
    """The gait of one walker of a trace."""
    at = strikes(trace, walker)[SETTLING:]
    cycles = len(at) - 2
    if cycles < 1:
        return Gait(0)
    down = feet_down(trace, walker)
    on = np.any(down, axis=2)
    both = float(np.mean(on[at[0] : at[-1]].all(axis=1)))
    rows = [_cycle(down[a:b, side], on[a:b, side]) for a, b, side in _cycles(trace, walker, at)]
    heel_off, toe_off, flat = np.mean(rows, axis=0)
    reach = trace.reach[at, walker]
    seconds = float(np.mean(at[2:] - at[:-2])) * trace.dt
    knee = float(np.mean(np.abs(trace.knee[at, walker])))
    return Gait(
        cycles, both, heel_off, toe_off, flat, seconds, float(np.mean(reach)), float(np.std(reach)), knee,
        *_legs(trace, walker), -float(np.mean(trace.foot[at, walker])),
    )  # fmt: skip


def _legs(trace: Trace, walker: int) -> tuple[float, float, float, float]:
    """How far the swing knee bends, how far the stance knee is bent, how far the thigh comes back, and how far the toe
    of the swing foot points down; over steps.
    """
    at = strikes(trace, walker)
    steps = [slice(a + 1, b + 1) for a, b in pairwise(at)][SETTLING - 1 :]
    bent = [float(np.max(trace.knee[step, walker])) for step in steps]
    drop = [float(trace.thigh[step, walker][-1] - np.min(trace.thigh[step, walker])) for step in steps]
    down = [float(np.max(trace.foot[step, walker])) for step in steps]
    stance = trace.stance_knee[at[SETTLING - 1] + 1 : at[-1] + 1, walker]
    return float(np.mean(bent)), float(np.mean(stance)), float(np.mean(drop)), float(np.mean(down))


def _cycles(trace: Trace, walker: int, at: Int[Array, "n"]) -> list[tuple[int, int, int]]:
    """First and last step of each cycle, and the foot that struck: the one that swung until then."""
    sides = trace.phase[at, walker] // 2
    return [(int(at[i]), int(at[i + 2]), int(sides[i])) for i in range(len(at) - 2)]


def _cycle(down: Bool[Array, "k 6"], on: Bool[Array, "k"]) -> tuple[float, float, float]:
    """Heel-off, toe-off and flatness of the foot whose cycle this is."""
    length = len(down)
    heel, ball = np.any(down[:, :2], axis=1), np.any(down[:, 2:4], axis=1)
    first, last = (round(share * length) for share in MID_STANCE)
    return _leaves(heel), _leaves(on), float(np.mean((heel & ball)[first:last]))


def _leaves(down: Bool[Array, "k"]) -> float:
    """The end of the last contact in the first 80 % of the cycle (the next strike may come early)."""
    last = np.flatnonzero(down[: int(LEAVING * len(down))])
    return float(last[-1] + 1) / len(down) if len(last) else 0.0
