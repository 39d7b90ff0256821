"""What all features share: there and back on the ground, and the sentences for clips that do not fit."""

from dataclasses import replace

import numpy as np
import pytest

from jostle.assets import clip_path
from jostle.clips import load_clip
from jostle.clips.edit import resample
from jostle.errors import MotionError
from jostle.features.features import Placement, differentiate, fitted, integrate, placement
from jostle.skeleton import build_skeleton


def _path(frames=40, seed=0):
    rng = np.random.default_rng(seed)
    return np.cumsum(0.1 * rng.normal(size=(frames, 2)), axis=0), np.cumsum(0.4 * rng.normal(size=frames))


def test_steps_add_up_to_the_path_again():
    places, headings = _path()
    steps, turns = differentiate(places, headings)
    back, faced = integrate(steps, turns, Placement(*places[0], headings[0]))
    np.testing.assert_allclose(back, places, atol=1e-12)
    np.testing.assert_allclose(faced, headings, atol=1e-12)
    again = differentiate(back, faced)
    np.testing.assert_allclose(again[0], steps, atol=1e-12)
    np.testing.assert_allclose(again[1], turns, atol=1e-12)


def test_steps_do_not_tell_where_they_were_taken():
    places, headings = _path(seed=1)
    steps, turns = differentiate(places, headings)
    c, s = np.cos(1.1), np.sin(1.1)
    elsewhere = places @ np.array([[c, s], [-s, c]]) + [3.0, -7.0]
    moved = differentiate(elsewhere, headings + 1.1)
    np.testing.assert_allclose(moved[0], steps, atol=1e-12)
    np.testing.assert_allclose(moved[1], turns, atol=1e-12)


def test_walking_ahead_is_ahead_whichever_way_one_faces():
    steps = np.tile([0.1, 0.0], (11, 1))
    places, headings = integrate(steps, np.zeros(11), Placement(1.0, 2.0, np.pi / 2))
    np.testing.assert_allclose(places[-1], [1.0, 3.0], atol=1e-12)
    np.testing.assert_allclose(headings, np.pi / 2)


def test_a_circle_closes():
    turns = np.full(101, 2 * np.pi / 100)
    places, _ = integrate(np.tile([0.05, 0.0], (101, 1)), turns, Placement())
    np.testing.assert_allclose(places[-1], places[0], atol=1e-12)


def test_headings_that_wrap_are_small_turns():
    headings = np.array([3.1, -3.1, -3.0])
    _, turns = differentiate(np.zeros((3, 2)), headings)
    np.testing.assert_allclose(turns[1:], [2 * np.pi - 6.2, 0.1])


def test_one_frame_stands_still():
    steps, turns = differentiate(np.ones((1, 2)), np.ones(1))
    assert steps.shape == (1, 2)
    assert turns.shape == (1,)
    places, headings = integrate(steps, turns, Placement(1.0, 2.0, 3.0))
    np.testing.assert_array_equal(places, [[1.0, 2.0]])
    np.testing.assert_array_equal(headings, [3.0])


def test_the_placement_is_the_roots():
    clip = load_clip(clip_path("turn_left"))
    at = placement(clip, 10)
    assert (at.x, at.y) == tuple(clip.root[10, :2])
    assert placement(clip, -1).heading - placement(clip, 0).heading > 1.0


def test_fitting_clips_are_given_back_or_resampled():
    clip = load_clip(clip_path("walk"))
    assert fitted(clip, clip.skeleton, clip.fps) is clip
    slower = fitted(clip, clip.skeleton, 20.0)
    assert slower.fps == 20.0
    np.testing.assert_allclose(slower.root, resample(clip, 20.0).root)


def test_other_bones_are_refused_unless_angles_are_all():
    clip = load_clip(clip_path("walk"))
    taller = replace(clip.skeleton, offsets=1.1 * clip.skeleton.offsets)
    with pytest.raises(MotionError, match=r"another skeleton .* `jostle convert --retarget`"):
        fitted(clip, taller, clip.fps)
    assert fitted(clip, taller, clip.fps, same_bones=False) is clip
    stick = build_skeleton(["Hips", "Leg"], [-1, 0], [[0, 0, 1], [0, 0, -0.5]], ends=[(1, [0, 0, -0.5])])
    with pytest.raises(MotionError, match="joints against 2"):
        fitted(clip, stick, clip.fps, same_bones=False)


@pytest.mark.parametrize("channel", ["root", "wxyz"])
def test_no_numbers_are_refused(channel):
    clip = load_clip(clip_path("walk"))
    broken = getattr(clip, channel).copy()
    broken[7, 0] = np.nan
    with pytest.raises(MotionError, match=r"no numbers; `jostle clips check --fix`"):
        fitted(replace(clip, **{channel: broken}), clip.skeleton, clip.fps)
