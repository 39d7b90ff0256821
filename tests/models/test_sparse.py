"""The sparse bound against dense textbook formulas, finite differences, and the exact likelihood it must reach."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jostle.models import gp, kernels, likelihood, sparse
from jostle.models.backend import float64


def curve(count, columns=4, seed=0):
    """Points on a smooth closed curve, and what can be seen from them."""
    rng = np.random.default_rng(seed)
    t = np.sort(rng.uniform(0, 2 * np.pi, count))
    x = np.stack([np.cos(t), np.sin(2 * t)], axis=1)
    freedom = rng.normal(size=(2, columns))
    return x, np.sin(1.5 * x @ freedom) + 0.05 * rng.normal(size=(count, columns))


H, NOISE, MOST = np.array([1.3, 2.0]), 0.02, 1e3
KERNEL = kernels.rbf()


@float64
def sparse_loss(X, Z, Y):
    return jax.jit(lambda X, Z, Y: sparse.bound(KERNEL, jnp.asarray(H), NOISE, X, Z, Y, MOST))(X, Z, Y)


def test_bound_is_the_dense_formula():
    X, Y = curve(40)
    Z = X[::5]
    A, B, K = KERNEL(H, Z, Z), KERNEL(H, Z, X), KERNEL(H, X, X)
    Q = B.T @ np.linalg.solve(A + 1e-9 * 1.3 * np.eye(len(Z)), B)
    C = Q + NOISE * np.eye(40)
    misfit = np.sum(Y * np.linalg.solve(C, Y), axis=0)
    w2 = 40 / misfit
    log = np.linalg.slogdet(C)[1]
    dense = 0.5 * 4 * log + 0.5 * 40 * 4 - 20 * np.sum(np.log(w2)) + 4 * np.trace(K - Q) / (2 * NOISE)
    fit = sparse_loss(X, Z, Y)
    assert float(fit.loss) == pytest.approx(dense, rel=1e-9)
    np.testing.assert_allclose(fit.scales, np.sqrt(w2), rtol=1e-7)


def test_bound_with_all_frames_is_the_exact_likelihood_and_its_gradient():
    X, Y = curve(30)
    rows = np.arange(30)

    @float64
    def slopes(rows):
        def loss(X, h, noise, Y):
            return sparse.scaled(KERNEL, h, noise, X, Y, MOST, rows).loss

        given = (jnp.asarray(X), jnp.asarray(H), jnp.asarray(NOISE), jnp.asarray(Y))
        return jax.jit(jax.value_and_grad(loss, argnums=(0, 1, 2, 3)))(*given)

    (exact, exact_slopes), (ours, our_slopes) = slopes(None), slopes(rows)
    assert float(ours) == pytest.approx(float(exact), rel=1e-6)
    for a, b in zip(exact_slopes, our_slopes, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-3, atol=1e-4 * float(np.abs(a).max()))


@pytest.mark.parametrize("most", [MOST, 1.5, None])
def test_gradient_against_finite_differences(most):
    X, Y = curve(25, 3)
    rows = np.arange(0, 25, 4)

    def loss(vector):
        x, h, noise, y = vector[:50].reshape(25, 2), vector[50:52], vector[52], vector[53:].reshape(25, 3)
        if most is None:
            return sparse.plain(KERNEL, h, noise, x, y, rows).loss
        return sparse.scaled(KERNEL, h, noise, x, y, most, rows).loss

    at = np.concatenate([X.ravel(), H, [NOISE], Y.ravel()])
    evaluate = float64(jax.jit(jax.value_and_grad(loss)))
    slope = np.asarray(evaluate(at)[1])
    for i in [0, 1, 8, 9, 30, 50, 51, 52, 60, 100]:
        step = np.zeros(len(at))
        step[i] = 1e-7 if i == 52 else 1e-5
        numeric = (float(evaluate(at + step)[0]) - float(evaluate(at - step)[0])) / (2 * step[i])
        assert slope[i] == pytest.approx(numeric, rel=2e-4, abs=1e-3)


def test_bound_only_rises_when_inputs_are_left_out():
    X, Y = curve(120)
    losses = [float(sparse_loss(X, X[sparse.farthest(X, count)], Y).loss) for count in (10, 40, 120)]

    @float64
    def exact():
        K = jnp.asarray(KERNEL(H, X, X) + NOISE * np.eye(120))
        return float(likelihood.scaled(K, jnp.asarray(Y), jnp.asarray(MOST)).loss)

    assert losses == sorted(losses, reverse=True)
    assert losses[-1] == pytest.approx(exact(), rel=1e-6)


def test_posterior_is_close_to_the_exact_one():
    X, Y = curve(400)
    at = curve(50, seed=1)[0]
    exact = gp.condition(KERNEL, H, NOISE, X, Y)
    ours = sparse.condition(KERNEL, H, NOISE, X, Y, sparse.farthest(X, 60))
    np.testing.assert_allclose(ours.mean(at), exact.mean(at), atol=1e-3)
    np.testing.assert_allclose(ours.variance(at), exact.variance(at), atol=1e-4)
    np.testing.assert_allclose(ours.jacobian(at[0]), exact.jacobian(at[0]), atol=1e-2)
    assert ours.inputs.shape == (60, 2)


def test_posterior_with_all_frames_is_the_exact_one():
    X, Y = curve(40)
    exact = gp.condition(KERNEL, H, NOISE, X, Y)
    ours = sparse.condition(KERNEL, H, NOISE, X, Y, np.arange(40))
    at = curve(20, seed=2)[0]
    np.testing.assert_allclose(ours.mean(at), exact.mean(at), atol=1e-6)
    np.testing.assert_allclose(ours.variance(at), exact.variance(at), atol=1e-6)
    np.testing.assert_allclose(ours.covariance(at), exact.covariance(at), atol=1e-6)
    np.testing.assert_allclose(np.diag(exact.covariance(at)), exact.variance(at), atol=1e-9)


def test_few_frames_are_exact_and_many_are_chosen_by_lot():
    few, many = np.zeros((sparse.EXACT, 2)), np.random.default_rng(0).normal(size=(sparse.EXACT + 1, 2))
    assert sparse.choose(few) is None
    rows = sparse.choose(many, seed=3)
    assert rows is not None
    assert len(rows) == sparse.INDUCING
    np.testing.assert_array_equal(rows, sparse.choose(many, seed=3))


def test_farthest_points_cover():
    X = np.random.default_rng(0).uniform(size=(2000, 2))
    rows = sparse.farthest(X, 100)
    gap = np.min(np.linalg.norm(X[:, None] - X[rows][None], axis=-1), axis=1).max()
    assert gap < 0.12  # a square of side 1 by a hundred points


def test_coinciding_inputs_are_borne():
    X, Y = curve(60)
    X = np.repeat(X[:20], 3, axis=0)
    fit = sparse_loss(X, X, Y)
    assert np.isfinite(float(fit.loss))
    assert np.all(np.isfinite(sparse.condition(KERNEL, H, NOISE, X, Y, np.arange(60)).shrink))
