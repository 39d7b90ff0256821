"""Motion models: what a frame costs at run time, beside our own slower way.

python -m benchmarks models                # ratios
"""

from __future__ import annotations

import numpy as np

from benchmarks.timing import Row, median_seconds
from jostle.assets import clip_path
from jostle.clips import load_clip
from jostle.features import AngleFeatures
from jostle.models import gp, kernels
from jostle.models.backend import one_thread
from jostle.models.gp import Posterior
from jostle.models.projection import widest
from jostle.types import Array, Float

FRAMES, STEP = 300, 1e-6


def rows() -> list[Row]:
    with one_thread():
        return [_tangent()]


def _tangent() -> Row:
    """One frame's mean and Jacobian of a walk of 300 frames, against differences of the mean."""
    posterior, x = _walk()
    ours = median_seconds(lambda: [posterior.tangent(x) for _ in range(200)], 15) / 200
    slower = median_seconds(lambda: [_differences(posterior, x) for _ in range(200)], 15) / 200
    return Row(f"posterior mean and Jacobian, N = {FRAMES}", ours, "differences of the mean", slower)


def _walk() -> tuple[Posterior, Float[Array, "3"]]:
    clip = load_clip(clip_path("walk"))
    features = AngleFeatures.of([clip])
    Y = features.encode(clip)[:FRAMES]
    X = widest(Y, 3)(Y)
    X /= X.std()
    return gp.condition(kernels.rbf(), np.array([1.0, 4.0]), 1e-3, X, Y - Y.mean(axis=0)), X[100] + 0.01


def _differences(posterior: Posterior, x: Float[Array, "Q"]) -> tuple[Array, Array]:
    apart = STEP * np.eye(len(x))
    return posterior.mean(x), (posterior.mean(x + apart) - posterior.mean(x - apart)).T / (2 * STEP)
