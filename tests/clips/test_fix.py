"""Each defect is mended, the clip comes back to what it was, and a second mending changes nothing."""

from dataclasses import replace

import numpy as np
import pytest
from broken import (
    jumping,
    raised,
    scaled,
    swaying,
    with_copies,
    with_dropped_root,
    with_flip,
    with_nan,
    with_t_pose,
)

from jostle.clips.checks import check
from jostle.clips.clip import Clip
from jostle.clips.fix import fix
from jostle.clips.formats.bvh import read_bvh, write_bvh
from jostle.clips.info import describe


def _same(a: Clip, b: Clip, tolerance: float) -> bool:
    return a.frame_count == b.frame_count and bool(np.allclose(a.positions, b.positions, atol=tolerance, rtol=0))


BREAKS = {
    "t-pose": lambda clip: with_t_pose(clip, 2),
    "dropped at both ends": lambda clip: with_dropped_root(clip, 0, clip.frame_count - 1),
    "dropped inside": lambda clip: with_dropped_root(clip, 70, 71),
    "nan": lambda clip: with_nan(clip, "LeftForeArm", 30, 33),
    "gap": lambda clip: with_copies(clip, 60, 70),
    "flip": lambda clip: with_flip(clip, "RightArm", 80, 82),
    "two flips": lambda clip: with_flip(with_flip(clip, "RightArm", 80, 82), "LeftLeg", 81, 84),
    "floor": lambda clip: raised(clip, 0.3),
    "unit": lambda clip: scaled(clip, 100.0),
    "all": lambda clip: scaled(with_t_pose(with_flip(with_dropped_root(clip, 50), "LeftArm", 90, 91)), 0.01),
}


@pytest.mark.parametrize("name", BREAKS)
def test_what_is_mended_needs_no_second_mending(name):
    broken = BREAKS[name](swaying())
    mended, told = fix(broken)
    assert told
    assert check(mended) == []
    again, told_again = fix(mended)
    assert told_again == []
    assert np.array_equal(again.root, mended.root)
    assert np.array_equal(again.wxyz, mended.wxyz)


@pytest.mark.parametrize("name", ["t-pose", "dropped inside", "nan", "gap", "flip", "two flips", "unit", "all"])
def test_the_clip_comes_back(name):
    clip = swaying()
    mended, _ = fix(BREAKS[name](clip))
    assert _same(mended, clip, 0.03 if name == "gap" else 0.01)  # across 0.18 s a straight line is off by this much
    assert mended.frame_count == clip.frame_count


def test_frames_dropped_at_the_ends_are_left_out():
    clip = swaying()
    mended, told = fix(with_dropped_root(clip, 0, clip.frame_count - 1))
    assert told == [f"Left out frames 0 and {clip.frame_count - 1}."]
    assert np.array_equal(mended.root, clip.root[1:-1])


def test_a_missing_stretch_is_crossed_at_constant_speed():
    clip = swaying()
    mended, _ = fix(with_nan(clip, "Hips", 30, 33))
    steps = np.diff(mended.root[29:34], axis=0)
    assert np.allclose(steps, steps[0])
    assert np.array_equal(mended.root[:30], clip.root[:30])


def test_a_joint_without_any_number_is_put_to_rest():
    clip = swaying()
    mended, _ = fix(with_nan(clip, "LeftForeArm", 0, clip.frame_count))
    assert np.all(mended.wxyz[:, clip.skeleton.index("LeftForeArm")] == [1.0, 0.0, 0.0, 0.0])
    assert np.all(np.isfinite(mended.positions))


def test_the_rate_is_set_and_the_frames_stay():
    clip = jumping()
    mended, told = fix(replace(clip, fps=120.0))
    assert mended.fps == 60.0
    assert np.array_equal(mended.wxyz, clip.wxyz)
    assert told == ["Set the rate to 60 frames a second; it was 120."]


def test_repeated_frames_are_dropped_with_the_rate():
    clip = swaying(30.0)
    twice = replace(clip, fps=60.0, root=np.repeat(clip.root, 2, axis=0), wxyz=np.repeat(clip.wxyz, 2, axis=0))
    mended, _ = fix(twice)
    assert mended.fps == 30.0
    assert np.array_equal(mended.root, clip.root)


def test_what_cannot_be_mended_is_left_alone_and_said():
    long_gap = with_copies(swaying(60.0, 4.0), 60, 120)
    stays = with_flip(swaying(), "RightArm", 80, 180)
    for clip, words in ((long_gap, "too long"), (stays, "do not go back")):
        mended, told = fix(clip)
        assert np.array_equal(mended.wxyz, clip.wxyz)
        [sentence] = told
        assert sentence.startswith("Left alone:")
        assert words in sentence


def test_only_what_is_asked_for_is_mended():
    clip = with_t_pose(with_flip(swaying(), "RightArm", 80, 82))
    flips = [finding for finding in check(clip) if finding.kind == "flip"]
    mended, told = fix(clip, [finding for finding in check(clip) if finding.kind == "t-pose"])
    assert len(flips) == 1
    assert told == ["Left out frame 0."]
    assert [finding.kind for finding in check(mended)] == ["flip"]


def test_floors_are_left_alone_when_only_other_things_are_asked_for():
    mended, told = fix(raised(swaying(), 0.3), [])
    assert told == []
    assert describe(mended).ground > 0.25


def test_07_12_and_143_41_come_out_right_and_go_through_a_file(data, tmp_path):
    for name, frames, fps in (("07_12", 262, 120.0), ("143_41", 1167, 60.0)):
        mended, told = fix(read_bvh(data / "cmu_bvh" / f"{name}.bvh"))
        assert mended.frame_count == frames
        assert mended.fps == pytest.approx(fps, rel=1e-4)
        assert len(told) == (1 if name == "07_12" else 2)
        write_bvh(mended, tmp_path / f"{name}.bvh")
        again = check(read_bvh(tmp_path / f"{name}.bvh"))
        assert not [finding for finding in again if finding.severity != "note"]


@pytest.mark.slow
def test_mending_twice_changes_nothing_on_any_recording(data):
    for path in sorted(data.rglob("*.bvh")):
        once, _ = fix(read_bvh(path))
        twice, _ = fix(once)
        assert once.fps == twice.fps, path
        assert np.array_equal(once.root, twice.root), path
        assert np.array_equal(once.wxyz, twice.wxyz), path
