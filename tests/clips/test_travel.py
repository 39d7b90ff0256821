"""A gait in place is sent on its way, a straight one is bent into turns, and a rig becomes a plain body."""

import numpy as np
import pytest

from jostle.assets import clip_path
from jostle.clips import Clip, load_clip
from jostle.clips.contacts import find_contacts, foot_tracks
from jostle.clips.edit import turn
from jostle.clips.feet import find_feet
from jostle.clips.loop import is_cyclic, loop, repeat
from jostle.clips.retarget import retarget
from jostle.clips.rig import find_parts, plain, plain_body
from jostle.clips.skate import slide_cm
from jostle.clips.solve import read_solved
from jostle.clips.travel import travel
from jostle.clips.turn import Arc, turn_gait
from jostle.errors import MotionError
from jostle.maths import quat
from jostle.skeleton import Pose, build_skeleton

BEAST = build_skeleton(  # one leg a side, feet on handles on the ground
    ["rig", "body", "head", "pole", "leg.L", "shin.L", "leg.R", "shin.R", "ik.L", "paw.L", "ik.R", "paw.R"],
    [-1, 0, 1, 1, 1, 4, 1, 6, 0, 8, 0, 10],
    [
        [0, 0, 0], [0, 0, 0.8], [0.4, 0, 0.2], [1, 0, 0], [0, 0.1, 0], [0.1, 0, -0.4], [0, -0.1, 0], [0.1, 0, -0.4],
        [0, 0.1, 0.05], [0.05, 0, -0.05], [0, -0.1, 0.05], [0.05, 0, -0.05],
    ],
    [(2, [0.2, 0, 0]), (5, [-0.1, 0, -0.35]), (7, [-0.1, 0, -0.35]), (9, [0.1, 0, 0]), (11, [0.1, 0, 0])],
)  # fmt: skip


@pytest.fixture(scope="module")
def walk():
    return loop(load_clip(clip_path("walk")))


@pytest.fixture(scope="module")
def in_place(walk):
    """The walk as on a treadmill."""
    t = np.linspace(0.0, 1.0, walk.frame_count)[:, None]
    gone = (walk.root[-1] - walk.root[0]) * [1.0, 1.0, 0.0]
    return walk.with_poses(Pose(walk.root - t * gone, walk.wxyz))


def _speed(clip):
    return np.linalg.norm((clip.root[-1] - clip.root[0])[:2]) / clip.duration


def test_the_speed_of_a_gait_in_place_is_that_of_its_standing_feet(walk, in_place):
    moved = travel(in_place, cycles=3)
    assert _speed(moved) == pytest.approx(_speed(walk), rel=0.05)
    assert is_cyclic(moved)
    assert slide_cm(moved) < max(1.0, slide_cm(repeat(walk, 3)))


def test_it_goes_where_its_feet_push(walk, in_place):
    assert _way(travel(turn(in_place, 2.0))) == pytest.approx(_way(walk) + 2.0, abs=0.03)


def _way(clip):
    return np.arctan2(*(clip.root[-1] - clip.root[0])[1::-1])


def test_what_travels_or_stands_is_no_gait_in_place(walk):
    with pytest.raises(MotionError, match="no gait in place"):
        travel(walk)
    with pytest.raises(MotionError, match="no gait in place"):
        travel(load_clip(clip_path("stand")))


def test_an_arc_of_even_curvature_is_a_circle():
    arc = Arc.of(np.linspace(-2.0, 5.0, 4001), lambda s: np.full_like(s, 0.5))
    s, y = np.array([-1.5, 0.0, 0.7, 4.2]), np.array([0.3, -0.2, 0.0, 0.5])
    moved = arc.moved(np.stack([s, y, np.ones(4)], axis=1))
    expected = np.stack([(2.0 - y) * np.sin(0.5 * s), 2.0 - (2.0 - y) * np.cos(0.5 * s), np.ones(4)], axis=1)
    np.testing.assert_allclose(moved, expected, atol=1e-6)
    np.testing.assert_allclose(arc.turned(s), 0.5 * s, atol=1e-9)


@pytest.mark.parametrize("degrees", [80.0, -80.0])
def test_a_bent_walk_turns_and_its_feet_stay(walk, degrees):
    four = repeat(walk, 4)
    bent = turn_gait(four, degrees)
    turned = np.unwrap(quat.yaw(bent.wxyz[:, 0]) - quat.yaw(four.wxyz[:, 0]))
    assert np.degrees(turned[-1] - turned[0]) == pytest.approx(degrees, abs=1.0)
    assert is_cyclic(bent)
    assert _path(bent) == pytest.approx(_path(four), rel=0.05)
    contacts, feet = find_contacts(four), find_feet(bent)
    np.testing.assert_array_less(0.8, np.mean(find_contacts(bent).planted == contacts.planted, axis=0))
    assert slide_cm(bent, contacts) < slide_cm(four, contacts) + 0.5
    heights = [foot_tracks(clip, feet)[..., 2] for clip in (four, bent)]
    np.testing.assert_allclose(heights[1][contacts.toe[:, [p.foot for p in feet.points]]],
                               heights[0][contacts.toe[:, [p.foot for p in feet.points]]], atol=0.02)  # fmt: skip


def _path(clip):
    return np.sum(np.linalg.norm(np.diff(clip.root[:, :2], axis=0), axis=1))


