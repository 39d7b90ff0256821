"""Choosing a response: places and headings do not matter, the asked way does, and F is exact."""

import numpy as np
import pytest

from jostle.controllers.graph.reel import Place, fit_place, likes
from jostle.controllers.graph.serve import MOST, TURN, WALKING, WITHIN, serve, turn_of
from jostle.maths import quat

SOMEWHERE = Place(0.7, 3.0, -2.0)


def at_onset(people, number):
    """The configuration of a response when its push begins, somewhere else."""
    node = people.onsets[number]
    return SOMEWHERE.positions(people.reel.positions[node]), SOMEWHERE.vectors(people.reel.velocity[node])


def served(people, number, wanted, choice="filtered"):
    return serve(people.reel, people.responses, people.onsets, *at_onset(people, number), wanted, choice)


def test_distances_do_not_see_place_and_heading(people):
    positions, velocity = at_onset(people, 3)
    apart = likes(positions[None], velocity[None]).apart(people.reel.likes.rows(people.onsets))[0]
    assert np.argmin(apart) == 3
    assert apart[3] < 1e-6


def test_a_place_is_found_again(people):
    points = people.reel.positions[people.onsets[2]]
    (found,) = fit_place(SOMEWHERE.positions(points), points[None])
    assert (found.yaw, found.x, found.y) == pytest.approx((0.7, 3.0, -2.0))


def test_turned_about_a_point_that_point_stays():
    point = np.array([1.0, 2.0, 0.5])
    there = SOMEWHERE.positions(point)
    np.testing.assert_allclose(SOMEWHERE.turned(0.4, there[:2]).positions(point), there)


def test_the_push_that_was_recorded_is_served_by_its_own_response_as_it_was(people):
    for number, response in enumerate(people.responses):
        found = served(people, number, SOMEWHERE.vectors(response.gained))
        assert found.number == number
        assert found.miss == pytest.approx(0.0, abs=1e-9)
        np.testing.assert_allclose(found.m, 0.0, atol=1e-9)


@pytest.mark.parametrize("degrees", range(0, 360, 45))
def test_the_pushed_joint_gets_what_is_asked_for(people, degrees):
    wanted = 0.8 * np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees)), 0.0])
    found = served(people, 0, wanted)
    gets = quat.apply(quat.from_yaw(found.place.yaw), people.responses[found.number].gained) + found.m
    assert np.linalg.norm(wanted - gets) == pytest.approx(found.short, abs=1e-9)
    assert np.linalg.norm(found.m) <= MOST + 1e-9
    assert found.miss <= WITHIN  # these responses go to all sides


def test_nearest_ignores_the_way_and_says_by_how_much_it_misses(people):
    backwards = -SOMEWHERE.vectors(people.responses[0].gained)
    found = served(people, 0, backwards, "nearest")
    assert found.number == 0
    assert found.miss == pytest.approx(np.pi - turn_of(at_onset(people, 0)[1]))


def test_who_stands_is_turned_and_who_walks_is_not():
    assert turn_of(np.zeros((4, 3))) == TURN
    assert turn_of(np.full((4, 3), [0.0, -WALKING, 0.0])) == 0.0


def test_walkers_are_laid_along_their_way():
    points = np.array([[0.0, 0.1, 0.0], [0.0, -0.1, 0.0]])
    ahead, left = np.full((6, 3), [1.4, 0.0, 0.0]), np.full((6, 3), [0.0, 1.4, 0.0])
    (by_feet,), (by_both,) = fit_place(points, points[None]), fit_place(points, points[None], left, ahead[None])
    assert by_feet.yaw == pytest.approx(0.0)
    assert np.radians(80.0) < by_both.yaw < np.radians(90.0)
