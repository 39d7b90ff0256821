"""Long and wild runs of a character: does it walk for ever, does it come back, does it jump?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jostle.clips import Clip
from jostle.clips.cycle import find_cycle
from jostle.clips.skate import foot_skate, slide_cm
from jostle.controllers import Command, Push, Start
from jostle.controllers.dynamic.dynamic import Dynamic, DynamicState
from jostle.controllers.dynamic.responses import Responses
from jostle.models.sequences import slices
from jostle.types import Array, Float

PARTS = (
    "torso", "pelvis", "head", "left_arm", "right_arm", "left_forearm", "right_forearm",
    "left_thigh", "right_thigh", "left_shin", "right_shin",
)  # fmt: skip
SOFTEST, HARDEST = 0.2, 2.0  # of the largest impulse that was learnt
AGAIN = 0.4  # the share of pushes that are followed by another, while it recovers
POPS = 1.3  # times the largest acceleration of a joint in the training clips
LEAST = 0.01  # metres
_WAIT = 5.0  # seconds after the last push
_WITHIN = 3.0


def endless(person: Dynamic, seconds: float, tick: Callable[[float], None]) -> dict[str, Any]:
    """Unpushed, beside the clip that it learnt."""
    state, states, model = person.init(Start()), [], person.models[0]
    for frame in range(int(seconds / person.dt)):
        state = person.step(state, Command())
        states.append(state)
        if frame % 300 == 0:
            tick(300.0)
    made, usual = clip_of(person, states), model.features.decode(model.model.poses.rows[model.usual])
    ours, theirs = _gait(made), _gait(usual)
    # Of a motion that repeats itself exactly, several cycles are one as well.
    times = max(1, round(theirs[0] / ours[0]))
    last = clip_of(person, states[-900:])
    return {
        "cycle": times * ours[0] / theirs[0],
        "stride": times * ours[1] / theirs[1],
        "steps_off": float(np.max(model.flow.distance(np.array([state.latent for state in states[::7]])))),
        "skate": foot_skate(last),
        "source_skate": foot_skate(usual),
    }


def _gait(clip: Clip) -> tuple[float, float]:
    """Seconds of a cycle, and metres that it goes; of a motion that goes nowhere, its own duration."""
    cycle = find_cycle(clip, None)
    way = np.linalg.norm((clip.root[cycle.end] - clip.root[cycle.start])[:2]) / cycle.count
    return cycle.period, float(way)


class Wild:
    """Random pushes: any part, direction and time, up to twice what was learnt, some of them while it recovers."""

    def __init__(self, person: Dynamic, usual: Clip, hardest: float | None = None) -> None:
        self.person = person
        self.parts = [part for part in PARTS if part in person.body.parts]
        self.hardest = _hardest(person) if hardest is None else hardest  # newton seconds
        self.spread = [_spread(model, usual) for model in person.models]
        learnt = [_parts(model) for model in person.models]
        self.jolt = max(float(np.max(_accelerations(clip))) for clips in learnt for clip in clips)
        self.slide = float(np.median([slide_cm(clip) for clips in learnt for clip in clips]))
        whole = learnt[0][self.person.models[0].normal]
        self.cycle = round(_gait(whole)[0] / person.dt)

    def run(self, seed: int) -> dict[str, Any]:
        rng, person = np.random.default_rng(seed), self.person
        state = person.init(Start())
        for _ in range(int(rng.integers(0, 2 * self.cycle))):
            state = person.step(state, Command())
        states = [state]
        first = self._push(rng)
        waits = int(rng.uniform(0.3, 1.5) / person.dt) + int(first.duration / person.dt)
        again = {waits: self._push(rng)} if rng.uniform() < AGAIN else {}
        due = {0: first, **again}
        end = max(at + int(np.ceil(push.duration / person.dt)) for at, push in due.items())
        for frame in range(end + int(_WAIT / person.dt)):
            pushes = (due[frame],) if frame in due else ()
            states.append(person.step(states[-1], Command(pushes=pushes)))
        return self._judged(states, end, first, bool(again))

    def _push(self, rng: np.random.Generator) -> Push:
        angle, lasts = rng.uniform(-np.pi, np.pi), float(rng.choice((0.2, 0.3, 0.4)))
        newtons = rng.uniform(SOFTEST, HARDEST) * self.hardest / lasts
        part = str(self.parts[int(rng.integers(len(self.parts)))])
        return Push(part, newtons * np.array([np.cos(angle), np.sin(angle), 0.0]), lasts)

    def _judged(self, states: Sequence[DynamicState], end: int, first: Push, again: bool) -> dict[str, Any]:
        person = self.person
        clip = clip_of(person, states)
        near = np.array([self._near(state) for state in states[end:]])
        misses = np.convolve(~near, np.ones(self.cycle), "valid")  # of a hundred normal frames one is one, too
        back = next((t for t in np.flatnonzero(near[: len(misses)]).tolist() if misses[t] <= 1), None)
        speed = np.linalg.norm(np.diff(clip.root[-31:, :2], axis=0), axis=1) / person.dt
        height = clip.root[:, 2]
        usual = person.models[0].model.poses.rows[person.models[0].usual]
        pace = float(np.linalg.norm(person.models[0].velocity(usual.mean(axis=0))[:2]))
        return {
            "impulse": float(np.linalg.norm(first.impulse)),
            "part": first.part,
            "again": again,
            "seconds": None if back is None else back * person.dt,
            "recovered": back is not None and back * person.dt <= _WITHIN,
            "stuck": bool(np.mean(speed) < 0.5 * pace or np.ptp(height) > 0.8 or not np.all(np.isfinite(height))),
            "jolt": float(np.max(_accelerations(clip))) / self.jolt,
            "slide_cm": slide_cm(clip),
        }

    def _near(self, state: DynamicState) -> bool:
        """As near to the normal motion as that is to itself."""
        model = self.person.models[state.memory.model]
        rows = model.model.poses.rows[model.usual]
        return bool(_apart(model, state.memory.rows[-1:], rows)[0] < self.spread[state.memory.model])


def _apart(model: Responses, rows: Float[Array, "n D"], usual: Float[Array, "m D"]) -> Float[Array, "n"]:
    """How far the points of poses are from the line through the usual ones, root mean square in metres."""
    now = model.features.now
    seen, line = rows[:, now], usual[:, now]
    along = np.diff(line, axis=0)
    off = seen[:, None] - line[None, :-1]
    share = np.clip(np.sum(off * along, axis=-1) / np.sum(along**2, axis=-1), 0.0, 1.0)
    apart = np.linalg.norm(off - share[..., None] * along, axis=-1)
    return np.min(apart, axis=1) / np.sqrt((now.stop - now.start) / 3)


def _spread(model: Responses, usual: Clip) -> float:
    """The 99th percentile of how far frames of the normal motion that were not learnt are from those that were; at
    least `LEAST`, for there are motions that repeat themselves exactly."""
    rows = model.features.encode(usual)
    return max(LEAST, float(np.quantile(_apart(model, rows, model.model.poses.rows[model.usual]), 0.99)))


def _parts(model: Responses) -> list[Clip]:
    """The training clips, as the features see them."""
    return [model.features.decode(model.model.poses.rows[part]) for part in slices(model.model.lengths)]


def _hardest(person: Dynamic) -> float:
    """The largest impulse that was learnt."""
    return max(float(np.linalg.norm(push.impulse)) for push in person.examples)


def _accelerations(clip: Clip) -> Float[Array, "n J"]:
    """Of every joint's place, metres a second squared."""
    return np.linalg.norm(np.diff(clip.positions, 2, axis=0), axis=-1) * clip.fps**2


