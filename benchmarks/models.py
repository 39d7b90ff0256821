"""Motion models: what learning and a frame at run time cost, beside GPy and our own slower way.

    python -m benchmarks models                # ratios
    JOSTLE_DATA=... python -m benchmarks models

Learning is timed on CMU 07_01 where JOSTLE_DATA names the folder that holds it, else on the shipped walk. Seconds of
learning are those of the processor, whatever else the machine does; they come with what each missed of a clip that it
had not seen, through its back map. Linear algebra has one thread on both sides.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

from benchmarks.timing import Row, median_seconds
from jostle.assets import clip_path
from jostle.clips import Clip, load_clip
from jostle.clips.edit import trim_frames
from jostle.features import AngleFeatures
from jostle.maths import quat
from jostle.models import back_learning, gp, kernels
from jostle.models.backend import one_thread
from jostle.models.gp import Posterior
from jostle.models.projection import widest
from jostle.models.responsive import fit_responsive
from jostle.types import Array, Float

R = TypeVar("R")

FRAMES, STEP = 300, 1e-6
Q, ITERATIONS = 3, 200


def rows() -> list[Row]:
    with one_thread():
        return [*_fits(), *_responsive(), _tangent()]


def _fits() -> list[Row]:
    """The first fit of a size, which compiles, and the second, each beside GPy's."""
    learnt, unseen, name = _clips()
    Y, told = _angles(learnt), _angles(unseen)
    moves = np.ptp(Y, axis=0) > 1e-6
    Y, told = Y[:, moves], told[:, moves]
    told = told - 2.0 * np.pi * np.round((told - Y.mean(axis=0)) / (2.0 * np.pi))

    def missed(there_and_back: Callable[[Array], Array]) -> float:
        return float(np.degrees(np.sqrt(np.mean((there_and_back(told) - told) ** 2))))

    back, peer_s = _timed(lambda: _gpy(Y))
    peer, out = f"GPy BCGPLVM, {missed(back):.2f} deg", []
    for iterations in (ITERATIONS, back_learning.ITERATIONS):
        for which in ("first", "second"):
            model, ours_s = _timed(lambda n=iterations: back_learning.fit_gplvm(Y, Q, iterations=n))
            error = missed(lambda y, m=model: m.decode(m.encode(y)))
            job = f"{which} fit of {name}, {len(Y)} frames, {iterations} steps: {error:.2f} deg"
            out.append(Row(job, ours_s, peer, peer_s))
    return out


def _clips() -> tuple[Clip, Clip, str]:
    """A clip to learn, and one of the same person that is not learnt."""
    if folder := os.environ.get("JOSTLE_DATA"):
        paths = [Path(folder) / "cmu_bvh" / f"{name}.bvh" for name in ("07_01", "07_02")]
        learnt, unseen = (trim_frames(load_clip(path), 1) for path in paths)
        return learnt, unseen, "CMU 07_01"
    walk = load_clip(clip_path("walk"))
    return trim_frames(walk, 0, FRAMES), trim_frames(walk, FRAMES, 2 * FRAMES), "the shipped walk"


def _timed(job: Callable[[], R]) -> tuple[R, float]:
    """And how many seconds the processor took."""
    start = time.process_time()
    out = job()
    return out, time.process_time() - start


def _gpy(Y: Float[Array, "N D"]) -> Callable[[Array], Array]:
    """What rows become on the way through GPy's latent space."""
    import GPy  # a peer: installed for development only

    centre = Y.mean(axis=0)
    np.random.seed(0)  # noqa: NPY002 - GPy draws from the global generator
    model = GPy.models.BCGPLVM(Y - centre, Q)
    model.optimize("lbfgs", max_iters=ITERATIONS)
    return lambda rows: model.predict(np.asarray(model.mapping.f(rows - centre)))[0] + centre


def _angles(clip: Clip) -> Float[Array, "T D"]:
    """Euler angles of all joints but the root, in CMU's order."""
    angles = np.unwrap(quat.to_euler(clip.wxyz[:, 1:], "XZY"), axis=0)
    return angles.reshape(len(angles), -1)


def _responsive() -> list[Row]:
    """A whole model, features and dynamics included, beside GPy's latent space of its rows alone."""
    clip = trim_frames(load_clip(clip_path("walk")), 0, FRAMES)
    model, first = _timed(lambda: fit_responsive([clip]))
    _, second = _timed(lambda: fit_responsive([clip]))
    _, peer_s = _timed(lambda: _gpy(model.poses.rows[:, model.poses.kept]))
    job, peer = f"responsive model of {FRAMES} frames", "GPy BCGPLVM of its rows"
    return [Row(f"first {job}", first, peer, peer_s), Row(f"second {job}", second, peer, peer_s)]


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
