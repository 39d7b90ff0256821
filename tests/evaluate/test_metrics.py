"""Fallen is low or tilted; feet that stay slide nowhere."""

import numpy as np

from jostle.assets import clip_path
from jostle.clips import load_clip
from jostle.clips.skate import foot_skate
from jostle.evaluate.metrics import fell, skate


def tilted(degrees: float) -> list[float]:
    return [np.sin(np.radians(degrees)), 0.0, np.cos(np.radians(degrees))]


def test_who_is_low_or_tilted_has_fallen():
    up = np.array([tilted(0), tilted(0), tilted(59), tilted(61)])
    height = np.array([1.0, 0.59, 1.0, 1.0])
    np.testing.assert_array_equal(fell(height, up, 1.0), [False, True, False, True])
    np.testing.assert_array_equal(fell(height, up, 0.9), [False, False, False, True])


def test_skate_is_that_of_clips():
    walk = load_clip(clip_path("walk"))
    figures = skate(walk)
    assert figures["foot_skate"] == foot_skate(walk)
    assert 0.0 <= figures["slide_cm"] < 2.0
