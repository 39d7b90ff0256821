"""Pushes like none that was learnt, and what the walker of the shipped clips does when it is pushed like that.

Three kinds: a *direction* at least thirty degrees from that of every example; another *phase* of the gait, at least a
fifth of a cycle from every example that is pushed within thirty degrees of it; another *part* of the body.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jostle import assets
from jostle.assets.walked.stroll import AHEAD, FPS, Stroll, film, follow, has_fallen, take_stroll
from jostle.controllers import Command, Push
from jostle.controllers.walker.walker import Walker
from jostle.evaluate.response.cases import Case
from jostle.runtime import load_controller
from jostle.types import Array, Float

WALKER = "relaxed"
KINDS = ("direction", "phase", "part")
ASIDE, LATER = np.radians(30.0), 0.2
PARTS = ("head", "left_arm", "right_arm", "left_thigh", "right_thigh")
SOFTEST, HARDEST = 20.0, 60.0  # newton seconds
_SETTLING, _SECONDS, _LEAD, _AFTER = 5.0, 40.0, 3, 2.2  # the walk, frames before a push, seconds after it
_TRIES = 400


def novel_cases(examples: Sequence[Case], count: int, seed: int) -> dict[str, list[Case]]:
    """So many of each kind; none of a kind of which none is to be had."""
    walker = load_controller(assets.walker_path(WALKER))
    assert isinstance(walker, Walker)
    stroll = take_stroll(walker, _SETTLING, _SECONDS)
    return {
        kind: _drawn(stroll, kind, examples, count, np.random.default_rng([seed, i])) for i, kind in enumerate(KINDS)
    }


def _drawn(stroll: Stroll, kind: str, examples: Sequence[Case], count: int, rng: np.random.Generator) -> list[Case]:
    found: list[Case] = []
    angles = np.array([np.arctan2(case.impulse[1], case.impulse[0]) for case in examples])
    phases = np.array([case.phase for case in examples])
    frames = np.flatnonzero(np.isfinite(stroll.phases[: -int(_AFTER * FPS)]))
    frames = frames[frames > 2 * _LEAD]
    for _ in range(_TRIES):
        if len(found) == count:
            break
        angle, frame = float(rng.uniform(-np.pi, np.pi)), int(rng.choice(frames))
        part = str(rng.choice(PARTS if kind == "part" else ("torso", "pelvis")))
        near = _between(angles, angle) < ASIDE
        late = np.abs((phases - stroll.phases[frame] + 0.5) % 1.0 - 0.5) >= LATER
        wanted = {"direction": not near.any(), "phase": near.any() and bool(np.all(late[near])), "part": near.any()}
        impulse, lasts = float(rng.uniform(SOFTEST, HARDEST)), float(rng.choice((0.2, 0.3, 0.4)))
        if wanted[kind]:
            push = Push(part, impulse / lasts * np.array([np.cos(angle), np.sin(angle), 0.0]), lasts)
            case = borne(stroll, frame, push, _LEAD, _AFTER)
            found += [] if case is None else [case]
    return found


def _between(angles: Float[Array, "n"], angle: float) -> Float[Array, "n"]:
    return np.abs(np.angle(np.exp(1j * (angles - angle))))


def borne(stroll: Stroll, frame: int, push: Push, lead: int, seconds: float) -> Case | None:
    """What the walker does from so many frames before a push to so many seconds after it; nothing where it falls."""
    before = stroll.states[frame - lead : frame + 1]
    pushing = Command(heading=AHEAD.heading, pushes=(push,))
    after = follow(stroll.character, before[-1], seconds, lambda passed: AHEAD if passed else pushing)
    if has_fallen(after):
        return None
    clip = film(stroll.character, before + after, "pushed", push, lead)
    return Case(clip, lead, 0.0, push, float(stroll.phases[frame]), push.part)
