"""A complete grid of factors: many small inverses instead of one large, (6.17)-(6.19) of Wang 2010.

With one row for every combination of factors, and noise inside the factors instead of on top of their product, the
covariance is a Kronecker product:

    K = (F1 + I/beta_1) x (F2 + I/beta_2) x ... x (FM + I/beta_M)                                       (6.19)

so K^-1, ln|K| and K^-1 y need only factors of size N_m, never K itself: N = prod N_m rows cost sum N_m^3 and N sum N_m
instead of N^3. A row of data belongs to the combination that it has when the last factor counts fastest.

That noise is not the white noise of (6.14): expanding the product leaves terms of lower order (a subject's own
deviation in all states, a state's in all subjects), which the thesis leaves to be studied. Without any, beta_m
infinite, it is (6.17).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np

from jostle.errors import MotionError
from jostle.maths.linalg import Factor, cholesky
from jostle.models.kernels import Kernel
from jostle.types import Array, Float


@dataclass(frozen=True, eq=False)
class Grid:
    """Values of each factor, one row a category, with the kernel, its hyperparameters and the noise 1/beta of each."""

    values: tuple[Float[Array, "_ _"], ...]
    kernels: tuple[Kernel, ...]
    hypers: tuple[Float[Array, "_"], ...]
    noises: tuple[float, ...]

    def __post_init__(self) -> None:
        counts = {len(self.values), len(self.kernels), len(self.hypers), len(self.noises)}
        if len(counts) != 1 or not self.values:
            raise MotionError("A grid needs values, a kernel, hyperparameters and a noise for each of its factors.")

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(len(values) for values in self.values)

    @cached_property
    def factors(self) -> tuple[Factor, ...]:
        """Of F_m + I / beta_m, each repaired where linear kernels of few dimensions leave it singular."""
        parts = zip(self.values, self.kernels, self.hypers, self.noises, strict=True)
        return tuple(cholesky(k(h, x, x) + noise * np.eye(len(x))) for x, k, h, noise in parts)

    @property
    def log_determinant(self) -> float:
        """ln|K| = sum_m N / N_m ln|F_m|."""
        count = int(np.prod(self.sizes))
        return sum(count / size * f.log_determinant for size, f in zip(self.sizes, self.factors, strict=True))

    def solve(self, Y: Float[Array, "N D"]) -> Float[Array, "N D"]:
        """K^-1 Y: each inverse along its own axis. (6.18)"""
        if len(Y) != int(np.prod(self.sizes)):
            raise MotionError(
                f"A grid of {' x '.join(map(str, self.sizes))} combinations has one row for each, and here are "
                f"{len(Y)}; without a complete grid use the dense formula."
            )
        out = Y.reshape(*self.sizes, Y.shape[1])
        for axis, factor in enumerate(self.factors):
            along = np.moveaxis(out, axis, 0)
            solved = factor.solve(along.reshape(len(along), -1))
            out = np.moveaxis(solved.reshape(along.shape), 0, axis)
        return out.reshape(Y.shape)

    def log_likelihood(self, Y: Float[Array, "N D"]) -> float:
        """ln p(Y), every constant included."""
        count, columns = Y.shape
        quadratic = float(np.sum(Y * self.solve(Y)))
        return -0.5 * (columns * self.log_determinant + quadratic + count * columns * np.log(2.0 * np.pi))

    def mean(self, new: Sequence[Float[Array, "_"]], Y: Float[Array, "N D"]) -> Float[Array, "D"]:
        """(6.6) at new values of all factors: k is a Kronecker product as well."""
        parts = zip(self.kernels, self.hypers, new, self.values, strict=True)
        across = [k(h, x[None], values)[0] for k, h, x, values in parts]
        return reduce(np.kron, across) @ self.solve(Y)

    def covariance(self) -> Float[Array, "N N"]:
        """K itself, which nothing here needs."""
        return reduce(np.kron, (f.lower @ f.lower.T for f in self.factors))
