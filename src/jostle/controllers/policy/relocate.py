"""Where a pose lies in a latent space that did not make it: section 6.3 of Levine et al. 2012.

A controller that takes over looks for the position x, and the step s that led there, whose pose and change are nearest
to those that are seen. Both are Gaussian processes, so it is the expected square that counts,

    E(x, s) = (|y - g(x)|^2 + P v(x)) / 2 v_0 + (|y' - g'(s, x)|^2 + V v'(s, x)) / 2 v'_0

in each channel's own scale, with v_0 and v'_0 the mean variances at the data and their noise. Two departures:

- The paper maximises p(y | x), which prefers positions far from all data for a pose that the model does not have: their
  variance explains anything, and the next frame, back at the data, has nothing in common with them and jumps.
- Changes count as well as poses: in a walk two moments of a stride have much the same pose. So phase and direction fit.

The search begins at the training frames that are nearest. Derivatives are written out, so it takes milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

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
    model: Connected, row: Float[Array, "P"], change: Float[Array, "V"], z: Float[Array, "n"]
) -> tuple[float, Float[Array, "n"]]:
    """E at x and s side by side, and its derivative."""
    q, (w, v) = len(z) // 2, model.scales
    usual, usual_change = _usual(model)
    pose, by_x = _missed(model.poses, w, row - model.centre, z[:q], usual)
    speed, by_both = _missed(model.velocities, v, change, np.concatenate([z[q:], z[:q]]), usual_change)
    return pose + speed, np.concatenate([by_x + by_both[q:], by_both[:q]])


def _missed(
    process: Posterior, w: Float[Array, "D"], y: Float[Array, "D"], at: Float[Array, "n"], usual: float
) -> tuple[float, Float[Array, "n"]]:
    """Half of the expected square by which the process misses y, over what is usual, and its derivative."""
    mean, slopes = process.tangent(at)
    missed = w * w * (y - mean)
    square = float(missed @ (y - mean)) + len(y) * float(process.variance(at))
    return 0.5 * square / usual, (0.5 * len(y) * process.variance_slope(at) - missed @ slopes) / usual


def led_along(
    model: Connected, x: Float[Array, "Q"], step: Float[Array, "Q"], displaced: Float[Array, "P"]
) -> Float[Array, "Q"]:
    """Where a position goes when its pose is displaced, as far as that lowers

        |W (d - J dx)|^2 / 2 v_0 + |dx|^2 / 2 |s|^2,

    what is displaced of the pose beside what a step as long as the last one costs.
    """
    (w, _), (usual, _) = model.scales, _usual(model)
    slopes = w[:, None] * model.poses.jacobian(x)  # (P, Q)
    matrix = slopes.T @ slopes / usual + np.eye(len(x)) / max(float(step @ step), 1e-12)
    return x + np.linalg.solve(matrix, slopes.T @ (w * displaced) / usual)


@lru_cache(maxsize=16)
def _usual(model: Connected) -> tuple[float, float]:
    """Mean variances of poses and of changes at the data, with their noise."""
    pairs = [(model.poses, model.poses.inputs), (model.velocities, model.velocities.inputs)]
    pose, change = (float(np.mean(process.variance(inputs))) + process.noise for process, inputs in pairs)
    return pose, change


def _nearest(far: Float[Array, "N"]) -> list[int]:
    """The nearest frames, no two of them neighbours."""
    chosen: list[int] = []
    for i in np.argsort(far, kind="stable"):
        if all(abs(int(i) - other) >= APART for other in chosen):
            chosen.append(int(i))
        if len(chosen) == STARTS:
            break
    return chosen
