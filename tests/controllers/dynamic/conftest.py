import numpy as np
import pytest

from jostle import assets
from jostle.clips import load_clip
from jostle.controllers.dynamic.learn import Example, fit_dynamic
from jostle.runtime import load_example


@pytest.fixture(scope="session")
def walk():
    return load_clip(assets.clip_path("walk"))


@pytest.fixture(scope="session")
def pushed():
    """Pushed forwards, backwards and to the left."""
    paths = [clip for clip, _ in assets.pushed_clips()]
    return [load_example(paths[i]) for i in (1, 29, 15)]


@pytest.fixture(scope="session")
def person(walk, pushed):
    return fit_dynamic([Example(walk), *pushed], iterations=30)


@pytest.fixture
def rng():
    return np.random.default_rng(4)
