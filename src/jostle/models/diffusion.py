"""How well connected points are: the graph diffusion kernel and the prior made of it (Levine et al. 2012, 4.2 and B).

Points are the vertices of a complete graph; a walker hops from one to another with probability ~ 1/distance^4. The
kernel K^d = exp(beta H), H the negative normalised Laplacian, says how likely it is to be found at j when it began at i
and time beta has passed. The sum of ln K^d over all pairs is small when anyone is hard to reach.

Two things need care.

Points that coincide. Their weight is infinite and H no number, though its limit exists: a pair that hops within itself.
Weights are therefore taken as logarithms, log w = -2 ln(d^2 + soft), and normalised by sums of exponentials, which no
distance makes overflow. `soft`, a hundredth of a step squared, keeps the walker of such a pair from being caught for
good, where ln K^d of the others would be out of reach of double precision.

The derivative. d exp(beta H) = U (F * U' dH U) U' with F_ij = (e^(beta l_i) - e^(beta l_j)) / (l_i - l_j), which loses
all digits where eigenvalues come close. With t = beta |l_i - l_j| and l the larger of the two it is
beta e^(beta l) (1 - e^-t) / t, which loses none. One eigendecomposition serves value and derivative; differentiating
through it would divide by differences of eigenvalues.

Entries below 1e-13 of the diagonal's scale are rounding, not probabilities; they count as 1e-13, without a slope.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from jostle.models.backend import float64
from jostle.types import Array

BETA, POWER = 1000.0, 4.0  # the paper's
_LEAST = 1e-13  # what the eigendecomposition of a matrix of norm 1 can resolve


def negative_laplacian(X: Float[Any, "N Q"], soft: Float[Any, ""], power: float = POWER) -> Float[Any, "N N"]:
    """H = T^-1/2 W T^-1/2 - I, with w_ij = |x_i - x_j|^-p and T the sums of rows."""
    squared = jnp.sum((X[:, None, :] - X[None, :, :]) ** 2, axis=-1)
    eye = jnp.eye(X.shape[0], dtype=bool)
    log_w = jnp.where(eye, -jnp.inf, -0.5 * power * jnp.log(jnp.where(eye, 1.0, squared) + soft))
    half_log_t = 0.5 * jax.scipy.special.logsumexp(log_w, axis=1)
    return jnp.exp(log_w - half_log_t[:, None] - half_log_t[None, :]) - jnp.where(eye, 1.0, 0.0)


@jax.custom_vjp
def expm_symmetric(H: Float[Any, "N N"], beta: Float[Any, ""]) -> Float[Any, "N N"]:
    """exp(beta H) of a symmetric H."""
    return _forward(H, beta)[0]


def _forward(H: Any, beta: Any) -> tuple[Any, tuple[Any, ...]]:
    values, U = jnp.linalg.eigh(H)
    return (U * jnp.exp(beta * values)) @ U.T, (values, U, beta)


def _backward(kept: tuple[Any, ...], slope: Any) -> tuple[Any, None]:
    values, U, beta = kept
    t = beta * jnp.abs(values[:, None] - values[None, :])
    ratio = jnp.where(t < 1e-8, 1.0 - 0.5 * t, -jnp.expm1(-t) / jnp.where(t < 1e-8, 1.0, t))
    F = beta * jnp.exp(beta * jnp.maximum(values[:, None], values[None, :])) * ratio
    return U @ (F * (U.T @ slope @ U)) @ U.T, None


expm_symmetric.defvjp(_forward, _backward)


def connectivity(X: Float[Any, "N Q"], soft: Float[Any, ""], beta: float = BETA) -> Float[Any, ""]:
    """sum_ij ln K^d_ij: (3) without its weight. To be maximised; at most 0."""
    kernel = expm_symmetric(negative_laplacian(X, soft), jnp.asarray(beta, dtype=X.dtype))
    return jnp.sum(jnp.log(jnp.maximum(kernel, _LEAST)))


def softness(steps: Float[Array, "n Q"]) -> float:
    """`soft` of points that follow each other by such steps."""
    squared = float((steps * steps).sum(axis=-1).mean()) if len(steps) else 1.0
    return 1e-4 * (squared or 1.0)


@float64
def diffusion_kernel(X: Float[Array, "N Q"], soft: float, beta: float = BETA) -> Float[Array, "N N"]:
    """K^d, to look at: how likely a walker from i is at j after a while."""
    H = _laplacian(jnp.asarray(X), jnp.asarray(soft))
    values, U = np.linalg.eigh(np.asarray(H))
    return np.maximum((U * np.exp(beta * values)) @ U.T, _LEAST)


_laplacian = jax.jit(negative_laplacian)
