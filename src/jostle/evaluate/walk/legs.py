"""Legs seen from the side: the three angles of figure 3.6 of Wang 2010, over the percent of a gait cycle.

The side view is along the line that the pelvis travels, so a walk may go anywhere. In degrees:

    thigh   from straight down, positive forward
    knee    flexion: between thigh and shin, zero for a straight leg
    foot    from the ground, positive with the toe up; the line from ankle to ball slopes in every skeleton, so what it
            slopes by while the foot stands flat is taken off

A cycle runs from the strike of a foot to its next strike; cycles of both feet count.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from jostle.clips import Clip
from jostle.clips.contacts import Contacts
from jostle.skeleton import require_humanoid
from jostle.types import Array, Float, Int

ANGLES = ("thigh", "knee", "foot")
PERCENT = np.arange(100)  # of the cycle, as in the thesis: 100 places


def leg_angles(clip: Clip, ahead: Float[Array, "2"]) -> Float[Array, "T 2 3"]:
    """Thigh, knee and foot of the left and of the right leg, seen from the side of someone who walks `ahead`."""
    roles = require_humanoid(clip.skeleton, "The angles of legs")
    at = clip.positions
    flat = np.stack([at[..., :2] @ (ahead / np.linalg.norm(ahead)), at[..., 2]], axis=-1)  # (T, J, 2): ahead, up
    angles = np.empty((clip.frame_count, 2, 3))
    for leg, side in enumerate(("left", "right")):
        hip, knee, ankle, ball = (flat[:, roles[f"{side}_{part}"]] for part in ("thigh", "shin", "foot", "toe"))
        thigh, shin, foot = knee - hip, ankle - knee, ball - ankle
        lean = np.arctan2(thigh[:, 0], -thigh[:, 1])
        angles[:, leg, 0] = lean
        angles[:, leg, 1] = lean - np.arctan2(shin[:, 0], -shin[:, 1])
        angles[:, leg, 2] = np.arctan2(foot[:, 1], foot[:, 0])
    return np.degrees(np.unwrap(angles, axis=0))


def flat_slope(angles: Float[Array, "T 2 3"], contacts: Contacts) -> Float[Array, "2"]:
    """What the line from ankle to ball slopes by, in degrees, while heel and toe of a foot are both on the ground."""
    both = contacts.heel & contacts.toe
    return np.array([np.median(angles[both[:, leg], leg, 2]) for leg in (0, 1)])


def over_cycle(values: Float[Array, "T *d"], first: float, last: float) -> Float[Array, "100 *d"]:
    """`values` at 100 places evenly spread from frame `first` to frame `last`."""
    at = first + PERCENT / len(PERCENT) * (last - first)
    low = np.minimum(at.astype(int), len(values) - 2)
    share = (at - low).reshape(-1, *(1,) * (values.ndim - 1))
    return values[low] * (1.0 - share) + values[low + 1] * share


def cycles_of(frames: Int[Array, "n"]) -> list[tuple[int, int]]:
    """From each strike of a foot to its next."""
    return list(pairwise(frames.tolist()))
