"""Where new rows lie in the latent space of a model that knows no way there: by optimisation.

Their latent positions are those of the greatest posterior density given the training data,

    -ln p(X* | Y*, X, Y) = -ln p(Y* | X*, X, Y) - lambda ln p(X* | X) + const,

the pose term as in (5.17), the dynamics as in (5.18), both conditioned on the training rows. `joint` takes the frames
of Y* together (Wang, Fleet and Hertzmann 2008, section 3.3). The default judges every frame by what the training rows
alone say of it: it costs a T th of the time and, as joint frames may agree on a common error, those latents lie nearer
to the training rows (a departure; Wang 2010 says no more than "maximizing the joint posterior of all unknowns").

The search begins on training rows: for every frame the nearest few are candidates, and of all paths through them that
one is taken along which rows fit and latent positions follow each other as the dynamics expect.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from jostle.errors import MotionError
from jostle.models import learn
from jostle.models.gpdm_learning import KERNEL
from jostle.models.latent_dynamics import LatentDynamics
from jostle.models.latent_model import LatentModel
from jostle.models.likelihood import plain
from jostle.types import Array, Float, Int

_NEAREST = 8  # training rows that a frame may begin at


@dataclass(frozen=True)
class Placement:
    """The negative log posterior of latent positions of new rows, without its constant."""

    dynamics: LatentDynamics | None
    joint: bool = False

    def __call__(self, params: Mapping[str, Any], data: Mapping[str, Any]) -> tuple[Any, Any]:
        x = params["x"]
        loss = self.pose_loss(x, data)
        if self.dynamics is None or x.shape[0] <= self.dynamics.order:
            return loss + 0.5 * jnp.sum(x**2), jnp.zeros(())  # frames on their own: each as the first of a trajectory
        begins = 0.5 * jnp.sum(x[: self.dynamics.order] ** 2)
        motion = begins + self.dynamics.future_loss(x, data, joint=self.joint)
        return loss + data["balance"] * motion, jnp.zeros(())

    def pose_loss(self, x: Any, data: Mapping[str, Any]) -> Any:
        gamma, noise, scales = data["pose_hypers"], data["pose_noise"], data["scales"]
        cross = KERNEL(gamma, x, data["pose_inputs"])  # (T, M)
        residual = data["Y"] - (cross @ data["pose_weights"]) * scales
        known = cross @ data["pose_shrink"]
        if self.joint:
            K = KERNEL(gamma, x, x) - known @ cross.T + noise * jnp.eye(x.shape[0])
            return plain(0.5 * (K + K.T), residual).loss
        spread = jnp.maximum(1.0 - jnp.sum(known * cross, axis=1), 0.0) + noise
        return 0.5 * residual.shape[1] * jnp.sum(jnp.log(spread)) + 0.5 * jnp.sum(jnp.sum(residual**2, 1) / spread)


def place(
    model: LatentModel, Y: Float[Array, "T D"], *, joint: bool = False, iterations: int = 150
) -> Float[Array, "T Q"]:
    """Latent positions of one trajectory of rows."""
    if Y.shape[1] != model.Y.shape[1]:
        raise MotionError(f"Rows of {Y.shape[1]} columns do not fit a model of {model.Y.shape[1]}.")
    if not np.all(np.isfinite(Y)):
        raise MotionError("The rows to be placed hold values that are no numbers; `jostle clips check` tells where.")
    start = {"x": model.X[begin(model, Y)]}
    settings = None if model.dynamics is None else model.dynamics.settings
    return learn.minimise(Placement(settings, joint), start, data_of(model, Y), iterations).params["x"]


def data_of(model: LatentModel, Y: Float[Array, "T D"]) -> dict[str, Array]:
    p = model.posterior
    data = {"pose_hypers": p.hypers, "pose_noise": np.array(p.noise), "pose_inputs": p.inputs}
    data |= {"pose_weights": p.weights, "pose_shrink": p.shrink, "scales": model.scales, "Y": model.scaled(Y)}
    data["balance"] = np.array(float(model.balance))
    return data if model.dynamics is None else data | model.dynamics.seen


def begin(model: LatentModel, Y: Float[Array, "T D"]) -> Int[Array, "T"]:
    """Training rows to start from: the cheapest path through the nearest of each frame (Viterbi)."""
    new, old = model.scaled(Y), model.scaled(model.Y)
    apart = np.sum(new**2, 1)[:, None] + np.sum(old**2, 1) - 2.0 * new @ old.T  # (T, N)
    near = np.argsort(apart, axis=1)[:, :_NEAREST]  # (T, k)
    cost = np.maximum(np.take_along_axis(apart, near, axis=1), 0.0)
    cost /= max(2.0 * float(np.median(cost[:, 0])), 1e-12)  # a typical misfit costs 1/2
    if model.dynamics is None:
        return near[:, 0]
    expected = _expected(model)
    unlike = max(float(np.median(np.sum(np.diff(model.X, axis=0) ** 2, axis=1))), 1e-12)  # of a typical step
    best, back = cost[0], []
    for t in range(1, len(new)):
        jumps = np.sum((expected[near[t - 1]][:, None] - model.X[near[t]][None]) ** 2, axis=2) / (2.0 * unlike)
        total = best[:, None] + jumps  # (k before, k now)
        back.append(np.argmin(total, axis=0))
        best = np.min(total, axis=0) + cost[t]
    at = [int(np.argmin(best))]
    for came in reversed(back):
        at.append(int(came[at[-1]]))
    return near[np.arange(len(new)), at[::-1]]


def _expected(model: LatentModel) -> Float[Array, "N Q"]:
    """Where the dynamics lead from every training row; at the beginnings of trajectories, where the next row lies."""
    dynamics, X = model.moving(), model.X
    order = dynamics.settings.order
    out = np.concatenate([X[1:], X[-1:]])
    for rows in model.beginnings():
        if (count := rows.stop - rows.start) >= order:
            past = np.arange(rows.start, rows.stop - order + 1)[:, None] + np.arange(order)
            out[rows.stop - (count - order + 1) : rows.stop] = dynamics.next(X[past])
    return out