def clip_of(person: Dynamic, states: Sequence[DynamicState]) -> Clip:
    root, wxyz = (np.stack([getattr(state.pose, part) for state in states]) for part in ("root", "wxyz"))
    return Clip(person.skeleton, 1.0 / person.dt, root, wxyz, name="run")


def seams(person: Dynamic, count: int, seed: int) -> dict[str, Any]:
    """How far joints jump when another model takes over, beyond how far they go in the frames around; centimetres."""
    rng, found = np.random.default_rng(seed), []
    hardest = _hardest(person)
    state = person.init(Start())
    for _ in range(count):
        states, switched = [state], None
        angle = rng.uniform(-np.pi, np.pi)
        push = Push("torso", 0.5 * hardest / 0.2 * np.array([np.cos(angle), np.sin(angle), 0.0]), 0.2)
        at = int(rng.integers(8, 40))
        for frame in range(at + 8):
            states.append(person.step(states[-1], Command(pushes=(push,) if frame == at else ())))
            if states[-1].memory.model != states[-2].memory.model:
                switched = len(states) - 1
        state = states[-1]
        if switched is not None:
            steps = np.linalg.norm(np.diff(clip_of(person, states).positions, axis=0), axis=-1)  # (T - 1, J)
            around = np.concatenate([steps[switched - 5 : switched - 1], steps[switched : switched + 4]])
            found.append(100.0 * float(np.mean(steps[switched - 1] - around.mean(axis=0))))
    return {"switches": len(found), "mean": float(np.mean(found)), "most": float(np.max(found))}
