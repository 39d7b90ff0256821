"""The scheme of Ye & Liu 2010 to the letter, as a reference: slow, and not what works best.

One frame, section 3.2:

1. pose and latent position together where L_S (5) is least, from the mean of the dynamics and the pose there;
2. under a push the pose where |G|^2 + |C|^2 is least, (8), with G in the units of each degree of freedom;
3. the latent position where L_S is least for that pose.

    L_S = 1/2 ln|K(X^)| + 1/2 tr(K(X^)^-1 Z_Y W^2 Z_Y') + 1/2 ln|K_D(X^_in)| + 1/2 tr(K_D(X^_in)^-1 Z_X Z_X')      (A)

over three frames, of which two are known. `tests/controllers/dynamic/test_exact.py` holds the default scheme beside it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.optimize

from jostle.controllers.dynamic.deform import Load, Stand
from jostle.controllers.dynamic.responses import Responses
from jostle.skeleton import Pose
from jostle.types import Array, Float

ITERATIONS = 12  # of the search for a pose
SMALL = 1e-5  # radians and metres, of a difference
_SPREAD = 1e-9  # variance that is left of a position among the data


class Exact:
    """L_S of one model, and the three steps of a frame."""

    def __init__(self, known: Responses) -> None:
        self.known = known
        self.poses, self.dynamics = known.model.poses, known.model.dynamics.posterior
        self.steps = known.model.dynamics.settings.steps

    def likelihood(self, rows: Float[Array, "3 D"], x: Float[Array, "3 Q"]) -> float:
        """(A), as it stands; the noise of either process is part of its kernel."""
        p = self.poses.posterior
        covariance = p.covariance(x) + p.noise * np.eye(3)
        centred = (rows - self.poses.centre)[:, self.poses.kept]
        miss = (centred - p.mean(x)) * self.poses.scales
        d = self.dynamics
        pair = x[:2].reshape(-1)
        spread = max(float(d.variance(pair)), 0.0) + d.noise + _SPREAD
        step = x[2] - (x[1] if self.steps else 0.0) - d.mean(pair)
        poses = 0.5 * np.linalg.slogdet(covariance)[1] + 0.5 * float(np.sum(miss * np.linalg.solve(covariance, miss)))
        return poses + 0.5 * np.log(spread) + 0.5 * float(step @ step) / spread

    def infer(
        self, rows: Float[Array, "2 D"], x: Float[Array, "2 Q"]
    ) -> tuple[Float[Array, "Q"], Pose, Float[Array, "D"]]:
        """Step 1: position, pose and row of the next frame, without a push."""
        ahead = self.known.model.dynamics.next(x)
        row = self.poses.decode(ahead)
        row[: self.known.features.now.start] = rows[-1][self.known.features.now]
        start = self.known.features.pose(row)
        size = self.known.physics.velocity_count

        def moved(vector: Array) -> tuple[Pose, Array]:
            """Velocity follows the search on its own; it is no angle of the pose."""
            step = vector[:size].copy()
            step[:2] = 0.0  # the pelvis stays over the origin of the features
            pose = self.known.deformer.displaced(start, step)
            there = self.known.moved(row, start, pose)
            there[self.known.features.velocity] = row[self.known.features.velocity] + vector[size : size + 3]
            return pose, there

        def cost(vector: Array) -> float:
            _, there = moved(vector)
            return self.likelihood(np.stack([*rows, there]), np.stack([*x, ahead + vector[size + 3 :]]))

        found = scipy.optimize.minimize(
            cost, np.zeros(size + 3 + len(ahead)), method="L-BFGS-B", options={"maxiter": ITERATIONS}
        )
        pose, there = moved(found.x)
        return ahead + found.x[size + 3 :], pose, there

    def deform(self, pose: Pose, loads: Sequence[Load], stands: Sequence[Stand], weight: float = 1e4) -> Pose:
        """Step 2: d with |M d / dt^2 - J' f|^2 + |weight C d|^2 least."""
        deformer = self.known.deformer
        mass, force, across = deformer.parts(pose, loads, stands)
        rows = np.concatenate([mass / self.known.dt**2, weight * across])
        aims = np.concatenate([force, np.zeros(len(across))])
        return deformer.displaced(pose, np.linalg.lstsq(rows, aims, rcond=None)[0])

    def update(self, rows: Float[Array, "3 D"], x: Float[Array, "2 Q"], start: Float[Array, "Q"]) -> Float[Array, "Q"]:
        """Step 3: the position of the last of these rows."""

        def cost(there: Array) -> float:
            return self.likelihood(rows, np.stack([*x, there]))

        return scipy.optimize.minimize(cost, start, method="L-BFGS-B").x
