"""Angle features: the way there and back, people of other builds, and what is left out."""

import numpy as np
import pytest

import jostle
from jostle.assets import clip_path
from jostle.clips.edit import place, resample, trim_frames
from jostle.errors import MotionError
from jostle.features import placement
from jostle.features.angles import AngleFeatures
from jostle.maths import quat


@pytest.fixture(scope="module")
def walk():
    return trim_frames(resample(jostle.load_clip(clip_path("turn_left")), 30.0), 0, 90)


def test_rows_and_back(walk):
    features = AngleFeatures.of([walk])
    rows = features.encode(walk)
    assert rows.shape[1] == len(features.names) == len(set(features.names))
    again = features.decode(rows, placement(walk))
    assert np.allclose(again.root, walk.root, atol=1e-9)
    held = [walk.skeleton.index(name.split()[0]) for name in features.left_out]
    moved = [j for j in range(walk.skeleton.joint_count) if j not in held]
    assert np.all(quat.angle(quat.inv_mul(again.wxyz, walk.wxyz))[:, moved] < 0.05)  # idle axes are held at their mean
    assert np.allclose(features.encode(again), rows, atol=1e-9)


def test_rows_do_not_know_where_they_are(walk):
    features = AngleFeatures.of([walk])
    assert np.allclose(features.encode(place(walk, (3.0, -2.0), 2.0)), features.encode(walk), atol=1e-9)


def test_velocities_are_backward(walk):
    features = AngleFeatures.of([walk])
    rows, n = features.encode(walk), features.angles
    assert np.allclose(rows[1:, n + 1 : 2 * n + 1], np.diff(rows[:, :n], axis=0))
    assert np.allclose(rows[1:, -1], np.diff(rows[:, n]))
    pose = features.pose(rows[5])
    assert np.isclose(pose.root[2], walk.root[5, 2])
    assert np.isclose(quat.yaw(pose.wxyz[0]), 0.0, atol=1e-12)


def test_people_of_other_builds_share_rows(walk):
    features = AngleFeatures.of([walk])
    tall = type(walk)(walk.skeleton.scaled(1.2), walk.fps, 1.2 * walk.root, walk.wxyz, name="tall")
    assert np.allclose(features.encode(tall), features.encode(walk), atol=1e-9)
    again = features.decode(features.encode(walk), placement(tall), tall.skeleton)
    assert np.allclose(again.root, tall.root, atol=1e-9)


def test_beyond_half_a_turn_nothing_jumps(walk):
    wxyz = walk.wxyz.copy()
    joint = walk.skeleton.index("RightForeArm")
    bend = np.concatenate([np.zeros(60), np.linspace(0.0, 4.5, len(wxyz) - 60)])
    wxyz[:, joint] = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), bend)
    spun = type(walk)(walk.skeleton, walk.fps, walk.root, wxyz, name="spun")
    features = AngleFeatures.of([spun])
    rows = features.encode(spun)
    assert np.abs(np.diff(rows[:, features.names.index("RightForeArm.y")])).max() < 0.2
    assert np.allclose(quat.angle(quat.inv_mul(features.decode(rows).wxyz, wxyz))[:, joint], 0.0, atol=1e-6)


def test_what_is_left_out_is_told(data):
    clip = trim_frames(jostle.load_clip(data / "cmu_bvh" / "02_02.bvh"), 1)
    features = AngleFeatures.of([clip])
    assert {"LThumb (finger)", "LHipJoint (still)"} <= set(features.left_out)
    assert not any(name.startswith(("LThumb", "LHipJoint", "LeftLeg.x")) for name in features.names)
    assert any(name.startswith("LeftLeg") for name in features.names)
    assert "LThumb" in features.notes[0]
    assert 80 <= len(features.names) <= 110  # the thesis has 89


def test_bad_input_is_one_sentence(walk):
    still = walk.with_poses(walk.poses.rows(np.zeros(20, dtype=int)))
    with pytest.raises(MotionError, match="No joint moves"):
        AngleFeatures.of([still])
    with pytest.raises(MotionError, match="at least one"):
        AngleFeatures.of([])
    with pytest.raises(MotionError, match="no numbers"):
        AngleFeatures.of([walk]).encode(type(walk)(walk.skeleton, walk.fps, walk.root * np.nan, walk.wxyz))


def test_pack_and_unpack(walk):
    features = AngleFeatures.of([walk])
    again = AngleFeatures.unpack(*features.pack())
    assert again.names == features.names
    assert again.left_out == features.left_out
    assert np.array_equal(again.encode(walk), features.encode(walk))
    data, arrays = features.pack()
    with pytest.raises(MotionError, match="not there"):
        AngleFeatures.unpack(data, arrays | {"angle_axes": arrays["angle_axes"] + 3})
