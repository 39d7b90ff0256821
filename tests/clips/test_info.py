"""What `describe` says of motion whose numbers are known."""

import json
from dataclasses import replace

import numpy as np
import pytest
from broken import swaying

from jostle.clips.edit import mirror, trim_frames, turn
from jostle.clips.formats.bvh import read_bvh
from jostle.clips.formats.gltf import read_gltf
from jostle.clips.info import describe


def test_counts_and_rates_are_the_clips_own():
    info = describe(swaying(60.0, 3.0))
    assert (info.frames, info.fps, info.joints, info.humanoid) == (180, 60.0, 18, True)
    assert info.duration == pytest.approx(179 / 60)
    assert info.height == pytest.approx(1.71, abs=0.02)
    assert info.contact_share == (1.0, 1.0)
    assert (info.steps, info.flight_share, info.foot_skate) == (0, 0.0, 0.0)
    assert json.loads(json.dumps(info.to_dict()))["name"] == "swaying"


def test_speed_and_turning_of_a_body_that_is_moved():
    clip = swaying()
    t = np.arange(clip.frame_count) / clip.fps
    sliding = replace(clip, root=clip.root + np.stack([-1.5 * t, 0 * t, 0 * t], axis=1))
    info = describe(sliding)
    assert info.speed == pytest.approx(1.5, abs=0.02)
    assert info.forward_speed == pytest.approx(-1.5, abs=0.02)
    assert info.travel == pytest.approx(1.5 * clip.duration, abs=0.02)
    assert info.turning == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "speed", "turning"),
    [("16_15", 1.09, 4), ("16_17", 0.87, 93), ("16_19", 0.87, -93), ("69_52", -0.74, -106), ("38_03", 1.84, 405)],
)
def test_speeds_and_turns_are_those_of_the_data_sets_own_table(data, name, speed, turning):
    info = describe(trim_frames(read_bvh(data / "cmu_bvh" / f"{name}.bvh"), 1))
    assert info.forward_speed == pytest.approx(speed, abs=0.06)
    assert info.turning == pytest.approx(turning, abs=12)


def test_turning_changes_sign_in_the_mirror_and_not_with_the_place(data):
    clip = trim_frames(read_bvh(data / "cmu_bvh" / "16_17.bvh"), 1)
    assert describe(mirror(clip)).turning == pytest.approx(-describe(clip).turning, abs=3)
    turned = describe(turn(clip, 2.0))
    assert turned.turning == pytest.approx(describe(clip).turning, abs=1e-6)
    assert turned.forward_speed == pytest.approx(describe(clip).forward_speed, abs=1e-6)


def test_cadence_of_a_walk(data):
    info = describe(read_bvh(data / "bandai_namco_1" / "dataset-1_walk_normal_001.bvh"))
    assert 100 < info.cadence < 120
    assert all(0.5 < share < 0.62 for share in info.contact_share)


def test_an_animal_made_in_place_has_four_feet_and_a_speed(data):
    info = describe(read_gltf(data / "quaternius_cc0" / "Fox.glb", "Walk"))
    assert not info.humanoid
    assert len(info.feet) == 4
    assert 1.4 < info.in_place_speed < 2.0
    assert info.speed == pytest.approx(info.in_place_speed, rel=0.1)
    assert info.moving_bones
