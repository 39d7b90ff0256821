"""Which pushed clips share a model (section 4 of Ye & Liu 2010, which leaves it to the user).

A Gaussian process of many clips is slow to learn, and clips that have nothing in common gain nothing from each other.
Two clips belong together when their pushes point alike, come at a like time of the motion, and the clips overlap: how
near the frames of one come to those of the other. Clips are joined by the mean of these distances (average linkage), as
long as no group has more than `MOST` frames.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jostle.controllers.dynamic.responses import Given
from jostle.features.bodies import FPS
from jostle.types import Array, Float

MOST = 1300  # frames of a model besides the normal motion: what an exact process learns in half a minute
_DIRECTION, _TIME, _OVERLAP = 1.0, 0.3, 0.3  # weights of what makes clips unlike


def share_out(
    pushes: Sequence[Sequence[Given]],
    usual: Float[Array, "N D"],
    rows: Sequence[Float[Array, "_ D"]],
    groups: int | None = None,
) -> list[list[int]]:
    """Groups of clips, by their numbers: so many, or as few as their size allows."""
    sizes = [len(part) for part in rows]
    shares = [[i] for i in range(len(rows))]
    if groups is None and sum(sizes) <= MOST:
        return [list(range(len(rows)))]
    apart = unlikeness(pushes, usual, rows)
    most = MOST if groups is None else sum(sizes)
    while len(shares) > (groups or 1):
        pairs = [(_between(apart, shares[a], shares[b]), a, b) for a in range(len(shares)) for b in range(a)]
        pairs = [pair for pair in pairs if sum(sizes[i] for i in shares[pair[1]] + shares[pair[2]]) <= most]
        if not pairs:
            break
        _, a, b = min(pairs)
        shares[b] += shares.pop(a)
    return [sorted(share) for share in shares]


def unlikeness(
    pushes: Sequence[Sequence[Given]], usual: Float[Array, "N D"], rows: Sequence[Float[Array, "_ D"]]
) -> Float[Array, "C C"]:
    """How little clips have in common; 0 is the same clip."""
    ways = [_way(clip) for clip in pushes]
    onsets = [part[_onset(clip, part)] for clip, part in zip(pushes, rows, strict=True)]
    spread = float(np.sqrt(np.mean(np.sum((usual - usual.mean(axis=0)) ** 2, axis=1))))
    count = len(rows)
    out = np.zeros((count, count))
    for a in range(count):
        for b in range(a):
            turned = np.arccos(np.clip(ways[a] @ ways[b], -1.0, 1.0)) / np.pi
            timing = min(np.linalg.norm(onsets[a] - onsets[b]) / (2.0 * spread), 1.0)
            near = np.linalg.norm(rows[a][:, None] - rows[b][None], axis=-1)
            gap = 0.5 * (np.mean(near.min(axis=0)) + np.mean(near.min(axis=1)))
            out[a, b] = out[b, a] = _DIRECTION * turned + _TIME * timing + _OVERLAP * min(gap / spread, 1.0)
    return out


def _way(clip: Sequence[Given]) -> Float[Array, "2"]:
    total = np.sum([push.impulse for push in clip], axis=0)[:2]
    return total / max(float(np.linalg.norm(total)), 1e-9)


def _onset(clip: Sequence[Given], rows: Float[Array, "_ D"]) -> int:
    """The frame in which the first push begins."""
    return int(np.clip(round(FPS * min(push.time for push in clip)), 0, len(rows) - 1))


def _between(apart: Float[Array, "C C"], first: Sequence[int], second: Sequence[int]) -> float:
    return float(np.mean(apart[np.ix_(first, second)]))
