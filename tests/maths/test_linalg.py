"""The repairing Cholesky factor and the damped Gauss-Newton step."""

import numpy as np
import pytest
from scipy.optimize import least_squares

from jostle.errors import JostleError
from jostle.maths import linalg


def _positive(n=6, seed=0):
    m = np.random.default_rng(seed).normal(size=(n, n))
    return m @ m.T + 0.1 * np.eye(n)


def test_factor_of_a_good_matrix_needs_no_jitter():
    a, b = _positive(), np.random.default_rng(1).normal(size=(6, 2))
    factor = linalg.cholesky(a)
    assert factor.jitter == 0.0
    np.testing.assert_allclose(factor.lower @ factor.lower.T, a, atol=1e-12)
    np.testing.assert_allclose(factor.solve(b), np.linalg.solve(a, b), atol=1e-9)
    assert factor.log_determinant == pytest.approx(np.linalg.slogdet(a)[1])


def test_singular_matrices_are_repaired_by_as_little_as_helps():
    a = np.ones((4, 4))
    factor = linalg.cholesky(a)
    assert 0.0 < factor.jitter <= 1e-9
    np.testing.assert_allclose(factor.lower @ factor.lower.T, a, atol=2 * factor.jitter)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_named(bad):
    a = _positive()
    a[2, 3] = bad
    with pytest.raises(JostleError, match="NaN or infinity"):
        linalg.cholesky(a)


def test_an_indefinite_matrix_is_refused():
    with pytest.raises(JostleError, match="should be positive definite"):
        linalg.cholesky(np.diag([1.0, -5.0, 2.0]))


def _rosenbrock(x):
    r = np.array([10 * (x[1] - x[0] ** 2), 1 - x[0]])
    return r, np.array([[-20 * x[0], 10.0], [-1.0, 0.0]])


def test_gauss_newton_finds_the_bottom_of_the_valley():
    np.testing.assert_allclose(linalg.gauss_newton(_rosenbrock, np.array([-1.2, 1.0])), [1.0, 1.0], atol=1e-6)


def test_gauss_newton_agrees_with_scipy_on_an_overdetermined_fit():
    t = np.linspace(0, 2, 30)
    y = 2.0 * np.exp(-1.3 * t) + 0.01 * np.random.default_rng(2).normal(size=30)

    def misfit(x):
        fit = np.exp(-x[1] * t)
        return x[0] * fit - y, np.stack([fit, -x[0] * t * fit], axis=1)

    found = linalg.gauss_newton(misfit, np.array([1.0, 0.5]))
    np.testing.assert_allclose(found, least_squares(lambda x: misfit(x)[0], [1.0, 0.5]).x, atol=1e-5)


def test_gauss_newton_survives_a_direction_that_does_nothing():
    def flat(x):
        return np.array([x[0] - 3.0]), np.array([[1.0, 0.0]])

    found = linalg.gauss_newton(flat, np.array([0.0, 7.0]))
    np.testing.assert_allclose(found, [3.0, 7.0], atol=1e-6)


def test_a_bare_solve_is_numpys():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(30, 30)), rng.normal(size=30)
    kept = a.copy()
    np.testing.assert_allclose(linalg.solve(a, b), np.linalg.solve(a, b), rtol=1e-9)
    np.testing.assert_array_equal(a, kept)
    with pytest.raises(np.linalg.LinAlgError):
        linalg.solve(np.zeros((2, 2)), np.ones(2))
