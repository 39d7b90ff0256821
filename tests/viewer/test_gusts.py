"""Wind on the page."""

import numpy as np
import pytest

from jostle.controllers import Playback
from jostle.viewer.gusts import RATE, SECONDS, Gusts, gust_on
from jostle.viewer.live import open_controllers


def blown(seed: int, newtons: float, seconds: float) -> list:
    gusts = Gusts(seed)
    return [force for _ in range(round(seconds * 60)) if (force := gusts.blow(newtons, 1 / 60)) is not None]


def test_gusts_come_from_anywhere_at_their_rate_and_strength():
    forces = np.array(blown(0, 120.0, 2000.0))
    assert len(forces) == pytest.approx(2000 * RATE, rel=0.1)
    np.testing.assert_allclose(np.linalg.norm(forces, axis=1), 120.0)
    assert np.all(forces[:, 2] == 0.0)
    assert np.linalg.norm(forces.mean(axis=0)) < 10.0
    np.testing.assert_array_equal(forces, blown(0, 120.0, 2000.0))
    assert blown(0, 0.0, 60.0) == []


def test_a_gust_is_a_push_on_the_trunk(person):
    push, drag = gust_on(2, person, np.array([50.0, 0.0, 0.0]))
    assert (push.part, push.duration, push.point) == ("chest", SECONDS, None)
    assert (drag.character, person.names[drag.joint]) == (2, "Chest")


def test_wind_reaches_everyone_who_can_be_pushed_and_is_drawn(listener, walk):
    live = open_controllers([listener, Playback(walk)], port=0, shadows=False)
    try:
        live.panel.wind.value = 80.0
        for _ in range(600):
            live.tick(1)
            if live.acting[0]:
                break
        assert [len(acting) for acting in live.acting] == [1, 0]
        assert listener.heard[-1].pushes[0].part == "chest"
        [arrow] = live.shown.figures[0].arrows
        assert arrow.newtons == pytest.approx(80.0)
    finally:
        live.close()
