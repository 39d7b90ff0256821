"""Pushes are told from what people do by themselves: on a stand that is pushed by formula, and on real takes."""

import csv
from pathlib import Path

import numpy as np
import pytest

from jostle.assets import clip_path
from jostle.clips.clip import Clip
from jostle.clips.edit import resample
from jostle.clips.io import load_clip
from jostle.clips.pushes import find_pushes
from jostle.skeleton import Pose, find_roles
from jostle.skeleton.ik import pin_limb

BEGINS = 1.5  # seconds


def _shoved(fps: float, acceleration: float, lasts: float) -> Clip:
    """Somebody who stands is moved ahead for `lasts` seconds, and stops as quickly; feet stay."""
    clip = resample(load_clip(clip_path("stand")), fps)
    t = np.clip(np.arange(clip.frame_count) / fps - BEGINS, 0.0, 2.0 * lasts)
    half = np.clip(t - lasts, 0.0, None)
    ahead = 0.5 * acceleration * t**2 - acceleration * half**2
    poses = Pose(clip.root + ahead[:, None] * np.array([1.0, 0.0, 0.0]), clip.wxyz, clip.offsets)
    roles = find_roles(clip.skeleton)
    for side in ("left", "right"):
        upper, lower, foot = (roles[f"{side}_{part}"] for part in ("thigh", "shin", "foot"))
        poses = pin_limb(clip.skeleton, poses, upper, lower, foot, clip.positions[:, foot])
    return clip.with_poses(poses)


@pytest.mark.parametrize("fps", [30.0, 60.0])
def test_a_shove_is_found_where_it_begins_and_as_fast_as_it_is(fps):
    (seen,) = find_pushes(_shoved(fps, 4.0, 0.2))
    assert abs(seen.onset / fps - BEGINS) < 0.1
    assert abs(seen.peak / fps - BEGINS - 0.2) < 0.1
    assert seen.peak < seen.settle
    assert 0.4 < seen.speed[0] < 0.8
    assert abs(seen.speed[1]) < 0.05


def test_who_leans_slowly_is_not_pushed():
    assert find_pushes(_shoved(60.0, 0.5, 0.5)) == ()


@pytest.mark.parametrize("name", ["stand", "walk", "turn_left"])
def test_nobody_pushes_in_shipped_clips(name):
    assert find_pushes(load_clip(clip_path(name))) == ()


@pytest.mark.slow
@pytest.mark.parametrize("half", [0, 1])
def test_real_pushes_are_found_and_steps_are_not(data: Path, half):
    """Thresholds are those of the first half of the takes (the rule itself was found with all in view)."""
    folder = data / "snu_ys2010"
    with open(folder / "push/push_events.csv") as file:
        events = [row for row in csv.DictReader(file) if row["kind"] == "push"]
    known = found = false = 0
    for takes in (sorted(folder.glob("push/*.bvh")), sorted(folder.glob("walk/*.bvh"))):
        for take in takes[half::2]:
            onsets = np.array([int(row["onset_frame"]) for row in events if row["file"] == take.name])
            seen = np.array([push.onset for push in find_pushes(load_clip(take))])
            hits = int(np.sum(np.any(np.abs(seen[:, None] - onsets) <= 10, axis=0)))
            known, found, false = known + len(onsets), found + hits, false + len(seen) - hits
    assert known == 40
    assert found >= 0.95 * known
    assert false <= 0.05 * known