def test_a_turn_between_two_times_is_straight_before_and_after(walk):
    four = repeat(walk, 4)
    bent = turn_gait(four, 60.0, start=1.0, end=3.0)
    np.testing.assert_allclose(bent.root[:28], four.root[:28], atol=0.02)
    turned = np.degrees(np.unwrap(quat.yaw(bent.wxyz[:, 0]) - quat.yaw(four.wxyz[:, 0])))
    np.testing.assert_allclose(
        turned[four.fps * np.arange(four.frame_count) / four.fps / four.fps > 3.1], 60.0, atol=1.0
    )


def test_who_turns_leans_inwards(walk):
    four = repeat(walk, 4)
    for degrees in (80.0, -80.0):
        bent = turn_gait(four, degrees)
        head = bent.positions[:, bent.skeleton.index("Head")] - bent.root
        left = quat.apply(quat.from_yaw(quat.yaw(bent.wxyz[:, 0])), np.array([0.0, 1.0, 0.0]))
        assert np.sign(degrees) * np.mean(np.sum(head * left, axis=1)) > 0.01


def test_turns_that_no_body_bears_are_refused(walk, in_place):
    with pytest.raises(MotionError, match="give fewer"):
        turn_gait(walk, 400.0)
    with pytest.raises(MotionError, match="goes nowhere"):
        turn_gait(in_place, 30.0)
    with pytest.raises(MotionError, match="already"):
        turn_gait(load_clip(clip_path("turn_left")), 30.0)
    with pytest.raises(MotionError, match="cannot turn from"):
        turn_gait(walk, 30.0, start=3.0, end=1.0)


def _stepping(frames=25, fps=24.0):
    """The beast in place: paws on handles go back and forth, legs follow them by the rig's own solver."""
    phase = np.linspace(0.0, 2.0 * np.pi, frames)
    wxyz = quat.identity((frames, BEAST.joint_count))
    offsets = np.broadcast_to(BEAST.offsets, (frames, BEAST.joint_count, 3)).copy()
    for side, shift in ((8, 0.0), (10, np.pi)):
        offsets[:, side, 0] += 0.2 * np.cos(phase + shift)
        offsets[:, side, 2] += 0.1 * np.maximum(-np.sin(phase + shift), 0.0)
        hip = BEAST.rest_positions[side - 4]
        swing = np.arctan2(offsets[:, side, 0] - hip[0], hip[2] - offsets[:, side, 2])
        wxyz[:, side - 4] = quat.exp(np.array([0.0, -1.0, 0.0]) * swing[:, None])
    return Clip(BEAST, fps, np.zeros((frames, 3)), wxyz, offsets, "beast")


def test_a_rig_loses_its_handles_and_its_paws_hang_from_their_legs():
    body = plain_body(BEAST)
    assert body is not None
    assert body.names == ("body", "head", "leg.L", "shin.L", "ik.L", "paw.L", "leg.R", "shin.R", "ik.R", "paw.R")
    assert body.names[body.parents[body.index("ik.L")]] == "shin.L"
    assert plain_body(body) is None
    assert find_parts(BEAST).adopted == {8: 5, 10: 7}


def test_paws_of_a_plain_body_are_where_the_rig_had_them():
    rig = _stepping()
    body = plain(rig)
    assert body.offsets is None
    assert plain(body) is body
    for paw in ("paw.L", "paw.R"):
        ours, theirs = body.positions[:, body.skeleton.index(paw)], rig.positions[:, BEAST.index(paw)]
        np.testing.assert_allclose(ours, theirs, atol=0.02)


def test_a_plain_body_goes_back_onto_its_rig():
    body = plain(_stepping())
    back = retarget(body, BEAST)
    names = [BEAST.index(name) for name in body.skeleton.names]
    np.testing.assert_allclose(back.positions[:, names], body.positions, atol=1e-6)


@pytest.mark.parametrize(("file", "animation"), [("Horse.glb", "Walk"), ("Fox.glb", "Walk"), ("Stag.glb", "Walk")])
def test_keyframed_animals_walk_and_turn_without_sliding(data, file, animation):
    clip = load_clip(data / "quaternius_cc0" / file, animation=animation)
    walk = travel(clip, cycles=3)
    assert is_cyclic(walk)
    assert 0.3 < _speed(walk) / np.sqrt(walk.skeleton.height) < 2.0  # of a walk, by Froude's number
    assert slide_cm(walk) < 0.01 * slide_cm(repeat(plain(clip), 3))
    bent = turn_gait(walk, 80.0)
    assert slide_cm(bent) < slide_cm(walk) + 0.2
    jerk = [np.sqrt(np.mean(np.diff(c.positions, 2, axis=0) ** 2)) for c in (walk, bent)]
    assert jerk[1] < 1.15 * jerk[0]


def test_recordings_of_one_dog_get_one_skeleton(data):
    first, other = (data / "dog_mann" / f"dog_{name}_joint_pos.txt" for name in ("pace", "trot"))
    skeleton, own = read_solved(first).skeleton, read_solved(other)
    on = read_solved(other, skeleton=skeleton)
    assert on.skeleton is skeleton
    np.testing.assert_allclose(on.positions, own.positions, atol=2e-3)
    with pytest.raises(MotionError, match="no point for"):
        read_solved(other, skeleton=BEAST)
