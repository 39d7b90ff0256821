"""Latent dynamics against the formulas written out, finite differences, and trajectories of which the law is known."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import multivariate_normal

from jostle.models.backend import float64
from jostle.models.latent_dynamics import Dynamics, LatentDynamics

KINDS = [LatentDynamics(3), LatentDynamics(3, order=2), LatentDynamics(3, linear=True), LatentDynamics(3, steps=True)]
LENGTHS = (12, 9)


def _trajectories(rng: np.random.Generator, lengths=LENGTHS) -> np.ndarray:
    """Rounds about a circle out of plane, a little uneven."""
    out = []
    for count in lengths:
        angle = 0.4 * np.arange(count) + rng.uniform(0, 6)
        out.append(np.stack([np.cos(angle), np.sin(angle), 0.3 * np.cos(2 * angle)], axis=1))
    return np.concatenate(out) + 0.01 * rng.standard_normal((sum(lengths), 3))


def _alpha(kind: LatentDynamics, rng: np.random.Generator) -> np.ndarray:
    return kind.start() + 0.3 * rng.standard_normal(len(kind.names))


def _pairs(kind: LatentDynamics, X: np.ndarray, lengths=LENGTHS) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Written out: inputs, outputs, and the rows at which trajectories begin."""
    inputs, outputs, first, at = [], [], [], 0
    for count in lengths:
        first += list(range(at, at + kind.order))
        for t in range(at + kind.order, at + count):
            inputs.append(np.concatenate([X[t - i] for i in range(kind.order, 0, -1)]))
            outputs.append(X[t] - X[t - 1] if kind.steps else X[t])
        at += count
    return np.array(inputs), np.array(outputs), first


@pytest.mark.parametrize("kind", KINDS)
@float64
def test_loss_is_the_density_written_out(kind):
    rng = np.random.default_rng(0)
    X, log_alpha = _trajectories(rng), _alpha(kind, rng)
    inputs, outputs, first = _pairs(kind, X)
    a = np.exp(log_alpha)
    K = np.array(kind.kernel(a[:-1], inputs, inputs)) + a[-1] * np.eye(len(inputs))
    density = sum(multivariate_normal(np.zeros(len(K)), K).logpdf(column) for column in outputs.T)
    density += multivariate_normal(np.zeros(1), np.eye(1)).logpdf(X[first].reshape(-1, 1)).sum()
    constant = 0.5 * np.log(2 * np.pi) * X.size
    got = kind.loss(jnp.asarray(X), jnp.asarray(log_alpha), kind.rows(LENGTHS))
    np.testing.assert_allclose(float(got.loss) + constant, -density, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@float64
def test_slopes_of_the_loss_are_its_finite_differences(kind):
    rng = np.random.default_rng(1)
    X, log_alpha, rows = _trajectories(rng), _alpha(kind, rng), kind.rows(LENGTHS)

    loss = jax.jit(lambda x, a: kind.loss(x, a, rows).loss)
    wrt_x, wrt_alpha = jax.grad(loss, (0, 1))(jnp.asarray(X), jnp.asarray(log_alpha))
    for _ in range(3):
        dx, da, h = rng.standard_normal(X.shape), rng.standard_normal(log_alpha.shape), 1e-6
        change = (loss(X + h * dx, log_alpha + h * da) - loss(X - h * dx, log_alpha - h * da)) / (2 * h)
        np.testing.assert_allclose(np.sum(wrt_x * dx) + np.sum(wrt_alpha * da), change, rtol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@float64
def test_the_future_given_what_was_seen_is_what_all_have_less_what_the_seen_has(kind):
    """p(new | seen) = p(new, seen) / p(seen), both by (5.18)."""
    rng = np.random.default_rng(2)
    X, log_alpha = _trajectories(rng), _alpha(kind, rng)
    path = _trajectories(rng, (7,))
    both = kind.loss(jnp.asarray(np.concatenate([X, path])), log_alpha, kind.rows((*LENGTHS, 7))).loss
    seen = kind.loss(jnp.asarray(X), log_alpha, kind.rows(LENGTHS)).loss
    begins = 0.5 * np.sum(path[: kind.order] ** 2)
    got = kind.future_loss(jnp.asarray(path), Dynamics(kind, X, LENGTHS, log_alpha).seen)
    np.testing.assert_allclose(float(got), float(both - seen - begins), rtol=1e-6, atol=1e-6)


@float64
def test_of_a_single_step_joint_and_apart_agree():
    rng = np.random.default_rng(3)
    kind = LatentDynamics(3)
    X, log_alpha = _trajectories(rng), _alpha(kind, rng)
    seen = Dynamics(kind, X, LENGTHS, log_alpha).seen
    path = jnp.asarray(_trajectories(rng, (2,)))
    np.testing.assert_allclose(
        float(kind.future_loss(path, seen)), float(kind.future_loss(path, seen, joint=False)), rtol=1e-8
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_seam_is_no_transition(kind):
    rng = np.random.default_rng(4)
    X = _trajectories(rng)
    assert len(kind.rows(LENGTHS)["now"]) == sum(LENGTHS) - kind.order * len(LENGTHS)
    moved = X.copy()
    moved[LENGTHS[0] :] += 5.0  # the second trajectory elsewhere: only its own transitions may notice
    inputs, outputs = kind.pairs(X, *(kind.rows(LENGTHS)[k] for k in ("past", "now")))
    inputs_moved, outputs_moved = kind.pairs(moved, *(kind.rows(LENGTHS)[k] for k in ("past", "now")))
    own = LENGTHS[0] - kind.order
    np.testing.assert_array_equal(inputs[:own], inputs_moved[:own])
    np.testing.assert_array_equal(outputs[:own], outputs_moved[:own])
    np.testing.assert_allclose(inputs_moved[own:], inputs[own:] + 5.0)


@pytest.mark.parametrize("kind", [LatentDynamics(3), LatentDynamics(3, order=2), LatentDynamics(3, steps=True)])
def test_a_rollout_goes_round_and_round(kind):
    rng = np.random.default_rng(5)
    X = _trajectories(rng, (60,))
    path = Dynamics(kind, X, (60,), kind.start()).rollout(X[:4], 500)
    nearest = np.min(np.linalg.norm(path[:, None] - X, axis=2), axis=1)
    assert np.median(nearest[-100:]) < 2 * np.median(nearest[:100])
    assert nearest.max() < 0.3
    angles = np.unwrap(np.arctan2(path[:, 1], path[:, 0]))
    assert np.all(np.diff(angles) > 0.2)
    assert abs(np.mean(np.diff(angles)) - 0.4) < 0.02


def test_linear_dynamics_come_to_rest_where_the_kernel_has_its_origin():
    """Figure 5.2 i: without the RBF, longer trajectories are drawn to the origin."""
    rng = np.random.default_rng(6)
    X = _trajectories(rng, (60,))
    kind = LatentDynamics(3, linear=True)
    path = Dynamics(kind, X, (60,), np.log([1.0, 0.2])).rollout(X[:1], 500)
    assert np.linalg.norm(path[-1]) < 0.2 * np.linalg.norm(path[0])
