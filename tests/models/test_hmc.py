"""The sampler against Gaussians, and futures against an exact way of drawing them."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jostle.errors import JostleError
from jostle.models import futures, hmc
from jostle.models.backend import float64
from jostle.models.latent_dynamics import Dynamics, LatentDynamics


@dataclass(frozen=True)
class Bell:
    def __call__(self, x, data):
        r = x - data["mean"]
        return 0.5 * r @ data["precision"] @ r


MEAN, COVARIANCE = np.array([1.0, -2.0, 0.5]), np.array([[1.0, 0.6, 0.0], [0.6, 0.5, 0.1], [0.0, 0.1, 2.0]])
BELL = {"mean": MEAN, "precision": np.linalg.inv(COVARIANCE)}


@pytest.mark.parametrize("whiten", [False, True])
def test_a_known_gaussian(whiten):
    root = hmc.root_of_covariance(Bell(), MEAN, BELL) if whiten else None
    drawn = hmc.sample(Bell(), np.zeros(3), BELL, 3000, seed=5, whiten=root)
    assert 0.6 < drawn.accepted < 0.99
    np.testing.assert_allclose(drawn.points.mean(axis=0), MEAN, atol=0.1)
    np.testing.assert_allclose(np.cov(drawn.points.T), COVARIANCE, atol=0.25)


def test_the_root_is_of_the_covariance():
    root = hmc.root_of_covariance(Bell(), MEAN, BELL)
    np.testing.assert_allclose(root @ root.T, COVARIANCE, rtol=1e-8, atol=1e-10)


def test_the_same_seed_draws_the_same_points():
    one, two, other = (hmc.sample(Bell(), np.zeros(3), BELL, 5, seed=seed, warm_up=5).points for seed in (3, 3, 4))
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, other)


def test_a_start_that_has_no_density_is_refused():
    with pytest.raises(JostleError, match="start"):
        hmc.sample(Bell(), np.full(3, np.nan), BELL, 1, seed=0)


def _round(order: int = 1, noise: float = 1e-3) -> Dynamics:
    rng = np.random.default_rng(0)
    angle = 0.4 * np.arange(40)
    X = np.stack([np.cos(angle), np.sin(angle)], axis=1) + 0.02 * rng.standard_normal((40, 2))
    settings = LatentDynamics(2, order=order)
    log_alpha = settings.start()
    log_alpha[-1] = np.log(noise)
    return Dynamics(settings, X, (40,), log_alpha)


def test_futures_by_hamiltonian_monte_carlo_are_those_drawn_row_by_row():
    dynamics = _round()
    start, frames = dynamics.X[:1], 8
    chain = futures.sample(dynamics, start, frames, 300, seed=0, apart=2)
    exact = np.array([futures.draw(dynamics, start, frames, seed=i) for i in range(300)])
    assert 0.6 < chain.accepted <= 1.0
    spread = exact.std(axis=0)
    np.testing.assert_allclose(chain.points.mean(axis=0), exact.mean(axis=0), atol=0.25 * spread.max())
    np.testing.assert_allclose(chain.points.std(axis=0), spread, rtol=0.3)


@pytest.mark.parametrize("order", [1, 2])
def test_samples_scatter_about_the_mean_and_more_so_later(order):
    dynamics = _round(order)
    start, frames = dynamics.X[: dynamics.settings.order], 10
    drawn = futures.sample(dynamics, start, frames, 20, seed=2).points
    away = np.linalg.norm(drawn - dynamics.rollout(start, frames), axis=2)  # (40, frames)
    assert np.mean(away[:, 0]) < np.mean(away[:, -1]) < 0.6
    assert np.all(np.linalg.norm(drawn.mean(axis=0) - dynamics.rollout(start, frames), axis=1) < 0.25)


@pytest.mark.parametrize("joint", [True, False])
@float64
def test_the_likeliest_future_is_no_less_likely_than_its_neighbours(joint):
    dynamics = _round()
    start, rng = dynamics.X[:1], np.random.default_rng(1)
    best = futures.likeliest(dynamics, start, 8, joint=joint)
    future = futures.Future(dynamics.settings, joint)
    data = {name: jnp.asarray(value) for name, value in futures._data(dynamics, start).items()}

    energy = jax.jit(lambda rows: future.energy(rows, data))
    assert energy(best) <= energy(dynamics.rollout(start, 8))
    assert all(energy(best) < energy(best + 0.05 * rng.standard_normal(best.shape)) for _ in range(5))


def test_a_future_needs_a_past():
    with pytest.raises(JostleError, match="2 rows"):
        futures.likeliest(_round(2), np.zeros((1, 2)), 3)
