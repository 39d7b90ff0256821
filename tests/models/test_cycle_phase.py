"""Phase and step of a gait."""

import numpy as np
import pytest

import jostle
from jostle.assets import clip_path
from jostle.clips.edit import mirror, resample, trim_frames
from jostle.features import AngleFeatures
from jostle.models.cycle_phase import find_cycle, fit_sinusoid, swung_pace, thigh_swing


@pytest.fixture(scope="module")
def walk():
    return trim_frames(resample(jostle.load_clip(clip_path("walk")), 30.0), 0, 120)


@pytest.mark.parametrize(("phase", "period"), [(0.3, 33.0), (-2.0, 21.0), (2.9, 44.0)])
def test_a_sinusoid_is_found_again(phase, period):
    t = np.arange(60)
    noise = 0.05 * np.random.default_rng(0).standard_normal(60)
    cycle = fit_sinusoid(0.4 + 0.7 * np.cos(phase + 2 * np.pi / period * t) + noise, 30.0)
    assert np.isclose(2 * np.pi / cycle.step, period, rtol=0.02)
    assert abs(np.angle(np.exp(1j * (cycle.phase - phase)))) < 0.1
    assert cycle.explained > 0.95


def test_a_walk_has_its_steps(walk):
    """Two steps a cycle: the left thigh is farthest ahead where the phase is 0."""
    cycle = find_cycle(walk, np.zeros((walk.frame_count, 1)))
    swing = thigh_swing(walk)
    assert swing is not None
    assert cycle.explained > 0.8
    theta = np.mod(cycle.at(np.arange(walk.frame_count)), 2 * np.pi)
    assert swing[np.cos(theta) > 0.8].mean() > 0.2
    assert swing[np.cos(theta) < -0.8].mean() < -0.2


def test_the_mirror_is_half_a_cycle_away(walk):
    a, b = (find_cycle(clip, np.zeros((clip.frame_count, 1))) for clip in (walk, mirror(walk)))
    assert np.isclose(a.step, b.step, rtol=1e-3)
    assert abs(np.angle(-np.exp(1j * (a.phase - b.phase)))) < 1e-2


def test_who_has_no_thighs_has_a_cycle(walk):
    names = tuple(f"part{i}" for i in range(walk.skeleton.joint_count))
    s = walk.skeleton
    odd = type(s)(names, s.parents, s.offsets, s.end_parents, s.end_offsets)
    clip = type(walk)(odd, walk.fps, walk.root, walk.wxyz)
    assert thigh_swing(clip) is None
    cycle = find_cycle(clip, AngleFeatures.of([clip]).encode(clip))
    right = find_cycle(walk, np.zeros((walk.frame_count, 1))).step
    assert min(abs(cycle.step - right), abs(cycle.step - 2 * right)) < 0.02


def test_half_a_cycle_corrects_the_pace_that_was_believed_and_a_glimpse_does_not():
    true, believed = np.log(0.16), np.log(0.19)
    swing = 1.2 * np.cos(0.4 + np.exp(true) * np.arange(25))
    assert abs(swung_pace(swing, believed, 0.1) - true) < 0.05
    assert abs(swung_pace(swing[:4], believed, 0.1) - believed) < 0.03
    assert abs(swung_pace(swing + 0.03, believed, 0.1) - true) < 0.06
