"""Body features: there and back on shipped and real clips, whichever way and at whichever rate they go."""

import numpy as np
import pytest

from jostle.assets import clip_path
from jostle.clips import load_clip
from jostle.clips.edit import move, resample, trim, trim_frames, turn
from jostle.errors import MotionError
from jostle.features.bodies import PACE, BodyFeatures, travel
from jostle.maths import quat
from jostle.skeleton import Pose


@pytest.fixture(scope="module")
def walk():
    return trim(load_clip(clip_path("walk")), 2.0, 6.0)


@pytest.fixture(scope="module")
def features(walk):
    return BodyFeatures.of([walk])


def _far(a, b, features):
    return np.max(np.linalg.norm(features.points.of(a.poses) - features.points.of(b.poses), axis=-1))


def test_rows_hold_two_poses_and_the_velocity(walk, features):
    rows, width = features.encode(walk), 3 * len(features.points.names)
    assert features.frame == "clip"
    assert rows.shape == (walk.frame_count, 2 * width + 3)
    assert len(features.names) == rows.shape[1]
    np.testing.assert_allclose(rows[1:, :width], rows[:-1, features.now], atol=1e-12)
    np.testing.assert_allclose(rows[0, :width], 2 * rows[0, features.now] - rows[1, features.now], atol=1e-12)
    ahead = np.linalg.norm(np.diff(walk.root[:, :2], axis=0), axis=1).mean() * walk.fps
    assert rows[:, features.names.index("velocity.x")].mean() == pytest.approx(ahead * PACE, rel=0.01)
    assert abs(rows[:, features.names.index("velocity.y")].mean()) < 0.01


def test_rows_do_not_tell_where_a_clip_is_nor_where_it_goes(walk, features):
    elsewhere = move(turn(walk, 2.0), np.array([3.0, -5.0, 0.0]))
    np.testing.assert_allclose(features.encode(elsewhere), features.encode(walk), atol=1e-9)


@pytest.mark.parametrize("name", ["walk", "turn_left", "run", "stand"])
def test_decoding_brings_every_part_back(name):
    clip = trim_frames(resample(load_clip(clip_path(name)), 30.0), 0, 120)
    features = BodyFeatures.of([clip])
    assert features.frame == ("heading" if name == "turn_left" else "clip")
    back = features.decode(features.encode(clip), features.placement(clip, 0))
    assert _far(back, clip, features) < 5e-4
    assert np.max(np.degrees(quat.angle(quat.inv_mul(back.wxyz, clip.wxyz)))) < 4.0


def test_the_frame_of_the_heading_follows_a_turn(walk):
    clip = load_clip(clip_path("turn_left"))
    features = BodyFeatures.of([clip])
    rows = features.encode(clip)
    assert features.names[-1] == "turn"
    faced = quat.yaw(clip.wxyz[:, 0])
    total = np.sum(rows[1:, -1]) / (PACE * features.fps)
    assert total == pytest.approx(np.unwrap(faced)[-1] - faced[0], abs=1e-9)
    assert BodyFeatures.of([clip], frame="clip").encode(clip).shape[1] == rows.shape[1] - 1


def test_clips_at_other_rates_are_resampled(walk, features):
    fast = resample(walk, 120.0)
    np.testing.assert_allclose(features.encode(fast), features.encode(walk), atol=1e-6)


def test_a_push_aside_need_not_turn_the_clip(walk, features):
    straight = features.encode(walk)
    turned = features.encode(turn(walk, 0.3), heading=travel(walk) + 0.3)
    np.testing.assert_allclose(turned, straight, atol=1e-9)


def test_bundles_keep_features(walk, features):
    data, arrays = features.pack()
    again = BodyFeatures.unpack(data, arrays)
    rows = features.encode(walk)
    np.testing.assert_array_equal(again.encode(walk), rows)
    np.testing.assert_array_equal(again.decode(rows).wxyz, features.decode(rows).wxyz)
    with pytest.raises(MotionError, match="damaged"):
        BodyFeatures.unpack(data, arrays | {"point_joints": arrays["point_joints"] + 99})


def test_bad_input_is_one_sentence(walk, features):
    with pytest.raises(MotionError, match="give at least one"):
        BodyFeatures.of([])
    with pytest.raises(MotionError, match="another skeleton"):
        features.encode(load_clip(clip_path("run")))
    offsets = np.broadcast_to(walk.skeleton.offsets, (walk.frame_count, *walk.skeleton.offsets.shape)).copy()
    offsets[5, 3] += 0.1
    with pytest.raises(MotionError, match="bones of clip"):
        features.encode(walk.with_poses(Pose(walk.root, walk.wxyz, offsets)))


@pytest.mark.parametrize("name", ["cmu_bvh/07_01.bvh", "cmu_bvh/16_27.bvh", "snu_ys2010/push/wd2_Physics_2_Push01.bvh"])
def test_real_clips_come_back(data, name):
    clip = trim_frames(load_clip(data / name), 1, 400)
    features = BodyFeatures.of([clip])
    at = resample(clip, features.fps)
    back = features.decode(features.encode(clip), features.placement(at, 0))
    assert _far(back, at, features) < 5e-4


def test_any_skeleton_has_features(data):
    dog = trim_frames(load_clip(data / "dog_mann" / "dog_pace_joint_pos.txt"), 0, 40)
    features = BodyFeatures.of([dog])
    back = features.decode(features.encode(dog))
    assert (
        np.max(np.abs(features.encode(back)[1:, features.now] - features.encode(resample(dog, 30.0))[1:, features.now]))
        < 5e-3
    )
