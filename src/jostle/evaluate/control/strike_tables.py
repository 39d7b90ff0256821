"""Trainings of punches and kicks, and the tables of them.

No setting was chosen on those that are held out, and nothing of theirs was looked at before all settings were chosen.

for row in strike_rows(data, seed=0): ...       # each training with inverse kinematics at the strike and without
for row in connectivity_rows(data, seed=0): ... # the punches with the prior of connectivity and without
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from jostle.clips import Clip, load_clip
from jostle.clips.edit import resample, trim, trim_frames
from jostle.controllers.policy.policy import Policy, plan_policy
from jostle.controllers.policy.tasks import Striking
from jostle.controllers.policy.tasks.strike import learnt_clips
from jostle.evaluate.control.steered import acceleration_of
from jostle.evaluate.control.strikes import (
    PRECISE,
    RAW,
    by_chance,
    hit_rate,
    median_seconds,
    reached,
    strike,
    unhelped,
)
from jostle.models.connected import fit_connected

FPS, ROUNDS = 30.0, 2
_EDGE = 5  # frames: CMU's begin with a T-pose that was added
_SLOW = ("143_",)  # takes whose header says 120 frames a second and that have 60


@dataclass(frozen=True)
class Training:
    files: tuple[str, ...]
    joint: str
    held_out: bool = True
    from_guard: bool = False  # every target from guard: who steps with a kick stands elsewhere after it
    seconds: float | None = None  # of each take, from its beginning; else all


TRAININGS = {
    "punch": Training(("cmu_bvh/144_21",), "right_hand", held_out=False),
    "left punch": Training(("cmu_bvh/143_23",), "left_hand", held_out=False),
    "jab": Training(("snu_ys2010/other/boxing_boxman_stand_dir_zap_left",), "left_hand", seconds=15.0),
    "straight": Training(("bandai_namco_1/dataset-1_punch_normal_001",), "left_hand", held_out=False),
    "front kick": Training(("cmu_bvh/135_04",), "right_foot", held_out=False, from_guard=True),
    "side kick": Training(("bandai_namco_1/dataset-1_kick_normal_001",), "right_foot", held_out=False, from_guard=True),
}


def takes_of(training: Training, data: Path) -> list[Clip]:
    found = [_take(data, name) for name in training.files]
    return found if training.seconds is None else [trim(clip, 0.0, training.seconds) for clip in found]


def _take(data: Path, name: str) -> Clip:
    clip = load_clip(data / f"{name}.bvh")
    own = name.rsplit("/", 1)[-1]
    clip = replace(clip, fps=0.5 * clip.fps) if own.startswith(_SLOW) else clip
    clip = trim_frames(clip, _EDGE) if name.startswith("cmu") else clip
    return (clip if np.isclose(clip.fps, FPS, rtol=1e-3) else resample(clip, FPS)).renamed(own)


def trained(training: Training, data: Path, seed: int = 0, w_c: float = 0.1) -> Policy:
    task = Striking(training.joint)
    clips = task.chosen(takes_of(training, data))
    model = fit_connected(clips, latent=task.latent, w_c=w_c, seed=seed)
    return plan_policy(model, task, rounds=ROUNDS, seed=seed)


def strike_rows(data: Path, seed: int = 0, names: Sequence[str] = tuple(TRAININGS)) -> Iterator[dict[str, float | str]]:
    """hit_rate_raw is within 8 cm by the policy alone, hit_rate within 5 cm with inverse kinematics."""
    for name in names:
        policy = trained(TRAININGS[name], data, seed)
        each = TRAININGS[name].from_guard
        alone, helped = (strike(own, seed, from_guard=each) for own in (unhelped(policy), policy))
        theirs = acceleration_of(learnt_clips(policy.model))
        yield {
            "strikes": name,
            "held out": str(TRAININGS[name].held_out),
            "frames": len(policy.model.latent_rows),
            "hit_rate_raw": hit_rate(alone, RAW),
            "hit_rate": hit_rate(helped, PRECISE),
            "chance_raw": by_chance(policy, RAW, seed),
            "raw_cm": 100.0 * float(np.median(alone.nearest)),
            "seconds": median_seconds(helped, PRECISE),
            "acceleration_ratio_raw": acceleration_of(alone.clips) / theirs,
            "acceleration_ratio": acceleration_of(helped.clips) / theirs,
        }


def connectivity_rows(data: Path, seed: int = 0, name: str = "punch") -> Iterator[dict[str, float | str]]:
    """Reward a frame, hits and what part of the training motion is come by; the policy alone."""
    for w_c in (0.1, 0.0):
        policy = unhelped(trained(TRAININGS[name], data, seed, w_c))
        found = strike(policy, seed)
        yield {
            "strikes": name,
            "w_c": w_c,
            "reward": float(np.mean(found.paid)),
            "hit_rate_raw": hit_rate(found, RAW),
            "reachable": reached(policy, found),
        }
