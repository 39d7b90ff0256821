"""A small policy of two shipped clips that the tests of this folder share."""

import numpy as np
import pytest

from jostle.assets import clip_path
from jostle.clips import load_clip
from jostle.clips.edit import trim_frames
from jostle.controllers.policy.policy import plan_policy
from jostle.controllers.policy.tasks import Heading
from jostle.models.connected import fit_connected


@pytest.fixture(scope="session")
def walker_model():
    clips = [trim_frames(load_clip(clip_path(name)), 60, 130) for name in ("walk", "turn_left")]
    return fit_connected(clips, latent=3, mirrored=True, iterations=40)


@pytest.fixture(scope="session")
def walking(walker_model):
    return plan_policy(walker_model, Heading(count=12), rounds=0)


@pytest.fixture
def rng():
    return np.random.default_rng(0)
