"""Walking and turning that nobody disturbs, from the strike of a left foot on."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from jostle.assets.walked.plan import Plan
from jostle.assets.walked.stroll import FPS, Stroll, film, follow, has_fallen
from jostle.controllers import Command
from jostle.errors import MotionError
from jostle.runtime import Recording

_QUARTER = 0.5 * np.pi
_BEFORE = 1.0  # seconds straight on before a turn
_TURNING = np.radians(20.0)  # a second, of the heading that is asked for
_SWING, _PERIOD = np.radians(45.0), 10.0  # to each side, and seconds from left to left


def normal_walks(stroll: Stroll, plan: Plan) -> Mapping[str, Recording]:
    """Straight on, a quarter turn to each side, and a weaving path."""
    first = stroll.first_strike()
    straight = stroll.states[first : first + round(plan.straight * FPS) + 1]
    return {
        "walk": film(stroll.character, straight, "walk"),
        "turn_left": _steered(stroll, "turn_left", plan.turn, lambda passed: _turn(passed, 1.0)),
        "turn_right": _steered(stroll, "turn_right", plan.turn, lambda passed: _turn(passed, -1.0)),
        "weave": _steered(stroll, "weave", plan.straight, _weave),
    }


def _steered(stroll: Stroll, name: str, seconds: float, heading: Callable[[float], float]) -> Recording:
    begin = stroll.states[stroll.first_strike()]
    after = follow(stroll.character, begin, seconds, lambda passed: Command(heading=heading(passed)))
    if has_fallen(after):
        raise MotionError(
            f"The walker fell in '{name}' after {len(after) / FPS:.1f} s; choose one that can be steered."
        )
    return film(stroll.character, (begin, *after), name)


def _turn(passed: float, side: float) -> float:
    return side * float(np.clip(_TURNING * (passed - _BEFORE), 0.0, _QUARTER))


def _weave(passed: float) -> float:
    return _SWING * float(np.sin(2.0 * np.pi * passed / _PERIOD))
