"""The connected model: its objective beside dense formulas, its velocities, seams, round trips and bad input."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jostle.assets import clip_path
from jostle.clips import load_clip
from jostle.clips.edit import resample, trim_frames
from jostle.errors import MotionError
from jostle.features import placement
from jostle.maths import quat
from jostle.models import sparse
from jostle.models.backend import float64
from jostle.models.connected import ConnectedObjective, fit_connected, initial, learning_data
from jostle.models.connected_model import GAMMA, Connected, moved
from jostle.models.diffusion import diffusion_kernel


@pytest.fixture(scope="module")
def clips():
    walk = resample(load_clip(clip_path("walk")), 30.0)
    left = resample(load_clip(clip_path("turn_left")), 30.0)
    return [trim_frames(walk, 60, 100), trim_frames(left, 60, 100)]


@pytest.fixture(scope="module")
def model(clips):
    return fit_connected(clips, latent=3, iterations=60)


def given(seed=0, lengths=(9, 8), q=2, poses=6):
    """Random rows, and parameters that are not at any extreme."""
    rng = np.random.default_rng(seed)
    Y = rng.normal(size=(sum(lengths), 2 * poses + 3))
    X = np.cumsum(0.3 * rng.normal(size=(sum(lengths), q)), axis=0)
    params = {"x": X, "log_alpha": np.log([0.7, 0.2]), "log_beta": np.log([0.5, 0.9, 0.3])}
    data, _ = learning_data(Y, poses, lengths, X, 0)
    return params, data


@pytest.fixture(scope="module")
def evaluate():
    """The loss and its slopes, compiled once for both tests."""
    jitted = jax.jit(jax.value_and_grad(ConnectedObjective(2, 0.1), has_aux=True))

    @float64
    def evaluate(params, data):
        (loss, _), slopes = jitted(params, {k: jnp.asarray(v) for k, v in data.items()})
        return float(loss), {k: np.asarray(v) for k, v in slopes.items()}

    return evaluate


def dense_term(K, Y, most=None):
    """Minus (1), or (2) without its prior, as they stand there."""
    misfit = np.sum(Y * np.linalg.solve(K, Y), axis=0)
    w2 = np.ones(Y.shape[1]) if most is None else np.minimum(len(Y) / misfit, most**2)
    return 0.5 * Y.shape[1] * np.linalg.slogdet(K)[1] + 0.5 * w2 @ misfit - 0.5 * len(Y) * np.sum(np.log(w2))


def rbf(a, b, h):
    return h[0] * np.exp(-0.5 * h[1] * np.sum((a[:, None] - b[None]) ** 2, axis=-1))


def test_objective_is_the_papers(evaluate):
    params, data = given()
    X, alpha, beta = params["x"], np.exp(params["log_alpha"]), np.exp(params["log_beta"])
    loss, _ = evaluate(params, data)
    after = np.r_[1:9, 10:17]  # the seam lies between rows 8 and 9
    steps = X[after] - X[after - 1]
    K_y = rbf(X, X, [1, alpha[0]]) + alpha[1] * np.eye(17)
    K_v = steps @ steps.T * rbf(steps, steps, [1, beta[0]]) * rbf(X[after], X[after], [1, beta[1]])
    now = np.r_[2:9, 11:17]
    pairs = np.concatenate([X[now - 1], X[now - 2]], axis=1)
    K_x = rbf(pairs, pairs, GAMMA[:2]) + GAMMA[2] * np.eye(len(now))
    expected = dense_term(K_y, data["pose"], 100.0)
    expected += dense_term(K_v + beta[2] * np.eye(len(after)), data["velocity"], 10.0)
    expected += dense_term(K_x, X[now]) + 0.5 * np.sum(X[[0, 1, 9, 10]] ** 2)
    expected += np.sum(params["log_alpha"]) + np.sum(params["log_beta"])
    expected -= 0.1 * np.sum(np.log(diffusion_kernel(X, float(data["soft"]))))
    assert loss == pytest.approx(expected, rel=1e-9)


def test_gradient_against_finite_differences(evaluate):
    params, data = given(1)
    _, slopes = evaluate(params, data)
    for name, at in [("x", (0, 0)), ("x", (8, 1)), ("x", (9, 0)), ("log_alpha", 1), ("log_beta", 0), ("log_beta", 2)]:
        step = np.zeros_like(params[name])
        step[at] = 1e-6
        up, down = (evaluate(params | {name: params[name] + sign * step}, data)[0] for sign in (1, -1))
        assert slopes[name][at] == pytest.approx((up - down) / 2e-6, rel=1e-4, abs=1e-3)


def test_clips_begin_on_top_of_each_other():
    rng = np.random.default_rng(0)
    t = np.linspace(0, 6, 40)
    circle = np.stack([np.cos(t), np.sin(t), 0 * t], axis=1)
    Y = np.concatenate([circle, circle + np.array([0.0, 0.0, 2.0])]) + 0.01 * rng.normal(size=(80, 3))
    X = initial(Y, (40, 40), 2)
    assert X[:, 0].std() == pytest.approx(1.0)
    assert np.linalg.norm(X[:40] - X[40:], axis=1).max() < 0.5


def test_it_says_the_poses_that_it_has_learnt(model, clips):
    pose = model.pose(model.latent_rows[:40])
    seen = model.features.pose(model.features.encode(clips[0]))
    assert np.degrees(quat.angle(quat.inv_mul(pose.wxyz, seen.wxyz))).mean() < 1.5
    np.testing.assert_allclose(pose.root, seen.root, atol=0.02)
    assert np.all(model.variance(model.latent_rows) < model.variance(model.latent_rows[:1] + 30.0))


def test_who_stays_in_one_place_stands_still(model):
    x = model.latent_rows[::7]
    np.testing.assert_array_equal(model.velocity(x, x), 0.0)
    small, half = (model.velocity(x + e, x)[:, -3:] for e in (1e-4, 5e-5))
    np.testing.assert_allclose(half, 0.5 * small, rtol=1e-3, atol=1e-7)


def test_it_moves_as_the_clips_moved(model, clips):
    X = model.latent_rows[:40]
    clip = model.motion(X, placement(clips[0]))
    walked, said = (np.linalg.norm(c.root[-1, :2] - c.root[0, :2]) for c in (clips[0], clip))
    assert said == pytest.approx(walked, rel=0.1)
    np.testing.assert_allclose(clip.root[0, :2], clips[0].root[0, :2], atol=1e-9)


def test_dynamics_know_their_slopes(model):
    pair = np.concatenate([model.latent_rows[9], model.latent_rows[8]])
    slope, spread = model.dynamics.jacobian(pair), model.dynamics.variance_slope(pair)
    for i in range(6):
        step = np.zeros(6)
        step[i] = 1e-6
        numeric = (model.dynamics.mean(pair + step) - model.dynamics.mean(pair - step)) / 2e-6
        np.testing.assert_allclose(slope[:, i], numeric, atol=1e-5)
        numeric = (model.dynamics.variance(pair + step) - model.dynamics.variance(pair - step)) / 2e-6
        assert spread[i] == pytest.approx(float(numeric), abs=1e-6)
    np.testing.assert_allclose(model.next(model.latent_rows[9], model.latent_rows[8]), model.dynamics.mean(pair))


def test_frames_that_were_learnt_are_found_again(model, clips):
    x = model.latent(clips[1])
    apart = np.linalg.norm(x - model.latent_rows[40:], axis=1)
    assert np.median(apart) < 0.15 * model.latent_rows.std()


def test_other_motion_is_less_likely(model, clips):
    back = clips[0].with_poses(clips[0].poses.rows(slice(None, None, -1)))
    assert model.log_likelihood(clips[0]) > model.log_likelihood(back)


def test_prediction_goes_on_where_the_clip_ends(model, clips):
    start = clips[0]
    clip = model.predict(start, 12)
    assert clip.frame_count == 12
    step = np.linalg.norm(np.diff(clips[0].root[:, :2], axis=0), axis=1).mean()
    assert np.linalg.norm(clip.root[0, :2] - start.root[-1, :2]) == pytest.approx(step, rel=0.5)
    jump = np.degrees(quat.angle(quat.inv_mul(start.wxyz[-1], clip.wxyz[0])))
    most = np.degrees(quat.angle(quat.inv_mul(start.wxyz[1:], start.wxyz[:-1]))).max()
    assert np.all(np.delete(jump, _held(model)) < 1.5 * most)


def _held(model):
    return np.setdiff1d(np.arange(1, model.features.skeleton.joint_count), model.features.joints)


def test_packed_and_unpacked(model):
    again = Connected.unpack(*model.pack())
    np.testing.assert_array_equal(again.rows, model.rows)
    x = model.latent_rows[:5] + 0.01
    np.testing.assert_array_equal(again.pose(x).wxyz, model.pose(x).wxyz)
    np.testing.assert_array_equal(again.next(x[1], x[0]), model.next(x[1], x[0]))
    assert again.lengths == model.lengths
    assert again.notes == model.notes


def test_arrays_that_do_not_belong_together(model):
    data, arrays = model.pack()
    for wrong in (
        {"latent_rows": arrays["latent_rows"][1:]},
        {"alpha": -arrays["alpha"]},
        {"pose_rows": np.array([999])},
    ):
        with pytest.raises(MotionError):
            Connected.unpack(data, arrays | wrong)


def test_mirrored_clips_are_learnt_as_well_and_the_same_seed_learns_the_same(clips):
    a, b = (fit_connected(clips[1:], latent=3, iterations=2, mirrored=True) for _ in range(2))
    assert a.lengths == (40, 40)
    np.testing.assert_array_equal(a.latent_rows, b.latent_rows)


def test_many_frames_are_told_by_few(clips, monkeypatch):
    monkeypatch.setattr(sparse, "EXACT", 60)
    model = fit_connected(clips, latent=3, iterations=40)
    assert model.chosen.keys() == {"pose_rows", "velocity_rows", "dynamics_rows"}
    assert any("stand for all" in note for note in model.notes)
    pose = model.pose(model.latent_rows[:40])
    seen = model.features.pose(model.features.encode(clips[0]))
    assert np.degrees(quat.angle(quat.inv_mul(pose.wxyz, seen.wxyz))).mean() < 2.5
    again = Connected.unpack(*model.pack())
    np.testing.assert_array_equal(again.poses.weights, model.poses.weights)


def test_a_pose_at_run_time_reads_no_training_frames(model):
    """Everything that depends on their number is computed once."""
    x = model.latent_rows[3]
    seen = model.pose_rows(x), model.variance(x)
    object.__setattr__(blind := replace(model), "rows", None)
    for name in ("centre", "poses"):
        object.__setattr__(blind, name, getattr(model, name))
    np.testing.assert_array_equal(blind.pose_rows(x), seen[0])
    assert blind.variance(x) == seen[1]


def test_bad_input(clips):
    with pytest.raises(MotionError, match="connectivity"):
        fit_connected(clips, w_c=-1.0)
    with pytest.raises(MotionError, match="latent space of 90"):
        fit_connected(clips, latent=90)
    with pytest.raises(MotionError, match="one frame"):
        fit_connected([trim_frames(clips[0], 0, 1)])
    with pytest.raises(MotionError, match="same motion"):
        fit_connected([clips[0], clips[0]])


def test_moved_is_step_then_place():
    np.testing.assert_array_equal(moved(np.array([3.0, 1.0]), np.array([1.0, 1.0])), [2.0, 0.0, 3.0, 1.0])
