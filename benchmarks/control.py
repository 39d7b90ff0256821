"""Frames a second of a character that is steered, feet cleaned up, on one core: `python -m benchmarks control`.

Of 9 and of 64 seconds of shipped clips, mirrored besides. Times are the processor's. How well a model is learnt does
not change how long a frame takes, so little is learnt here. The peers are what a user needs: 300 frames a second, 120.

    python -m benchmarks.control [--data DIR]

says how long learning takes, model and policy, on all cores: four clips, 9 s (with --data CMU's 16_21, 16_23, 16_25 and
16_27). At most five minutes are wanted.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from benchmarks.timing import Row
from jostle.assets import clip_path
from jostle.clips import Clip, load_clip
from jostle.clips.edit import resample, trim_frames
from jostle.controllers.policy.policy import plan_policy, train_policy
from jostle.controllers.policy.tasks import Heading
from jostle.evaluate.control import takes
from jostle.evaluate.control.hindered import pace_of
from jostle.models.connected import fit_connected

ITERATIONS = 10
SHORT = (("walk", 60, 130), ("turn_left", 60, 130), ("turn_right", 60, 130), ("weave", 60, 120))
LONG = ("walk", "turn_left", "turn_right", "weave")
MINUTES = 5.0


def rows() -> list[Row]:
    nine, all_of_it = _short(), [_shipped(name) for name in LONG]
    return [
        Row(f"a frame, {_seconds(nine):.0f} s of clips", _frame(nine), "300 a second", 1.0 / 300.0),
        Row(f"a frame, {_seconds(all_of_it):.0f} s of clips", _frame(all_of_it), "120 a second", 1.0 / 120.0),
    ]


def _shipped(name: str) -> Clip:
    return resample(load_clip(clip_path(name)), takes.FPS)


def _short() -> list[Clip]:
    return [trim_frames(_shipped(name), first, last) for name, first, last in SHORT]


def _seconds(clips: list[Clip]) -> float:
    return sum(clip.frame_count for clip in clips) / takes.FPS


def _frame(clips: list[Clip]) -> float:
    model = fit_connected(clips, latent=4, mirrored=True, iterations=ITERATIONS)
    return 1.0 / pace_of(plan_policy(model, Heading(), rounds=0))["frames_per_second"]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.control", description=__doc__)
    parser.add_argument("--data", type=Path)
    given = parser.parse_args().data
    clips = _short() if given is None else takes.clips_of("walk 2", given)
    begun = time.perf_counter()
    policy = train_policy(clips, "heading")
    seconds = time.perf_counter() - begun
    pace = pace_of(policy)["frames_per_second"]
    told = f"{_seconds(clips):.1f} s of clips: learnt in {seconds / 60.0:.1f} of {MINUTES:g} min"
    print(f"{told}, {pace:.0f} frames a second")


if __name__ == "__main__":
    main()
