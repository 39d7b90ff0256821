"""Does a model work as it should? What Ye & Liu 2010 test by hand (section 5, model verification).

- *Closes*: left alone for a while, the normal motion stays by the data.
- *Leads back*: from the end of each pushed clip the flow finds the normal motion.
- *Thin*: for pushes of the usual strength from every side and at every time, how lost the character is in the second
  that follows. Where it is most lost, there the next clip should be captured.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from jostle.controllers.dynamic.dynamic import Dynamic, DynamicState
from jostle.controllers.dynamic.responses import Responses
from jostle.controllers.protocol import Command, Push, Start
from jostle.models.sequences import slices
from jostle.types import Array, Float

NEAR = 1.5  # median steps of the normal motion: so near is there
ALONE = 60.0  # seconds that the normal motion must go on
LEADS = 3.0  # seconds in which a clip's end must lead back
DIRECTIONS, PHASES = 12, 8
THIN = 0.5  # lost by so much on the mean, a model guesses more than it knows
_LASTS, _SEEN = 0.2, 1.0  # seconds of a push, and after it


@dataclass(frozen=True, eq=False)
class Lead:
    """The end of a pushed clip."""

    model: int
    clip: int  # of the model
    seconds: float | None  # until the normal motion is reached; None: not within `LEADS`


@dataclass(frozen=True, eq=False)
class Verification:
    off: tuple[float, ...]  # of each model, unpushed: the largest distance from the data, in median steps
    leads: tuple[Lead, ...]
    impulse: float  # newton seconds of the pushes that were tried
    lost: Float[Array, "A B"]  # by direction, from forward to the left and around, and by phase of the normal motion

    @property
    def closes(self) -> bool:
        return max(self.off) <= NEAR

    @property
    def leads_back(self) -> bool:
        return all(lead.seconds is not None for lead in self.leads)

    @property
    def thin(self) -> float:
        """The share of pushes of which the model guesses more than it knows."""
        return float(np.mean(self.lost > THIN))

    def capture_next(self) -> tuple[float, float]:
        """Direction, in degrees left of forward, and phase of the push that is known least, with those around."""
        around = [np.roll(self.lost, (a, b), (0, 1)) for a in (-1, 0, 1) for b in (-1, 0, 1)]
        worst = int(np.argmax(np.mean(around, axis=0)))
        direction, phase = divmod(worst, self.lost.shape[1])
        degrees = 360.0 * direction / len(self.lost)
        return degrees if degrees <= 180.0 else degrees - 360.0, phase / self.lost.shape[1]


def verify(person: Dynamic, progress: Callable[[int, int], None] = lambda done, total: None) -> Verification:
    off = tuple(_left_alone(model) for model in person.models)
    leads = tuple(
        Lead(i, clip, _led(model, clip))
        for i, model in enumerate(person.models)
        for clip in range(len(model.pushes))
        if clip != model.normal
    )
    known = person.examples
    impulse = float(np.median([np.linalg.norm(push.impulse) for push in known])) if known else 0.0
    lost = np.zeros((DIRECTIONS, PHASES))
    for phase, state in enumerate(_phases(person)):
        for direction in range(DIRECTIONS):
            angle = 2.0 * np.pi * direction / DIRECTIONS
            lost[direction, phase] = _guessed(person, state, impulse, angle)
            progress(phase * DIRECTIONS + direction + 1, DIRECTIONS * PHASES)
    return Verification(off, leads, impulse, lost)


def _left_alone(model: Responses) -> float:
    before, now = model.model.poses.x[model.usual][:2]
    path = []
    for _ in range(int(ALONE / model.dt)):
        before, now = now, model.flow.next(before, now)[0]
        path.append(now)
    return float(np.max(model.flow.distance(np.array(path))))


def _led(model: Responses, clip: int) -> float | None:
    """Seconds from a clip's end to the normal motion, for a cycle's worth of frames."""
    rows = slices(model.model.lengths)[clip]
    before, now = model.model.poses.x[rows][-2:]
    usual = model.model.poses.x[model.usual]
    for frame in range(int(LEADS / model.dt)):
        if np.min(np.linalg.norm(usual - now, axis=1)) <= NEAR * model.flow.stride:
            return frame * model.dt
        before, now = now, model.flow.next(before, now)[0]
    return None


def _phases(person: Dynamic) -> list[DynamicState]:
    """Moments spread over one round of the normal motion."""
    round_ = _round(person.models[0])
    state = person.init(Start())
    states = []
    for frame in range(round_):
        if frame >= len(states) * round_ / PHASES:
            states.append(state)
        state = person.step(state, Command())
    return states[:PHASES]


def _round(model: Responses) -> int:
    """Frames until the normal motion comes back to where it began; all of it where it never does."""
    usual = model.model.poses.x[model.usual]
    gone = np.linalg.norm(usual - usual[0], axis=1)
    away = int(np.argmax(gone > 0.7 * gone.max()))
    near = away + np.flatnonzero(gone[away:] < 0.3 * gone.max())
    if not len(near):
        return len(usual)
    frame = int(near[0])
    while frame + 1 < len(gone) and gone[frame + 1] < gone[frame]:
        frame += 1
    return frame


def _guessed(person: Dynamic, state: DynamicState, impulse: float, angle: float) -> float:
    """How lost it is on the mean, during a push at the middle of the body and after it."""
    direction = np.array([np.cos(angle), np.sin(angle), 0.0])
    push = Push(person.skeleton.names[_heaviest(person)], impulse / _LASTS * direction, _LASTS)
    lost = []
    for frame in range(int((_LASTS + _SEEN) / person.dt)):
        state = person.step(state, Command(pushes=(push,) if frame == 0 else ()))
        lost.append(state.observed.quality["lost"])
    return float(np.mean(lost))


def _heaviest(person: Dynamic) -> int:
    return int(np.argmax(person.body.mass))
