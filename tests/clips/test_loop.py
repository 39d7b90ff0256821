"""Cycles found in real walks and closed: no jump, no pop, planted feet planted, and plain refusals."""

from functools import lru_cache

import numpy as np
import pytest

from jostle.clips import Clip, load_clip
from jostle.clips.contacts import find_contacts
from jostle.clips.cycle import find_cycle
from jostle.clips.edit import trim, trim_frames, turn
from jostle.clips.loop import loop, repeat
from jostle.clips.skate import foot_skate
from jostle.controllers import NEUTRAL, Playback, Start
from jostle.errors import MotionError
from jostle.maths import quat
from jostle.skeleton import Pose, build_skeleton, find_roles

_load = lru_cache(maxsize=64)(load_clip)  # clips are frozen, and some are large

WALKS = [
    "snu_ys2010/walk/wd2_WalkForwardNormal00.bvh",
    "snu_ys2010/walk/wd2_WalkBackward02.bvh",
    "snu_ys2010/walk/wd2_WalkSukiko01.bvh",
    "cmu_bvh/07_01.bvh",
    "cmu_bvh/35_01.bvh",
    "cmu_bvh/09_01.bvh",
    "cmu_bvh/38_03.bvh",
    "bandai_namco_1/dataset-1_walk_normal_001.bvh",
    "bandai_namco_1/dataset-1_run_tired_001.bvh",
]


def _walk(data, name):
    clip = _load(data / name)
    return trim_frames(clip, 2) if name.startswith("cmu") else clip  # frame 0 is a T-pose there


def _accelerations(positions, fps):
    return np.linalg.norm(np.diff(positions, n=2, axis=0), axis=-1) * fps**2


def _played(clip, rounds):
    """What Playback shows over some rounds: (frames, joints, 3)."""
    controller = Playback(clip)
    state = controller.init(Start())
    poses = [state.pose]
    for _ in range(rounds * (clip.frame_count - 1)):
        state = controller.step(state, NEUTRAL)
        poses.append(state.pose)
    stack = Pose(np.stack([p.root for p in poses]), np.stack([p.wxyz for p in poses]))
    return clip.with_poses(stack).positions


@pytest.mark.parametrize("name", WALKS)
def test_playback_shows_no_seam(data, name):
    clip = _walk(data, name)
    cycle = find_cycle(clip)
    closed = loop(clip)
    shown = _played(closed, 3)
    own = clip.positions[max(0, cycle.start - 1) : cycle.end + 2]
    usual = np.quantile(_accelerations(own, clip.fps), 0.999)
    steps = np.linalg.norm(np.diff(shown, axis=0), axis=-1)
    length = closed.frame_count - 1
    for seam in (length, 2 * length):
        around = _accelerations(shown[seam - 4 : seam + 5], clip.fps)
        assert around.max() < 1.7 * usual
        beyond = steps[seam - 1 : seam + 1].max(axis=0) - steps[seam - 5 : seam + 5].mean(axis=0)
        assert beyond.max() < 0.03  # metres: no jump beyond the mean of the frames around it


@pytest.mark.parametrize("name", WALKS)
def test_last_frame_is_the_first_of_the_next_round(data, name):
    closed = loop(_walk(data, name))
    np.testing.assert_allclose(closed.root[-1, 2], closed.root[0, 2], atol=1e-12)
    np.testing.assert_allclose(quat.angle(quat.inv_mul(closed.wxyz[0, 1:], closed.wxyz[-1, 1:])), 0.0, atol=1e-7)
    turned = quat.from_yaw(quat.yaw(closed.wxyz[-1, 0]) - quat.yaw(closed.wxyz[0, 0]))
    assert quat.angle(quat.inv_mul(quat.mul(turned, closed.wxyz[0, 0]), closed.wxyz[-1, 0])) < 1e-7


