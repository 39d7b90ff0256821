"""Styles of circle dynamics: paces, missing pairs, samples and transitions."""

import numpy as np
import pytest

import jostle
from jostle.assets import clip_path
from jostle.clips.edit import resample, trim_frames
from jostle.errors import MotionError
from jostle.models import styles
from jostle.models.circle import fit_circle


@pytest.fixture(scope="module")
def model():
    """Two walkers, of whom one also turns; labels are what counts here."""
    walk, turn = (resample(jostle.load_clip(clip_path(name)), 30.0) for name in ("walk", "turn_left"))
    clips = [
        trim_frames(walk, 0, 40).renamed("a walks"),
        trim_frames(walk, 150, 190).renamed("b walks"),
        trim_frames(turn, 0, 40).renamed("b turns"),
    ]
    return fit_circle(clips, subjects=["a", "b", "b"], gaits=["walk", "walk", "turn"], iterations=30)


def test_the_pair_that_nobody_recorded_is_named(model):
    assert styles.missing(model) == [{"subject": "a", "gait": "turn"}]


def test_paces_are_the_least_bilinear_form_that_fits(model):
    tables = [model.styles[name][model.labels.numbers(name)] for name in ("subject", "gait")]
    outer = np.einsum("ni,nj->nij", *tables).reshape(3, -1)
    B = np.linalg.pinv(outer) @ model.step
    s, g = model.styles["subject"][0], model.styles["gait"][0]  # a turns
    asked = np.concatenate([s, g])
    assert np.isclose(styles.pace(model, asked), np.clip(s @ B.reshape(3, 3) @ g, *_range(model)), rtol=1e-3)
    assert np.allclose(styles.pace(model, np.concatenate(tables, axis=1)), model.step, rtol=1e-3)
    assert np.isclose(styles.pace(model, 100.0 * asked), _range(model)[1])


def _range(model):
    return model.step.min() / 1.25, model.step.max() * 1.25


def test_samples_have_the_mean_and_covariance_of_their_labels(model):
    many = styles.drawn(model, 20_000, seed=3)
    table = model.styles["subject"]
    assert np.allclose(many[:, :3].mean(axis=0), table.mean(axis=0), atol=0.02)
    assert np.allclose(np.cov(many[:, :3].T), np.cov(table.T), atol=0.02)
    assert np.array_equal(styles.drawn(model, 2, seed=5), styles.drawn(model, 2, seed=5))


def test_a_missing_pair_becomes_a_clip(model):
    clip = styles.completed(model, 50, subject="a", gait="turn")
    assert (clip.name, clip.frame_count, clip.fps) == ("a turn", 50, 30.0)
    assert np.linalg.norm(clip.root[-1, :2] - clip.root[0, :2]) > 0.5
    recorded = styles.completed(model, 40, subject="a", gait="walk")
    near = model.features.encode(recorded)[:, : model.features.angles]
    own = model.gp.rows[:40, : model.features.angles]
    apart = np.linalg.norm(near[:, None] - own[None], axis=-1).min(axis=1)
    assert np.median(apart) < 0.3  # radians, over all joints: the recorded pair comes again
    with pytest.raises(MotionError, match="knows: turn, walk"):
        styles.completed(model, 50, gait="run")
    with pytest.raises(MotionError, match="at least one frame"):
        styles.completed(model, 0)


def test_a_transition_begins_in_one_style_and_ends_in_the_other(model):
    first, last = {"subject": "b", "gait": "walk"}, {"subject": "b", "gait": "turn"}
    clip = styles.transition(model, first, last, cycles=(1.0, 1.0, 0.5))
    begin = styles.motion(model, model.style(**first), 10)
    assert np.allclose(clip.wxyz[:10], begin.wxyz, atol=1e-9)
    assert 2.5 * 2 * np.pi / model.step.max() < clip.frame_count < 2.5 * 2 * np.pi / model.step.min() + 2
    speeds = np.linalg.norm(np.diff(clip.positions - clip.root[:, None], axis=0), axis=-1)
    assert np.abs(np.diff(speeds, axis=0)).max() < 0.1  # metres a frame: nothing jumps
    with pytest.raises(MotionError, match="cycles"):
        styles.transition(model, first, last, cycles=(0.0, 0.0, 0.0))
