"""Steering: headings turn at a limited rate, the shorter way, and fade out when nobody steers."""

import numpy as np
import pytest

from jostle.body import GRAVITY
from jostle.controllers.walker.course import CORRECT, LEAN, TO_MIDDLE, TURNING, Course, to_middle

DT = 1 / 60


def steer(course: Course, wish: float | None, seconds: float, speed: float = 1.2) -> Course:
    """A body that goes exactly where it heads."""
    for _ in range(round(seconds / DT)):
        velocity = speed * np.append(course.ahead, 0.0)
        course = course.after(wish, velocity, DT)
    return course


@pytest.mark.parametrize(("start", "wish"), [(0.0, 1.0), (3.0, -3.0), (-2.0, 2.5)])
def test_it_arrives_by_the_shorter_way_and_stays(start, wish):
    gap = (wish - start + np.pi) % (2 * np.pi) - np.pi
    early = steer(Course(start), wish, 0.5)
    assert 0.0 < (early.heading - start) * np.sign(gap) <= 0.5 * TURNING
    late = steer(Course(start), wish, abs(gap) / TURNING + 5.0)
    assert late.heading - start == pytest.approx(gap, abs=0.01)
    assert abs(late.turning) < 0.01
    assert abs(late.veer) < 0.01


def test_a_steady_turn_leans_on_speed_times_rate():
    course = steer(Course(0.0), 3.0, 3.0)
    assert course.turning == pytest.approx(TURNING, rel=0.01)
    assert course.veer == pytest.approx(LEAN * 1.2 * TURNING / GRAVITY, rel=0.03)


def test_a_drift_is_corrected_only_while_someone_steers():
    """Drifting to the left: step to the left of it."""
    course, aside = Course(0.0), np.array([1.2, 0.2, 0.0])
    for _ in range(300):
        course = course.after(0.0, aside, DT)
    assert course.veer == pytest.approx(-CORRECT * 0.2, rel=0.01)
    for _ in range(300):
        course = course.after(None, aside, DT)
    assert course.veer == pytest.approx(0.0, abs=1e-4)
    assert course.heading == pytest.approx(0.0)


def test_nobody_steers_nothing_happens():
    course = steer(Course(0.7), None, 1.0)
    assert (course.heading, course.turning, course.veer) == (0.7, 0.0, 0.0)


def test_who_is_left_of_the_middle_of_a_beam_heads_right_for_a_place_ahead_on_it():
    aside = np.array([-1e-3, 0.0, 0.2, 50.0])
    headings = to_middle(aside, 2.0)
    assert 2.0 * np.tan(headings[:3]) == pytest.approx(-aside[:3])
    assert headings[3] == -TO_MIDDLE