@pytest.mark.parametrize(
    ("name", "period"),
    [("cmu_bvh/35_01.bvh", 1.12), ("cmu_bvh/09_01.bvh", 0.73), ("snu_ys2010/walk/wd2_WalkForwardNormal01.bvh", 1.4)],
)
def test_periods_agree_with_the_strikes_of_one_foot(data, name, period):
    clip = _walk(data, name)
    assert find_cycle(clip).period == pytest.approx(period, rel=0.06)
    strikes = [np.diff(frames) for frames in find_contacts(clip).strikes if len(frames) > 1]
    assert strikes
    assert find_cycle(clip).period == pytest.approx(np.median(np.concatenate(strikes)) / clip.fps, rel=0.12)


def test_planted_feet_stay_planted_through_the_seam(data):
    closed = loop(_walk(data, "cmu_bvh/07_01.bvh"))
    three = repeat(closed, 3)
    assert foot_skate(three) <= 0.01
    contacts = find_contacts(three)
    seam = closed.frame_count - 1
    for foot, joint in enumerate(contacts.joints):
        if contacts.heel[seam - 3 : seam + 4, foot].all():
            track = three.positions[seam - 3 : seam + 4, joint, :2]
            assert np.linalg.norm(track - track[0], axis=-1).max() < 0.005


def test_a_loop_moves_the_feet_little(data):
    """What the seam and the planting change is small beside a step."""
    clip = _walk(data, "snu_ys2010/walk/wd2_WalkForwardNormal01.bvh")
    cycle, closed = find_cycle(clip), loop(clip, straight=False)
    change = np.linalg.norm(closed.positions - clip.positions[cycle.start : cycle.end + 1], axis=-1)
    assert change.max() < 0.12
    assert np.median(change) < 0.02


def test_several_cycles_and_as_many_as_are_steady(data):
    clip = _walk(data, "bandai_namco_1/dataset-1_walk_normal_001.bvh")
    one, two, all_of_them = loop(clip), loop(clip, cycles=2), find_cycle(clip, None)
    assert two.duration == pytest.approx(2 * one.duration, rel=0.1)
    assert all_of_them.count >= 4
    with pytest.raises(MotionError, match="too short for 9 cycles"):
        loop(clip, cycles=9)
    with pytest.raises(MotionError, match="at least one cycle"):
        loop(clip, cycles=0)


def test_straight_walks_stay_straight_and_circles_go_round(data):
    straight = loop(_walk(data, "cmu_bvh/07_01.bvh"))
    assert abs(quat.yaw(straight.wxyz[-1, 0]) - quat.yaw(straight.wxyz[0, 0])) < 1e-5
    circle = loop(_walk(data, "cmu_bvh/38_03.bvh"))
    assert quat.angle(quat.inv_mul(circle.wxyz[0, 0], circle.wxyz[-1, 0])) > np.radians(20)
    kept = loop(_walk(data, "cmu_bvh/38_03.bvh"), straight=True)
    assert abs(quat.yaw(kept.wxyz[-1, 0]) - quat.yaw(kept.wxyz[0, 0])) < 1e-5


def test_root_motion_is_kept(data):
    clip = _walk(data, "cmu_bvh/35_01.bvh")
    closed = loop(clip)
    speed = np.linalg.norm(closed.root[-1] - closed.root[0]) / closed.duration
    cycle = find_cycle(clip)
    source = np.linalg.norm(clip.root[cycle.end] - clip.root[cycle.start]) / closed.duration
    assert speed == pytest.approx(source, rel=0.02)


def test_looping_does_not_depend_on_place_or_heading(data):
    clip = _walk(data, "cmu_bvh/35_01.bvh")
    there = turn(clip, 2.0, about=np.array([3.0, -1.0]))
    assert find_cycle(there).start == find_cycle(clip).start
    np.testing.assert_allclose(loop(there).positions[..., 2], loop(clip).positions[..., 2], atol=1e-6)


def test_a_loop_can_be_looped_again(data):
    closed = loop(_walk(data, "cmu_bvh/35_01.bvh"))
    again = loop(closed)
    np.testing.assert_allclose(again.positions, closed.positions, atol=1e-9)
    assert loop(closed, cycles=3).frame_count == 3 * (closed.frame_count - 1) + 1


