"""Make the shipped clips: `python -m jostle.assets.make [FOLDER]` writes them, beside this file unless told where."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path as FilePath

import numpy as np

from jostle.assets.gait import make_gait, running, walking
from jostle.assets.path import Path
from jostle.assets.stand import make_stand
from jostle.clips import Clip, save_clip
from jostle.types import PathLike

FOLDER = FilePath(__file__).parent / "clips"


def make_clips(fps: float = 60.0) -> Mapping[str, Clip]:
    """Every shipped clip by name. The same call gives the same clips, bit for bit."""
    walk = walking()
    return {
        "walk": make_gait(walk, cycles=4, fps=fps, name="walk"),
        "run": make_gait(running(), cycles=5, fps=fps, name="run"),
        "turn_left": make_gait(walk, _quarter_turn(walk.speed, 1.0, walk.cycle), cycles=4, fps=fps, name="turn_left"),
        "turn_right": make_gait(
            walk, _quarter_turn(walk.speed, -1.0, walk.cycle), cycles=4, fps=fps, name="turn_right"
        ),
        "stand": make_stand(seconds=8.0, fps=30.0, name="stand"),
    }


def _quarter_turn(speed: float, side: float, cycle: float) -> Path:
    """Half a cycle straight, 90 degrees over three cycles, half a cycle straight: it joins the walk at both ends."""
    return Path(speed, side * np.pi / 2.0, start=0.5 * cycle, end=3.5 * cycle, ramp=0.75 * cycle)


def write_clips(folder: PathLike = FOLDER) -> None:
    FilePath(folder).mkdir(parents=True, exist_ok=True)
    for name, clip in make_clips().items():
        save_clip(clip, FilePath(folder) / f"{name}.bvh")


if __name__ == "__main__":
    write_clips(*sys.argv[1:2])
