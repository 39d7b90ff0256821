"""Contacts and foot skate, on steps whose truth is known and on real walks, runs and jumps."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from jostle.clips.clip import Clip
from jostle.clips.contacts import find_contacts, hysteresis, runs, smooth_velocity
from jostle.clips.edit import resample, trim_frames
from jostle.clips.feet import body_size, find_feet
from jostle.clips.formats.bvh import read_bvh
from jostle.clips.formats.gltf import read_gltf
from jostle.clips.skate import at_rate, foot_skate, skate_ratio, slide_cm
from jostle.clips.solve import read_solved
from jostle.maths import quat
from jostle.skeleton import build_skeleton

SPIDER = build_skeleton(
    ["body", "a", "a_tip", "b", "b_tip"],
    [-1, 0, 1, 0, 3],
    [[0, 0, 0.5], [0.3, 0, 0], [0, 0, -0.5], [-0.3, 0, 0], [0, 0, -0.5]],
)


def _stepping(fps: float, seconds: float = 4.0) -> tuple[Clip, np.ndarray]:
    """Two stilts that stand and are lifted in turn, half a second each; and when each stands."""
    t = np.arange(round(seconds * fps)) / fps
    phase = t[:, None] + np.array([0.0, 0.5])
    swing = np.clip((phase % 1.0 - 0.5) * 2.0, 0.0, 1.0)  # 0 while it stands, then to 1
    lift = 0.15 * np.sin(np.pi * swing) ** 2
    travel = np.floor(phase) + swing - 0.5 * np.array([0.0, 1.0])  # metres: 1 m per swing
    offsets = np.broadcast_to(SPIDER.offsets, (len(t), 5, 3)).copy()
    body = np.stack([t, np.zeros_like(t), np.full_like(t, 0.5)], axis=1)
    for joint, leg in ((2, 0), (4, 1)):
        hip = SPIDER.offsets[joint - 1]
        tip = np.stack([travel[:, leg], np.full_like(t, 0.1 * leg), lift[:, leg]], axis=1)
        offsets[:, joint] = tip - body - hip
    clip = Clip(SPIDER, fps, body, quat.identity((len(t), 5)), offsets)
    return clip, swing == 0.0


@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0, 120.0])
def test_contacts_are_those_of_the_steps_at_any_rate(fps):
    clip, standing = _stepping(fps)
    contacts = find_contacts(clip)
    assert contacts.names == ("a_tip", "b_tip")
    # the edges may be off by the window over which speed is measured, and no more
    wrong = np.mean(contacts.planted != standing)
    assert wrong < 0.16
    sure = np.array([np.convolve(s, np.ones(2 * round(0.1 * fps) + 1), "same") for s in standing.T]).T
    assert np.all(contacts.planted[sure >= 2 * round(0.1 * fps) + 1])
    assert contacts.step_count == 7


def test_strikes_and_toe_offs_alternate():
    contacts = find_contacts(_stepping(60.0)[0])
    for strikes, offs, planted in zip(contacts.strikes, contacts.toe_offs, contacts.planted.T, strict=True):
        assert all(planted[f] and not planted[f - 1] for f in strikes)
        assert all(planted[f - 1] and not planted[f] for f in offs)
        events = sorted([(f, 1) for f in strikes] + [(f, 0) for f in offs])
        assert all(a[1] != b[1] for a, b in pairwise(events))


def test_a_known_floor_overrides_the_estimate():
    clip, _ = _stepping(60.0)
    assert abs(find_contacts(clip).ground) < 0.02
    assert not np.any(find_contacts(clip, ground=-0.5).planted)
    assert find_contacts(clip, ground=-0.5).ground == -0.5


def test_a_treadmill_is_seen_and_taken_out():
    clip, standing = _stepping(60.0)
    t = np.arange(clip.frame_count) / 60.0
    in_place = Clip(clip.skeleton, 60.0, clip.root - np.stack([t, 0 * t, 0 * t], axis=1), clip.wxyz, clip.offsets)
    contacts = find_contacts(in_place)
    assert np.allclose(contacts.treadmill, [-1.0, 0.0], atol=0.05)
    assert np.mean(contacts.planted != standing) < 0.16
    assert np.all(find_contacts(clip).treadmill == 0.0)


def test_hysteresis_keeps_only_runs_that_were_strictly_down():
    loose = np.array([[0, 1, 1, 1, 0, 1, 1, 0]], dtype=bool).T
    strict = np.array([[0, 0, 1, 0, 0, 0, 0, 0]], dtype=bool).T
    assert hysteresis(strict, loose)[:, 0].tolist() == [False, True, True, True, False, False, False, False]


def test_runs_name_the_first_frame_and_the_one_after_the_last():
    assert runs(np.array([True, True, False, True])) == [(0, 2), (3, 4)]
    assert runs(np.zeros(3, dtype=bool)) == []


@pytest.mark.parametrize("fps", [30.0, 120.0])
def test_velocity_of_a_line_is_exact_to_the_ends(fps):
    t = np.arange(40) / fps
    x = np.stack([2 * t, -t, 0 * t + 1], axis=1)
    assert np.allclose(smooth_velocity(x, fps), [2.0, -1.0, 0.0])


def _skate_by_hand(feet):
    """The definition, word for word, with loops."""
    frames, count = feet.shape[:2]
    speed = [[0.0] * count for _ in range(frames - 1)]
    for i in range(frames - 1):
        for f in range(count):
            dx, dy = feet[i + 1, f, 0] - feet[i, f, 0], feet[i + 1, f, 1] - feet[i, f, 1]
            speed[i][f] = (dx * dx + dy * dy) ** 0.5 * 20.0
    skating = 0
    for i in range(frames - 1):
        any_foot = False
        for f in range(count):
            window = [speed[k][f] if 0 <= k < frames - 1 else 0.0 for k in range(i - 2, i + 3)]
            low = feet[i, f, 2] < 0.05 and feet[i + 1, f, 2] < 0.05
            if low and speed[i][f] > 0.5 and sum(window) / 5 > 0.5:
                any_foot = True
        skating += any_foot
    return skating / (frames - 1)


@pytest.mark.parametrize("seed", range(5))
def test_skate_ratio_is_its_definition(seed):
    rng = np.random.default_rng(seed)
    feet = np.cumsum(rng.normal(0, 0.02, (60, 2, 3)), axis=0)
    feet[..., 2] = 0.05 + 0.03 * np.sin(np.arange(60)[:, None] / 4 + rng.uniform(0, 6, 2))
    ratio = skate_ratio(feet)
    assert ratio == pytest.approx(_skate_by_hand(feet))
    assert 0 < ratio < 1


def test_positions_at_another_rate_lie_on_the_lines_between():
    x = np.array([[0.0], [1.0], [0.0], [1.0]])
    assert at_rate(x, 30.0, 60.0)[:, 0].tolist() == [0.0, 0.5, 1.0, 0.5, 0.0, 0.5, 1.0]
    assert at_rate(x, 30.0, 10.0)[:, 0].tolist() == [0.0, 1.0]


def _walk(data) -> Clip:
    return read_bvh(data / "snu_ys2010" / "walk" / "wd2_WalkForwardNormal00.bvh")


def test_a_walk_stands_three_fifths_of_the_time_and_never_flies(data):
    contacts = find_contacts(trim_frames(_walk(data), 70, 165))  # the steady steps between standing and stopping
    assert np.all((np.mean(contacts.planted, axis=0) > 0.55) & (np.mean(contacts.planted, axis=0) < 0.7))
    assert not np.any(contacts.flight)
    both = np.mean(np.all(contacts.planted, axis=1))
    assert 0.1 < both < 0.35


def test_a_run_flies_and_is_never_on_both_feet(data):
    contacts = find_contacts(trim_frames(read_bvh(data / "cmu_bvh" / "09_01.bvh"), 1))
    assert np.mean(contacts.flight) > 0.2
    assert np.mean(np.all(contacts.planted, axis=1)) < 0.02


def test_the_heel_lands_before_the_toe_and_leaves_before_it(data):
    clip = _walk(data)
    contacts = find_contacts(clip)
    for heel, toe in zip(contacts.heel.T, contacts.toe.T, strict=True):
        for start, stop in runs(heel | toe):
            if start > 0 and stop < clip.frame_count:
                assert np.flatnonzero(heel[start:stop])[0] <= np.flatnonzero(toe[start:stop])[0]
                assert np.flatnonzero(heel[start:stop])[-1] <= np.flatnonzero(toe[start:stop])[-1]


def test_contacts_do_not_depend_on_the_rate(data):
    clip = trim_frames(read_bvh(data / "cmu_bvh" / "35_01.bvh"), 1)
    fine, coarse = find_contacts(clip), find_contacts(resample(clip, 30.0))
    assert np.mean(fine.planted[::4][: len(coarse.planted)] != coarse.planted[: len(fine.planted[::4])]) < 0.06
    assert fine.step_count == coarse.step_count


def test_a_leaning_floor_does_not_lose_the_last_step(data):
    """In 02_01 the floor rises by 5 cm over the walk."""
    contacts = find_contacts(trim_frames(read_bvh(data / "cmu_bvh" / "02_01.bvh"), 1))
    assert np.mean(contacts.flight) < 0.03


@pytest.mark.parametrize("name", ["cmu_bvh/16_15", "cmu_bvh/35_01", "snu_ys2010/walk/wd2_WalkForwardFast00"])
def test_clean_mocap_does_not_skate_and_stretched_travel_does(data, name):
    clip = trim_frames(read_bvh(data / f"{name}.bvh"), 1)
    stretched = Clip(clip.skeleton, clip.fps, clip.root * [1.4, 1.4, 1.0], clip.wxyz, clip.offsets)
    assert foot_skate(clip) < 0.03
    assert foot_skate(stretched) > 0.06
    assert slide_cm(clip) < 5.0
    assert slide_cm(stretched) > 12.0


def test_a_persons_size_is_by_the_legs(data):
    assert 1.5 < body_size(_walk(data).skeleton) < 1.9
    assert [p.kind for p in find_feet(_walk(data)).points] == ["heel", "ball", "tip"] * 2


@pytest.mark.parametrize("animation", ["Walk", "Gallop"])
def test_a_fox_that_walks_in_place_sets_down_every_paw_once(data, animation):
    contacts = find_contacts(read_gltf(data / "quaternius_cc0" / "Fox.glb", animation))
    assert len(contacts.names) == 4
    assert contacts.treadmill[0] < -1.0  # the ground runs backwards
    for paw in contacts.planted.T:
        around = np.flatnonzero(~paw[:-1] & paw[1:])  # cyclic: once around
        assert len(around) + (paw[0] and not paw[-1]) == 1
    assert np.mean(contacts.flight) > 0.05 if animation == "Gallop" else not np.any(contacts.flight)


def test_a_dog_stands_on_all_paws_and_walks_on_two_or_three(data):
    clip = read_solved(data / "dog_mann" / "dog_walk00_joint_pos.txt")
    contacts = find_contacts(clip)
    assert len(contacts.names) == 4
    assert np.all(contacts.planted[:40])  # it stands first
    walking = contacts.planted[120:540]
    assert np.all((np.mean(walking, axis=0) > 0.4) & (np.mean(walking, axis=0) < 0.7))
    assert np.mean(np.any(walking, axis=1)) > 0.99
    assert all(10 <= len(frames) <= 16 for frames in contacts.strikes)


@pytest.mark.parametrize("factor", [0.45, 2.0])
def test_one_motion_has_one_score_on_a_body_of_any_size(data, factor):
    """Drag a walk along so that it skates, then shrink or grow it all: the ratio stays."""
    clip = read_bvh(data / "snu_ys2010" / "walk" / "wd2_WalkForwardNormal00.bvh")
    drift = np.arange(clip.frame_count)[:, None] / clip.fps * np.array([0.0, 0.6, 0.0])
    slid = replace(clip, root=clip.root + drift)
    other = replace(slid, root=factor * slid.root, skeleton=clip.skeleton.scaled(factor))
    assert foot_skate(slid) > 0.2
    assert foot_skate(other) == pytest.approx(foot_skate(slid), abs=0.02)


def test_noise_at_rest_does_not_grow_into_a_slide(data):
    """Standing for ten seconds with noisy feet slides no further a step than standing for two."""
    clip = trim_frames(read_bvh(data / "snu_ys2010" / "push" / "wd2_PushStep00.bvh"), 0, 2)
    noise = np.random.default_rng(0).normal(scale=0.002, size=(300, 3))
    long = replace(clip, root=clip.root[0] + noise, wxyz=np.repeat(clip.wxyz[:1], 300, axis=0))
    short = trim_frames(long, 0, 60)
    assert slide_cm(long) == pytest.approx(slide_cm(short), rel=0.3)
