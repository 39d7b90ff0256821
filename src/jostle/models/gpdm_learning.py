"""Learning of a GPDM: latent positions and hyperparameters of any matrix of rows, by their posterior.

-ln p(X, alpha, beta, W | Y), without what does not depend on the unknowns (Wang 2010, (5.16)-(5.18)):

    L = L_Y + lambda L_X + sum_i ln alpha_i + sum_j ln beta_j + sum_d w_d^2 / (2 kappa^2)

lambda is 1 for the GPDM and D/d for the B-GPDM, which so weighs dynamics as if they explained as many numbers as poses
have (Urtasun, Fleet and Fua 2006); without dynamics, lambda = 0 and a Gaussian prior on X, it is the GPLVM. Left out of
L are N D/2 ln 2 pi, (N - S) d/2 ln 2 pi and the constants of the priors.

Departures, and why:

- The thesis alternates between W in closed form and the rest. `likelihood.scaled` puts the best W in at every step,
  which has the same minima and needs no alternation. The prior on W becomes a bound, w_d <= kappa: it is felt only by
  columns that hardly vary, and those (less than 1/kappa of spread) should not be blown up to the size of the rest.
- L falls without end when X shrinks and all its scales with it: every transition gains d ln c. Only the first rows and
  the prior on alpha speak against, and L-BFGS finds it. So the mean square of X is held at 1. Nothing is lost: the
  kernels have scales of their own.
- The priors on alpha and beta grow without end towards 0, so each has bounds. Those of the dynamics are near: a noise
  of at least 3 % of the latent spread, and an RBF that is no wider than that spread and does not vanish. Without them X
  becomes so smooth that f runs through all laps of a walk without error and goes on straight after the last (most
  rollouts of 2,000 frames came to rest or blew up; with them most stay), and B-GPDMs become linear. It is a mild form
  of the hyperparameters that Wang et al. 2008 (section 4.3) set by hand for the same reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from jostle.errors import MotionError
from jostle.models import learn, sparse
from jostle.models.kernels import Rbf
from jostle.models.latent_dynamics import Dynamics, LatentDynamics
from jostle.models.learn import Bounds, Learnt, Watch
from jostle.types import Array, Float, Int

KERNEL = Rbf()  # of K_Y; white noise is added to it (5.9)
START_BETA = np.log([1.0, 1e-2])  # beta_1, and 1/beta_2 of (5.9): the variance of the noise beside the function's 1
BETA_BOUNDS = (np.log([1e-3, 1e-5]), np.log([1e2, 1.0]))


@dataclass(frozen=True)
class Posterior:
    """L. With `dynamics` None it is a GPLVM."""

    dynamics: LatentDynamics | None

    def __call__(self, params: Mapping[str, Any], data: Mapping[str, Any]) -> tuple[Any, Any]:
        X, log_beta = unit(params["X"]), params["log_beta"]
        beta = jnp.exp(log_beta)
        pose = sparse.scaled(KERNEL, beta[:1], beta[1], X, data["Y"], data["kappa"], data.get("chosen"))  # (5.17)
        loss = pose.loss + log_beta[0] - log_beta[1]  # the paper's beta_2 is a precision
        if self.dynamics is None:
            return loss + 0.5 * jnp.sum(X**2), pose.jitter
        motion = self.dynamics.loss(X, params["log_alpha"], data)  # (5.18)
        prior = self.dynamics.prior(params["log_alpha"])
        return loss + data["balance"] * motion.loss + prior, pose.jitter + motion.jitter  # (5.16)


def unit(X: Any) -> Any:
    """Scaled to a mean square of 1."""
    return X / jnp.sqrt(jnp.mean(X**2))


@dataclass(frozen=True, eq=False)
class Rows:
    """Data made ready: columns that vary, about their mean."""

    Y: Float[Array, "N K"]
    mean: Float[Array, "D"]
    varied: Int[Array, "K"]  # the columns that are learnt; others stay at their mean
    kappa: float  # the largest scale


def ready(Y: Float[Array, "N D"], lengths: Sequence[int], q: int) -> Rows:
    """Or a sentence why nothing can be learnt."""
    if sum(lengths) != len(Y) or min(lengths, default=0) < 1:
        raise MotionError(f"Trajectories of {list(lengths)} rows are to be learnt, but there are {len(Y)} rows.")
    if not np.all(np.isfinite(Y)):
        raise MotionError("The rows to be learnt hold values that are no numbers; `jostle clips check` tells where.")
    if q < 1 or len(Y) <= q:
        raise MotionError(f"{len(Y)} frames cannot have {q} latent dimensions; give more frames, or ask for fewer.")
    mean, spread = np.mean(Y, axis=0), np.std(Y, axis=0)
    varied = np.flatnonzero(spread > STILL * max(float(np.max(spread)), 1e-300))
    if len(varied) == 0 or float(np.max(spread)) < 1e-9:
        raise MotionError("All frames to be learnt are the same; give clips of motion.")
    if len(varied) < q:
        raise MotionError(f"Only {len(varied)} columns vary, too few for {q} latent dimensions; ask for fewer.")
    typical = float(np.sqrt(np.mean(spread[varied] ** 2)))
    return Rows(Y[:, varied] - mean[varied], mean, varied, 1.0 / (FAINT * typical))


LEAST_NOISE, LEAST_RBF, LEAST_WIDTH = 1e-3, 0.2, 1.0  # of the dynamics, where X has a mean square of 1
STILL = 1e-4  # of the largest spread: a column below is constant
FAINT = 0.1  # of the typical spread: a column below is not blown up to the size of the others


def pca(Y: Float[Array, "N D"], q: int) -> Float[Array, "N q"]:
    """The first q principal directions of centred rows, the mean square of the whole 1."""
    u, s, vt = np.linalg.svd(Y, full_matrices=False)
    signs = np.sign(vt[np.arange(q), np.argmax(np.abs(vt[:q]), axis=1)])  # else they are the whim of the library
    X = u[:, :q] * s[:q] * signs
    return X / np.sqrt(np.mean(X**2))


@dataclass(frozen=True)
class Plan:
    """What is to be learnt, and how."""

    dynamics: LatentDynamics | None
    q: int = 3
    balance: float = 1.0  # lambda
    iterations: int = 300


@dataclass(frozen=True, eq=False)
class Fitted:
    X: Float[Array, "N Q"]
    log_beta: Float[Array, "2"]
    dynamics: Dynamics | None
    chosen: Int[Array, "M"] | None  # frames that stand for all, where there are too many to be exact
    learnt: Learnt


def fit_posterior(
    rows: Rows,
    lengths: Sequence[int],
    plan: Plan,
    *,
    seed: int = 0,
    start: Mapping[str, Array] | None = None,
    bounds: Mapping[str, Bounds] | None = None,
    watch: Watch | None = None,
    stage: str = "learn",
) -> Fitted:
    """The most probable unknowns, from PCA or from `start`."""
    params = dict(start or first_guess(rows, plan))
    data = data_of(rows, lengths, plan, params["X"], seed)
    limits = dict(bounds or bounds_of(plan))
    learnt = learn.minimise(
        Posterior(plan.dynamics), params, data, plan.iterations, bounds=limits, watch=watch, stage=stage
    )
    X = learnt.params["X"] / np.sqrt(np.mean(learnt.params["X"] ** 2))
    seen = None
    if plan.dynamics is not None:
        seen = Dynamics(plan.dynamics, X, tuple(lengths), learnt.params["log_alpha"], data.get("pairs"))
    return Fitted(X, learnt.params["log_beta"], seen, data.get("chosen"), learnt)


def first_guess(rows: Rows, plan: Plan) -> dict[str, Array]:
    """PCA of the columns as they will be scaled."""
    scaled = rows.Y * np.minimum(1.0 / np.std(rows.Y, axis=0), rows.kappa)
    guess = {"X": pca(scaled, plan.q), "log_beta": START_BETA.copy()}
    return guess if plan.dynamics is None else guess | {"log_alpha": plan.dynamics.start()}


def data_of(rows: Rows, lengths: Sequence[int], plan: Plan, X: Float[Array, "N Q"], seed: int = 0) -> dict[str, Array]:
    data = {"Y": rows.Y, "kappa": np.array(rows.kappa), "balance": np.array(float(plan.balance))}
    if (chosen := sparse.choose(X, seed)) is not None:
        data["chosen"] = chosen
    if plan.dynamics is not None:
        data |= plan.dynamics.rows(lengths)
        inputs, _ = plan.dynamics.pairs(X, data["past"], data["now"])
        if (pairs := sparse.choose(inputs, seed)) is not None:
            data["pairs"] = pairs
    return data


def bounds_of(plan: Plan) -> dict[str, Bounds]:
    bounds: dict[str, Bounds] = {"log_beta": BETA_BOUNDS}
    if plan.dynamics is None:
        return bounds
    least, most = plan.dynamics.bounds
    floor = np.log([LEAST_NOISE if n == "noise" else _least_of(n) for n in plan.dynamics.names])
    return bounds | {"log_alpha": (np.maximum(least, floor), most)}


def _least_of(name: str) -> float:
    """alpha_1 is the RBF's, which comes first in every kernel of this room; others weigh linear functions."""
    return LEAST_WIDTH if name.startswith("gamma") else LEAST_RBF if name == "alpha1" else 1e-6
