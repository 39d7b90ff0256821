"""Which way a pushed clip was going: by what it does before and after, not by where the push took it.

Features are seen along one direction a clip (`features.bodies`), its travel. Somebody who is pushed aside travels
obliquely, by ten degrees within four seconds; learnt along that, the same step would be another one in every clip. So a
clip is laid onto the normal motion: each of its frames is turned about the vertical until its points lie best on those
of a normal frame, the frame that fits best counts, and of all these angles the middle one of the better half is taken.
"""

from __future__ import annotations

import numpy as np

from jostle.body import build_body
from jostle.clips import Clip
from jostle.features.bodies import travel
from jostle.features.features import fitted
from jostle.features.points import BodyPoints, body_points
from jostle.types import Array, Float


def headings(clips: list[Clip], normal: int, fps: float) -> list[float]:
    """The directions, in radians left of X, in which clips go; the normal one is asked where it travels."""
    skeleton = clips[normal].skeleton
    points = body_points(build_body(skeleton))
    given = [fitted(clip, skeleton, fps) for clip in clips]
    way = travel(given[normal])
    usual = _flat(points, given[normal])
    return [way if i == normal else way + _turned(_flat(points, clip), usual) for i, clip in enumerate(given)]


def _flat(points: BodyPoints, clip: Clip) -> Float[Array, "T P 3"]:
    """Points with their middle over the origin."""
    seen = points.of(clip.poses)
    seen[..., :2] -= seen[..., :2].mean(axis=1, keepdims=True)
    return seen


def _turned(seen: Float[Array, "T P 3"], usual: Float[Array, "N P 3"]) -> float:
    """By which angle frames are turned against the usual ones."""
    flat, other = seen[..., 0] + 1j * seen[..., 1], usual[..., 0] + 1j * usual[..., 1]
    along = flat @ np.conj(other).T  # (T, N): its angle turns the usual frame onto this one
    size = np.sum(seen**2, axis=(1, 2))[:, None] + np.sum(usual**2, axis=(1, 2))[None]
    apart = size - 2.0 * (np.abs(along) + seen[..., 2] @ usual[..., 2].T)
    best = np.argmin(apart, axis=1)
    rows = np.arange(len(seen))
    turns, apart = np.angle(along[rows, best]), apart[rows, best]
    good = turns[apart <= np.median(apart)]
    around = float(np.angle(np.sum(np.exp(1j * good))))
    return around + float(np.median(np.angle(np.exp(1j * (good - around)))))
