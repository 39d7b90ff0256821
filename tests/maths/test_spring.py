"""Springs by half-life: exact for any time step, and against the differential equation itself."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from jostle.maths import spring


def test_damp_covers_half_the_way_every_half_life():
    x = np.array([4.0, -2.0])
    np.testing.assert_allclose(spring.damp(x, np.zeros(2), 0.3, 0.3), 0.5 * x, atol=1e-9)
    np.testing.assert_allclose(spring.damp(x, np.ones(2), 0.3, 0.6), 1 + 0.25 * (x - 1), atol=1e-9)


def test_one_long_step_equals_many_short_ones():
    x, v, goal = np.array([1.0, -2.0]), np.array([3.0, 0.5]), np.array([0.2, 0.4])
    long = spring.step(x, v, goal, 0.2, 1.0)
    for _ in range(60):
        x, v = spring.step(x, v, goal, 0.2, 1 / 60)
    np.testing.assert_allclose(x, long[0], atol=1e-12)
    np.testing.assert_allclose(v, long[1], atol=1e-12)


def test_step_solves_the_critically_damped_equation():
    y = 2 * np.log(2) / 0.25
    truth = solve_ivp(lambda t, s: [s[1], -2 * y * s[1] - y * y * s[0]], (0, 0.7), [1.5, -4.0], rtol=1e-10, atol=1e-12)
    x, v = spring.step(np.array([1.5]), np.array([-4.0]), np.zeros(1), 0.25, 0.7)
    np.testing.assert_allclose([x[0], v[0]], truth.y[:, -1], atol=1e-6)


def test_decay_is_the_spring_towards_nothing():
    offset, velocity = np.array([[1.0, 2.0, 3.0]]), np.array([[0.5, -1.0, 0.0]])
    times = np.array([0.0, 0.1, 0.7])
    left = spring.decay(offset, velocity, 0.2, times)
    assert left.shape == (3, 1, 3)
    for t, value in zip(times, left, strict=True):
        np.testing.assert_allclose(value, spring.step(offset, velocity, np.zeros((1, 3)), 0.2, float(t))[0], atol=1e-9)


def test_decay_starts_with_the_offset_and_its_velocity():
    offset, velocity, h = np.array([0.7]), np.array([-2.0]), 1e-6
    slope = (spring.decay(offset, velocity, 0.1, h) - spring.decay(offset, velocity, 0.1, 0.0)) / h
    np.testing.assert_allclose(spring.decay(offset, velocity, 0.1, 0.0), offset)
    np.testing.assert_allclose(slope, velocity, atol=1e-3)


def test_no_half_life_is_there_at_once():
    assert spring.damp(np.array([5.0]), np.array([1.0]), 0.0, 1 / 60)[0] == pytest.approx(1.0)
    x, v = spring.step(np.array([5.0]), np.array([9.0]), np.array([1.0]), 0.0, 1 / 60)
    assert x[0] == pytest.approx(1.0)
    assert v[0] == pytest.approx(0.0)
