"""Other normal motions than the shipped walk: walks slower and faster than it, a run, a march.

The walkers `WALKERS` are pushed by the evaluation itself: four pushes, one from each side, are learnt, others are
answered. Of a run and a march there are no pushed clips. A character of those learns one push too soft to be seen, so
it knows nothing of pushes but what the equations of motion say, and is measured on whether it goes on and comes back.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from jostle import assets
from jostle.assets.walked.stroll import FPS, Stroll, film, take_stroll
from jostle.clips import Clip, load_clip
from jostle.clips.edit import trim_frames
from jostle.controllers import Push
from jostle.controllers.dynamic.dynamic import Dynamic
from jostle.controllers.dynamic.learn import Example, fit_dynamic
from jostle.controllers.walker.walker import Walker
from jostle.evaluate.response import runs
from jostle.evaluate.response.cases import Case, figures_of, learnt_from
from jostle.evaluate.response.novel import borne
from jostle.runtime import load_controller

WALKERS = ("stroll", "brisk")  # 0.8 and 2.4 m/s
MARCH = Path("snu_ys2010") / "walk" / "wd2_WalkSoldier01.bvh"
SIDES = 0.0, np.pi, 0.5 * np.pi, -0.5 * np.pi  # of the pushes that are learnt: forwards, backwards, left, right
LEARNT = 30.0  # newton seconds
SOFTEST, HARDEST = 15.0, 45.0  # of the others
SECONDS = 60.0  # unpushed
_SETTLING, _WALK, _NORMAL = 5.0, 40.0, 6.0
_LEAD, _AFTER = 15, 3.2  # frames before a push, seconds after it
_LASTS = 0.3
_TRIES = 20
_UNSEEN = 1e-3  # newtons


def other_walk(name: str, count: int, wild: int, seed: int, tick: Callable[[float], None]) -> dict[str, Any]:
    """A walker of another pace: its pushes, answered by who learnt four of them."""
    walker = load_controller(assets.walker_path(name))
    assert isinstance(walker, Walker)
    stroll = take_stroll(walker, _SETTLING, _WALK)
    rng = np.random.default_rng([seed, WALKERS.index(name)])
    known = [_pushed(stroll, lambda side=side: _at("torso", side, LEARNT), rng) for side in SIDES]
    normal = film(stroll.character, stroll.states[: int(_NORMAL * FPS)], name)
    person = fit_dynamic([Example(normal), *map(learnt_from, known)], seed=seed)
    held = [_pushed(stroll, lambda: _any(rng), rng) for _ in range(count)]
    rest = film(stroll.character, stroll.states[int(_NORMAL * FPS) :], "rest")
    return {"rows": figures_of(person, held, known, tick)} | _goes_on(person, rest, wild, seed, tick)


def unpushed_motion(path: str, wild: int, seed: int, tick: Callable[[float], None]) -> dict[str, Any]:
    """A motion of which no pushes are known."""
    clip = load_clip(path)
    weak = Push("torso", np.array([_UNSEEN, 0.0, 0.0]), _LASTS)
    learnt = Example(trim_frames(clip, 0, clip.frame_count - 1), ((0.4 * clip.duration, weak),))
    return _goes_on(fit_dynamic([Example(clip), learnt], seed=seed), clip, wild, seed, tick)


def _goes_on(person: Dynamic, usual: Clip, wild: int, seed: int, tick: Callable[[float], None]) -> dict[str, Any]:
    """A minute unpushed, and random pushes."""
    tried = runs.Wild(person, usual, hardest=LEARNT)
    came = [tried.run(1000 * seed + i) for i in range(wild)]
    alone = runs.endless(person, SECONDS, tick)
    shares = {name: float(np.mean([row[name] for row in came])) for name in ("recovered", "stuck")}
    return alone | shares


def _pushed(stroll: Stroll, draw: Callable[[], Push], rng: np.random.Generator) -> Case:
    """A push that the walker bears, at any moment of its walk."""
    frames = np.flatnonzero(np.isfinite(stroll.phases[: -int((_AFTER + 1.0) * FPS)]))
    frames = frames[frames > _LEAD]
    for _ in range(_TRIES):
        push, frame = draw(), int(rng.choice(frames))
        case = borne(stroll, frame, push, _LEAD, _AFTER)
        if case is not None:
            return case
    raise RuntimeError(f"{stroll.character.controller} falls at every push.")


def _any(rng: np.random.Generator) -> Push:
    return _at(str(rng.choice(("torso", "pelvis"))), rng.uniform(-np.pi, np.pi), rng.uniform(SOFTEST, HARDEST))


def _at(part: str, angle: float, impulse: float) -> Push:
    return Push(part, impulse / _LASTS * np.array([np.cos(angle), np.sin(angle), 0.0]), _LASTS)
