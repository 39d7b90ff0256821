"""Make the shipped character that is steered, `policies/walk.jostle`: `python -m jostle.assets.steered [FILE]`.

It is learnt from eight seconds of the shipped walker's clips. The walker turns by twenty degrees a second at most; a
stretch of its straight walk is bent into a tight turn as well (`clips.turn`), or no command would be followed quickly.
Mirror images are added in learning, so that turns to one side are enough.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from jostle.assets import clip_path
from jostle.clips import Clip, load_clip
from jostle.clips.edit import trim
from jostle.clips.turn import turn_gait
from jostle.controllers.policy.policy import train_policy
from jostle.runtime import save_controller
from jostle.types import PathLike

WALK = Path(__file__).parent / "policies" / "walk.jostle"
TASK, SEED = "heading", 0


def chosen_clips() -> tuple[Clip, ...]:
    """Straight on, a gentle turn as it begins, a change of sides, and two tight turns."""
    walk = load_clip(clip_path("walk"))
    return (
        trim(walk, 0.0, 1.2).renamed("straight"),
        trim(load_clip(clip_path("turn_left")), 1.0, 2.6).renamed("gentle"),
        trim(load_clip(clip_path("weave")), 1.8, 3.4).renamed("weave"),
        turn_gait(trim(walk, 4.0, 6.6), 110.0, start=0.4, end=2.2).renamed("tight"),
        turn_gait(trim(walk, 9.0, 10.2), 85.0).renamed("tight_on"),
    )


def write_walk(path: PathLike = WALK) -> None:
    """The same call writes the same bytes; takes some minutes."""
    clips = chosen_clips()
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    policy = replace(train_policy(clips, TASK, seed=SEED), sources=clips)
    save_controller(policy, path, seed=SEED, recipe={"module": "jostle.assets.steered", "task": TASK})


if __name__ == "__main__":
    write_walk(*sys.argv[1:2])
