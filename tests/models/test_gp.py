"""Posteriors against scikit-learn and GPy on the same inputs, derivatives against finite differences."""

import warnings

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from jostle.errors import JostleError
from jostle.models import gp, kernels

SCALE, GAMMA, LINEAR, NOISE = 1.7, 2.3, 0.4, 0.05
H_RBF = np.array([SCALE, GAMMA])
H_BOTH = np.array([SCALE, GAMMA, LINEAR])


def _given(seed=0, n=25, d=4):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 3))
    y = np.sin(z @ rng.normal(size=(3, d))) + 0.1 * rng.normal(size=(n, d))
    return z, y, rng.normal(size=(9, 3))


def _cases():
    return [(kernels.rbf(), H_RBF), (kernels.linear_rbf(), H_BOTH)]


@pytest.mark.parametrize("linear", [False, True])
def test_mean_variance_and_likelihood_are_scikit_learns(linear):
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct

    z, y, x = _given()
    peer = ConstantKernel(SCALE) * RBF(GAMMA**-0.5)  # exp(-|a - b|^2 / (2 l^2)), so gamma = 1 / l^2
    if linear:
        peer = peer + ConstantKernel(LINEAR) * DotProduct(0.0, "fixed")
    model = GaussianProcessRegressor(peer, alpha=NOISE, optimizer=None).fit(z, y)
    mean, spread = model.predict(x, return_std=True)
    kernel, h = _cases()[linear]
    ours = gp.condition(kernel, h, NOISE, z, y)
    np.testing.assert_allclose(ours.mean(x), mean, atol=1e-10)
    np.testing.assert_allclose(ours.variance(x), spread[:, 0] ** 2, atol=1e-10)
    likelihood = gp.log_density(y, gp.covariance(kernel, h, NOISE, z))
    assert likelihood == pytest.approx(model.log_marginal_likelihood_value_, abs=1e-8)


@pytest.mark.parametrize("linear", [False, True])
def test_mean_variance_jacobian_and_likelihood_are_gpys(linear):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import GPy

        z, y, x = _given(seed=1)
        peer = GPy.kern.RBF(3, variance=SCALE, lengthscale=GAMMA**-0.5)
        if linear:
            peer = peer + GPy.kern.Linear(3, variances=LINEAR)
        model = GPy.models.GPRegression(z, y, peer, noise_var=NOISE)
        mean, variance = model.predict_noiseless(x)
        jacobians, variance_slopes = model.predictive_gradients(x)
    kernel, h = _cases()[linear]
    ours = gp.condition(kernel, h, NOISE, z, y)
    np.testing.assert_allclose(ours.mean(x), mean, atol=1e-6)
    np.testing.assert_allclose(ours.variance(x), variance[:, 0], atol=1e-6)
    for i, at in enumerate(x):
        np.testing.assert_allclose(ours.jacobian(at), jacobians[i].T, atol=1e-6)  # GPy's is (Q, D)
        np.testing.assert_allclose(ours.variance_slope(at), variance_slopes[i], atol=1e-6)
    likelihood = gp.log_density(y, gp.covariance(kernel, h, NOISE, z))
    assert likelihood == pytest.approx(float(model.log_likelihood()), abs=1e-6)


def test_the_posterior_is_the_conditional_of_the_joint_gaussian():
    """Written out with plain inverses, for the second-order dynamics kernel."""
    rng = np.random.default_rng(2)
    kernel, h = kernels.linear_second_order(2), np.array([1.1, 0.7, 1.9, 0.3, 0.2])
    z, y, x = rng.normal(size=(12, 4)), rng.normal(size=(12, 2)), rng.normal(size=(5, 4))
    inverse = np.linalg.inv(kernel(h, z, z) + 0.1 * np.eye(12))
    across = kernel(h, x, z)
    ours = gp.condition(kernel, h, 0.1, z, y)
    np.testing.assert_allclose(ours.mean(x), across @ inverse @ y, atol=1e-9)
    np.testing.assert_allclose(ours.variance(x), np.diag(kernel(h, x, x) - across @ inverse @ across.T), atol=1e-9)


def test_log_density_is_scipys_column_by_column():
    z, y, _ = _given(seed=3)
    covariance = kernels.rbf()(H_RBF, z, z) + NOISE * np.eye(len(z))
    expected = sum(multivariate_normal(np.zeros(len(z)), covariance).logpdf(column) for column in y.T)
    ours = gp.log_density(y, gp.covariance(kernels.rbf(), H_RBF, NOISE, z))
    assert ours == pytest.approx(float(expected), abs=1e-8)


@pytest.mark.parametrize(
    ("kernel", "h"),
    [*_cases(), (kernels.velocity_product(2), np.array([1.2, 0.8, 0.5])), (kernels.second_order(2), np.ones(3))],
    ids=["rbf", "linear rbf", "velocity", "second order"],
)
def test_slopes_of_mean_and_variance_are_finite_differences(kernel, h):
    rng = np.random.default_rng(4)
    q = 4 if "gamma2" in kernel.names else 3
    posterior = gp.condition(kernel, h, 0.02, rng.normal(size=(15, q)), rng.normal(size=(15, 3)))
    x, step = rng.normal(size=q), 1e-6
    apart = step * np.eye(q)
    mean = (posterior.mean(x + apart) - posterior.mean(x - apart)).T / (2 * step)  # (D, Q)
    variance = (posterior.variance(x + apart) - posterior.variance(x - apart)) / (2 * step)
    np.testing.assert_allclose(posterior.jacobian(x), mean, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(posterior.variance_slope(x), variance, rtol=1e-4, atol=1e-6)
    at, slope = posterior.tangent(x)
    np.testing.assert_allclose(at, posterior.mean(x), rtol=1e-12)
    np.testing.assert_allclose(slope, posterior.jacobian(x), rtol=1e-12)


def test_any_leading_axes():
    z, y, x = _given(seed=5)
    posterior = gp.condition(kernels.rbf(), H_RBF, NOISE, z, y)
    stacked = x.reshape(3, 3, 3)
    np.testing.assert_allclose(posterior.mean(stacked), posterior.mean(x).reshape(3, 3, -1))
    np.testing.assert_allclose(posterior.variance(stacked), posterior.variance(x).reshape(3, 3))
    assert posterior.mean(x[0]).shape == (4,)
    assert posterior.variance(x[0]).shape == ()


def test_at_the_data_without_noise_the_mean_is_the_data_and_the_jitter_is_told():
    z, y, _ = _given(seed=6, n=8)
    exact = gp.condition(kernels.rbf(), H_RBF, 0.0, z, y)
    np.testing.assert_allclose(exact.mean(z), y, atol=1e-8)
    assert np.all(exact.variance(z) < 1e-9)
    assert exact.jitter == 0.0
    twice = gp.condition(kernels.rbf(), H_RBF, 0.0, np.vstack([z, z]), np.vstack([y, y]))
    assert 0.0 < twice.jitter < 1e-9
    np.testing.assert_allclose(twice.mean(z), y, atol=1e-3)


def test_no_number_is_a_sentence():
    z, y, _ = _given(seed=7)
    z[3, 1] = np.nan
    with pytest.raises(JostleError, match="NaN"):
        gp.condition(kernels.rbf(), H_RBF, NOISE, z, y)
