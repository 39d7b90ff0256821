"""How likely data are under a Gaussian process, for learning: in jax, with the derivative written by hand.

With D columns of data Y, each scaled by w_d, and K the covariance of rows, noise included, the negative log likelihood
(5.17 of Wang 2010; L_Y of Levine et al. 2012; the first terms of L_P of Ye & Liu 2010), without the constant
N D / 2 ln(2 pi), is

    L = D/2 ln|K| + 1/2 sum_d w_d^2 y_d' K^-1 y_d - N sum_d ln w_d.

In w it is least at w_d^2 = N / y_d' K^-1 y_d, so the scales need no search: they are put in at their best, or at
`most`, where a column hardly varies. At that point dL/dw = 0 or w does not move, so

    dL/dK = 1/2 (D K^-1 - sum_d w_d^2 a_d a_d'),   a_d = K^-1 y_d,

which costs one inverse; everything below it, kernels and latent positions, is differentiated by jax. A value and its
gradient take a third less time than by differentiating through the factorisation.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Float

_FIRST_JITTER, _MOST_JITTER = 1e-12, 1e-2  # of the mean diagonal


class Fit(NamedTuple):
    """`loss` is to be minimised; `scales` and `jitter` tell how it came about, and carry no derivative."""

    loss: Float[Any, ""]
    scales: Float[Any, "D"]  # w
    jitter: Float[Any, ""]  # what was added to the diagonal to factor K; 0 where it was definite


def repaired_cholesky(K: Float[Any, "N N"]) -> tuple[Float[Any, "N N"], Float[Any, ""]]:
    """L and the least share of the mean diagonal, in powers of ten, with which K can be factored."""
    size = jnp.mean(jnp.diagonal(K))
    eye = jnp.eye(K.shape[0], dtype=K.dtype)

    def failed(state: tuple[Any, Any]) -> Any:
        lower, share = state
        return jnp.isnan(lower[-1, -1]) & (share < _MOST_JITTER)

    def again(state: tuple[Any, Any]) -> tuple[Any, Any]:
        share = jnp.maximum(10.0 * state[1], _FIRST_JITTER)
        return jnp.linalg.cholesky(K + share * size * eye), share

    lower, share = jax.lax.while_loop(failed, again, (jnp.linalg.cholesky(K), jnp.zeros_like(size)))
    return lower, share * size


@jax.custom_vjp
def scaled(K: Float[Any, "N N"], Y: Float[Any, "N D"], most: Float[Any, ""]) -> Fit:
    """L at the best scales w_d <= most."""
    return _forward(K, Y, most)[0]


def _forward(K: Any, Y: Any, most: Any) -> tuple[Fit, tuple[Any, ...]]:
    lower, jitter = repaired_cholesky(K)
    a = jax.scipy.linalg.cho_solve((lower, True), Y)  # (N, D)
    misfit = jnp.sum(Y * a, axis=0)  # (D,)
    count = Y.shape[0]
    w2 = jnp.minimum(count / jnp.maximum(misfit, 1e-300), most * most)
    half_log = jnp.sum(jnp.log(jnp.diagonal(lower)))  # 1/2 ln|K|
    loss = Y.shape[1] * half_log + 0.5 * jnp.sum(w2 * misfit) - 0.5 * count * jnp.sum(jnp.log(w2))
    return Fit(loss, jnp.sqrt(w2), jitter), (lower, a, w2)


def _backward(kept: tuple[Any, ...], slope: Fit) -> tuple[Any, Any, None]:
    lower, a, w2 = kept
    inverse = jax.scipy.linalg.cho_solve((lower, True), jnp.eye(lower.shape[0], dtype=lower.dtype))
    wrt_K = 0.5 * (len(w2) * inverse - (a * w2) @ a.T)
    return slope.loss * wrt_K, slope.loss * a * w2, None


scaled.defvjp(_forward, _backward)


def plain(K: Float[Any, "N N"], Y: Float[Any, "N D"]) -> Fit:
    """L with every scale at 1: (5.18), of latent positions under their dynamics."""
    return _plain(K, Y)


@jax.custom_vjp
def _plain(K: Any, Y: Any) -> Fit:
    return _plain_forward(K, Y)[0]


def _plain_forward(K: Any, Y: Any) -> tuple[Fit, tuple[Any, ...]]:
    lower, jitter = repaired_cholesky(K)
    a = jax.scipy.linalg.cho_solve((lower, True), Y)
    loss = Y.shape[1] * jnp.sum(jnp.log(jnp.diagonal(lower))) + 0.5 * jnp.sum(Y * a)
    ones = jnp.ones(Y.shape[1], dtype=Y.dtype)
    return Fit(loss, ones, jitter), (lower, a, ones)


def _plain_backward(kept: tuple[Any, ...], slope: Fit) -> tuple[Any, Any]:
    return _backward(kept, slope)[:2]


_plain.defvjp(_plain_forward, _plain_backward)
