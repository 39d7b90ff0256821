"""The diffusion kernel against scipy's matrix exponential, its derivative against differences, and what it rewards."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg

from jostle.models.backend import float64
from jostle.models.diffusion import connectivity, diffusion_kernel, expm_symmetric, negative_laplacian, softness


def ring(count, radius=1.0, middle=0.0):
    t = np.arange(count) * 2 * np.pi / count
    return np.stack([middle + radius * np.cos(t), radius * np.sin(t)], axis=1)


def textbook(X):
    """H as the paper writes it."""
    d = np.linalg.norm(X[:, None] - X[None], axis=-1)
    np.fill_diagonal(d, 1.0)
    w = d**-4.0
    np.fill_diagonal(w, 0.0)
    T = w.sum(axis=1)
    return -(np.diag(T) - w) / np.sqrt(np.outer(T, T))


def test_laplacian_is_the_papers():
    X = np.random.default_rng(0).normal(size=(15, 3))
    H = float64(jax.jit(negative_laplacian))(X, np.array(0.0))
    np.testing.assert_allclose(H, textbook(X), atol=1e-12)


@pytest.mark.parametrize("beta", [0.5, 30.0, 1000.0])
def test_kernel_is_scipys_matrix_exponential(beta):
    X = np.random.default_rng(1).normal(size=(20, 2))
    ours = diffusion_kernel(X, 0.0, beta)
    np.testing.assert_allclose(ours, scipy.linalg.expm(beta * textbook(X)), atol=1e-11)


@float64
def value_and_slope(function, *given):
    value, slope = jax.jit(jax.value_and_grad(function))(*(jnp.asarray(g) for g in given))
    return float(value), np.asarray(slope)


def test_derivative_of_the_exponential_with_equal_eigenvalues():
    """A ring's Laplacian has nearly all eigenvalues twice."""
    H, weight = textbook(ring(8)), np.random.default_rng(0).normal(size=(8, 8))
    weight = weight + weight.T

    def function(H):
        return jnp.sum(weight * expm_symmetric(H, jnp.asarray(3.0)))

    _, slope = value_and_slope(function, H)
    for i, j in [(0, 0), (1, 4), (2, 3), (7, 0)]:
        step = np.zeros((8, 8))
        step[i, j] = step[j, i] = 1e-5
        up, down = (np.sum(weight * scipy.linalg.expm(3.0 * (H + sign * step))) for sign in (1, -1))
        expected = (up - down) / 2e-5
        assert slope[i, j] + (slope[j, i] if i != j else 0.0) == pytest.approx(expected, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("beta", [2.0, 1000.0])
def test_gradient_of_connectivity_against_finite_differences(beta):
    X = np.concatenate([ring(7), ring(6, 0.7, 2.5)]) + 0.05 * np.random.default_rng(2).normal(size=(13, 2))

    @float64
    def evaluate(X):
        return jitted(jnp.asarray(X), jnp.asarray(1e-6))

    jitted = jax.jit(jax.value_and_grad(lambda X, soft: connectivity(X, soft, beta)))
    _, slope = evaluate(X)
    for at in [(0, 0), (3, 1), (7, 0), (12, 1)]:
        step = np.zeros_like(X)
        step[at] = 1e-5
        numeric = (float(evaluate(X + step)[0]) - float(evaluate(X - step)[0])) / 2e-5
        assert float(slope[at]) == pytest.approx(numeric, rel=1e-4, abs=1e-4)


def test_clips_that_are_brought_together_are_better_connected():
    """What the prior is for: pulling two rings together raises it, and its slope says so."""
    values = [
        value_and_slope(connectivity, np.concatenate([ring(20), ring(20, 1.0, gap)]), 1e-6)[0] for gap in (50, 8, 3)
    ]
    assert values == sorted(values)
    _, slope = value_and_slope(connectivity, np.concatenate([ring(20), ring(20, 1.0, 8.0)]), 1e-6)
    assert slope[:20, 0].sum() > 0 > slope[20:, 0].sum()


def test_only_the_shape_counts():
    X = np.random.default_rng(3).normal(size=(12, 2))
    small = value_and_slope(connectivity, X, 0.0)[0]
    assert value_and_slope(connectivity, 1e-3 * X, 0.0)[0] == pytest.approx(small, rel=1e-9)


def test_points_that_coincide_are_borne():
    X = ring(12)
    X[1] = X[0]
    X[2] = X[0]
    value, slope = value_and_slope(connectivity, X, softness(np.diff(X, axis=0)))
    assert np.isfinite(value)
    assert np.all(np.isfinite(slope))


def test_points_all_in_one_place_are_borne():
    value, slope = value_and_slope(connectivity, np.zeros((6, 2)), softness(np.zeros((5, 2))))
    assert value == pytest.approx(36 * np.log(1 / 6))
    assert np.all(np.isfinite(slope))
