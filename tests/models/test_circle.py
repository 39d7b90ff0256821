"""Circle dynamics: drawn walkers whose truth is known, and the protocol of every model."""

from dataclasses import replace

import numpy as np
import pytest

import jostle
from jostle.assets import clip_path
from jostle.clips.edit import resample, trim_frames
from jostle.errors import MotionError
from jostle.features import placement
from jostle.maths import quat
from jostle.models.circle import Circle, CircleObjective, circle_data, fit_circle
from jostle.models.circle_latent import pace_prior
from jostle.models.cycle_phase import find_cycle, thigh_swing
from jostle.models.factors import Factors, Labels, first_styles
from jostle.models.model import MotionModel


def hasty(clip):
    """The same walker a third faster and with longer steps: another gait of the same body."""
    quick = resample(clip, 30.0 / 1.33)
    far = quick.root * np.array([1.2, 1.2, 1.0])
    return type(clip)(clip.skeleton, 30.0, far, quat.exp(1.2 * quat.log(quick.wxyz)), name="hasty")


@pytest.fixture(scope="module")
def clips():
    """One walker at two paces, one of them cut in two."""
    walk = resample(jostle.load_clip(clip_path("walk")), 30.0)
    run = hasty(walk)
    return [
        trim_frames(walk, 0, 60).renamed("walk a"),
        trim_frames(run, 0, 40).renamed("run"),
        trim_frames(walk, 70, 120).renamed("walk b"),
    ]


@pytest.fixture(scope="module")
def model(clips):
    return fit_circle(clips, gaits=["walk", "run", "walk"], iterations=60)


def test_it_is_a_motion_model(model, clips):
    assert isinstance(model, MotionModel)
    assert model.lengths == (60, 40, 50)
    assert model.latent_rows.shape == (150, 8)
    assert "assumed" in model.notes[0]
    assert model.variance(model.latent_rows[:5]).shape == (5,)
    assert np.all(model.variance(model.latent_rows) < 0.2)


def test_training_poses_come_again(model, clips):
    rows = model.features.encode(clips[0])
    angles = slice(0, model.features.angles)
    error = model.gp.mean(model.latent_rows[:60])[:, angles] - rows[:, angles]
    assert np.sqrt(np.mean(error**2)) < 0.6 * np.sqrt(np.mean((rows[:, angles] - rows[:, angles].mean(axis=0)) ** 2))


def test_styles_are_tied_to_labels(model):
    parts = model.gp.factors.split(model.latent_rows)
    assert np.ptp(parts["gait"][:60], axis=0).max() == 0.0
    assert np.array_equal(parts["gait"][0], parts["gait"][-1])
    assert not np.allclose(parts["gait"][0], parts["gait"][70])
    assert np.allclose(np.sum(parts["state"] ** 2, axis=1), 1.0)
    assert np.array_equal(model.style(subject="1", gait="run"), model.latent_rows[70, :6])


def test_a_clip_is_found_where_it_is(model, clips):
    """A stretch that was learnt has its own style, phase and step."""
    place = model.settle(model.features.encode(trim_frames(clips[0], 20, 50)))
    assert np.isclose(place.step, model.step[0], rtol=0.08)
    truth = model.phase[0] + 20 * model.step[0]
    assert abs(np.angle(np.exp(1j * (place.phase - truth)))) < 0.5


def test_it_continues_a_clip(model, clips):
    whole = clips[0]
    start = trim_frames(whole, 0, 35)
    ahead = model.predict(start, 20)
    assert ahead.frame_count == 20
    assert ahead.skeleton.same_as(whole.skeleton)
    assert np.linalg.norm(ahead.root[0] - whole.root[35]) < 0.05
    truth, rows = model.features.encode(whole)[35:55], model.features.encode(start)
    guess, held = model.continued(rows, 20), np.repeat(rows[-1:], 20, axis=0)
    assert np.linalg.norm(guess - truth, axis=1).mean() < 0.6 * np.linalg.norm(held - truth, axis=1).mean()


def test_a_pace_that_speed_does_not_tell_is_seen_in_the_thighs(model, clips):
    """Who strides: the same swing, but farther with every step."""
    given = trim_frames(clips[0], 0, 25)
    far = given.with_poses(type(given.poses)(given.root * np.array([1.5, 1.5, 1.0]), given.wxyz))
    truth, rows = find_cycle(clips[0], np.zeros((60, 1))).step, model.features.encode(far)
    told, _ = pace_prior(model.gp, model.step, rows, model.features.travel)
    seen, _ = pace_prior(model.gp, model.step, rows, model.features.travel, thigh_swing(far))
    assert abs(told - np.log(truth)) > 0.15
    assert abs(seen - np.log(truth)) < 0.08
    assert np.isclose(model.settle(rows).step, truth, rtol=0.08)


