"""Which pushes are tried: where to, on which part, how hard, how long, and when in the gait cycle.

How hard is drawn as the speed that the push would give the body if all of it were free: 0.5 m/s are 35 N s for 70 kg,
which is 175 N for 0.2 s. Phases are spread over the whole cycle: as many equal parts as there are pushes, one drawn
from each. Every push has a generator of its own, so that what happens to one does not change another. Pushes that are
held out begin in the stretch of undisturbed walk that is kept apart, so that they share no frame with any other clip.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.controllers import Push
from jostle.types import Array, Float

PARTS = ("torso", "pelvis")
_DURATIONS = (0.2, 0.3, 0.4)  # seconds
_LEAD = (1.0, 2.0)  # cycles that are shown before a push
_SET, _BETWEEN = 0, 1  # seeds of the two sets, beside the plan's own
_ASIDE = 0.2  # of the angle between two directions: how far those held out stray from half way


@dataclass(frozen=True)
class Plan:
    """How much of everything; seconds and metres a second where nothing else is said."""

    seed: int = 0
    directions: int = 14  # evenly around, each on every part and in every range of speeds
    speeds: tuple[tuple[float, float], ...] = ((0.2, 0.6), (0.6, 1.0))
    held_out: int = 30
    held_out_speeds: tuple[float, float] = (0.3, 0.9)
    straight: float = 20.0  # of normal walking, and as long of weaving
    turn: float = 12.0  # of each of the two turns
    settling: float = 5.0  # until a walker has found its rhythm
    known: float = 40.0  # of undisturbed walk that pushed walks are compared with
    apart: float = 20.0  # of it that tells what is usual, and that pushes held out begin in
    finest: float = 0.005  # metres: a walk that repeats itself exactly need not be met more closely than this
    patience: float = 8.0  # after a push, for recovering and a cycle more
    tries: int = 8  # of each push, softer and softer


@dataclass(frozen=True, eq=False)
class Aim:
    """A push that is wanted, and the generator that chooses its strength."""

    rng: np.random.Generator
    part: str
    direction: float  # radians to the left of straight ahead
    softest: float
    hardest: float
    phase: float  # from 0 to 1
    lead: float  # cycles
    duration: float
    stretch: tuple[float, float]  # seconds of the undisturbed walk in which it begins, with what is shown before


def aims(plan: Plan) -> list[Aim]:
    """The pushes of the set: every direction, part and range of speeds."""
    step = 2.0 * np.pi / plan.directions
    wanted = [(step * k, part, *speeds) for k in range(plan.directions) for part in PARTS for speeds in plan.speeds]
    return _drawn(wanted, plan.seed, _SET, (0.0, plan.known))


def held_out_aims(plan: Plan) -> list[Aim]:
    """Pushes to directions between those of the set."""
    step, rng = 2.0 * np.pi / plan.directions, np.random.default_rng([plan.seed, _BETWEEN])
    between = np.arange(plan.held_out) // len(PARTS) + 0.5 + rng.uniform(-_ASIDE, _ASIDE, plan.held_out)
    angles = np.mod(step * between, 2.0 * np.pi).tolist()
    wanted = [(angle, PARTS[k % len(PARTS)], *plan.held_out_speeds) for k, angle in enumerate(angles)]
    return _drawn(wanted, plan.seed, _BETWEEN, (plan.known, plan.known + plan.apart))


def _drawn(
    wanted: list[tuple[float, str, float, float]], seed: int, which: int, stretch: tuple[float, float]
) -> list[Aim]:
    order = np.random.default_rng([seed, which, len(wanted)]).permutation(len(wanted))
    drawn = []
    for index, (direction, part, softest, hardest) in enumerate(wanted):
        rng = np.random.default_rng([seed, which, len(wanted), index])
        phase = (order[index] + rng.uniform()) / len(wanted)
        duration = float(rng.choice(_DURATIONS))
        drawn.append(Aim(rng, part, direction, softest, hardest, phase, rng.uniform(*_LEAD), duration, stretch))
    return drawn


def push_of(aim: Aim, speed: float, mass: float) -> Push:
    """The push that would give a body of this mass, if it were free, this speed."""
    return Push(aim.part, mass * speed / aim.duration * _unit(aim.direction), aim.duration)


def _unit(direction: float) -> Float[Array, "3"]:
    return np.array([np.cos(direction), np.sin(direction), 0.0])
