"""One push after the other, softer where the walker falls or does not find back, until it is borne."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jostle.assets.walked.plan import Aim, Plan, push_of
from jostle.assets.walked.recovery import Habit
from jostle.assets.walked.stroll import AHEAD, FPS, Stroll, film, follow, has_fallen
from jostle.controllers import Command, Push
from jostle.errors import MotionError
from jostle.runtime import CharacterState, Recording

FELL, LOST, RECOVERED = "fell", "not recovered", "recovered"


@dataclass(frozen=True, eq=False)
class Trial:
    """A push that was tried: what is known of it, and the recording where it was borne."""

    about: dict[str, Any]
    recording: Recording | None = None


def bear(stroll: Stroll, habit: Habit, aim: Aim, plan: Plan) -> list[Trial]:
    """Try a push, softer each time, until it is borne; all that were tried, that one last."""
    trials, softest, hardest = [], aim.softest, aim.hardest
    while len(trials) < plan.tries:
        speed = float(aim.rng.uniform(softest, hardest))
        trials.append(_try(stroll, habit, aim, push_of(aim, speed, stroll.character.body.total_mass), plan))
        if trials[-1].recording is not None:
            return trials
        hardest, softest = speed, min(softest, 0.7 * speed)
    raise MotionError(
        f"No push of {plan.tries} on the {aim.part} was borne, down to {trials[-1].about['newtons']:.0f} N for "
        f"{aim.duration:g} s ({trials[-1].about['outcome']}); this walker is not made for pushes, choose another."
    )


def _try(stroll: Stroll, habit: Habit, aim: Aim, push: Push, plan: Plan) -> Trial:
    """Push at the frame with the phase that is wished, see what comes of it, and cut where it has recovered."""
    lead, begin = round(aim.lead * stroll.cycle), _frame_at(stroll, aim)
    about = _about(aim, push, float(stroll.phases[begin]))
    states, normal = _answer(stroll, habit, begin - lead, begin, push, plan.patience)
    if normal is None:
        return Trial(about | {"outcome": FELL if has_fallen(states) else LOST})
    shown = film(stroll.character, states[: normal + stroll.cycle + 1], "pushed", push, lead)
    return Trial(about | {"outcome": RECOVERED, "recovered_after": (normal - lead) / FPS}, shown)


def _answer(
    stroll: Stroll, habit: Habit, first: int, begin: int, push: Push, patience: float
) -> tuple[tuple[CharacterState, ...], int | None]:
    """What follows a push, with what was before, until it walks as usual, falls or takes too long; and when it did."""
    character, cycle = stroll.character, stroll.cycle
    pushing = Command(heading=AHEAD.heading, pushes=(push,))
    states = stroll.states[first : begin + 1]
    states += follow(character, states[-1], push.duration, lambda passed: AHEAD if passed else pushing)
    over = len(states)
    while len(states) < over + patience * FPS and not has_fallen(states[over:]):
        states += follow(character, states[-1], cycle / FPS)
        normal = habit.recovered(film(character, states, "pushed"), over, cycle)
        if normal is not None and not has_fallen(states[over:]):
            return states, normal
    return states, None


def _frame_at(stroll: Stroll, aim: Aim) -> int:
    """The frame of its stretch whose phase is nearest to the one wished, with room for what comes before the push."""
    first, last = (round(seconds * FPS) for seconds in aim.stretch)
    first += 2 * stroll.cycle
    away = np.abs(stroll.phases[first:last] - aim.phase)
    return first + int(np.nanargmin(np.minimum(away, 1.0 - away)))


def _about(aim: Aim, push: Push, phase: float) -> dict[str, Any]:
    newtons = float(np.linalg.norm(push.force))
    return {
        "part": aim.part,
        "direction": float(np.degrees(aim.direction)),  # degrees to the left of straight ahead
        "newtons": newtons,
        "duration": push.duration,
        "impulse": newtons * push.duration,
        "phase": phase,
    }
