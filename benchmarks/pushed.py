"""How `graph` answers pushes, by both choices: python -m benchmarks.pushed [people.jostle …]

Of the shipped walker's clips and pushes, or of characters that are named. 60 pushes at the torso, 20 to 50 N s from
any side, at any moment. Degrees between the asked way and that in which the pushed part is moved after so many seconds
beside one who is not pushed (median, 90th percentile); how unlike the response began; milliseconds of the frame that
serves the push, and of others; how far planted feet slide.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, replace

import numpy as np

from jostle.assets import clip_path, pushed_clips
from jostle.body import build_body
from jostle.clips import Clip, load_clip
from jostle.clips.skate import slide_cm
from jostle.controllers import NEUTRAL, Command, Push, Start
from jostle.controllers.graph.build import build_people
from jostle.controllers.graph.people import People
from jostle.controllers.graph.responses import Told, read_responses
from jostle.controllers.graph.serve import CHOICES
from jostle.maths.angles import wrapped
from jostle.runtime import load_controller, load_recording
from jostle.skeleton.pose import position_of

TRIALS, AFTER, LONG = 60, (0.1, 0.2, 0.5), 60
HARD = 20.0, 50.0  # newton seconds


def main() -> None:
    people = [load_controller(name) for name in sys.argv[1:]] or [shipped()]
    print(f"{'':32} {'degrees off after':^33} {'unlike':>8} {'served':>8} {'frame':>8} {'slide':>8}")
    print(f"{'':32}" + "".join(f"{seconds:9.1f} s" for seconds in AFTER))
    for one in people:
        if not isinstance(one, People):
            raise SystemExit(f"{one.name} is no graph.")
        for choice in CHOICES:
            chooses = replace(one, choice=choice)
            trial(chooses, 0)  # what is computed once
            ran = [trial(chooses, seed) for seed in range(TRIALS)]
            off = np.array([row.off for row in ran])
            told = "  ".join(f"{np.median(x):3.0f}, {np.quantile(x, 0.9):3.0f}" for x in off.T)
            rest = [np.median([getattr(row, name) for row in ran]) for name in ("apart", "served", "frame", "slide")]
            print(f"{one.name + ', ' + choice:32}   {told}   {rest[0]:5.3f} m", end=" ")
            print(f"{rest[1]:5.1f} ms {rest[2]:5.1f} ms {rest[3]:5.2f} cm", flush=True)


def shipped() -> People:
    clips = [load_clip(clip_path(name)) for name in ("walk", "turn_left", "turn_right")]
    body, responses = build_body(clips[0].skeleton), []
    for path, _ in pushed_clips():
        recorded = load_recording(path)
        responses += read_responses(recorded, body, [Told(timed.time, None, timed.push) for timed in recorded.pushes])
    return build_people(clips, responses)


@dataclass(frozen=True)
class Ran:
    off: tuple[float, ...]  # degrees
    apart: float
    served: float  # milliseconds
    frame: float
    slide: float


def trial(people: People, seed: int) -> Ran:
    chance = np.random.default_rng(seed)
    state = people.init(Start(seed=seed))
    for _ in range(int(chance.integers(20, 50))):
        state = people.step(state, NEUTRAL)
    way, impulse, part = chance.uniform(-np.pi, np.pi), chance.uniform(*HARD), people.body.part("torso")
    push = Push("torso", impulse / 0.2 * np.array([np.cos(way), np.sin(way), 0.0]), 0.2)
    begun = time.perf_counter()
    pushed = people.step(state, Command(pushes=(push,)))
    served, apart = 1e3 * (time.perf_counter() - begun), pushed.observed.quality["apart"]
    calm, poses, off, begun = people.step(state, NEUTRAL), [pushed.pose], [], time.perf_counter()
    for frame in range(2, LONG):
        pushed = people.step(pushed, NEUTRAL)
        poses.append(pushed.pose)
        if frame <= round(max(AFTER) / people.dt):
            calm = people.step(calm, NEUTRAL)
            if any(frame == round(seconds / people.dt) for seconds in AFTER):
                moved = position_of(people.skeleton, pushed.pose, part) - position_of(people.skeleton, calm.pose, part)
                off.append(float(np.degrees(abs(wrapped(np.arctan2(moved[1], moved[0]) - way)))))
    each = 1e3 * (time.perf_counter() - begun) / (LONG - 2 + round(max(AFTER) / people.dt))
    film = Clip(people.skeleton, 1 / people.dt, np.array([p.root for p in poses]), np.array([p.wxyz for p in poses]))
    return Ran(tuple(off), apart, served, each, slide_cm(film))


if __name__ == "__main__":
    main()
