"""People walk as textbooks say: the curves from real recordings have the shape of human gait."""

import numpy as np
import pytest

from jostle.evaluate.walk.humans import Humans, human_walks


@pytest.fixture(scope="module")
def humans(data) -> Humans:
    found = human_walks(data)
    assert found is not None
    return found


def test_everybody_counts_once_a_leg(humans):
    assert humans.people == 9
    assert humans.curves.shape == (18, 100, 3)
    assert 1.1 < humans.speed < 1.5


def test_the_thigh_swings_from_forward_to_back(humans):
    thigh = humans.mean[:, 0]
    assert 20 < thigh[0] < 36
    assert -26 < thigh.min() < -12
    assert 45 < int(np.argmin(thigh)) < 60


def test_the_knee_flexes_a_little_in_stance_and_much_in_swing(humans):
    knee = humans.mean[:, 1]
    assert knee[0] < 15
    assert 12 < knee[5:25].max() < 28
    assert 50 < knee[60:90].max() < 70
    assert 70 <= int(np.argmax(knee)) <= 80


def test_the_foot_strikes_toe_up_stands_flat_and_leaves_toe_down(humans):
    foot = humans.mean[:, 2]
    assert 15 < foot[0] < 30
    assert np.all(np.abs(foot[15:35]) < 3)
    assert -80 < foot.min() < -50
    assert 60 < int(np.argmin(foot)) < 72


def test_distance_counts_standard_deviations(humans):
    assert humans.distance(humans.mean) == {"thigh": 0.0, "knee": 0.0, "foot": 0.0}
    away = humans.distance(humans.mean + humans.sd * [1.0, -2.0, 0.5])
    assert away == pytest.approx({"thigh": 1.0, "knee": 2.0, "foot": 0.5})
    usual = np.mean([list(humans.distance(curve).values()) for curve in humans.curves], axis=0)
    assert np.all(usual < 1.0)  # people themselves are within one of their own mean


def test_too_few_people_make_no_mean(tmp_path):
    assert human_walks(tmp_path) is None
