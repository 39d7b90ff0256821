"""`model`: a motion model left to itself, as a controller."""

import numpy as np
import pytest

import toy_model
from jostle.assets import clip_path
from jostle.clips import load_clip
from jostle.controllers import NEUTRAL, Push, Start
from jostle.controllers.rollout import MEMORY, Rollout
from jostle.errors import CommandError
from jostle.runtime import Character, record


@pytest.fixture(scope="module")
def rollout():
    clips = [load_clip(clip_path(name)) for name in ("walk", "turn_left")]
    return Rollout(toy_model.fit_toy(clips, iterations=60))


def test_it_plays_the_model_s_mean_step_by_step(rollout):
    """The same as one long rollout from the same latent positions, made at once."""
    state = rollout.init(Start())
    poses = [state.pose]
    for _ in range(50):
        state = rollout.step(state, NEUTRAL)
        poses.append(state.pose)
    start = rollout.model.latent_rows[:MEMORY]
    whole = rollout.model.motion(np.concatenate([start[-1:], rollout.model.rollout(start, 50)]))
    np.testing.assert_allclose(np.stack([p.root for p in poses]), whole.root, atol=1e-9)
    np.testing.assert_allclose(np.abs(np.sum(np.stack([p.wxyz for p in poses]) * whole.wxyz, -1)), 1.0, atol=1e-9)
    assert state.time == pytest.approx(50 * rollout.dt)
    np.testing.assert_allclose(state.latent, rollout.model.rollout(start, 50)[-1])


def test_it_begins_where_it_is_told(rollout):
    here, there = rollout.init(Start()), rollout.init(Start((2.0, -1.0), np.pi / 2))
    np.testing.assert_allclose(there.pose.root[:2], [2.0, -1.0])
    for _ in range(60):
        here, there = rollout.step(here, NEUTRAL), rollout.step(there, NEUTRAL)
    went = here.pose.root[:2]
    np.testing.assert_allclose(there.pose.root[:2] - [2.0, -1.0], [-went[1], went[0]], atol=1e-9)


def test_another_clip_is_another_beginning(rollout):
    other = Rollout(rollout.model, 1).init(Start())
    np.testing.assert_array_equal(other.path, rollout.model.latent_rows[rollout.model.lengths[0] :][:MEMORY])


def test_it_is_pure_and_keeps_little(rollout):
    state = rollout.init(Start())
    first, again = rollout.step(state, NEUTRAL), rollout.step(state, NEUTRAL)
    np.testing.assert_array_equal(first.pose.wxyz, again.pose.wxyz)
    for _ in range(40):
        state = rollout.step(state, NEUTRAL)
    assert state.path.shape == (MEMORY, 3)


def test_a_recording_tells_how_sure_the_model_is(rollout):
    recording = record(Character(rollout), 1.0)
    assert np.all(np.isfinite(recording.quality["variance"]))


def test_pushes_are_refused(rollout):
    character = Character(rollout)
    command = type(NEUTRAL)(pushes=(Push("chest", np.array([0.0, 50.0, 0.0]), 0.2),))
    with pytest.raises(CommandError, match="does not answer pushes"):
        character.step(character.init(), command)
