"""Where a pose lies in a latent space that did not make it: section 6.3 of Levine et al. 2012.

A controller that takes over looks for the position x, and the step s that led there, that say best what is seen:

    E(x, s) = -ln p(y | x) - ln p(y' | s, x)

the pose and how fast it changes, so that phase and direction of motion fit as well. (The paper asks for the pose alone;
in a walk two moments of a stride have much the same pose.) The search begins at the training frames that are nearest in
each channel's own scale. Derivatives of the Gaussian processes are written out, so it takes milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.optimize

from jostle.controllers.policy.planning import Samples
from jostle.models.connected_model import Connected
from jostle.models.gp import Posterior
from jostle.types import Array, Float

STARTS = 3  # training frames from which the search begins
APART = 5  # frames between two of them, at least
ITERATIONS = 40


@dataclass(frozen=True, eq=False)
class Found:
    x: Float[Array, "Q"]
    step: Float[Array, "Q"]
    cost: float


def relocate(model: Connected, data: Samples, row: Float[Array, "P"], change: Float[Array, "V"]) -> Found:
    """The most likely position of a pose that changes so fast, per second; `data` are the training frames."""
    w, v = model.scales
    scale, seen = np.concatenate([w, v]), np.concatenate([row, change])
    far = np.sum((scale * (model.rows - seen)) ** 2, axis=1)
    found = [refined(model, row, change, data.x[i], data.step[i]) for i in _nearest(far)]
    return min(found, key=lambda one: one.cost)


def refined(
    model: Connected,
    row: Float[Array, "P"],
    change: Float[Array, "V"],
    x: Float[Array, "Q"],
    step: Float[Array, "Q"],
    iterations: int = ITERATIONS,
) -> Found:
    """From a position downhill."""
    result = scipy.optimize.minimize(
        lambda z: cost(model, row, change, z), np.concatenate([x, step]), jac=True, method="L-BFGS-B",
        options={"maxiter": iterations},
    )  # fmt: skip
    q = len(x)
    return Found(result.x[:q], result.x[q:], float(result.fun))


def cost(
    model: Connected, row: Float[Array, "P"], change: Float[Array, "V"], z: Float[Array, "2*Q"]
) -> tuple[float, Float[Array, "2*Q"]]:
    """E at x and s side by side, and its derivative."""
    q, (w, v) = len(z) // 2, model.scales
    pose, by_x = _surprise(model.poses, w, row - model.centre, z[:q])
    speed, by_both = _surprise(model.velocities, v, change, np.concatenate([z[q:], z[:q]]))
    return pose + speed, np.concatenate([by_x + by_both[q:], by_both[:q]])


def _surprise(
    process: Posterior, w: Float[Array, "D"], y: Float[Array, "D"], at: Float[Array, "n"]
) -> tuple[float, Float[Array, "n"]]:
    """-ln p(y | at), without constants, and its derivative."""
    mean, slopes = process.tangent(at)
    spread = float(process.variance(at)) + process.noise
    missed = w * w * (y - mean)
    square, count = float(missed @ (y - mean)), len(y)
    slope = 0.5 * (count - square / spread) / spread * process.variance_slope(at) - missed @ slopes / spread
    return 0.5 * (square / spread + count * np.log(spread)), slope


def _nearest(far: Float[Array, "N"]) -> list[int]:
    """The nearest frames, no two of them neighbours."""
    chosen: list[int] = []
    for i in np.argsort(far, kind="stable"):
        if all(abs(int(i) - other) >= APART for other in chosen):
            chosen.append(int(i))
        if len(chosen) == STARTS:
            break
    return chosen
