"""Creatures that are steered: a recorded dog, and a horse that was keyframed in place. Levine et al. 2012, section 7.2.

    python -m jostle.evaluate.control.creatures ../shared/data dog.jostle horse.jostle     # made where they are missing

The dog's clips are points, solved to one skeleton, cut to where it walks, trots and turns. The horse has one cycle of
walking on a rig: it is sent on its way, and bent to the left and to the right. Nothing else tells them from people.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from jostle.clips import Clip, load_clip
from jostle.clips.edit import trim_frames
from jostle.clips.skate import foot_skate, slide_cm
from jostle.clips.solve import read_solved
from jostle.clips.travel import travel
from jostle.clips.turn import turn_gait
from jostle.controllers import Controller
from jostle.controllers.policy.constants import Constants
from jostle.evaluate.control.steered import acceleration_ratio, reward_of, run, turn_times
from jostle.types import PathLike

DOG = (("walk00", 90, 290), ("walk03", 190, 350), ("turn00", 265, 465))  # recordings, and their frames at 60 a second
EVERY = 4.0  # seconds between two directions: who is as long as a horse needs three to turn back


def dog_clips(data: PathLike) -> list[Clip]:
    """Nine seconds: a walk, one that becomes a trot, and turning on the spot to the right."""
    files = [Path(data) / "dog_mann" / f"dog_{name}_joint_pos.txt" for name, *_ in DOG]
    skeleton = read_solved(files[0]).skeleton
    takes = zip(files, DOG, strict=True)
    return [trim_frames(read_solved(file, skeleton=skeleton), a, b).renamed(name) for file, (name, a, b) in takes]


def horse_clips(data: PathLike) -> list[Clip]:
    """Eight seconds: straight on, into a turn to the left and out of it, and on to the right."""
    rig = load_clip(Path(data) / "quaternius_cc0" / "Horse.glb", animation="Walk")
    two, three = travel(rig, 2), travel(rig, 3)
    left = turn_gait(three, 100.0, 0.1 * three.duration, 0.9 * three.duration)
    return [two.renamed("straight"), left.renamed("left"), turn_gait(two, -110.0).renamed("right")]


CLIPS = {"dog": dog_clips, "horse": horse_clips}
CONSTANTS = {  # a horse's turn bends all of it, from hips to ears, and must be entered by smaller steps
    "dog": Constants(jolt=0.03, reach=0.4),
    "horse": Constants(jolt=0.02, reach=0.2),
}


def measure(controller: Controller, clips: Sequence[Clip], seed: int = 0, trials: int = 10) -> dict[str, float]:
    """Two runs of 1,000 steps: a new direction every two seconds, as for people, and every four."""
    quick, slow = run(controller, seed), run(controller, seed + 1, every=EVERY)
    told: dict[str, float] = {
        "reward": reward_of(quick),
        "reward_4s": reward_of(slow),
        "acceleration_ratio": acceleration_ratio([quick, slow], clips),
    }
    for degrees in (90.0, 180.0):
        times = turn_times(controller, degrees, seed, trials)
        told[f"turn_{degrees:.0f}_s"] = _finite(float(np.median(times)))
        told[f"missed_{degrees:.0f}"] = float(np.mean(~np.isfinite(times)))
    told["skate"], told["skate_clips"] = foot_skate(quick.clip), float(np.mean([foot_skate(clip) for clip in clips]))
    told["slide_cm"], told["slide_clips_cm"] = slide_cm(quick.clip), float(np.mean([slide_cm(clip) for clip in clips]))
    told["variance_99"] = float(np.quantile(quick.variance, 0.99))
    return told


def _finite(seconds: float) -> float:
    return seconds if np.isfinite(seconds) else -1.0


def main(data: str, *files: str) -> None:
    """Print what each creature reaches, trained anew where its file is not there."""
    from jostle.controllers.policy.policy import train_policy
    from jostle.runtime import load_controller, save_controller

    found = {}
    for (name, clips_of), file in zip(CLIPS.items(), files, strict=True):
        clips = clips_of(data)
        if not Path(file).exists():
            save_controller(train_policy(clips, "heading", constants=CONSTANTS[name]), file)
        found[name] = measure(load_controller(file), clips)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main(*sys.argv[1:])
