"""A walk that nobody disturbs, with every state kept: a push may begin at any frame of it.

A controller is pure, so what comes before a push is simulated once, however many pushes follow. The phase of a frame is
how much of the gait cycle has passed: 0 when the left foot strikes, 0.5 about when the right one does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from jostle.controllers import Command, Push
from jostle.controllers.walker.walker import Walker
from jostle.errors import MotionError
from jostle.runtime import Character, CharacterState, Recorder, Recording
from jostle.types import Array, Float

FPS = 30.0
AHEAD = Command(heading=0.0)


@dataclass(frozen=True, eq=False)
class Stroll:
    """An undisturbed walk along X, frame by frame."""

    character: Character
    states: tuple[CharacterState, ...]
    strikes: Float[Array, "n"]  # of the left foot, in frames and parts of them

    @property
    def cycle(self) -> int:
        """Frames of a gait cycle."""
        return round(float(np.mean(np.diff(self.strikes))))

    @property
    def phases(self) -> Float[Array, "T"]:
        """Of each frame; NaN before the first strike and after the last."""
        frames, cycles = np.arange(len(self.states)), np.arange(len(self.strikes))
        return np.mod(np.interp(frames, self.strikes, cycles, left=np.nan, right=np.nan), 1.0)

    def first_strike(self) -> int:
        """The first frame in which the left foot is down after a strike."""
        return int(np.ceil(self.strikes[0]))


def take_stroll(walker: Walker, settling: float, seconds: float) -> Stroll:
    """Let a walker find its rhythm, then keep what it does."""
    character = Character(walker, rate=FPS)
    settled = follow(character, character.init(), settling)[-1]
    states = (settled, *follow(character, settled, seconds))
    strikes = _left_strikes(states)
    if has_fallen(states) or len(strikes) < 4:
        raise MotionError(f"The walker '{walker.title}' does not walk for {settling + seconds:g} s; choose another.")
    return Stroll(character, states, strikes)


def follow(
    character: Character,
    state: CharacterState,
    seconds: float,
    command: Callable[[float], Command] = lambda passed: AHEAD,
) -> tuple[CharacterState, ...]:
    """The states after this one, until it falls; `command` is asked with the seconds passed since."""
    states = []
    for frame in range(round(seconds * character.rate)):
        state = character.step(state, command(frame / character.rate))
        states.append(state)
        if has_fallen([state]):
            break
    return tuple(states)


def has_fallen(states: Sequence[CharacterState]) -> bool:
    return any(state.observed.quality["fallen"] for state in states)


def film(
    character: Character, states: Sequence[CharacterState], name: str, push: Push | None = None, frame: int = 0
) -> Recording:
    """The states as a recording that begins above the origin, with the push that came at a frame of it."""
    recorder = Recorder(character.skeleton, character.rate)
    for index, state in enumerate(states):
        recorder.add(state, (push,) if push is not None and index == frame else ())
    recording = recorder.finish(name)
    return replace(recording, root=recording.root - recording.root[0] * [1.0, 1.0, 0.0])


def _left_strikes(states: Sequence[CharacterState]) -> Float[Array, "n"]:
    """When the left foot strikes the right leg begins to swing; the state tells how long ago that was."""
    moments = [state.next.moment for state in states]
    pairs = enumerate(pairwise(moments), start=1)
    struck = [frame for frame, (last, now) in pairs if (last.side, now.side) == (0, 1)]
    return np.array([frame - moments[frame].since * FPS for frame in struck])