@pytest.mark.parametrize(
    "name",
    [
        "snu_ys2010/other/wd2_n_kick.bvh",
        "snu_ys2010/other/wd2_1_kick.bvh",
        "bandai_namco_1/dataset-1_kick_normal_001.bvh",
        "bandai_namco_1/dataset-1_punch_normal_001.bvh",
        "cmu_bvh/74_03.bvh",
        "snu_ys2010/other/wd2_falling_down.bvh",
    ],
)
def test_what_is_no_gait_is_refused(data, name):
    with pytest.raises(MotionError, match="shows no repeated steps; loop needs a walk or run"):
        loop(_walk(data, name))


def test_standing_is_refused(data):
    stands = trim(_walk(data, "snu_ys2010/walk/wd2_WalkForwardNormal00.bvh"), 0.0, 1.5)
    with pytest.raises(MotionError, match="no repeated steps"):
        loop(stands)


@pytest.mark.parametrize(
    ("file", "animation"),
    [
        ("kaykit_cc0/Knight.glb", "Walking_A"),
        ("kaykit_cc0/Knight.glb", "Running_A"),
        ("quaternius_cc0/platformer_Character.glb", "Run"),
        ("quaternius_cc0/Trex.glb", "TRex_Walk"),
        ("quaternius_cc0/Horse.glb", "Gallop"),
    ],
)
def test_cycles_made_by_hand_are_taken_whole(data, file, animation):
    from jostle.clips.formats.gltf import animations

    name = next(found for found, *_ in animations(data / file) if found.split("|")[-1] == animation)
    clip = _load(data / file, animation=name)
    closed = loop(clip)
    assert closed.frame_count == clip.frame_count
    np.testing.assert_allclose(closed.positions[-1, :, 2], closed.positions[0, :, 2], atol=1e-6)
    size = clip.skeleton.height
    assert np.median(np.linalg.norm(closed.positions - clip.positions, axis=-1)) < 0.02 * size


STICK = build_skeleton(["root", "arm"], [-1, 0], [[0.0, 0.0, 1.0], [0.0, 0.0, -0.5]], [(1, [0.0, 0.0, -0.4])])


def _pendulum(frames, drift=0.0, turning=0.0):
    t = np.linspace(0, 2 * np.pi, frames)
    swing = np.stack([np.zeros(frames), 0.5 * np.sin(t) + drift * t, np.zeros(frames)], axis=-1)
    heading = np.stack([np.zeros(frames), np.zeros(frames), turning * t], axis=-1)
    root = np.stack([0.3 * t, np.zeros(frames), np.ones(frames)], axis=-1)
    return Clip(STICK, 30.0, root, quat.exp(np.stack([heading, swing], axis=1)))


def test_repeat_continues_where_a_round_ends():
    clip = _pendulum(31, turning=0.1)
    three = repeat(clip, 3)
    assert three.frame_count == 91
    np.testing.assert_allclose(three.positions[:31], clip.positions, atol=1e-12)
    step = np.linalg.norm(three.root[31] - three.root[30])
    assert step == pytest.approx(np.linalg.norm(clip.root[1] - clip.root[0]), rel=1e-6)
    facing = quat.yaw(three.wxyz[:, 0])
    np.testing.assert_allclose(np.diff(facing), facing[1] - facing[0], atol=1e-9)
    with pytest.raises(MotionError, match="once or more"):
        repeat(clip, 0)


@pytest.mark.slow
def test_long_clips_are_searched_minute_by_minute(data):
    walk = loop(_walk(data, "bandai_namco_1/dataset-1_walk_normal_001.bvh"))
    long = trim_frames(repeat(walk, 80), 0, -11)
    cycle = find_cycle(long)
    assert long.duration > 80
    assert cycle.end - cycle.start == walk.frame_count - 1
    assert cycle.mismatch < 1e-3
    stands = long.with_poses(Pose(long.root, np.repeat(long.wxyz[:1], long.frame_count, axis=0)))
    with pytest.raises(MotionError, match="no repeated steps"):
        find_cycle(stands)


def test_roles_survive(data):
    clip = _walk(data, "bandai_namco_1/dataset-1_walk_normal_001.bvh")
    assert find_roles(loop(clip).skeleton) == find_roles(clip.skeleton)
