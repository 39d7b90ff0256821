"""Which clips are learnt, which are continued, and from where.

Training and test clips are those of the thesis, at 30 frames a second, without time warping. A long prediction is
given 25 frames and asked for 40 (13 and 20 of runs), a short one given 10 and asked for 20. A window is encoded by
itself, so nothing of what follows it is seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from jostle import assets
from jostle.clips import Clip, load_clip
from jostle.clips.edit import resample, trim_frames
from jostle.errors import FileError
from jostle.evaluate.prediction.thesis import LONG, RUNS, SHORT_CLIPS, TRAINING

FPS = 30.0
WALK, RUN, SHORT = (25, 40), (13, 20), (10, 20)  # frames given and asked for
_POSED = {"07_12": 2}  # frames at the beginning that are no motion; one in every other file of CMU


@dataclass(frozen=True)
class Plan:
    """How much."""

    starts: int = 4  # of each clip, for long predictions
    short_starts: int = 24
    iterations: int = 300
    clips: int | None = None  # the first so many test clips
    short_clips: int | None = None


FULL = Plan()
QUICK = Plan(starts=1, short_starts=2, iterations=100, clips=3, short_clips=1)


@dataclass(frozen=True)
class Window:
    """A test: so many frames of a clip given from `start`, and so many to be predicted."""

    clip: str
    start: int
    given: int
    asked: int
    short: bool = False


@dataclass(frozen=True, eq=False)
class Protocol:
    training: tuple[Clip, ...]
    gaits: tuple[str, ...]
    tests: Mapping[str, Clip]
    windows: tuple[Window, ...]


@cache
def protocol(data: Path | None, plan: Plan, seed: int) -> Protocol:
    """Of the thesis where its clips are, else of the shipped ones."""
    return _thesis(data / "cmu_bvh", plan, seed) if data is not None else _shipped(plan, seed)


def _thesis(folder: Path, plan: Plan, seed: int) -> Protocol:
    names = tuple(LONG)[-plan.clips :] if plan.clips else tuple(LONG)  # the last are a walk and both runs
    short = SHORT_CLIPS[: plan.short_clips]
    tests = {name: cmu_clip(folder, name) for name in dict.fromkeys((*names, *short))}
    rng = np.random.default_rng(seed)
    windows = [
        w for name in names for w in _windows(name, tests[name], RUN if name in RUNS else WALK, plan.starts, rng)
    ]
    windows += [w for name in short for w in _windows(name, tests[name], SHORT, plan.short_starts, rng, short=True)]
    training = tuple(cmu_clip(folder, name) for name in TRAINING)
    return Protocol(training, tuple(TRAINING.values()), tests, tuple(windows))


def _shipped(plan: Plan, seed: int) -> Protocol:
    """A walk and a turn are learnt, and other turns of the same walker continued."""
    clips = {
        name: resample(load_clip(assets.clip_path(name)), FPS) for name in ("walk", "turn_left", "turn_right", "weave")
    }
    training = tuple(trim_frames(clips[name], 0, 120).renamed(name) for name in ("walk", "turn_left"))
    tests = {name: clips[name].renamed(name) for name in ("turn_right", "weave")}
    rng = np.random.default_rng(seed)
    windows = [w for name, clip in tests.items() for w in _windows(name, clip, WALK, plan.starts, rng)]
    return Protocol(training, ("walk",) * len(training), tests, tuple(windows))


def _windows(
    name: str, clip: Clip, frames: tuple[int, int], count: int, rng: np.random.Generator, short: bool = False
) -> list[Window]:
    """At different starts, as far as the clip has that many."""
    possible = clip.frame_count - sum(frames) + 1
    starts = sorted(rng.choice(possible, min(count, possible), replace=False).tolist())
    return [Window(name, start, *frames, short) for start in starts]


def cmu_clip(folder: Path, name: str) -> Clip:
    path = folder / f"{name}.bvh"
    if not path.is_file():
        raise FileError(path, "tables 6.1 and 6.2 need this clip of the CMU database; see `jostle data list`.")
    return resample(trim_frames(load_clip(path), _POSED.get(name, 1)), FPS).renamed(name)