def test_rollouts_stay_on_the_circle(model):
    x = model.rollout(model.latent_rows[:60], 1000)
    assert np.allclose(np.sum(x[:, -2:] ** 2, axis=1), 1.0)
    assert np.allclose(x[:, :6], model.latent_rows[0, :6])
    clip = model.motion(x[:100], placement(model.features.decode(model.features.encode(model.features.mean)), 0))
    assert clip.frame_count == 100
    assert np.all(np.isfinite(clip.positions))


def test_seen_motion_is_likelier_than_it_backwards(model, clips):
    clip = trim_frames(clips[0], 0, 40)
    backwards = clip.with_poses(clip.poses.rows(np.arange(39, -1, -1)))
    assert model.log_likelihood(clip) > model.log_likelihood(backwards)


def test_same_numbers_after_packing(model, clips):
    data, arrays = model.pack()
    again = Circle.unpack(data, arrays)
    rows = model.features.encode(trim_frames(clips[1], 0, 20))
    assert np.array_equal(again.continued(rows, 10), model.continued(rows, 10))
    assert again.notes == model.notes
    assert sum(a.size for a in arrays.values()) < 2.5 * model.gp.rows.size  # nothing of N by N
    with pytest.raises(MotionError, match="belong"):
        Circle.unpack(data, arrays | {"step": -arrays["step"]})
    with pytest.raises(MotionError, match="table of 'gait'"):
        Circle.unpack(data, arrays | {"style_gait": arrays["style_gait"][:1]})


def test_the_same_seed_gives_the_same_model(model, clips):
    again = fit_circle(clips, gaits=["walk", "run", "walk"], iterations=60)
    assert np.array_equal(again.latent_rows, model.latent_rows)


def test_the_slope_of_the_objective():
    """By finite differences, of everything that is learnt at once."""
    import jax

    rng, lengths = np.random.default_rng(0), (7, 6)
    labels = Labels({"subject": ("a", "b"), "gait": ("x", "x")})
    factors = Factors(labels.names, (2, 2), 2)
    params = first_styles(labels, factors.dims, rng) | {
        "phase": rng.normal(size=2), "step": np.array([0.3, 0.4]),
        "log_gamma": np.array([0.1]), "log_noise": np.array(-1.0),
    }  # fmt: skip
    data = circle_data(labels, lengths) | {"Y": rng.normal(size=(13, 4)), "kappa": np.array(100.0)}
    with jax.enable_x64(True):
        given = {k: jax.numpy.asarray(v) for k, v in data.items()}
        evaluate = jax.jit(jax.value_and_grad(lambda p: CircleObjective(factors)(p, given)[0]))
        slope = evaluate(params)[1]
        for name, value in params.items():
            step = rng.normal(size=np.shape(value))
            ends = [float(evaluate(params | {name: value + e * step})[0]) for e in (1e-6, -1e-6)]
            assert np.isclose((ends[0] - ends[1]) / 2e-6, np.sum(np.asarray(slope[name]) * step), rtol=1e-4)


def test_labels_that_do_not_fit_are_told(model, clips):
    with pytest.raises(MotionError, match="one gait for each"):
        fit_circle(clips, gaits=["walk"])
    with pytest.raises(MotionError, match="seen no gait 'swim'"):
        model.style(gait="swim")
    with pytest.raises(MotionError, match="no factor 'mood'"):
        model.style(mood="glad")
    with pytest.raises(MotionError, match="one frame"):
        fit_circle([trim_frames(clips[0], 0, 1)])


def test_real_walks_have_their_subjects_by_name(data):
    folder = data / "cmu_bvh"
    names = ("02_02", "02_03", "35_01")
    clips = [resample(trim_frames(jostle.load_clip(folder / f"{n}.bvh"), 1), 30.0).renamed(n) for n in names]
    model = fit_circle(clips, iterations=5)
    assert model.labels.of == {"subject": ("02", "02", "35"), "gait": ("walk", "run", "walk")}
    periods = 2 * np.pi / model.step
    assert np.allclose(periods, [29.4, 23.2, 33.7], atol=1.0)
    assert find_cycle(clips[0], model.features.encode(clips[0])).explained > 0.95
    assert len(replace(model, notes=()).notes) == 0
