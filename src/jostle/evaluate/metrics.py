"""Measures that several experiments share, each defined once. Foot skate is that of `clips.skate`."""

from __future__ import annotations

import numpy as np

from jostle.clips import Clip
from jostle.clips.skate import foot_skate, slide_cm
from jostle.controllers.walker.world import UPRIGHT
from jostle.types import Array, Bool, Float

SEAM_AROUND = 5  # frames on either side
FALLEN_HEIGHT = 0.6  # of the torso's height when standing


def fell(height: Float[Array, "*n"], up: Float[Array, "*n 3"], standing: float) -> Bool[Array, "*n"]:
    """Who has fallen: torso below 60 % of its `standing` height, or its `up` axis tilted beyond 60 degrees."""
    return (height < FALLEN_HEIGHT * standing) | (up[..., 2] < UPRIGHT)


def skate(clip: Clip) -> dict[str, float]:
    """The foot-skate ratio of a clip, and how far its planted feet slide, in centimetres a step."""
    return {"foot_skate": foot_skate(clip), "slide_cm": slide_cm(clip)}


def seam_cm(clip: Clip, frame: int) -> float:
    """How far joints jump from a frame to the next beyond their mean step in the frames around it: the worst one's."""
    near = clip.positions[max(frame - SEAM_AROUND, 0) : frame + SEAM_AROUND + 2]
    steps = np.linalg.norm(np.diff(near, axis=0), axis=-1)  # (T, J)
    at = min(frame, SEAM_AROUND)
    others = np.delete(steps, at, axis=0)
    return 100.0 * float(np.max(steps[at] - np.mean(others, axis=0)))
