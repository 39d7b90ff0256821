"""A ground that tilts: it turns about a line on it and takes its marks along."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jostle.controllers import LEVEL, Floor
from jostle.maths import quat

slopes, places = st.floats(-0.4, 0.4), st.floats(-50.0, 50.0)


@given(slope=slopes, steeper=slopes, x=places)
def test_tilting_leaves_the_line_that_it_turns_about(slope, steeper, x):
    floor = LEVEL.tilted(slope, 3.0)
    after = floor.tilted(steeper, x)
    assert after.slope == steeper
    assert after.height(x) == pytest.approx(floor.height(x))
    assert after.distance(x) == pytest.approx(floor.distance(x))


@given(slope=slopes, x=places, further=st.floats(0.0, 20.0))
def test_distances_are_measured_on_the_ground(slope, x, further):
    """Two marks are as far apart as their points in the world are, before and after a tilt."""
    floor = LEVEL.tilted(slope, 7.0)
    way = np.hypot(further, floor.height(x + further) - floor.height(x))
    assert floor.distance(x + further) - floor.distance(x) == pytest.approx(way, abs=1e-9)


def test_normal_turn_and_point_mean_the_same_plane():
    floor = Floor(0.2).tilted(-0.1, 4.0)
    np.testing.assert_allclose(quat.apply(floor.wxyz, np.array([0.0, 0.0, 1.0])), floor.normal, atol=1e-12)
    for x in (-3.0, 0.0, 9.0):
        above = np.array([x, 5.0, floor.height(x)]) - floor.point
        assert above @ floor.normal == pytest.approx(0.0, abs=1e-12)


def test_a_slope_rises_along_x():
    assert Floor(0.1).height(1.0) == pytest.approx(np.tan(0.1))


def test_a_beam_stays_one_when_it_tilts():
    assert Floor(width=0.5).tilted(0.1, 2.0) == Floor(0.1, 2.0, 0.0, 2.0, 0.5)
