"""Pushes whose true answer is known, and how far an answer is from it.

A case is a moment of undisturbed walking, a push, and where the centre of mass went in the next two seconds: recorded
in a clip, or simulated by the walker that the clips are of. Answers begin at that moment, in the same pose and with the
same speed, and are compared by the path of their centre of mass over the ground.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from jostle import assets
from jostle.body import Body, build_body
from jostle.clips import Clip, load_clip
from jostle.clips.edit import trim_frames
from jostle.controllers import NEUTRAL, Command, Push
from jostle.controllers.dynamic.align import headings
from jostle.controllers.dynamic.dynamic import Dynamic, DynamicState
from jostle.controllers.dynamic.learn import Example, fit_dynamic
from jostle.maths import quat
from jostle.runtime import Recording, load_recording
from jostle.runtime.examples import example_of
from jostle.types import Array, Float

FPS = 30
SECONDS = 2.0  # of an answer that are judged
THREE = (1, 29, 15)  # shipped pushes: forwards, backwards, to the left
FOURTEEN = (1, 5, 9, 13, 16, 21, 24, 29, 33, 37, 41, 45, 49, 53)  # one for each direction
_TURN = 0.5  # weights of what makes two pushes unlike, tried on the training clips: a quarter of a cycle against 40 N s
_USUAL = 150  # frames of the normal walk that clips are aligned with


@dataclass(frozen=True, eq=False)
class Case:
    clip: Clip  # with two frames at least before the push
    onset: int  # the frame in which it begins
    way: float  # where they go, radians left of X
    push: Push
    phase: float  # of the gait cycle at the onset, from 0 to 1
    part: str

    @property
    def impulse(self) -> Float[Array, "2"]:
        """Newton seconds over the ground, along the way and to the left of it."""
        return quat.apply(quat.from_yaw(-self.way), self.push.impulse)[:2]

    def truth(self, body: Body) -> Float[Array, "T 2"]:
        """Where the centre of mass went, seen from where it was at the onset, along the way."""
        stop = self.onset + 1 + int(SECONDS * FPS)
        path = body.total_com(trim_frames(self.clip, self.onset, min(stop, self.clip.frame_count)).poses)
        return quat.apply(quat.from_yaw(-self.way), path[1:] - path[0])[:, :2]


@cache
def normal_walk() -> Clip:
    return load_clip(assets.clip_path("walk"))


@cache
def walking_body() -> Body:
    return build_body(normal_walk().skeleton)


def shipped(held_out: bool = False) -> list[Case]:
    """The shipped pushes, in their order."""
    paths = assets.held_out_clips() if held_out else assets.pushed_clips()
    return [_recorded(clip, side) for clip, side in paths]


def _recorded(clip: Path, side: Path) -> Case:
    recording, about = load_recording(clip), json.loads(side.read_text())["about"]
    timed = recording.pushes[0]
    way = headings([trim_frames(normal_walk(), 0, _USUAL), recording], 0, float(FPS))[1]
    return Case(recording, round(timed.time * FPS), way, timed.push, float(about["phase"]), timed.push.part)


def learnt_from(case: Case) -> Example:
    assert isinstance(case.clip, Recording)
    return example_of(case.clip)


@cache
def character(which: tuple[int, ...], groups: int | None = None, seed: int = 0) -> Dynamic:
    """Learnt from the normal walk and these shipped pushes."""
    known = shipped()
    return fit_dynamic([Example(normal_walk()), *(learnt_from(known[i]) for i in which)], groups=groups, seed=seed)


def answered(person: Dynamic, case: Case, push: Push | None = None) -> list[DynamicState]:
    """What a character does from the case's onset on, pushed like that (unless told: as in the case)."""
    features = person.models[0].features
    rows = features.encode(case.clip, case.way)[case.onset - 1 : case.onset + 1]
    x, y, _ = case.clip.root[case.onset].tolist()
    state = person.begin(rows, (x, y), case.way)
    given = case.push if push is None else push
    states = [state]
    for frame in range(int(SECONDS * FPS)):
        states.append(person.step(states[-1], Command(pushes=(given,)) if frame == 0 else NEUTRAL))
    return states


def path_of(person: Dynamic, states: Sequence[DynamicState], way: float) -> Float[Array, "T 2"]:
    """Of the centre of mass over the ground, seen as `Case.truth` does."""
    path = np.array([person.body.total_com(state.pose) for state in states])
    return quat.apply(quat.from_yaw(-way), path[1:] - path[0])[:, :2]


def unpushed(person: Dynamic, case: Case) -> Float[Array, "T 2"]:
    """The path where nobody pushes."""
    return path_of(
        person, answered(person, case, Push(case.part, 1e-9 * case.push.force, case.push.duration)), case.way
    )


def replayed(case: Case, examples: Sequence[Case], body: Body) -> Float[Array, "T 2"]:
    """What the nearest recorded answer did."""
    unlike = [unlikeness(case, other) for other in examples]
    return examples[int(np.argmin(unlike))].truth(body)


def unlikeness(case: Case, other: Case) -> float:
    turn = abs((case.phase - other.phase + 0.5) % 1.0 - 0.5)
    return float(np.linalg.norm(case.impulse - other.impulse)) / 40.0 + _TURN * turn / 0.25


def miss(path: Float[Array, "T 2"], truth: Float[Array, "T 2"]) -> float:
    """Root mean square distance, in centimetres."""
    count = min(len(path), len(truth))
    return 100.0 * float(np.sqrt(np.mean(np.sum((path[:count] - truth[:count]) ** 2, axis=1))))


def reach(path: Float[Array, "T 2"], calm: Float[Array, "T 2"]) -> float:
    """The largest displacement from the path of those whom nobody pushes, in metres."""
    count = min(len(path), len(calm))
    return float(np.max(np.linalg.norm(path[:count] - calm[:count], axis=1)))


def figures_of(person: Dynamic, cases: Sequence[Case], examples: Sequence[Case], tick: Callable[[float], None]) -> list:
    """For each case: how far off ours is, and a replay, and no answer at all, and how far each went."""
    rows = []
    for case in cases:
        states = answered(person, case)
        ours, truth, calm = path_of(person, states, case.way), case.truth(person.body), unpushed(person, case)
        rows.append(
            {
                "part": case.part,
                "impulse": case.impulse.round(2).tolist(),
                "phase": round(case.phase, 3),
                "cm": miss(ours, truth),
                "replay_cm": miss(replayed(case, examples, person.body), truth),
                "none_cm": miss(calm, truth),
                "peak": reach(ours, calm) / max(reach(truth, calm), 1e-9),
            }
        )
        tick(1.0)
    return rows
