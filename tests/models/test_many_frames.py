"""More frames than are learnt exactly: in every model a few stand for all, poses and dynamics alike."""

import numpy as np
import pytest

import jostle
from jostle.assets import clip_path
from jostle.clips.edit import resample, trim_frames
from jostle.maths import quat
from jostle.models import sparse
from jostle.models.fit import unpack

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
