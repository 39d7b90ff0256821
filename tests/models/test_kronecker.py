"""A complete grid of factors: against the dense formulas."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from jostle.errors import MotionError
from jostle.models.kernels import Dot, Rbf
from jostle.models.kronecker import Grid


@pytest.fixture
def grid():
    rng = np.random.default_rng(0)
    values = (rng.normal(size=(3, 3)), rng.normal(size=(2, 3)), rng.normal(size=(5, 2)))
    return Grid(values, (Dot(), Dot(), Rbf()), (np.zeros(0), np.zeros(0), np.array([0.7])), (0.1, 0.2, 0.05))


def test_factors_make_the_covariance(grid):
    """Entry by entry: the product over factors, each with its own noise where its category is the same."""
    cells = [(i, j, k) for i in range(3) for j in range(2) for k in range(5)]
    expected = np.empty((30, 30))
    for a, p in enumerate(cells):
        for b, q in enumerate(cells):
            parts = [
                kernel(h, x[p[m]][None], x[q[m]][None])[0, 0] + noise * (p[m] == q[m])
                for m, (kernel, h, x, noise) in enumerate(
                    zip(grid.kernels, grid.hypers, grid.values, grid.noises, strict=True)
                )
            ]
            expected[a, b] = np.prod(parts)
    assert np.allclose(grid.covariance(), expected)


def test_solution_and_likelihood_are_the_dense_ones(grid):
    Y, K = np.random.default_rng(1).normal(size=(30, 4)), grid.covariance()
    assert np.allclose(grid.solve(Y), np.linalg.solve(K, Y))
    assert np.isclose(grid.log_determinant, np.linalg.slogdet(K)[1])
    dense = sum(multivariate_normal(np.zeros(30), K).logpdf(y) for y in Y.T)
    assert np.isclose(grid.log_likelihood(Y), dense)


def test_mean_is_the_dense_one(grid):
    rng = np.random.default_rng(2)
    Y, new = rng.normal(size=(30, 4)), [rng.normal(size=3), rng.normal(size=3), rng.normal(size=2)]
    across = np.array([
        np.prod([k(h, x[None], v[i][None])[0, 0] for k, h, x, v, i in zip(
            grid.kernels, grid.hypers, new, grid.values, cell, strict=True)])
        for cell in np.ndindex(*grid.sizes)
    ])  # fmt: skip
    assert np.allclose(grid.mean(new, Y), across @ np.linalg.solve(grid.covariance(), Y))


def test_an_incomplete_grid_is_refused(grid):
    with pytest.raises(MotionError, match="3 x 2 x 5"):
        grid.solve(np.zeros((29, 2)))
    with pytest.raises(MotionError, match="for each of its factors"):
        Grid(grid.values, grid.kernels, grid.hypers, (0.1,))
