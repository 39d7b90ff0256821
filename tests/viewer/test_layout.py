"""Characters side by side: nobody walks through another, and all are in view."""

import itertools

import numpy as np
import pytest

from jostle.clips import Clip
from jostle.clips.skin import Skin, SkinMesh
from jostle.maths import quat
from jostle.skeleton import Pose
from jostle.viewer import look
from jostle.viewer.frames import build_figure
from jostle.viewer.layout import arrange, first_view, lanes_of
from jostle.viewer.tracks import Following, box_of, figures_of, moment, opening_view, part_ways, place, travels


def turned(clip: Clip, yaw: float, shift: tuple[float, float, float]) -> Clip:
    q = quat.from_yaw(yaw)
    wxyz = clip.wxyz.copy()
    wxyz[:, 0] = quat.mul(q, wxyz[:, 0])
    return clip.with_poses(Pose(quat.apply(q, clip.root) + np.array(shift), wxyz))


def test_one_clip_stays_where_it_is(walk):
    alone = arrange([walk], [0.0])[0]
    assert alone.turn == 0.0
    np.testing.assert_array_equal(alone.shift, np.zeros(3))


def test_a_floor_near_zero_is_stood_on_and_a_far_one_is_shown_as_it_is(walk):
    assert arrange([walk], [0.03])[0].shift[2] == pytest.approx(-0.03)
    assert arrange([walk], [0.8])[0].shift[2] == 0.0


def test_lanes_do_not_touch():
    spans = [(-0.4, 0.3), (-2.0, 0.1), (-0.2, 0.2)]
    lanes = lanes_of(spans, [1.7, 1.7, 1.0])
    edges = [(lane + low, lane + high) for lane, (low, high) in zip(lanes, spans, strict=True)]
    for one, next_one in itertools.pairwise(edges):
        assert next_one[0] - one[1] > 0.5
    assert lanes[0] == pytest.approx(-lanes[-1])


def test_clips_that_go_anywhere_go_along_x_from_one_line(walk):
    tracks = place([walk, turned(walk, 2.0, (5.0, -3.0, 0.0)), turned(walk, -1.0, (0.0, 9.0, 0.0))])
    for track in tracks:
        way = track.body.positions[-1, 0] - track.body.positions[0, 0]
        assert track.body.positions[0, 0, 0] == pytest.approx(0.0, abs=1e-9)
        assert np.arctan2(way[1], way[0]) == pytest.approx(0.0, abs=1e-9)
    assert np.all(np.diff([t.body.positions[0, 0, 1] for t in tracks]) > 0.5)


@pytest.mark.parametrize(("aspect", "panel"), [(1.6, True), (1.6, False), (0.46, True), (1.0, False)])
def test_the_first_view_holds_the_whole_box(aspect, panel):
    low, high = np.array([-1.0, -2.0, 0.0]), np.array([1.0, 2.0, 2.4])  # a helmet above a body of 1.7 m
    view = first_view(low, high, 1.7, aspect=aspect, panel=panel)
    forward = view.look_at - view.position
    forward /= np.linalg.norm(forward)
    right = np.cross(forward, [0, 0, 1])
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    for corner in np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(3, -1).T:
        ray = corner - view.position
        depth = ray @ forward
        assert abs(ray @ up) / depth < np.tan(0.5 * view.fov)
        assert abs(ray @ right) / depth < 0.95 * aspect * np.tan(0.5 * view.fov)


def test_only_a_clip_that_travels_is_followed(walk):
    still = walk.with_poses(Pose(walk.root * [0.0, 1.0, 1.0], walk.wxyz))
    assert travels(place([walk]))
    assert not travels(place([still]))
    tracks = place([walk])
    assert np.linalg.norm(opening_view(tracks, figures_of(tracks, None), True).look_at[:2]) < 0.5


def test_what_a_figure_wears_is_inside_the_box(person, walk):
    triangle = np.array([[0.0, 0.0, 3.0], [0.9, 0.0, 1.0], [0.0, 0.1, 1.0]])
    ones, joints = np.tile([1.0, 0.0, 0.0, 0.0], (3, 1)), np.zeros((3, 4), dtype=np.int64)
    hat = SkinMesh("hat", triangle, triangle, np.array([[0, 1, 2]]), joints, ones, np.ones((3, 3)))
    bare, hatted = build_figure("bare", person), build_figure("hatted", person, Skin(person, (hat,)))
    low, high = box_of([walk.positions[0]], [hatted])
    assert high[2] == pytest.approx(walk.positions[0, :, 2].max() + 3.0 - person.rest_positions[:, 2].max())
    assert high[0] - low[0] > np.ptp(walk.positions[0, :, 0]) + 0.5
    assert bare.beyond[2] > 0.0  # a head is higher than its joint


def test_the_ground_is_measured_in_what_suits_the_figure():
    assert look.cell_of(look.size_of([1.7])) == look.cell_of(look.size_of([4.8, 1.2])) == 1.0
    assert look.cell_of(look.size_of([13.3])) == 10.0
    assert look.cell_of(look.size_of([0.2])) == 0.1


def test_those_who_go_together_are_followed_together(walk):
    tracks = place([walk, walk])
    following = Following(tracks)
    middle, lanes = following.at(moment(tracks, 1.0), True)
    assert middle[0] == pytest.approx(1.2, abs=1e-6)
    np.testing.assert_array_equal(lanes, np.zeros((2, 2)))
    assert not part_ways(tracks)


def test_those_who_part_are_kept_each_in_its_lane(walk):
    fast = walk.with_poses(Pose(walk.root * [4.0, 1.0, 1.0], walk.wxyz))
    tracks = place([walk, fast])
    assert part_ways(tracks)
    middle, lanes = Following(tracks).at(moment(tracks, 1.0), True)
    np.testing.assert_allclose(middle, [0.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(lanes, [[1.2, 0.0], [4.8, 0.0]], atol=1e-6)
    unfollowed = Following(tracks).at(moment(tracks, 1.0), False)
    assert not np.any(unfollowed[0])
    assert not np.any(unfollowed[1])


def test_the_shorter_clip_holds_or_begins_anew(walk):
    short = walk.with_poses(Pose(walk.root[:31], walk.wxyz[:31]))
    tracks = place([walk, short])
    held = moment(tracks, 1.5).figures[1].positions
    again = moment(tracks, 1.5, repeat=True).figures[1].positions
    np.testing.assert_array_equal(held, tracks[1].body.positions[30])
    np.testing.assert_allclose(again, tracks[1].body.positions[15], atol=1e-9)
