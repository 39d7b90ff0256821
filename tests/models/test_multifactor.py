"""Multifactor models with Gaussian-process dynamics."""

import numpy as np
import pytest

import jostle
from jostle.assets import clip_path
from jostle.clips.edit import resample, trim_frames
from jostle.errors import MotionError
from jostle.maths import quat
from jostle.models.factor_gp import FactorGp
from jostle.models.factors import Factors, Labels
from jostle.models.futures import likeliest
from jostle.models.kernels import Rbf
from jostle.models.model import MotionModel
from jostle.models.multifactor import Multifactor, fit_multifactor, learn_multifactor


def hasty(clip):
    """The same walker a third faster and with longer steps: another gait of the same body."""
    quick = resample(clip, 30.0 / 1.33)
    far = quick.root * np.array([1.2, 1.2, 1.0])
    return type(clip)(clip.skeleton, 30.0, far, quat.exp(1.2 * quat.log(quick.wxyz)), name="hasty")


@pytest.fixture(scope="module")
def clips():
    walk = resample(jostle.load_clip(clip_path("walk")), 30.0)
    run = hasty(walk)
    return [trim_frames(walk, 0, 60).renamed("walk"), trim_frames(run, 0, 40).renamed("run")]


@pytest.fixture(scope="module")
def model(clips):
    return fit_multifactor(clips, smooth=True, iterations=50)


def test_the_kernel_is_the_product_of_factors():
    """(6.15), and its Kronecker origin: the inner product of Kronecker products of basis functions (6.13)."""
    rng = np.random.default_rng(0)
    factors = Factors(("subject", "gait"), (3, 2), 2)
    z = rng.normal(size=(6, 7))
    s, g, x = z[:, :3], z[:, 3:5], z[:, 5:]
    apart = np.sum((x[:, None] - x[None]) ** 2, axis=2)
    expected = (s @ s.T) * (g @ g.T) * np.exp(-0.35 * apart)
    assert np.allclose(factors.kernel(np.array([0.7]), z, z), expected)
    linear = np.array([np.kron(a, b) for a, b in zip(s, g, strict=True)])
    assert np.allclose((linear @ linear.T) * np.exp(-0.35 * apart), expected)


def test_any_number_of_factors_with_kernels_of_their_own():
    z = np.random.default_rng(1).normal(size=(4, 9))
    factors = Factors(("a", "b", "c"), (2, 2, 3), 2, (Rbf(), Rbf(), Rbf()))
    parts = factors.split(z)
    assert [part.shape[1] for part in parts.values()] == [2, 2, 3, 2]
    gammas = np.array([0.2, 0.5, 1.0, 2.0])
    expected = np.prod([Rbf()(gammas[i : i + 1], p, p) for i, p in enumerate(parts.values())], axis=0)
    assert np.allclose(factors.kernel(gammas, z, z), expected)


def test_the_future_given_what_was_seen_is_that_of_one_larger_model():
    """Conditioning on training rows and then on seen rows is conditioning on both."""
    rng = np.random.default_rng(2)
    factors = Factors(("subject",), (2,), 2)
    z, y = rng.normal(size=(30, 4)), rng.normal(size=(30, 3))
    y -= y[:20].mean(axis=0)
    gp = FactorGp(factors, np.array([0.8]), 0.1, z[:20], y[:20], (20,))
    K = factors.kernel(gp.hypers, z, z) + 0.1 * np.eye(30)
    new = rng.normal(size=(5, 4))
    expected = factors.kernel(gp.hypers, new, z) @ np.linalg.solve(K, y)
    assert np.allclose(gp.future(new, z[20:], y[20:]), expected)


def test_it_is_a_motion_model(model, clips):
    assert isinstance(model, MotionModel)
    assert model.latent_rows.shape == (100, 9)
    assert model.balance == pytest.approx(len(model.gp.ready.varied) / 3)
    assert np.isclose(np.mean(model.latent_rows[:, 6:] ** 2), 1.0)
    x = model.latent(trim_frames(clips[0], 5, 25))
    assert x.shape == (20, 9)
    assert np.ptp(x[:, :6], axis=0).max() == 0.0
    assert np.isfinite(model.log_likelihood(trim_frames(clips[0], 5, 25)))


def test_it_continues_a_clip(model, clips):
    whole = clips[0]
    truth, rows = model.features.encode(whole)[30:50], model.features.encode(trim_frames(whole, 0, 30))
    guess, held = model.continued(rows, 20), np.repeat(rows[-1:], 20, axis=0)
    assert np.linalg.norm(guess - truth, axis=1).mean() < 0.8 * np.linalg.norm(held - truth, axis=1).mean()
    ahead = model.predict(trim_frames(whole, 0, 30), 5)
    assert np.linalg.norm(ahead.root[0] - whole.root[30]) < 0.1
    assert model.rollout(model.latent_rows[:10], 7).shape == (7, 9)
    assert model.motion(model.latent_rows[:4]).frame_count == 4


def test_steps_stay_so_noisy_that_every_future_has_a_density(model):
    assert np.exp(model.log_alpha[-1]) >= 1e-4 * (1 - 1e-9)
    X = model.latent_rows[:, model.gp.factors.style :]
    for first in (0, 25, 65):
        assert np.all(np.isfinite(likeliest(model.dynamics, X[first : first + 10], 40, iterations=5)))


def test_same_numbers_after_packing(model, clips):
    data, arrays = model.pack()
    again = Multifactor.unpack(data, arrays)
    x = model.latent_rows[3:9]
    assert np.array_equal(again.pose(x).wxyz, model.pose(x).wxyz)
    assert np.array_equal(again.rollout(x, 20), model.rollout(x, 20))
    with pytest.raises(MotionError, match="dynamics"):
        Multifactor.unpack(data | {"balance": -1.0}, arrays)
    with pytest.raises(MotionError, match="belong together"):
        Multifactor.unpack(data, arrays | {"gp_inputs": arrays["gp_inputs"][1:]})


def test_without_factors_it_is_a_gpdm(clips):
    model = learn_multifactor(clips, Labels({}), principal=True, iterations=10)
    assert model.latent_rows.shape == (100, 3)
    assert model.style().shape == (0,)
    rows = model.features.encode(trim_frames(clips[0], 0, 20))
    assert np.all(np.isfinite(model.continued(rows, 5)))


def test_more_factors_may_be_named(clips):
    halves = [trim_frames(clip, a, a + 20).renamed(f"{clip.name} {a}") for clip in clips for a in (0, 20)]
    model = fit_multifactor(halves, more={"half": ["1", "2", "1", "2"]}, iterations=5, dimensions=2)
    assert model.gp.factors.names == ("subject", "gait", "half")
    assert model.latent_rows.shape == (80, 9)


def test_too_many_states_are_refused(clips):
    with pytest.raises(MotionError, match="latent"):
        fit_multifactor([trim_frames(clips[0], 0, 10)], latent=12)
