"""More frames than an exact Gaussian process bears: a few inducing inputs stand for all of them.

Exact learning inverts an N by N matrix in every iteration. Beyond `EXACT` frames a model believes only what M inputs Z
tell it: with A = k(Z, Z), B = k(Z, X) and the approximation Q = B' A^-1 B of k(X, X), the negative log likelihood is
replaced by the upper bound of Titsias (2009), for D columns of data Y, each scaled by w_d, and noise s,

    L = D/2 ln|Q + s I| + 1/2 sum_d w_d^2 y_d' (Q + s I)^-1 y_d - N sum_d ln w_d + D/(2s) tr(K - Q).

It costs N M^2, and what comes out, a `gp.Posterior` with inputs Z, costs the same whatever N was. The bound was chosen
over FITC because it can only rise when something is left out: Z can be chosen or learnt by it without fear that
learning exploits the approximation, its noise stays a noise, and where Z = X it is the exact likelihood. Its price is a
noise that is estimated a little high while M is small.

Z are frames: rows of X, chosen once, that move with X while X is learnt. So no parameters are added, latent positions
through a back constraint and pairs of frames for dynamics work alike, and Z can never be where no motion is.

A model calls this module instead of `likelihood` and `gp`; `rows` is None up to EXACT frames, and all is exact:

    rows = sparse.choose(start, seed)                               (once)
    sparse.scaled(kernel, h, noise, X, Y, most, rows)               (in the objective)
    sparse.condition(kernel, h, noise, X, Y, rows)                  (at the end)
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
from jaxtyping import Float, Int

from jostle.maths.linalg import cholesky
from jostle.models import gp, likelihood
from jostle.models.kernels import Kernel
from jostle.models.likelihood import Fit, repaired_cholesky
from jostle.types import Array

EXACT = 1500  # frames: above these, inducing inputs
INDUCING = 250
_STEADY = 1e-9  # of the mean diagonal of A, always added: neighbouring frames are nearly the same input


def choose(inputs: Float[Array, "N Q"], seed: int = 0, count: int = INDUCING) -> Int[Array, "M"] | None:
    """The frames that stand for all, or None where there are few enough to be exact."""
    return None if len(inputs) <= EXACT else farthest(inputs, count, seed)


def farthest(inputs: Float[Array, "N Q"], count: int, seed: int = 0) -> Int[Array, "M"]:
    """Each the farthest from those before it, the first by lot; in ascending order."""
    count = min(count, len(inputs))
    rows = [int(np.random.default_rng(seed).integers(len(inputs)))]
    apart = np.full(len(inputs), np.inf)
    while len(rows) < count:
        apart = np.minimum(apart, np.sum((inputs - inputs[rows[-1]]) ** 2, axis=1))
        rows.append(int(np.argmax(apart)))
    return np.unique(rows)


def scaled(
    kernel: Kernel, h: Any, noise: Any, X: Float[Any, "N Q"], Y: Float[Any, "N D"], most: Any, rows: Any = None
) -> Fit:
    """`likelihood.scaled` of inputs and outputs: exact, or by the frames in `rows`."""
    if rows is None:
        K = kernel(h, X, X) + noise * jnp.eye(X.shape[0], dtype=X.dtype)
        return likelihood.scaled(K, Y, jnp.asarray(most, dtype=X.dtype))
    return bound(kernel, h, noise, X, X[rows], Y, most)


def plain(kernel: Kernel, h: Any, noise: Any, X: Float[Any, "N Q"], Y: Float[Any, "N D"], rows: Any = None) -> Fit:
    """`likelihood.plain` of inputs and outputs: exact, or by the frames in `rows`."""
    if rows is None:
        return likelihood.plain(kernel(h, X, X) + noise * jnp.eye(X.shape[0], dtype=X.dtype), Y)
    return bound(kernel, h, noise, X, X[rows], Y, None)


def condition(
    kernel: Kernel, h: Float[Array, "H"], noise: float, X: Float[Array, "N Q"], Y: Float[Array, "N D"], rows: Any = None
) -> gp.Posterior:
    """`gp.condition`: exact, or by the frames in `rows`."""
    return gp.condition(kernel, h, noise, X, Y) if rows is None else condition_sparse(kernel, h, noise, X, Y, X[rows])


def bound(
    kernel: Kernel, h: Any, noise: Any, X: Float[Any, "N Q"], Z: Float[Any, "M Q"], Y: Float[Any, "N D"], most: Any
) -> Fit:
    """L with any inducing inputs, at the best scales w_d <= most; `most` None leaves them at 1."""
    profiled = most is not None
    limit = jnp.asarray(most if profiled else 1.0, dtype=X.dtype)
    return _bound(profiled, kernel(h, Z, Z), kernel(h, Z, X), kernel.diagonal(h, X), jnp.asarray(noise), Y, limit)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _bound(profiled: bool, A: Any, B: Any, own: Any, s: Any, Y: Any, most: Any) -> Fit:
    return _forward(profiled, A, B, own, s, Y, most)[0]


def _forward(profiled: bool, A: Any, B: Any, own: Any, s: Any, Y: Any, most: Any) -> tuple[Fit, tuple[Any, ...]]:
    """With A = L L', V = L^-1 B / sqrt(s) and G = I + V V', by Woodbury: (Q + s I)^-1 = (I - V' G^-1 V) / s."""
    (inducing, frames), columns = B.shape, Y.shape[1]
    steady = _STEADY * jnp.mean(jnp.diagonal(A))
    lower, jitter = repaired_cholesky(A + steady * jnp.eye(inducing, dtype=A.dtype))
    V = _solve(lower, B) / jnp.sqrt(s)  # (M, N)
    G = jnp.eye(inducing, dtype=A.dtype) + V @ V.T
    root = jnp.linalg.cholesky(G)
    told = jax.scipy.linalg.cho_solve((root, True), V @ Y)  # (M, D)
    a = (Y - V.T @ told) / s  # (N, D): (Q + s I)^-1 Y
    misfit = jnp.sum(Y * a, axis=0)  # (D,)
    w2 = jnp.minimum(frames / jnp.maximum(misfit, 1e-300), most * most) if profiled else jnp.ones_like(misfit)
    half_log = jnp.sum(jnp.log(jnp.diagonal(root))) + 0.5 * frames * jnp.log(s)  # 1/2 ln|Q + s I|
    left_out = jnp.sum(own) / s - (jnp.trace(G) - inducing)  # tr(K - Q) / s
    loss = columns * (half_log + 0.5 * left_out) + 0.5 * jnp.sum(w2 * misfit) - 0.5 * frames * jnp.sum(jnp.log(w2))
    return Fit(loss, jnp.sqrt(w2), jitter), (lower, root, V, G, told, a, w2, s, left_out)


def _backward(profiled: bool, kept: tuple[Any, ...], slope: Fit) -> tuple[Any, ...]:
    """With q = L^-T G^-1 V Y / sqrt(s), the weights of the posterior mean, and a = (Q + s I)^-1 Y:

    dL/dB = D L^-T (G^-1 - I) V / sqrt(s) - q w^2 a'
    dL/dA = 1/2 q w^2 q' - D/2 L^-T (2 I - G - G^-1) L^-1
    dL/ds = D/2 tr (Q + s I)^-1 - 1/2 sum_d w_d^2 |a_d|^2 - D/(2 s^2) tr(K - Q)
    """
    lower, root, V, G, told, a, w2, s, left_out = kept
    inducing, frames = V.shape
    columns = len(w2)
    eye = jnp.eye(inducing, dtype=V.dtype)
    inverse = jax.scipy.linalg.cho_solve((root, True), eye)  # G^-1
    q = _solve(lower, told, transposed=True) / jnp.sqrt(s)  # (M, D)
    wrt_B = columns * _solve(lower, (inverse - eye) / jnp.sqrt(s), transposed=True) @ V - (q * w2) @ a.T
    middle = _solve(lower, _solve(lower, 2.0 * eye - G - inverse, transposed=True).T, transposed=True)
    wrt_A = 0.5 * ((q * w2) @ q.T - columns * middle)
    trace = (frames - inducing + jnp.trace(inverse)) / s  # of (Q + s I)^-1
    wrt_s = 0.5 * (columns * (trace - left_out / s) - jnp.sum(w2 * jnp.sum(a * a, axis=0)))
    wrt_own = jnp.full(frames, 0.5 * columns / s, dtype=V.dtype)
    by = slope.loss
    return by * wrt_A, by * wrt_B, by * wrt_own, by * wrt_s, by * a * w2, jnp.zeros_like(s)


_bound.defvjp(_forward, _backward)


def _solve(lower: Any, b: Any, *, transposed: bool = False) -> Any:
    return jax.scipy.linalg.solve_triangular(lower, b, lower=True, trans=1 if transposed else 0)


def condition_sparse(
    kernel: Kernel,
    h: Float[Array, "H"],
    noise: float,
    X: Float[Array, "N Q"],
    Y: Float[Array, "N D"],
    Z: Float[Array, "M Q"],
) -> gp.Posterior:
    """The posterior that belongs to the bound: W = L^-T G^-1 V Y / sqrt(s) and S = L^-T (I - G^-1) L^-1."""
    A = kernel(h, Z, Z)
    eye = np.eye(len(Z))
    factor = cholesky(A + _STEADY * np.mean(np.diag(A)) * eye)
    V = scipy.linalg.solve_triangular(factor.lower, kernel(h, Z, X), lower=True) / np.sqrt(noise)
    inner = cholesky(eye + V @ V.T)
    back = scipy.linalg.solve_triangular(factor.lower, eye, lower=True).T  # L^-T
    weights = back @ inner.solve(V @ Y) / np.sqrt(noise)
    shrink = back @ (eye - inner.solve(eye)) @ back.T
    return gp.Posterior(kernel, h, noise, Z, weights, 0.5 * (shrink + shrink.T), factor.jitter)
