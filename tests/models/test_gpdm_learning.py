"""The GPDM's posterior against the formulas written out, and its latent positions against other people's."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jostle.errors import MotionError
from jostle.models import gpdm_learning as learning
from jostle.models.backend import float64
from jostle.models.gpdm_learning import Plan, Posterior, fit_posterior, ready
from jostle.models.latent_dynamics import LatentDynamics
from jostle.models.latent_model import LatentModel, model_of, nearest, trial
from jostle.models.placing import place

LENGTHS = (40, 26)
PLAN = Plan(LatentDynamics(2), q=2, iterations=60)


def _rows(lengths=LENGTHS, seed=0, d=9) -> np.ndarray:
    """A closed curve of two dimensions, seen in d columns; trajectories go round it from different places."""
    rng = np.random.default_rng(seed)
    angle = np.concatenate([0.35 * np.arange(count) + i for i, count in enumerate(lengths)])
    curve = np.stack([np.cos(angle), np.sin(angle), np.cos(2 * angle), np.sin(2 * angle)], axis=1)
    mixing = np.random.default_rng(100).standard_normal((4, d)) * np.array([1.0, 1.0, 0.4, 0.4])[:, None]
    return curve @ mixing + 0.02 * rng.standard_normal((len(angle), d))


@pytest.fixture(scope="module")
def learnt() -> LatentModel:
    Y = _rows()
    return model_of(Y, LENGTHS, fit_posterior(ready(Y, LENGTHS, 2), LENGTHS, PLAN))


@float64
def _loss(posterior, params, data):
    given = {name: jnp.asarray(value) for name, value in data.items()}
    return float(jax.jit(lambda p: posterior(p, given)[0])(params))


def test_the_loss_is_the_papers_written_out():
    balance = 3.0
    rows, rng = ready(_rows((14, 10)), (14, 10), 2), np.random.default_rng(1)
    plan = Plan(LatentDynamics(2), 2, balance)
    params = {
        "X": rng.standard_normal((24, 2)),
        "log_beta": np.log([0.7, 0.05]),
        "log_alpha": np.log([0.8, 1.3, 0.6, 0.02]),
    }
    data = learning.data_of(rows, (14, 10), plan, params["X"])
    X = params["X"] / np.sqrt(np.mean(params["X"] ** 2))

    def gram(A, B):
        return np.array([[np.sum((a - b) ** 2) for b in B] for a in A])

    b1, b2 = 0.7, 1 / 0.05
    K = np.exp(-b1 / 2 * gram(X, X)) + np.eye(24) / b2  # (5.9)
    misfit = np.diag(rows.Y.T @ np.linalg.inv(K) @ rows.Y)
    w = np.sqrt(24 / misfit)
    D = rows.Y.shape[1]
    L_Y = D / 2 * np.linalg.slogdet(K)[1] + 0.5 * np.sum(w**2 * misfit) - 24 * np.sum(np.log(w))  # (5.17)
    before, after = np.r_[0:13, 14:23], np.r_[1:14, 15:24]
    A = X[before]
    a1, a2, a3, a4 = 0.8, 1.3, 0.6, 1 / 0.02
    K_X = a1 * np.exp(-a2 / 2 * gram(A, A)) + a3 * A @ A.T + np.eye(22) / a4  # (5.14)
    L_X = np.linalg.slogdet(K_X)[1] + 0.5 * np.trace(np.linalg.solve(K_X, X[after] @ X[after].T))
    L_X += 0.5 * (X[0] @ X[0] + X[14] @ X[14])  # (5.18), d/2 = 1
    priors = np.log(b1) + np.log(b2) + np.log([a1, a2, a3, a4]).sum()
    np.testing.assert_allclose(_loss(Posterior(plan.dynamics), params, data), L_Y + balance * L_X + priors, rtol=1e-9)


@pytest.mark.parametrize("dynamics", [LatentDynamics(2), None], ids=["gpdm", "gplvm"])
@float64
def test_slopes_are_finite_differences(dynamics):
    rows, plan = ready(_rows((12, 8)), (12, 8), 2), Plan(dynamics, 2)
    params = {name: jnp.asarray(value) for name, value in learning.first_guess(rows, plan).items()}
    data = {n: jnp.asarray(v) for n, v in learning.data_of(rows, (12, 8), plan, np.asarray(params["X"])).items()}
    loss = jax.jit(lambda p: Posterior(dynamics)(p, data)[0])
    slopes, rng, h = jax.grad(loss)(params), np.random.default_rng(2), 1e-6
    way = {name: rng.standard_normal(value.shape) for name, value in params.items()}
    change = loss({n: p + h * way[n] for n, p in params.items()}) - loss({n: p - h * way[n] for n, p in params.items()})
    np.testing.assert_allclose(sum(np.sum(slopes[n] * way[n]) for n in params), change / (2 * h), rtol=1e-5)


def test_the_scale_of_the_latent_space_makes_no_difference():
    rows = ready(_rows((12, 8)), (12, 8), 2)
    params = learning.first_guess(rows, PLAN)
    data = learning.data_of(rows, (12, 8), PLAN, params["X"])
    one, other = (_loss(Posterior(PLAN.dynamics), {**params, "X": s * params["X"]}, data) for s in (1.0, 0.1))
    np.testing.assert_allclose(one, other, rtol=1e-9)


def test_poses_and_their_variance_agree_with_scikit_learn(learnt):
    from sklearn.gaussian_process import GaussianProcessRegressor, kernels

    gamma, noise = np.exp(learnt.log_beta)
    kernel = kernels.RBF(1 / np.sqrt(gamma), "fixed") + kernels.WhiteKernel(noise, "fixed")
    regressor = GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None)
    regressor.fit(learnt.X, learnt.rows.Y)
    x = learnt.X[:5] + 0.1
    mean, covariance = regressor.predict(x, return_cov=True)
    np.testing.assert_allclose(learnt.mean(x), mean + learnt.rows.mean, atol=1e-6)
    np.testing.assert_allclose(learnt.variance(x), np.diagonal(covariance[..., 0]), atol=1e-6)


def test_the_likelihood_of_rows_is_what_all_have_less_what_the_training_rows_have(learnt):
    """Chain rule: p(Y*, Y) = p(Y* | Y) p(Y), both dense, each column a Gaussian of all its frames."""
    from scipy.stats import multivariate_normal

    new = _rows((6,), seed=3)
    x = place(learnt, new)
    gamma, noise = np.exp(learnt.log_beta)

    def dense(X, Y):
        K = np.exp(-gamma / 2 * np.sum((X[:, None] - X) ** 2, axis=2)) + noise * np.eye(len(X))
        return sum(
            multivariate_normal(np.zeros(len(X)), K / w**2, allow_singular=True).logpdf(y)
            for y, w in zip(Y.T, learnt.scales, strict=True)
        )

    centred = new - learnt.rows.mean
    both = dense(np.concatenate([learnt.X, x]), np.concatenate([learnt.rows.Y, centred]))
    np.testing.assert_allclose(learnt.log_density(new, x), both - dense(learnt.X, learnt.rows.Y), rtol=1e-5)


def test_new_rows_lie_beside_training_rows_of_the_same_phase(learnt):
    new = _rows((20,), seed=5)
    for joint in (False, True):
        x = place(learnt, new, joint=joint)
        assert np.sqrt(np.mean((learnt.mean(x) - new) ** 2)) < 0.15
        assert nearest(learnt.X, x) < 0.2


def test_training_rows_are_placed_where_they_are(learnt):
    x = place(learnt, learnt.Y[: LENGTHS[0]])
    np.testing.assert_allclose(x, learnt.X[: LENGTHS[0]], atol=0.1)


def test_a_mean_prediction_goes_round_for_long(learnt):
    found = trial(learnt)
    assert found.alive
    assert found.away < max(2 * found.first, 0.1)


def test_balanced_dynamics_are_smoother():
    """B-GPDM: steps of X change less from row to row."""

    def roughness(balance):
        Y = _rows()
        plan = Plan(LatentDynamics(2), 2, balance, iterations=60)
        X = fit_posterior(ready(Y, LENGTHS, 2), LENGTHS, plan).X[: LENGTHS[0]]
        return np.linalg.norm(np.diff(X, 2, axis=0)) / np.linalg.norm(np.diff(X, axis=0))

    assert roughness(9 / 2) <= roughness(1.0) * 1.01


def test_the_same_fit_gives_the_same_numbers_and_so_does_a_round_trip(learnt):
    Y = _rows()
    again = model_of(Y, LENGTHS, fit_posterior(ready(Y, LENGTHS, 2), LENGTHS, PLAN))
    back = LatentModel.unpack(*learnt.pack())
    x = learnt.X[3:7] + 0.05
    for other in (again, back):
        np.testing.assert_array_equal(other.mean(x), learnt.mean(x))
        np.testing.assert_array_equal(other.variance(x), learnt.variance(x))
        np.testing.assert_array_equal(other.predictive.rollout(x, 20), learnt.predictive.rollout(x, 20))
        assert other.log_density(Y[:9], learnt.X[:9]) == learnt.log_density(Y[:9], learnt.X[:9])


def test_columns_that_never_vary_stay_where_they_are():
    Y = np.concatenate([_rows(), np.full((sum(LENGTHS), 1), 0.7)], axis=1)
    model = model_of(Y, LENGTHS, fit_posterior(ready(Y, LENGTHS, 2), LENGTHS, PLAN))
    np.testing.assert_allclose(model.mean(model.X + 0.1)[:, -1], 0.7)
    assert len(model.rows.varied) == Y.shape[1] - 1
    assert np.all(np.isfinite(model.scales))


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda Y: Y[:2], "latent dimensions"),
        (lambda Y: np.zeros_like(Y), "same"),
        (lambda Y: np.where(Y[3, 2] == Y, np.nan, Y), "no numbers"),
        (lambda Y: np.concatenate([Y[:, :1], np.zeros_like(Y[:, 1:])], axis=1), "columns vary"),
    ],
)
def test_rows_that_teach_nothing_are_refused(spoil, says):
    Y = spoil(_rows())
    with pytest.raises(MotionError, match=says):
        ready(Y, (len(Y),), 2)
