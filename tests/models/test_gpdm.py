"""GPDMs of clips: the shipped walker's, and where there is motion capture, people's."""

from dataclasses import replace

import numpy as np
import pytest

from jostle.assets import clip_path
from jostle.clips import load_clip
from jostle.clips.edit import trim_frames
from jostle.errors import MotionError
from jostle.models.gpdm import Gpdm, fit_bgpdm, fit_gpdm
from jostle.models.model import MotionModel


@pytest.fixture(scope="module")
def walk():
    return trim_frames(load_clip(clip_path("walk")), 0, 240)


@pytest.fixture(scope="module", params=["gpdm", "bgpdm"])
def model(request, walk) -> Gpdm:
    return {"gpdm": fit_gpdm, "bgpdm": fit_bgpdm}[request.param]([walk], iterations=80)


def test_it_is_a_motion_model(model, walk):
    asked: MotionModel = model
    assert asked.latent_rows.shape == (sum(asked.lengths), 3)
    assert asked.pose(asked.latent_rows[:4]).wxyz.shape == (4, walk.skeleton.joint_count, 4)
    assert asked.variance(asked.latent_rows[:4]).shape == (4,)
    assert asked.pose(asked.latent_rows[0]).root.shape == (3,)
    assert np.isfinite(asked.log_likelihood(walk))


def test_a_clip_is_found_again(model, walk):
    x = model.latent(walk)
    assert np.sqrt(np.mean((x - model.latent_rows) ** 2)) < 0.1
    rows = model.features.encode(walk)
    angles = model.features.angles
    assert np.degrees(np.sqrt(np.mean((model.model.mean(x) - rows)[:, :angles] ** 2))) < 3.0


def test_far_from_the_clips_it_is_less_sure(model):
    assert model.variance(model.latent_rows).max() < model.variance(model.latent_rows + 6.0).min()


def test_a_prediction_begins_where_the_clip_ends_and_goes_on(model, walk):
    on = model.predict(walk, 60)
    assert on.frame_count == 60
    assert on.fps == model.features.fps
    gap = np.linalg.norm(on.root[0, :2] - walk.root[-1, :2])
    speed = np.linalg.norm(walk.root[-1, :2] - walk.root[0, :2]) / walk.duration
    assert gap < 3 * speed * on.dt
    covered = np.linalg.norm(on.root[-1, :2] - on.root[0, :2]) / on.duration
    assert 0.5 * speed < covered < 1.5 * speed


def test_two_thousand_frames_stay_on_the_cycle(model):
    from jostle.models.latent_model import nearest

    path = model.model.predictive.rollout(model.latent_rows, 2000)
    assert nearest(model.latent_rows, path[-100:]) < 2 * max(nearest(model.latent_rows, path[:100]), 0.02)


def test_the_likeliest_future_and_samples_are_near_the_mean(model, walk):
    mean, best = model.predict(walk, 10), model.predict(walk, 10, likeliest=True)
    assert np.abs(mean.positions - best.positions).max() < 0.3
    drawn = model.samples(walk, 10, 4, seed=1)
    assert drawn.accepted > 0.4
    path = model.model.moving().rollout(model.model.X, 10)
    assert np.linalg.norm(drawn.points.mean(axis=0) - path, axis=1).max() < 1.0
    assert drawn.points.std(axis=0).max() > 1e-3


def test_packed_and_unpacked_it_gives_the_same_numbers(model, walk):
    data, arrays = model.pack()
    back = Gpdm.unpack(data, arrays)
    x = model.latent_rows[5:9] + 0.02
    np.testing.assert_array_equal(back.pose(x).wxyz, model.pose(x).wxyz)
    np.testing.assert_array_equal(back.variance(x), model.variance(x))
    np.testing.assert_array_equal(back.predict(walk, 20).wxyz, model.predict(walk, 20).wxyz)
    assert back.notes == model.notes
    with pytest.raises(MotionError):
        Gpdm.unpack(data, {**arrays, "latents": arrays["latents"][:-1]})


def test_bad_clips_are_refused_with_a_sentence(walk):
    with pytest.raises(MotionError, match="frame"):
        fit_gpdm([trim_frames(walk, 0, 1)])
    with pytest.raises(MotionError, match="order"):
        fit_gpdm([walk], order=3)
    with pytest.raises(MotionError, match="latent dimensions"):
        fit_gpdm([trim_frames(walk, 0, 40)], latent=40)
    still = trim_frames(walk, 0, 20)
    still = replace(still, root=np.repeat(still.root[:1], 20, axis=0), wxyz=np.repeat(still.wxyz[:1], 20, axis=0))
    with pytest.raises(MotionError, match=r"moves|same"):
        fit_gpdm([still])


@pytest.mark.slow
@pytest.mark.parametrize("fit", [fit_gpdm, fit_bgpdm])
def test_a_persons_walk(data, fit):
    clip = trim_frames(load_clip(data / "cmu_bvh" / "35_03.bvh"), 1)
    model = fit([clip])
    assert len(model.model.X) > 100
    from jostle.models.latent_model import trial

    assert trial(model.model).alive


@pytest.mark.slow
def test_two_stages(data):
    clips = [trim_frames(load_clip(data / "cmu_bvh" / f"{name}.bvh"), 1, 160) for name in ("35_01", "07_01")]
    model = fit_gpdm(clips, two_stage=True, iterations=60)
    smooth = np.linalg.norm(np.diff(model.latent_rows[: model.lengths[0]], 2, axis=0))
    torn = fit_gpdm(clips, iterations=60)
    rough = np.linalg.norm(np.diff(torn.latent_rows[: torn.lengths[0]], 2, axis=0))
    spread, torn_spread = np.std(model.latent_rows), np.std(torn.latent_rows)
    assert smooth / spread < 1.5 * rough / torn_spread
