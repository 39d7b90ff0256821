"""Three ways to continue a clip without a model: to stand still, and to copy what came next in the training clips."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from jostle.features import AngleFeatures
from jostle.types import Array, Float

RATES = np.geomspace(0.7, 1.4, 13)  # training frames a frame of the clip


def hold(features: AngleFeatures, given: Float[Array, "T D"], frames: int) -> Float[Array, "frames D"]:
    """The last pose stays, and nothing moves."""
    out = np.repeat(given[-1:], frames, axis=0)
    out[:, features.angles + 1 :] = 0.0
    return out


def nearest(
    training: Sequence[Float[Array, "_ D"]], given: Float[Array, "T D"], frames: int
) -> Float[Array, "frames D"]:
    """What followed the window of training that is most like the given one."""
    windows = _windows(training, len(given), frames, (1.0,), 0)
    return min(windows, key=lambda w: float(np.sum((w[: len(given)] - given) ** 2)))[len(given) :]


def nearest_paced(
    features: AngleFeatures, training: Sequence[Float[Array, "_ D"]], given: Float[Array, "T D"], frames: int
) -> Float[Array, "frames D"]:
    """The same with windows played faster and slower, each moved by its mean difference from the given one."""
    best: tuple[float, Array] | None = None
    for window in _windows(training, len(given), frames, RATES, features.angles + 1):
        offset = np.mean(given - window[: len(given)], axis=0)
        apart = float(np.sum((window[: len(given)] + offset - given) ** 2))
        if best is None or apart < best[0]:
            best = apart, window[len(given) :] + offset
    assert best is not None  # `_windows` gives at least one
    return best[1]


def _windows(
    training: Sequence[Array], given: int, frames: int, rates: Sequence[float] | Array, speeds: int
) -> Iterator[Float[Array, "n D"]]:
    """Every window with as many frames behind it as are to be predicted; where no clip is that long, its end is held.

    At another rate the columns from `speeds` on, which are per frame, change with it.
    """
    count = given + frames
    for rows in training:
        for rate in rates:
            last = len(rows) - 1 - rate * (count - 1)
            longest = max(len(r) for r in training) < rate * (count - 1) + 1
            for first in range(int(last) + 1 if last >= 0 else int(longest)):
                at = np.minimum(first + rate * np.arange(count), len(rows) - 1)
                low = np.minimum(at.astype(int), len(rows) - 2)
                t = (at - low)[:, None]
                window = (1.0 - t) * rows[low] + t * rows[low + 1]
                window[:, speeds:] *= rate
                yield window
