"""The spring against a solver of differential equations, and what the paper says of impulses."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from jostle.controllers.graph.offset import K_D, K_S, Offset, impulse, nothing


def test_the_closed_form_is_the_equation():
    start = np.array([0.3, -1.2])
    solved = solve_ivp(lambda t, y: [y[1], K_S * y[0] + K_D * y[1]], (0.0, 1.0), start, rtol=1e-10, atol=1e-12)
    after = Offset(start[:1], start[1:]).after(1.0)
    np.testing.assert_allclose([after.value[0], after.rate[0]], solved.y[:, -1], atol=1e-8)


def test_many_small_steps_are_one_large_one():
    offset = one = Offset(np.array([0.1, -0.2]), np.array([1.0, 3.0]))
    for _ in range(30):
        offset = offset.after(1.0 / 60.0)
    np.testing.assert_allclose(offset.value, one.after(0.5).value, atol=1e-12)
    np.testing.assert_allclose(offset.rate, one.after(0.5).rate, atol=1e-12)


def test_an_impulse_of_a_metre_a_second_displaces_by_six_centimetres():
    pushed = nothing(1).plus(np.zeros(1), np.ones(1))
    path = [pushed.after(t).value[0] for t in np.arange(0.0, 1.0, 0.001)]
    assert max(path) == pytest.approx(0.0645, abs=1e-3)
    assert int(np.argmax(path)) == pytest.approx(157, abs=1)


def test_what_is_far_from_the_push_gets_less_of_it():
    positions = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 1.3], [0.0, 0.0, 0.0]])
    M = impulse(positions, positions[0], np.array([0.0, 2.0, 0.0]), omega=6.0)
    np.testing.assert_allclose(M[:, 1], 2.0 * np.exp(-6.0 * np.array([0.0, 0.09, 1.0])))
    assert np.all(M[:, [0, 2]] == 0.0)
