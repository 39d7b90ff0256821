"""The shipped walkers, live: they walk, get round a corner, and stand up where they were pushed over."""

import numpy as np
import pytest

from jostle.assets import walker_names, walker_path
from jostle.controllers import NEUTRAL, Command, Push, Start
from jostle.runtime import load_controller

pytestmark = pytest.mark.slow


def run(controller, state, seconds, command=NEUTRAL):
    for _ in range(round(seconds / controller.dt)):
        state = controller.step(state, command)
    return state


@pytest.mark.parametrize("name", walker_names())
def test_it_walks_live(name):
    """At the live page's time step, which is not the one that it was made at."""
    walker = load_controller(walker_path(name))
    state = run(walker, walker.init(Start()), 2.5)
    assert state.observed.quality["fallen"] == 0.0
    assert state.pose.root[0] > 1.0


def test_it_gets_round_a_corner():
    walker = load_controller(walker_path("stocky"))
    state = run(walker, walker.init(Start()), 5.0, Command(heading=0.6))
    assert state.observed.quality["fallen"] == 0.0
    assert state.observed.quality["heading"] == pytest.approx(0.6, abs=0.1)
    before = state.pose.root
    way = run(walker, state, 2.0, Command(heading=0.6)).pose.root - before
    assert np.arctan2(way[1], way[0]) == pytest.approx(0.6, abs=0.3)


def test_it_walks_on_after_it_was_pushed_over_and_stood_up():
    walker = load_controller(walker_path("stocky"))
    state = run(walker, walker.init(Start()), 1.0)
    state = walker.step(state, Command(pushes=(Push("torso", np.array([0.0, -700.0, 0.0]), 0.3),)))
    state = run(walker, state, 2.0)
    assert state.observed.quality["fallen"] == 1.0
    state = run(walker, walker.step(state, Command(task="stand up")), 3.0)
    assert state.observed.quality["fallen"] == 0.0
