"""Figures 6.2 to 6.4 of Wang 2010: python -m benchmarks.styles --data DIR [--sheets FOLDER] [--seed S]

Circle dynamics learn the thesis's six clips of three people. Then come the pairs of subject and gait that nobody
recorded, styles by lot, and a change from walking to running and from running to striding. Printed of each clip, the
training clips first: cycles a second, metres a second, foot skate (a share of time) and how far a planted foot slides
a step, and the acceleration of the joints beyond the root's, root mean square and 99.9th percentile.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from jostle.clips import Clip
from jostle.clips.skate import foot_skate, slide_cm
from jostle.evaluate.prediction.protocol import cmu_clip
from jostle.evaluate.prediction.thesis import TRAINING
from jostle.export import render
from jostle.models import styles
from jostle.models.circle import Circle, fit_circle
from jostle.models.cycle_phase import find_cycle

FRAMES, DRAWN = 60, 3
CHANGES = (("walk", "run"), ("run", "stride"))
SUBJECT = "02"


def made(model: Circle, seed: int) -> dict[str, list[Clip]]:
    """By the thesis's figure."""
    pairs = [styles.completed(model, FRAMES, **labels) for labels in styles.missing(model)]
    lot = [styles.motion(model, style, FRAMES) for style in styles.drawn(model, DRAWN, seed)]
    ways = [
        styles.transition(model, {"subject": SUBJECT, "gait": a}, {"subject": SUBJECT, "gait": b}) for a, b in CHANGES
    ]
    named = [replace(clip, name=f"drawn {i + 1}") for i, clip in enumerate(lot)]
    return {"missing": pairs, "drawn": named, "transitions": ways}


def row(clip: Clip) -> str:
    local = clip.positions - clip.root[:, None]
    acceleration = np.linalg.norm(np.diff(local, 2, axis=0), axis=-1) * clip.fps**2
    cadence = find_cycle(clip, np.zeros((clip.frame_count, 1))).step * clip.fps / (2.0 * np.pi)
    speed = np.linalg.norm(np.diff(clip.root[:, :2], axis=0), axis=1).mean() * clip.fps
    cells = (cadence, speed, foot_skate(clip), slide_cm(clip), np.sqrt(np.mean(acceleration**2)),
             np.quantile(acceleration, 0.999))  # fmt: skip
    return f"{clip.name:26}" + " ".join(f"{cell:8.2f}" for cell in cells)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.styles", description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sheets", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    training = [cmu_clip(args.data / "cmu_bvh", name) for name in TRAINING]
    model = fit_circle(training, gaits=tuple(TRAINING.values()), seed=args.seed)
    print(f"{'':26}" + " ".join(f"{head:>8}" for head in ("cycles/s", "m/s", "skate", "slide_cm", "rms", "99.9 %")))
    for clip, gait in zip(training, TRAINING.values(), strict=True):
        print(row(replace(clip, name=f"{clip.name} {gait}")))
    for figure, clips in made(model, args.seed).items():
        for clip in clips:
            print(row(clip))
        if args.sheets:
            args.sheets.mkdir(parents=True, exist_ok=True)
            render(clips, args.sheets / f"{figure}.png", size=(1200, 260 * len(clips)), poses=10)


if __name__ == "__main__":
    main()
