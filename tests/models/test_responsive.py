"""The responsive model: L_D against the formula, seams, and walks that go on."""

import numpy as np
import pytest

import jostle
from jostle.assets import clip_path
from jostle.clips import load_clip
from jostle.clips.edit import resample, trim, trim_frames
from jostle.clips.skate import foot_skate
from jostle.errors import MotionError
from jostle.models.backend import float64
from jostle.models.responsive import Responsive, SecondOrder, Transitions, fit_responsive


@pytest.fixture(scope="module")
def walk():
    return trim(load_clip(clip_path("walk")), 1.0, 6.0)


@pytest.fixture(scope="module")
def model(walk):
    return fit_responsive([walk])


def test_dynamics_are_the_papers_formula():
    rng = np.random.default_rng(0)
    X, lengths = rng.normal(size=(11, 2)), (5, 6)
    alpha, gamma_1, gamma_2, noise = values = np.array([1.4, 0.6, 0.9, 0.2])
    pairs = [(0, 1, 2), (1, 2, 3), (2, 3, 4), (5, 6, 7), (6, 7, 8), (7, 8, 9), (8, 9, 10)]
    before, now, after = (X[[pair[i] for pair in pairs]] for i in range(3))
    square = [np.sum((a[:, None] - a[None]) ** 2, axis=-1) for a in (before, now)]
    K = alpha * np.exp(-0.5 * gamma_1 * square[0] - 0.5 * gamma_2 * square[1]) + noise * np.eye(len(pairs))
    expected = np.linalg.slogdet(K)[1] + 0.5 * np.trace(np.linalg.solve(K, after @ after.T))
    expected += np.log(alpha * gamma_1 * gamma_2 / noise)
    settings = SecondOrder(2, steps=False)
    loss, _ = float64(Transitions(settings))({"log_alpha": np.log(values)}, {"X": X, **settings.rows(lengths)})
    first = 0.5 * np.sum(X[[0, 1, 5, 6]] ** 2)  # a constant, since X is known
    assert float(loss) == pytest.approx(expected + first, rel=1e-10)


def test_a_clip_lies_near_where_it_was_learnt(model, walk):
    x = model.latent(walk)
    np.testing.assert_allclose(x, model.latent_rows)
    assert x.shape == (walk.frame_count, 3)
    assert np.all(model.variance(x) < 0.05)
    assert np.all(model.variance(x + 20.0) > 0.9)
    rows = model.features.encode(walk)
    assert np.sqrt(np.mean((model.poses.decode(x) - rows)[:, model.features.now] ** 2)) < 0.004


def test_a_pose_stands_over_the_origin(model):
    pose = model.pose(model.latent_rows[:6].reshape(2, 3, 3))
    assert pose.wxyz.shape == (2, 3, 18, 4)
    assert np.max(np.abs(pose.root[..., :2])) < 0.05
    assert np.all((pose.root[..., 2] > 0.7) & (pose.root[..., 2] < 1.1))


def test_unseen_walking_is_likelier_than_running_backwards(model):
    unseen = trim(load_clip(clip_path("walk")), 8.0, 10.0)
    backwards = unseen.with_poses(unseen.poses.rows(slice(None, None, -1)))
    assert model.log_likelihood(unseen) > model.log_likelihood(backwards)


def test_a_walk_goes_on_for_two_thousand_frames(model, walk):
    path = model.rollout(model.latent_rows[10:40], 2000)
    apart = np.sqrt(np.min(np.sum((path[:, None] - model.latent_rows[None]) ** 2, axis=-1), axis=1))
    assert np.median(apart[-100:]) <= 2.0 * np.median(apart[:100])
    ahead = model.features.decode(model.poses.decode(path[:600]))
    assert foot_skate(ahead) <= foot_skate(walk)
    assert np.linalg.norm(ahead.root[-1] - ahead.root[0]) / ahead.duration == pytest.approx(
        np.linalg.norm(walk.root[-1] - walk.root[0]) / walk.duration, rel=0.05
    )


def test_who_is_lost_finds_back(model):
    x = model.latent_rows
    far = np.stack([x[20] + 8.0, x[21] + 8.0])
    path = model.rollout(far, 30)
    apart = np.sqrt(np.min(np.sum((path[:, None] - x[None]) ** 2, axis=-1), axis=1))
    assert apart[-1] < 0.5


def test_a_prediction_takes_over_without_a_jump(model, walk):
    start = resample(trim_frames(walk, 20, 50), 60.0)
    ahead = model.predict(start, 40)
    assert (ahead.frame_count, ahead.fps) == (40, model.features.fps)
    moved = np.linalg.norm(ahead.positions[0] - start.positions[-1], axis=-1)
    assert np.max(moved) < 0.25
    real = trim_frames(walk, 50, 90)
    assert np.mean(np.linalg.norm(ahead.positions - real.positions, axis=-1)) < 0.1
    with pytest.raises(MotionError, match="too short"):
        model.predict(trim_frames(walk, 0, 1), 5)
    with pytest.raises(MotionError, match="at least one frame"):
        model.predict(walk, 0)


def test_several_clips_and_the_mean_of_whole_cycles(walk):
    stand = trim(load_clip(clip_path("walk")), 7.0, 8.0)
    model = fit_responsive([stand, walk], normal=1, iterations=5)
    assert model.lengths == (stand.frame_count, walk.frame_count)
    assert len(model.dynamics.posterior.inputs) == len(model.latent_rows) - 4
    by_name = model.features.names.index("LeftUpLeg.x")
    assert abs(model.poses.centre[by_name]) < 0.05
    with pytest.raises(MotionError, match="from 0 to 1"):
        fit_responsive([stand, walk], normal=2)


def test_bundles_keep_every_number(model, walk):
    data, arrays = model.pack()
    again = Responsive.unpack(data, arrays)
    np.testing.assert_array_equal(again.predict(walk, 5).wxyz, model.predict(walk, 5).wxyz)
    assert again.log_likelihood(walk) == model.log_likelihood(walk)
    assert again.notes == model.notes
    with pytest.raises(MotionError, match="damaged"):
        Responsive.unpack(data | {"lengths": [3]}, arrays)


def test_the_papers_own_form_walks_too(walk):
    model = fit_responsive([walk], paper=True)
    assert model.dynamics.settings.steps is False
    assert np.all(np.isfinite(model.rollout(model.latent_rows[:20], 100)))


def test_it_is_the_model_that_is_learnt_unless_told(walk):
    assert jostle.fit([walk], iterations=2).kind == "responsive"


def test_bad_input_is_one_sentence(walk):
    with pytest.raises(MotionError, match="one frame"):
        fit_responsive([trim_frames(walk, 0, 1)])
    with pytest.raises(MotionError, match="same motion"):
        fit_responsive([walk, walk])
    with pytest.raises(MotionError, match="cannot be learnt from 5 frames"):
        fit_responsive([trim_frames(walk, 0, 5)], latent=9)
