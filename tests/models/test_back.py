"""The scaled GPLVM with back constraints: L_P against the formula written out, slopes against finite differences."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from jostle.errors import MotionError
from jostle.models.back import BackGplvm
from jostle.models.back_learning import Paper, Smooth, fit_gplvm
from jostle.models.backend import float64


def _rows(frames=60, columns=9, seed=0):
    """Rounds about a closed path, seen through a random map, with a little noise and one column that rests."""
    rng = np.random.default_rng(seed)
    angle = np.linspace(0.0, 6.0 * np.pi, frames)
    path = np.stack([np.cos(angle), np.sin(angle), 0.4 * np.cos(2 * angle), 0.1 * np.sin(3 * angle)], axis=1)
    rows = path @ rng.normal(size=(4, columns)) + 0.01 * rng.normal(size=(frames, columns))
    rows[:, 3] = 0.7
    return rows + 2.0


@pytest.fixture(scope="module")
def model() -> BackGplvm:
    return fit_gplvm(_rows(), 2, noise=0.02)


def _kernel(gamma, a, b):
    return np.exp(-0.5 * gamma * np.sum((a[:, None] - b[None]) ** 2, axis=-1))


def test_the_papers_loss_is_its_formula():
    rng = np.random.default_rng(1)
    Y, A = rng.normal(size=(12, 4)), 0.3 * rng.normal(size=(12, 2))
    alpha, gamma, beta, alpha_back, gamma_back = values = np.array([1.3, 0.7, 8.0, 1.7, 0.4])
    X = alpha_back * _kernel(gamma_back, Y, Y) @ A
    K = alpha * _kernel(gamma, X, X) + np.eye(12) / beta
    w = np.sqrt(12 / np.einsum("nd,nm,md->d", Y, np.linalg.inv(K), Y))  # where L_P is least
    trace = np.trace(np.linalg.solve(K, Y @ np.diag(w**2) @ Y.T))
    expected = 2.0 * np.linalg.slogdet(K)[1] - 12 * np.sum(np.log(w)) + 0.5 * trace
    expected += 0.5 * np.trace(X @ X.T) + np.sum(np.log(values))
    loss, jitter = float64(Paper())({"A": A, "logs": np.log(values)}, {"P": Y, "Y": Y, "most": np.array(1e9)})
    assert float(loss) == pytest.approx(expected, rel=1e-10)
    assert float(jitter) == 0.0


def test_our_loss_is_the_papers_with_alpha_held_and_a_smooth_back_map():
    rng = np.random.default_rng(2)
    Y, gamma = rng.normal(size=(10, 3)), 0.6
    root = np.linalg.cholesky(_kernel(0.5, Y, Y))
    Z = rng.normal(size=(10, 2))
    A = np.linalg.solve(root.T, Z)
    data = {"Y": Y, "most": np.array(1e9)}
    paper, _ = float64(Paper())({"A": A, "logs": np.log([1.0, gamma, 20.0, 1.0, 0.5])}, {"P": Y, **data})
    ours, _ = float64(Smooth(0.05, 4.0))({"Z": Z, "log_gamma": np.log([gamma])}, {"E": root, **data})
    roughness = np.trace(A.T @ root @ root.T @ A)
    priors = np.log(20.0 * 0.5)
    assert float(ours) == pytest.approx(float(paper) - priors + 2.0 * roughness, rel=1e-9)


def test_maps_lead_there_and_back(model):
    rows = _rows()
    x = model.encode(rows)
    np.testing.assert_allclose(x, model.x)
    assert np.mean(x**2) == pytest.approx(1.0)
    assert np.sqrt(np.mean((model.decode(x) - rows) ** 2)) < 0.3 * rows.std()
    np.testing.assert_allclose(model.decode(x)[:, 3], rows[:, 3], atol=1e-12)
    assert any("never changes" in note for note in model.notes)
    np.testing.assert_allclose(model.encode(rows.reshape(6, 10, -1)).reshape(60, -1), x)


def test_scales_are_where_the_loss_is_least_and_below_their_cap(model):
    y = (model.rows - model.centre)[:, model.kept]
    K = _kernel(model.gamma, model.x, model.x) + model.noise * np.eye(len(y))
    w2 = len(y) / np.einsum("nd,nm,md->d", y, np.linalg.inv(K), y)
    np.testing.assert_allclose(model.scales, np.minimum(np.sqrt(w2), model.most), rtol=1e-6)


def test_slopes_are_those_of_finite_differences(model):
    x, h = model.x[7] + 0.1, 1e-6
    numeric = np.stack([(model.decode(x + h * e) - model.decode(x - h * e)) / (2 * h) for e in np.eye(2)], axis=1)
    np.testing.assert_allclose(model.jacobian(x), numeric, atol=1e-6)
    y = (model.rows - model.centre)[7, model.kept]
    numeric = np.stack([(model.back(y + h * e) - model.back(y - h * e)) / (2 * h) for e in np.eye(len(y))], axis=1)
    np.testing.assert_allclose(model.back.jacobian(y), numeric, atol=1e-6)
    rows, z = y[None] + 0.2, x[None]
    numeric = [(model._cost(rows, z + h * e)[0] - model._cost(rows, z - h * e)[0])[0] / (2 * h) for e in np.eye(2)]
    np.testing.assert_allclose(model._cost(rows, z)[1][0], numeric, rtol=1e-5)


def test_likelihood_is_that_of_all_rows_together(model):
    rows = _rows(seed=0)[10:15] + 0.02
    x = model.encode(rows)
    mean = model.decode(x)[:, model.kept]
    covariance = model.posterior.covariance(x) + model.noise * np.eye(5)
    expected = sum(
        multivariate_normal(mean[:, d], covariance / w**2).logpdf(rows[:, model.kept][:, d])
        for d, w in enumerate(model.scales)
    )
    assert model.log_likelihood(rows) == pytest.approx(expected, rel=1e-8)


def test_seeking_is_at_least_as_good_as_the_back_map(model):
    rows = _rows(seed=0)[::3] + 0.1 * np.random.default_rng(3).normal(size=(20, 9))
    y = (rows - model.centre)[:, model.kept]
    sought = model.seek(rows)
    assert np.all(model._cost(y, sought)[0] <= model._cost(y, model.encode(rows))[0] + 1e-9)
    assert np.max(np.abs(model._cost(y, sought)[1])) < 1e-2 * np.max(np.abs(model._cost(y, model.encode(rows))[1]))


def test_very_many_rows_have_a_few_that_stand_for_all(monkeypatch):
    monkeypatch.setattr("jostle.models.sparse.EXACT", 80)
    monkeypatch.setattr("jostle.models.sparse.choose", lambda x, seed=0: np.arange(0, len(x), 4))
    rows = _rows(frames=120)
    model = fit_gplvm(rows, 2, iterations=20)
    assert len(model.posterior.inputs) == len(model.back.centres) == 30
    assert np.sqrt(np.mean((model.decode(model.encode(rows)) - rows) ** 2)) < 0.5 * rows.std()


def test_packing_keeps_every_number(model):
    data, arrays = model.pack()
    again = BackGplvm.unpack(data, arrays)
    np.testing.assert_array_equal(again.decode(again.x), model.decode(model.x))
    assert again.log_likelihood(_rows()[:4]) == model.log_likelihood(_rows()[:4])
    with pytest.raises(MotionError, match="damaged"):
        BackGplvm.unpack(data, arrays | {"centre": arrays["centre"][:-1]})


def test_the_papers_own_form_can_be_asked_for():
    model = fit_gplvm(_rows(), 2, iterations=30, paper=True)
    assert np.sqrt(np.mean((model.decode(model.x) - _rows()) ** 2)) < 0.2


@pytest.mark.parametrize(
    ("rows", "latent", "match"),
    [
        (_rows()[:3], 3, "cannot be learnt from 3 frames"),
        (np.full((20, 4), 2.0), 2, "Nothing moves"),
        (np.where(np.arange(9) == 2, np.nan, _rows()), 2, "no numbers"),
        (_rows()[:, :2], 3, "more than the 2 features"),
    ],
)
def test_bad_input_is_one_sentence(rows, latent, match):
    with pytest.raises(MotionError, match=match):
        fit_gplvm(rows, latent)
