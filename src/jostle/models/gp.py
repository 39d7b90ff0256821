"""What a Gaussian process knows after it has seen data: the posterior, at run time, in NumPy.

With inputs Z and two arrays made of the data, every posterior of this room, exact or sparse, reads

    mean(x)     = W' k(Z, x)
    variance(x) = k(x, x) - k(x, Z) S k(Z, x)

Exact, Z are the training inputs, W = (K + noise I)^-1 Y and S = (K + noise I)^-1; with inducing inputs both are of
their size, and nothing at run time depends on how many frames there were (`models.sparse`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from jostle.maths.linalg import Factor, cholesky
from jostle.models.kernels import Kernel
from jostle.types import Array, Float


@dataclass(frozen=True, eq=False)
class Posterior:
    kernel: Kernel
    hypers: Float[Array, "H"]
    noise: float  # variance of the white noise on outputs
    inputs: Float[Array, "M Q"]  # Z
    weights: Float[Array, "M D"]  # W
    shrink: Float[Array, "M M"]  # S
    jitter: float = 0.0  # what had to be added to the diagonal to factor it

    def mean(self, x: Float[Array, "*b Q"]) -> Float[Array, "*b D"]:
        flat = x.reshape(-1, x.shape[-1])
        return (self.kernel(self.hypers, flat, self.inputs) @ self.weights).reshape(*x.shape[:-1], -1)

    def variance(self, x: Float[Array, "*b Q"]) -> Float[Array, "*b"]:
        """Of the function, without the noise of a measurement."""
        flat = x.reshape(-1, x.shape[-1])
        k = self.kernel(self.hypers, flat, self.inputs)  # (n, M)
        spread = self.kernel.diagonal(self.hypers, flat) - np.einsum("nm,nm->n", k @ self.shrink, k)
        return np.maximum(spread, 0.0).reshape(x.shape[:-1])

    def covariance(self, x: Float[Array, "n Q"]) -> Float[Array, "n n"]:
        """Of the function at several inputs, without the noise of measurements."""
        return self._spread(x, self.kernel(self.hypers, x, self.inputs))

    def joint(self, x: Float[Array, "n Q"]) -> tuple[Float[Array, "n D"], Float[Array, "n n"]]:
        """The mean and the covariance at several inputs, for what runs at every frame."""
        k = self.kernel(self.hypers, x, self.inputs)
        return k @ self.weights, self._spread(x, k)

    def _spread(self, x: Float[Array, "n Q"], k: Float[Array, "n M"]) -> Float[Array, "n n"]:
        spread = self.kernel(self.hypers, x, x) - k @ self.shrink @ k.T
        return 0.5 * (spread + spread.T)

    def jacobian(self, x: Float[Array, "Q"]) -> Float[Array, "D Q"]:
        """The derivative of the mean."""
        return self.weights.T @ self.kernel.slopes(self.hypers, x, self.inputs)

    def tangent(self, x: Float[Array, "Q"]) -> tuple[Float[Array, "D"], Float[Array, "D Q"]]:
        """The mean and its derivative, in one product: for what runs at every frame."""
        k = self.kernel(self.hypers, x[None], self.inputs)  # (1, M)
        slopes = self.kernel.slopes(self.hypers, x, self.inputs)  # (M, Q)
        both = np.concatenate([k, slopes.T]) @ self.weights  # (1 + Q, D)
        return both[0], both[1:].T

    def variance_slope(self, x: Float[Array, "Q"]) -> Float[Array, "Q"]:
        """The derivative of the variance."""
        k = self.kernel(self.hypers, x[None], self.inputs)[0]
        slopes = self.kernel.slopes(self.hypers, x, self.inputs)  # (M, Q)
        return self._own_slope(x) - 2.0 * (self.shrink @ k) @ slopes

    def _own_slope(self, x: Float[Array, "Q"]) -> Float[Array, "Q"]:
        """Of k(x, x): by symmetry twice the slope with one argument held."""
        return 2.0 * self.kernel.slopes(self.hypers, x, x[None])[0]


def condition(
    kernel: Kernel, hypers: Float[Array, "H"], noise: float, inputs: Float[Array, "N Q"], outputs: Float[Array, "N D"]
) -> Posterior:
    """The exact posterior given data: (6.6)-(6.8) of Wang 2010."""
    factor = covariance(kernel, hypers, noise, inputs)
    inverse = factor.solve(np.eye(len(inputs)))
    return Posterior(kernel, hypers, noise, inputs, factor.solve(outputs), 0.5 * (inverse + inverse.T), factor.jitter)


def covariance(kernel: Kernel, hypers: Float[Array, "H"], noise: float, inputs: Float[Array, "N Q"]) -> Factor:
    """K + noise I, factored."""
    return cholesky(kernel(hypers, inputs, inputs) + noise * np.eye(len(inputs)))


def log_density(residual: Float[Array, "n D"], factor: Factor) -> float:
    """ln N(residual; 0, A) of every column, added up; A is the factored covariance of rows."""
    rows, columns = residual.shape
    half = scipy.linalg.solve_triangular(factor.lower, residual, lower=True)
    constant = rows * columns * np.log(2.0 * np.pi)
    return -0.5 * float(columns * factor.log_determinant + np.sum(half * half) + constant)
