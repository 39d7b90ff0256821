"""Quaternion features: there and back, signs, the mirror, and bones that move."""

from dataclasses import replace

import numpy as np
import pytest

from jostle.assets import clip_path
from jostle.clips import load_clip
from jostle.clips.edit import mirror, resample, trim_frames, turn
from jostle.errors import MotionError
from jostle.features import placement
from jostle.features.quaternions import QuaternionFeatures
from jostle.maths import quat
from jostle.skeleton import Pose


@pytest.fixture(scope="module")
def walk():
    return trim_frames(resample(load_clip(clip_path("walk")), 30.0), 0, 60)


@pytest.fixture(scope="module")
def weave():
    return trim_frames(resample(load_clip(clip_path("weave")), 30.0), 20, 90)


def apart(a, b, joints):
    return np.degrees(quat.angle(quat.inv_mul(a.wxyz[:, joints], b.wxyz[:, joints])).max())


@pytest.mark.parametrize("even", [False, True])
def test_there_and_back(walk, weave, even):
    features = QuaternionFeatures.of([walk, weave], even=even)
    rows = features.encode(weave)
    back = features.decode(rows, placement(weave))
    assert rows.shape == (weave.frame_count, len(features.names))
    np.testing.assert_allclose(back.root, weave.root, atol=1e-9)
    assert apart(back, weave, [0, *features.joints]) < 1e-5


def test_rows_do_not_tell_place_or_heading(weave):
    features = QuaternionFeatures.of([weave])
    np.testing.assert_allclose(features.encode(turn(weave, 2.0)), features.encode(weave), atol=1e-9)


def test_signs_are_those_of_all_clips(walk):
    features = QuaternionFeatures.of([walk])
    rng = np.random.default_rng(0)
    flipped = walk.with_poses(Pose(walk.root, walk.wxyz * rng.choice([-1.0, 1.0], (walk.frame_count, 1, 1))))
    np.testing.assert_allclose(features.encode(flipped), features.encode(walk), atol=1e-12)


def test_velocities_are_differences_and_a_still_pose_has_none(walk):
    features = QuaternionFeatures.of([walk])
    rows, count = features.encode(walk), features.pose_count
    np.testing.assert_allclose(rows[1:, count : 2 * count], 30 * np.diff(rows[:, :count], axis=0), atol=1e-9)
    speed = np.linalg.norm(np.diff(walk.root[:, :2], axis=0), axis=1) * 30
    np.testing.assert_allclose(np.linalg.norm(rows[1:, -3:-1], axis=1), speed, atol=1e-9)
    still = walk.with_poses(walk.poses.rows(np.zeros(5, dtype=int)))
    np.testing.assert_allclose(features.encode(still)[:, count:], 0.0, atol=1e-12)


def test_mirrored_rows_are_rows_of_the_mirrored_clip(weave):
    features = QuaternionFeatures.of([weave, mirror(weave)], even=True)  # already even: nothing is turned
    assert np.degrees(quat.angle(features.uneven).max()) < 1e-4
    np.testing.assert_allclose(features.mirrored(features.encode(weave)), features.encode(mirror(weave)), atol=1e-6)


def test_a_turned_out_foot_is_taken_away_and_put_back(walk):
    joint = walk.skeleton.names.index(next(n for n in walk.skeleton.names if "foot" in n.lower()))
    wxyz = walk.wxyz.copy()
    wxyz[:, joint] = quat.mul(wxyz[:, joint], quat.from_yaw(0.3))
    uneven = walk.with_poses(Pose(walk.root, wxyz))
    features = QuaternionFeatures.of([uneven], even=True)
    rows = features.encode(uneven)
    image = features.mirrored(rows)
    count = features.pose_count
    assert np.abs(rows[:, :count].mean(axis=0) - image[:, :count].mean(axis=0)).max() < 0.02
    assert apart(features.decode(rows), uneven, features.joints) < 1e-5
    assert any("uneven" in note for note in features.notes)
    np.testing.assert_allclose(features.mirrored(image), rows, atol=1e-12)


def test_poses_face_along_x_at_the_origin(weave):
    features = QuaternionFeatures.of([weave], even=True)
    pose = features.pose(features.encode(weave))
    np.testing.assert_allclose(quat.yaw(pose.wxyz[:, 0]), 0.0, atol=1e-9)
    np.testing.assert_allclose(pose.root[:, :2], 0.0)
    np.testing.assert_allclose(pose.root[:, 2], weave.root[:, 2])


def test_bones_that_move_are_kept(walk):
    offsets = np.broadcast_to(walk.skeleton.offsets, (walk.frame_count, walk.skeleton.joint_count, 3)).copy()
    offsets[:, 3, 2] += 0.1 * np.sin(np.arange(walk.frame_count))
    moving = replace(walk, offsets=offsets)
    features = QuaternionFeatures.of([moving])
    assert list(features.bones) == [3]
    back = features.decode(features.encode(moving))
    assert back.offsets is not None
    np.testing.assert_allclose(back.offsets[:, 1:], offsets[:, 1:], atol=1e-12)


def test_packed_and_unpacked(walk):
    features = QuaternionFeatures.of([walk], even=True)
    again = QuaternionFeatures.unpack(*features.pack())
    np.testing.assert_array_equal(again.encode(walk), features.encode(walk))
    assert again.names == features.names


def test_clips_that_cannot_be_encoded(walk):
    still = walk.with_poses(walk.poses.rows(np.zeros(9, dtype=int)))
    with pytest.raises(MotionError, match="No joint moves"):
        QuaternionFeatures.of([still])
    with pytest.raises(MotionError, match="no clips"):
        QuaternionFeatures.of([])
    data, arrays = QuaternionFeatures.of([walk]).pack()
    with pytest.raises(MotionError, match="not there"):
        QuaternionFeatures.unpack(data, arrays | {"quaternion_joints": np.array([99])})
