"""Learning likelihoods against textbook formulas, their hand-written derivative against finite differences."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jostle.models import gp, kernels, likelihood
from jostle.models.backend import float64


def _given(seed=0, n=10, d=4):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    K = kernels.rbf()(np.array([1.3, 0.8]), x, x) + 0.1 * np.eye(n)
    return K, rng.normal(size=(n, d)) * np.array([3.0, 1.0, 0.3, 1e-3])[:d]


@float64
def _scaled(K, Y, most):
    fit = likelihood.scaled(jnp.asarray(K), jnp.asarray(Y), jnp.asarray(most))
    return float(fit.loss), np.asarray(fit.scales), float(fit.jitter)


@float64
def _plain(K, Y):
    fit = likelihood.plain(jnp.asarray(K), jnp.asarray(Y))
    return float(fit.loss), np.asarray(fit.scales), float(fit.jitter)


def _textbook(K, Y, w):
    """(5.17) without its constant, with a plain inverse and determinant."""
    n, d = Y.shape
    misfit = sum(w[i] ** 2 * Y[:, i] @ np.linalg.inv(K) @ Y[:, i] for i in range(d))
    return 0.5 * d * np.linalg.slogdet(K)[1] + 0.5 * misfit - n * np.sum(np.log(w))


@pytest.mark.parametrize("most", [1e3, 2.0, 0.2], ids=["free", "one capped", "most capped"])
def test_scaled_is_the_textbook_formula_at_its_scales(most):
    K, Y = _given()
    loss, w, jitter = _scaled(K, Y, most)
    free = np.sqrt(len(Y) / np.einsum("nd,nm,md->d", Y, np.linalg.inv(K), Y))
    np.testing.assert_allclose(w, np.minimum(free, most), rtol=1e-10)
    assert loss == pytest.approx(_textbook(K, Y, w), rel=1e-10)
    assert jitter == 0.0


def test_no_other_scales_are_better():
    K, Y = _given(seed=1)
    loss, w, _ = _scaled(K, Y, 50.0)
    for i in range(len(w)):
        for factor in (0.9, 1.1):
            other = w.copy()
            other[i] = min(other[i] * factor, 50.0)
            assert _textbook(K, Y, other) >= loss - 1e-9


def test_plain_is_minus_the_log_density_without_its_constant():
    K, Y = _given(seed=2)
    loss, scales, _ = _plain(K, Y)
    assert loss == pytest.approx(_textbook(K, Y, np.ones(4)), rel=1e-10)
    assert np.all(scales == 1.0)
    factor = gp.cholesky(K)
    assert -loss - 0.5 * Y.size * np.log(2 * np.pi) == pytest.approx(gp.log_density(Y, factor), rel=1e-10)


def _both(which, most):
    if which == "plain":
        return lambda K, Y: likelihood.plain(K, Y).loss
    return lambda K, Y: likelihood.scaled(K, Y, jnp.asarray(most)).loss


@pytest.mark.parametrize(("which", "most"), [("scaled", 1e3), ("scaled", 2.0), ("scaled", 0.2), ("plain", 1.0)])
def test_the_derivative_with_respect_to_covariance_and_data(which, most):
    """A covariance moves symmetrically, so compare along symmetric directions."""
    K, Y = _given(seed=3)
    rng = np.random.default_rng(4)

    @float64
    def along():
        loss = _both(which, most)
        dK, dY = (np.asarray(g) for g in jax.grad(loss, argnums=(0, 1))(jnp.asarray(K), jnp.asarray(Y)))
        for _ in range(4):
            E = rng.normal(size=K.shape)
            E, F = E + E.T, rng.normal(size=Y.shape) * np.abs(Y)
            step = 1e-5
            ends = [float(loss(jnp.asarray(K + s * step * E), jnp.asarray(Y + s * step * F))) for s in (1, -1)]
            assert np.sum(dK * E) + np.sum(dY * F) == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-5)

    along()


def test_the_chain_reaches_hyperparameters_and_latent_positions():
    """As models use it: a compiled loss of kernel numbers and inputs, against finite differences of NumPy's own."""
    rng = np.random.default_rng(5)
    x, Y, h = rng.normal(size=(8, 2)), rng.normal(size=(8, 3)), np.array([0.2, -0.3, -2.0])
    kernel = kernels.rbf()

    def dense(h, x):
        K = kernel(np.exp(h[:2]), x, x) + np.exp(h[2]) * np.eye(8)
        w = np.sqrt(8 / np.einsum("nd,nm,md->d", Y, np.linalg.inv(K), Y))
        return _textbook(K, Y, w)

    @float64
    def slopes():
        def loss(h, x):
            K = kernel(jnp.exp(h[:2]), x, x) + jnp.exp(h[2]) * jnp.eye(8)
            return likelihood.scaled(K, jnp.asarray(Y), jnp.asarray(1e6)).loss

        return [np.asarray(g) for g in jax.jit(jax.grad(loss, argnums=(0, 1)))(jnp.asarray(h), jnp.asarray(x))]

    by_h, by_x = slopes()
    step = 1e-6
    for i in range(3):
        e = step * np.eye(3)[i]
        assert by_h[i] == pytest.approx((dense(h + e, x) - dense(h - e, x)) / (2 * step), rel=1e-5, abs=1e-7)
    for i, j in ((0, 0), (3, 1), (7, 0)):
        e = np.zeros_like(x)
        e[i, j] = step
        assert by_x[i, j] == pytest.approx((dense(h, x + e) - dense(h, x - e)) / (2 * step), rel=1e-5, abs=1e-7)


@float64
def _repaired(K):
    lower, jitter = likelihood.repaired_cholesky(jnp.asarray(K))
    return np.asarray(lower), float(jitter)


def test_a_definite_covariance_is_factored_as_it_is():
    K, _ = _given()
    lower, jitter = _repaired(K)
    assert jitter == 0.0
    np.testing.assert_allclose(lower @ lower.T, K, atol=1e-12)


def test_a_repaired_covariance_says_its_jitter():
    """Of the mean diagonal, in powers of ten, no more than needed: here the least eigenvalue is -1e-7."""
    K = np.diag([4.0, 4.0, 4.0, 0.0]) + 0.0
    K[3, 3] = -1e-7
    lower, jitter = _repaired(K)
    share = jitter / np.mean(np.diag(K))
    assert share == pytest.approx(1e-7, rel=1e-6)
    np.testing.assert_allclose(lower @ lower.T, K + jitter * np.eye(4), atol=1e-12)
    assert _scaled(K, np.ones((4, 2)), 1.0)[2] == jitter
    assert _plain(K, np.ones((4, 2)))[2] == jitter


def test_what_no_jitter_helps_is_no_number():
    """So that learning takes another step instead of believing it."""
    lower, _ = _repaired(np.diag([1.0, -5.0, 2.0]))
    assert np.isnan(lower).any()
    assert np.isnan(_plain(np.diag([1.0, -5.0, 2.0]), np.ones((3, 1)))[0])
