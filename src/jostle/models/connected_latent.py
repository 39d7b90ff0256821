"""Where frames that were not learnt from lie in a connected model: no back constraint says it, so it is searched for.

Given the training frames, the positions X* of a clip maximise

    ln p(Y* | X*) + ln p(Y*' | X*) + ln p(X*),

poses, velocities and dynamics, each frame judged by what the training frames say. The search begins at the training
frames whose poses and velocities are nearest, in each channel's own scale.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from jostle.models import kernels
from jostle.models.gp import Posterior
from jostle.models.kernels import Kernel
from jostle.models.learn import Watch, minimise
from jostle.types import Array, Float

if TYPE_CHECKING:
    from jostle.models.connected_model import Connected

_ITERATIONS = 120


@dataclass(frozen=True)
class _Embedding:
    q: int

    def __call__(self, params: Mapping[str, Any], data: Mapping[str, Any]) -> tuple[Any, Any]:
        x, q = params["x"], self.q
        loss = _missed(kernels.rbf(), x, data["poses"], data, "pose")
        if x.shape[0] > 1:
            steps = jnp.concatenate([x[1:] - x[:-1], x[1:]], axis=1)
            loss += _missed(kernels.velocity_product(q), steps, data["changes"], data, "velocity")
        if x.shape[0] > 2:
            pairs = jnp.concatenate([x[1:-1], x[:-2]], axis=1)
            loss += _missed(kernels.rbf(), pairs, x[2:], data, "dynamics")
        return loss, jnp.zeros(())


def _missed(kernel: Kernel, inputs: Any, outputs: Any, data: Mapping[str, Any], name: str) -> Any:
    """-ln p of outputs, each on its own, without constants."""
    h, noise = data[f"{name}_h"], data[f"{name}_noise"]
    k = kernel(h, inputs, data[f"{name}_inputs"])
    spread = kernel.diagonal(h, inputs) - jnp.sum((k @ data[f"{name}_shrink"]) * k, axis=1)
    spread = jnp.maximum(spread, 0.0) + noise
    missed = jnp.sum((outputs - k @ data[f"{name}_weights"]) ** 2, axis=1)
    return 0.5 * jnp.sum(missed / spread) + 0.5 * outputs.shape[1] * jnp.sum(jnp.log(spread))


def embed(model: Connected, rows: Float[Array, "T D"]) -> Float[Array, "T Q"]:
    """The most likely latent positions of encoded frames."""
    count, (w, v) = model.features.pose_count, model.scales
    scale = np.concatenate([w, v])
    data: dict[str, Any] = {
        "poses": (rows[:, :count] - model.centre) * w,
        "changes": rows[1:, count:] * v,
        **_told("pose", model.poses, w),
        **_told("velocity", model.velocities, v),
        **_told("dynamics", model.dynamics, np.ones(model.latent_rows.shape[1])),
    }
    start = {"x": model.latent_rows[_nearest(rows * scale, model.rows * scale)]}
    objective = _Embedding(model.latent_rows.shape[1])
    return minimise(objective, start, data, _ITERATIONS, watch=Watch(), stage="embed").params["x"]


def _told(name: str, process: Posterior, w: Float[Array, "D"]) -> dict[str, Array]:
    told = {
        "h": process.hypers,
        "noise": np.array(process.noise),
        "inputs": process.inputs,
        "weights": process.weights * w,
        "shrink": process.shrink,
    }
    return {f"{name}_{key}": value for key, value in told.items()}


def _nearest(a: Float[Array, "T D"], b: Float[Array, "N D"]) -> Array:
    squared = np.sum(b * b, axis=1)[None, :] - 2.0 * a @ b.T
    return np.argmin(squared, axis=1)
