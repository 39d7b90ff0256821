"""Measures that several experiments share, each defined once. Foot skate is that of `clips.skate`."""

from __future__ import annotations

from jostle.clips import Clip
from jostle.clips.skate import foot_skate, slide_cm
from jostle.controllers.walker.world import UPRIGHT
from jostle.types import Array, Bool, Float

FALLEN_HEIGHT = 0.6  # of the torso's height when standing


def fell(height: Float[Array, "*n"], up: Float[Array, "*n 3"], standing: float) -> Bool[Array, "*n"]:
    """Who has fallen: torso below 60 % of its `standing` height, or its `up` axis tilted beyond 60 degrees."""
    return (height < FALLEN_HEIGHT * standing) | (up[..., 2] < UPRIGHT)


def skate(clip: Clip) -> dict[str, float]:
    """The foot-skate ratio of a clip, and how far its planted feet slide, in centimetres a step."""
    return {"foot_skate": foot_skate(clip), "slide_cm": slide_cm(clip)}
