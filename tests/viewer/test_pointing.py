"""Clicks on the ground become targets."""

import numpy as np
import pytest

from jostle.viewer.live import open_controllers
from jostle.viewer.pointing import on_ground


@pytest.fixture
def live(listener):
    object.__setattr__(listener, "supports", frozenset({"target"}))
    opened = open_controllers([listener], port=0, shadows=False)
    yield opened
    opened.close()


def heard(live, listener):
    live.tick(1)
    return listener.heard[-1].target


def test_a_ray_meets_the_ground_or_does_not():
    found = on_ground(np.array([0.0, -2.0, 2.0]), np.array([0.5, 1.0, -1.0]))
    assert found is not None
    np.testing.assert_allclose(found, [1.0, 0.0, 0.0])
    assert on_ground(np.array([0.0, 0.0, 2.0]), np.array([1.0, 0.0, 0.1])) is None
    assert on_ground(np.array([0.0, 0.0, -1.0]), np.array([0.0, 0.0, -1.0])) is None


def test_a_click_is_a_target_where_the_page_has_moved_to(live, listener):
    assert heard(live, listener) is None
    live.scene.offset = np.array([3.0, 1.0])
    live.pointing.point((0.0, 0.0, 1.0), (1.0, 0.0, -1.0))
    np.testing.assert_allclose(heard(live, listener), [4.0, 1.0, 0.0])
    live.reset()
    assert heard(live, listener) is None
