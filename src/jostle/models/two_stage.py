"""Two-stage MAP of a GPDM (Wang, Fleet and Hertzmann 2008, section 4.4): hyperparameters first, then latent positions.

Learnt together with X, hyperparameters fit that one X, and with several walkers the pose term tears it into clumps
(figure 5.3). So first the hyperparameters Theta = (alpha, beta, W) are found with X integrated out,

    Theta = arg max int p(Y, X | Theta) p(Theta) dX,

by Monte Carlo EM: draw X^(1..R) from p(X | Y, Theta) by Hamiltonian Monte Carlo, then raise the mean over these of
ln p(Y, X^(r), Theta), with W in closed form from their mean misfit, w_d^2 = N / (1/R sum_r y_d' K_r^-1 y_d), and again.
The second stage is X = arg max p(X | Y, Theta).

With Theta held the scale of X is no longer free, so here X is not scaled. The chain goes on from one round to the next
instead of being warmed up anew (a departure: a tenth of the time, and Theta moves little between rounds). Its steps are
as wide as each frame's position is certain: curvature of the pose term and of one step, frame by frame.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg

from jostle.errors import MotionError
from jostle.models import gp, hmc, learn, sparse
from jostle.models.backend import float64
from jostle.models.gpdm_learning import KERNEL, Fitted, Plan, Rows, bounds_of, data_of, first_guess
from jostle.models.latent_dynamics import Dynamics, LatentDynamics
from jostle.models.learn import Watch
from jostle.models.likelihood import plain
from jostle.types import Array, Float

ROUNDS, DRAWN, APART = 8, 8, 3  # of EM; samples a round; points of the chain between two samples
_LEAPS, _WARM_UP = 16, 12
_THETA_STEPS = 25  # L-BFGS iterations of a round


def energy(X: Any, log_beta: Any, log_alpha: Any, data: Mapping[str, Any], dynamics: LatentDynamics) -> tuple[Any, Any]:
    """-ln p(X, Y | alpha, beta, W), without its constant, and the jitter. `data` hold Y in units of 1/w."""
    beta = jnp.exp(log_beta)
    pose = plain(KERNEL(beta[:1], X, X) + beta[1] * jnp.eye(X.shape[0]), data["Y"])  # (5.17), but for N ln|W|
    motion = dynamics.loss(X, log_alpha, data)  # (5.18)
    return pose.loss + data["balance"] * motion.loss, pose.jitter + motion.jitter


@dataclass(frozen=True)
class GivenTheta:
    """-ln p(X | Y, Theta): for the sampler, and for the second stage."""

    dynamics: LatentDynamics

    def __call__(self, x: Any, data: Mapping[str, Any]) -> Any:
        return energy(x, data["log_beta"], data["log_alpha"], data, self.dynamics)[0]


@dataclass(frozen=True)
class SecondStage:
    dynamics: LatentDynamics

    def __call__(self, params: Mapping[str, Any], data: Mapping[str, Any]) -> tuple[Any, Any]:
        return energy(params["X"], data["log_beta"], data["log_alpha"], data, self.dynamics)


@dataclass(frozen=True)
class GivenSamples:
    """The mean over samples of -ln p(Y, X^(r), Theta), W held."""

    dynamics: LatentDynamics

    def __call__(self, params: Mapping[str, Any], data: Mapping[str, Any]) -> tuple[Any, Any]:
        log_beta, log_alpha = params["log_beta"], params["log_alpha"]
        losses, jitters = jax.lax.map(
            lambda X: energy(X, log_beta, log_alpha, data, self.dynamics), data["samples"]
        )  # one after the other: a vmapped factorisation repeats its repair for all when one needs it
        prior = log_beta[0] - log_beta[1] + self.dynamics.prior(log_alpha)
        return jnp.mean(losses) + prior, jnp.max(jitters)


def fit_two_stage(
    rows: Rows,
    lengths: Sequence[int],
    plan: Plan,
    *,
    rounds: int = ROUNDS,
    drawn: int = DRAWN,
    seed: int = 0,
    watch: Watch | None = None,
) -> Fitted:
    """Hyperparameters with X integrated out, then the most probable X."""
    if plan.dynamics is None or len(rows.Y) > sparse.EXACT:
        raise MotionError(
            f"Two-stage learning is for dynamics and at most {sparse.EXACT} frames, not {len(rows.Y)}; "
            "give fewer, or learn in one stage."
        )
    watch, rng = watch or Watch(), np.random.default_rng(seed)
    watch.plan((rounds + 1) * _THETA_STEPS + plan.iterations)
    start = first_guess(rows, plan)
    data = data_of(rows, lengths, plan, start["X"], seed)
    theta = _Theta(start["log_beta"], start["log_alpha"], np.ones(rows.Y.shape[1]))
    X, pace = start["X"], 0.1
    theta = _raised(theta, X[None], rows, plan, data, watch, "theta 0")
    for i in range(rounds):
        given = theta.data(data)
        root = _root(theta, X, rows, plan)
        found = hmc.sample(
            GivenTheta(plan.dynamics), X, given, drawn * APART, seed=rng, warm_up=_WARM_UP, leaps=_LEAPS,
            whiten=root, step=pace,
        )  # fmt: skip
        X, pace = found.points[-1], found.step
        theta = _raised(theta, found.points[APART - 1 :: APART], rows, plan, data, watch, f"theta {i + 1}")
    learnt = learn.minimise(
        SecondStage(plan.dynamics), {"X": X}, theta.data(data), plan.iterations, watch=watch, stage="X"
    )
    X = learnt.params["X"]
    seen = Dynamics(plan.dynamics, X, tuple(lengths), theta.log_alpha)
    return Fitted(X, theta.log_beta, seen, None, learnt)


@dataclass(frozen=True, eq=False)
class _Theta:
    log_beta: Float[Array, "2"]
    log_alpha: Float[Array, "H"]
    w: Float[Array, "K"]

    def data(self, data: Mapping[str, Array]) -> dict[str, Array]:
        return {**data, "Y": data["Y"] * self.w, "log_beta": self.log_beta, "log_alpha": self.log_alpha}


def _raised(
    theta: _Theta,
    samples: Float[Array, "R N Q"],
    rows: Rows,
    plan: Plan,
    data: Mapping[str, Array],
    watch: Watch,
    stage: str,
) -> _Theta:
    """The M step: W in closed form, then alpha and beta."""
    assert plan.dynamics is not None
    w = _scales(theta, samples, rows)
    held = {**data, "Y": data["Y"] * w, "samples": samples}
    start = {"log_beta": theta.log_beta, "log_alpha": theta.log_alpha}
    found = learn.minimise(
        GivenSamples(plan.dynamics), start, held, _THETA_STEPS, bounds=bounds_of(plan), watch=watch, stage=stage
    )
    return _Theta(found.params["log_beta"], found.params["log_alpha"], w)


def _scales(theta: _Theta, samples: Float[Array, "R N Q"], rows: Rows) -> Float[Array, "K"]:
    beta = np.exp(theta.log_beta)
    misfit = np.zeros(rows.Y.shape[1])
    for X in samples:
        factor = gp.covariance(KERNEL, beta[:1], float(beta[1]), X)
        misfit += np.sum(rows.Y * factor.solve(rows.Y), axis=0) / len(samples)
    return np.minimum(np.sqrt(len(rows.Y) / np.maximum(misfit, 1e-300)), rows.kappa)


@float64
def _root(theta: _Theta, X: Float[Array, "N Q"], rows: Rows, plan: Plan) -> Float[Array, "P P"]:
    """A square root of the covariance of X as if its frames were independent, for the sampler's steps."""
    beta, step = np.exp(theta.log_beta), float(np.exp(theta.log_alpha[-1]))
    posterior = gp.condition(KERNEL, beta[:1], float(beta[1]), X, rows.Y * theta.w)
    eye = np.eye(X.shape[1])
    blocks = []
    for x in X:
        slope = posterior.jacobian(x)  # (K, Q)
        precision = slope.T @ slope / posterior.noise + 2.0 * plan.balance / step * eye
        blocks.append(np.linalg.inv(np.linalg.cholesky(precision)).T)
    return np.asarray(scipy.linalg.block_diag(*blocks))
