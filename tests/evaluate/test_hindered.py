"""What constraints, switches and their measures say of a small policy."""

import numpy as np
import pytest

from jostle.assets import clip_path
from jostle.clips import Clip, load_clip
from jostle.clips.edit import trim_frames
from jostle.controllers.policy.policy import plan_policy
from jostle.controllers.policy.switching import Switch
from jostle.controllers.policy.tasks import Heading
from jostle.evaluate.control.hindered import ik_of, pace_of, seams_of, skate_of, source_clips
from jostle.evaluate.metrics import seam_cm
from jostle.models.connected import fit_connected
from jostle.skeleton.skeleton import build_skeleton


@pytest.fixture(scope="module")
def policy():
    clip = trim_frames(load_clip(clip_path("walk")), 60, 130)
    return plan_policy(fit_connected([clip], latent=2, iterations=20), Heading(count=6), rounds=0)


def test_a_seam_is_a_step_beyond_those_around_it():
    point = build_skeleton(["root"], [-1], [[0, 0, 1]])
    root = np.zeros((40, 3))
    root[:, 0] = 0.01 * np.arange(40)
    root[21:, 0] += 0.05
    clip = Clip(point, 30.0, root, np.tile([1.0, 0.0, 0.0, 0.0], (40, 1, 1)))
    assert seam_cm(clip, 20) == pytest.approx(5.0)
    assert seam_cm(clip, 10) == pytest.approx(0.0, abs=1e-9)
    assert seam_cm(clip, 2) == pytest.approx(0.0, abs=1e-9)


def test_feet_and_hands_are_measured(policy):
    feet = skate_of(policy, frames=60)
    assert 0.0 <= feet["foot_skate"] <= 1.0
    assert feet["skate_ratio"] >= 0.0
    assert 0.3 < feet["acceleration_ratio"] < 3.0
    hand = ik_of(policy, frames=40)
    assert hand["frames"] > 10
    assert 0.0 < hand["ik_median_cm"] <= hand["ik_cm"]
    assert sum(clip.frame_count for clip in source_clips(policy)) == len(policy.model.latent_rows)


def test_switches_and_pace_are_measured(policy):
    seams = seams_of(Switch({"a": policy, "b": policy}), trials=2)
    assert seams["switches"] == 2
    assert seams["switch_seam_cm"] <= seams["switch_seam_worst_cm"] < 20.0
    assert pace_of(policy, frames=10)["frames_per_second"] > 1.0
