"""The picture of a latent space: it is drawn for any number of dimensions, and shows what it says."""

import numpy as np
import pytest
from PIL import Image

import toy_model
from jostle.assets import clip_path
from jostle.clips import load_clip
from jostle.clips.edit import trim_frames
from jostle.errors import FileError
from jostle.export.latent import NEAR, _grid, plot_model
from jostle.models.projection import widest


@pytest.fixture(scope="module")
def clips():
    return [trim_frames(load_clip(clip_path(name)), 0, 60) for name in ("walk", "weave")]


@pytest.mark.parametrize("q", [1, 3, 5])
def test_any_number_of_dimensions(clips, tmp_path, q):
    told = []
    model = toy_model.fit_toy(clips, latent=q, iterations=5)
    plot_model(model, tmp_path / "a.png", frames=10, rollouts=1, progress=lambda *share: told.append(share))
    picture = np.asarray(Image.open(tmp_path / "a.png").convert("RGB")).reshape(-1, 3)
    assert len(np.unique(picture, axis=0)) > 300
    assert told[-1] == (3, 3)


def test_the_model_is_surest_where_the_clips_are(clips):
    model = toy_model.fit_toy(clips, latent=2, iterations=30)
    view = widest(model.latent_rows, 2)
    points, sure = _grid(model, view, 40, NEAR)
    away = np.linalg.norm(points[:, None] - view(model.latent_rows), axis=-1).min(axis=1)
    far, near = sure[away > np.quantile(away, 0.9)], sure[away < np.quantile(away, 0.1)]
    assert near.min() > far.max()


def test_what_cannot_be_written_is_one_sentence(clips, tmp_path):
    model = toy_model.fit_toy(clips, iterations=2)
    with pytest.raises(FileError, match="does not exist"):
        plot_model(model, tmp_path / "none" / "a.png", frames=5)
