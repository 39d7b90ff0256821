"""More frames than are learnt exactly: in every model a few stand for all, poses and dynamics alike."""

import numpy as np
import pytest

import jostle
from jostle.assets import clip_path, pushed_clips
from jostle.clips.edit import resample, trim_frames
from jostle.maths import quat
from jostle.models import sparse
from jostle.models.fit import unpack
from jostle.models.responsive import fit_responsive

FRAMES = 90


@pytest.fixture(scope="module")
def walk():
    return trim_frames(resample(jostle.load_clip(clip_path("walk")), 30.0), 0, FRAMES)


def posteriors(model):
    """Of poses and of dynamics, as far as there are any."""
    if model.kind in ("gpdm", "bgpdm"):
        return [model.model.posterior, model.model.predictive.posterior]
    poses = model.gp.posterior if model.kind in ("circle", "multifactor") else model.poses.posterior
    return [poses] if model.kind == "circle" else [poses, model.dynamics.posterior]


@pytest.mark.parametrize("kind", ["gpdm", "multifactor", "circle", "responsive"])
def test_a_few_stand_for_all(walk, monkeypatch, kind):
    few = lambda x, seed=0: sparse.farthest(x, FRAMES // 3, seed)  # noqa: E731
    monkeypatch.setattr(sparse, "EXACT", 60)
    monkeypatch.setattr(sparse, "choose", few)
    model = jostle.fit([walk], model=kind, iterations=30)
    assert all(len(p.inputs) <= FRAMES // 3 for p in posteriors(model))
    seen = model.features.pose(model.features.encode(walk))
    apart = quat.angle(quat.inv_mul(model.pose(model.latent_rows).wxyz, seen.wxyz))
    assert np.degrees(apart).mean() < 4.0
    assert np.all(np.isfinite(model.predict(walk, 20).wxyz))
    again = unpack(kind, *model.pack())
    assert np.array_equal(again.rollout(model.latent_rows[:9], 9), model.rollout(model.latent_rows[:9], 9))


def test_responsive_dynamics_of_many_frames_in_many_dimensions_are_not_taken_for_noise():
    """Few pairs stand for little of the others there; learnt by them alone, all would be noise."""
    paths = [clip for clip, _ in pushed_clips()][:14]
    clips = [jostle.load_clip(path) for path in paths]
    model = fit_responsive(clips, latent=6, iterations=4, pace=1.0, frame="clip")
    assert len(model.latent_rows) > sparse.EXACT
    alpha, _, _, noise = np.exp(model.log_alpha)
    assert noise < 0.1 * alpha
