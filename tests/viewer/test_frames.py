"""The interface between what moves and what shows it."""

import numpy as np
import pytest

from jostle.clips import Clip
from jostle.errors import MotionError
from jostle.maths import quat
from jostle.skeleton import build_skeleton, forward
from jostle.viewer.frames import Track, build_figure, common_end, foot_points, trailed_joints
from jostle.viewer.layout import Placement
from jostle.viewer.limbs import carrying_parents, changed, nested
from jostle.viewer.lines import segments, way_colours
from jostle.viewer.tracks import figures_of, place


def test_a_track_is_the_clip_turned_and_shifted(walk):
    track = Track(walk, Placement(np.pi / 2, np.array([1.0, 2.0, 3.0])))
    x, y, z = np.moveaxis(walk.positions, -1, 0)
    np.testing.assert_allclose(track.body.positions, np.stack([1 - y, 2 + x, 3 + z], axis=-1), atol=1e-12)


def test_whole_frames_are_exact_and_between_them_is_between(walk):
    track = Track(walk, Placement())
    at = track.at(10 / walk.fps)
    np.testing.assert_array_equal(at.positions, walk.positions[10])
    half = track.at(10.5 / walk.fps)
    np.testing.assert_allclose(half.positions, 0.5 * (walk.positions[10] + walk.positions[11]), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(half.wxyz, axis=1), 1.0)
    expected = quat.slerp(walk.globals.wxyz[10], walk.globals.wxyz[11], 0.5)
    np.testing.assert_allclose(np.abs(np.sum(half.wxyz * expected, axis=1)), 1.0, atol=1e-6)


def test_before_the_start_and_after_the_end_it_holds(walk):
    track = Track(walk, Placement())
    np.testing.assert_array_equal(track.at(-5.0).positions, walk.positions[0])
    np.testing.assert_array_equal(track.at(99.0).positions, walk.positions[-1])
    assert common_end([track]) == pytest.approx(2.0)


def test_contacts_lie_on_the_ground_under_the_feet(data):
    from jostle.clips import load_clip

    track = place([load_clip(data / "cmu_bvh" / "07_02.bvh")])[0]
    planted, where = track.steps
    assert planted.shape[1] == 2
    assert 0.3 < planted.mean() < 0.9
    np.testing.assert_allclose(where[..., 2], 0.0, atol=1e-9)


def test_trails_of_a_person_are_hips_hands_and_feet(person, walk):
    names = [person.names[j] for j in trailed_joints(person)]
    assert names == ["Hips", "LeftHand", "RightHand", "LeftFoot", "RightFoot"]
    assert Track(walk, Placement()).trails.shape == (5, walk.frame_count, 3)


def test_trails_of_a_creature_are_root_and_tips():
    snake = build_skeleton(["a", "b", "c"], [-1, 0, 1], [[0, 0, 1], [0.3, 0, 0], [0.3, 0, 0]], [(2, [0.2, 0, 0])])
    assert trailed_joints(snake) == (0, 2)


def test_foot_points_are_between_ankle_and_toe(person, walk):
    point = foot_points(person, person.index("LeftFoot"), walk.globals)
    ankle = walk.positions[:, person.index("LeftFoot")]
    assert np.all(np.linalg.norm(point - ankle, axis=1) < 0.2)


def test_nested_limbs_give_the_world_back(person, walk):
    joints = [person.index(name) for name in ("Hips", "Chest", "Head", "LeftLeg", "LeftArm")]
    above = carrying_parents(person, joints)
    assert above.tolist() == [-1, 0, 1, 0, 1]
    world = forward(person, walk.pose(7))
    positions, wxyz = nested(world.positions[joints], world.wxyz[joints], above)
    for i, up in enumerate(above):
        if up >= 0:
            base, turned = world.positions[joints[up]], world.wxyz[joints[up]]
            np.testing.assert_allclose(base + quat.apply(turned, positions[i]), world.positions[joints[i]], atol=1e-12)
            np.testing.assert_allclose(quat.mul(turned, wxyz[i]), world.wxyz[joints[i]], atol=1e-12)
    np.testing.assert_allclose(positions[0], world.positions[0])


def test_only_what_moved_is_sent():
    sent = np.zeros((3, 3))
    wanted = np.array([[0.0, 0.0, 0.0], [0.0, 1e-6, 0.0], [0.0, 0.1, 0.0]])
    assert changed(sent, wanted) == [2]
    assert changed(sent, wanted) == []


def test_segments_join_neighbours():
    way = np.arange(18, dtype=float).reshape(2, 3, 3)
    pairs = segments(way)
    assert pairs.shape == (4, 2, 3)
    np.testing.assert_array_equal(pairs[1], way[0, 1:])
    np.testing.assert_array_equal(pairs[2], way[1, :2])
    colours = way_colours(way)
    assert colours.shape == pairs.shape
    assert colours.dtype == np.uint8


def test_a_figure_has_a_body(person):
    figure = build_figure("someone", person)
    assert {part.joint for part in figure.parts} <= set(range(person.joint_count))
    assert len(figure.parts) > 10


def test_wrong_counts_are_told(walk):
    with pytest.raises(MotionError, match="2 names"):
        figures_of(place([walk]), ["a", "b"])
    with pytest.raises(MotionError, match="no clip"):
        place([])


def test_a_clip_without_feet_is_shown_without_marks():
    stick = build_skeleton(["a"], [-1], [[0, 0, 1]], [(0, [0, 0, 0.5])])
    clip = Clip(stick, 30.0, np.zeros((4, 3)), np.tile(quat.identity((1,)), (4, 1, 1)))
    frame = place([clip])[0].at(0.0)
    assert len(frame.planted) == len(frame.touching)
