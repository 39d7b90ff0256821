"""Futures of a latent trajectory: the likeliest, and samples, of the dynamic predictive distribution.

p(X*_{2:T} | x*_1, X) (Wang, Fleet and Hertzmann 2008, section 3.3): f is one function, drawn once, so a future is no
product of what single steps would say. `Dynamics.rollout` takes the mean step by step; `likeliest` moves that path to
where the joint density is greatest, which is how chapter 6 of Wang 2010 predicts; `sample` draws paths by Hamiltonian
Monte Carlo (figure 5.2 e). `draw` draws them one row after another, each from its own Gaussian given all rows before
it: the same distribution, exactly and cheaper; it is here because it holds the sampler to account.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from jostle.errors import JostleError
from jostle.maths.linalg import cholesky
from jostle.models import hmc, learn
from jostle.models.latent_dynamics import Dynamics, LatentDynamics
from jostle.types import Array, Float


@dataclass(frozen=True)
class Future:
    """-ln p of rows that follow data["start"]."""

    dynamics: LatentDynamics
    joint: bool = True

    def energy(self, rows: Any, data: Mapping[str, Any]) -> Any:
        path = jnp.concatenate([data["start"], rows])
        return self.dynamics.future_loss(path, data, joint=self.joint)

    def __call__(self, params: Mapping[str, Any], data: Mapping[str, Any]) -> tuple[Any, Any]:
        return self.energy(params["rows"], data), jnp.zeros(())


@dataclass(frozen=True)
class Energy:
    """The same, as a sampler wants it."""

    future: Future

    def __call__(self, x: Any, data: Mapping[str, Any]) -> Any:
        return self.future.energy(x, data)


def likeliest(
    dynamics: Dynamics, start: Float[Array, "T Q"], frames: int, *, joint: bool = True, iterations: int = 200
) -> Float[Array, "frames Q"]:
    """The rows that follow most likely, all at once, from the mean prediction."""
    rows = dynamics.rollout(start, frames)
    future = Future(dynamics.settings, joint)
    return learn.minimise(future, {"rows": rows}, _data(dynamics, start), iterations).params["rows"]


def sample(
    dynamics: Dynamics,
    start: Float[Array, "T Q"],
    frames: int,
    count: int,
    *,
    seed: int | np.random.Generator = 0,
    apart: int = 5,
    warm_up: int = 60,
) -> hmc.Samples:
    """So many futures by Hamiltonian Monte Carlo, `apart` points of the chain from each other.

    The chain begins at the likeliest future; its steps are as wide in every direction as the density is there. Steps
    of a walk are alike from row to row to a thousandth, and paths wander by a tenth: without that it would not move.
    """
    if frames < 1 or count < 1:
        raise JostleError(f"A future needs at least one frame and one sample; {frames} and {count} were asked for.")
    data = _data(dynamics, start)
    energy = Energy(Future(dynamics.settings))
    rows = likeliest(dynamics, start, frames)
    root = hmc.root_of_covariance(energy, rows, data)
    drawn = hmc.sample(energy, rows, data, count * apart, seed=seed, warm_up=warm_up, leaps=12, whiten=root, step=0.2)
    return hmc.Samples(drawn.points[apart - 1 :: apart], drawn.accepted, drawn.step)


def draw(
    dynamics: Dynamics, start: Float[Array, "T Q"], frames: int, *, seed: int | np.random.Generator = 0
) -> Float[Array, "frames Q"]:
    """One future, row after row: each Gaussian given what was seen and all rows of this future before it."""
    rng = np.random.default_rng(seed)
    s, seen = dynamics.settings, dynamics.posterior
    path = [*dynamics.past(start)]
    inputs, residuals = np.zeros((0, s.order * s.q)), np.zeros((0, s.q))
    for _ in range(frames):
        past = np.concatenate(path[-s.order :])[None]
        k, before = s.kernel(seen.hypers, past, seen.inputs), s.kernel(seen.hypers, inputs, seen.inputs)
        mean, spread = seen.mean(past)[0], float(seen.variance(past)[0])
        if len(inputs):
            covariance = s.kernel(seen.hypers, inputs, inputs) - before @ seen.shrink @ before.T
            cross = (s.kernel(seen.hypers, past, inputs) - k @ seen.shrink @ before.T)[0]
            factor = cholesky(0.5 * (covariance + covariance.T) + seen.noise * np.eye(len(inputs)))
            mean = mean + cross @ factor.solve(residuals)
            spread = max(spread - float(cross @ factor.solve(cross)), 0.0)
        out = mean + np.sqrt(spread + seen.noise) * rng.standard_normal(s.q)  # ~ N(mean, (spread + noise) I)
        inputs = np.concatenate([inputs, past])
        residuals = np.concatenate([residuals, (out - seen.mean(past)[0])[None]])
        path.append(out + path[-1] if s.steps else out)
    return np.array(path[s.order :])


def _data(dynamics: Dynamics, start: Float[Array, "T Q"]) -> dict[str, Array]:
    return {**dynamics.seen, "start": dynamics.past(start)}
