"""Poses given factors: the multifactor Gaussian process after learning, (6.5)-(6.8) with the kernel (6.15).

`FactorGp` holds what was learnt and the training rows; what can be computed from them is, once. Rows are raw features;
inside, columns that vary stand about their mean and are scaled by w_d, so that one kernel serves all.

`given` and `future` are the two ways a new clip meets the model. Its frames are judged together, with the covariance
that they have once the training frames are known; and what it did in the frames that are given says what it will do
where the state comes by again: the posterior is conditioned on training frames and given frames alike. The thesis
conditions on factors alone; this is what brought the error of circle dynamics from 1.0 down to 0.6.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from jostle.errors import MotionError
from jostle.maths.linalg import cholesky
from jostle.models import sparse
from jostle.models.factors import Factors
from jostle.models.gp import Posterior, log_density
from jostle.models.gpdm_learning import Rows, ready
from jostle.types import Array, Float, Int


@dataclass(frozen=True, eq=False)
class FactorGp:
    factors: Factors
    hypers: Float[Array, "H"]
    noise: float  # 1/beta
    inputs: Float[Array, "N Z"]  # tied factors, then the state
    rows: Float[Array, "N D"]
    lengths: tuple[int, ...]
    chosen: Int[Array, "M"] | None = None  # rows that stand for all, where there are many

    @cached_property
    def ready(self) -> Rows:
        return ready(self.rows, self.lengths, 1)

    @cached_property
    def posterior(self) -> Posterior:
        return sparse.condition(self.factors.kernel, self.hypers, self.noise, self.inputs, self.ready.Y, self.chosen)

    @cached_property
    def scales(self) -> Float[Array, "K"]:
        """W at its best: w_d^2 = N / y_d' K^-1 y_d, where K^-1 y is what the mean misses by the noise."""
        Y = self.ready.Y
        missed = np.sum(Y * (Y - self.posterior.mean(self.inputs)), axis=0) / self.noise
        return np.minimum(np.sqrt(len(Y) / np.maximum(missed, 1e-300)), self.ready.kappa)

    def mean(self, z: Float[Array, "*b Z"]) -> Float[Array, "*b D"]:
        """(6.6); columns that never varied stay."""
        return self._raw(self.posterior.mean(z))

    def covariance(self, a: Float[Array, "n Z"], b: Float[Array, "m Z"]) -> Float[Array, "n m"]:
        """Between new rows, the training rows known, without noise."""
        p = self.posterior
        k_a, k_b = p.kernel(p.hypers, a, p.inputs), p.kernel(p.hypers, b, p.inputs)
        return p.kernel(p.hypers, a, b) - k_a @ p.shrink @ k_b.T

    def future(
        self, z: Float[Array, "n Z"], seen: Float[Array, "T Z"], rows: Float[Array, "T D"]
    ) -> Float[Array, "n D"]:
        """The mean at z given the training rows and rows that were seen at other inputs."""
        missed = self._own(rows) - self.posterior.mean(seen)
        own = self.covariance(seen, seen)
        factor = cholesky(0.5 * (own + own.T) + self.noise * np.eye(len(seen)))
        return self._raw(self.posterior.mean(z) + self.covariance(z, seen) @ factor.solve(missed))

    def log_likelihood(self, z: Float[Array, "T Z"], rows: Float[Array, "T D"]) -> float:
        """ln p(rows | training rows, factors) of the columns that vary, with every constant."""
        own = self.covariance(z, z)
        factor = cholesky(0.5 * (own + own.T) + self.noise * np.eye(len(z)))
        residual = (self._own(rows) - self.posterior.mean(z)) * self.scales
        return log_density(residual, factor) + len(z) * float(np.sum(np.log(self.scales)))

    def given(self, rows: Float[Array, "T D"]) -> dict[str, Any]:
        """The data of `judge`, for rows whose inputs are sought."""
        p = self.posterior
        return {
            "Y": self._own(rows), "W": self.scales, "Z": p.inputs, "weights": p.weights, "shrink": p.shrink,
            "hypers": p.hypers, "noise": np.array(p.noise),
        }  # fmt: skip

    def _own(self, rows: Float[Array, "T D"]) -> Float[Array, "T K"]:
        return rows[:, self.ready.varied] - self.ready.mean[self.ready.varied]

    def _raw(self, y: Float[Array, "*b K"]) -> Float[Array, "*b D"]:
        out = np.broadcast_to(self.ready.mean, (*y.shape[:-1], len(self.ready.mean))).copy()
        out[..., self.ready.varied] += y
        return out

    def pack(self) -> tuple[dict[str, Any], dict[str, Array]]:
        f = self.factors
        data = {"names": list(f.names), "dims": list(f.dims), "state": f.state, "noise": self.noise,
                "lengths": list(self.lengths)}  # fmt: skip
        arrays = {"hypers": self.hypers, "inputs": self.inputs, "rows": self.rows}
        return data, arrays if self.chosen is None else arrays | {"chosen": self.chosen}

    @classmethod
    def unpack(cls, data: dict[str, Any], arrays: dict[str, Array]) -> FactorGp:
        factors = Factors(tuple(map(str, data["names"])), tuple(map(int, data["dims"])), int(data["state"]))
        hypers, inputs, rows, chosen = arrays["hypers"], arrays["inputs"], arrays["rows"], arrays.get("chosen")
        lengths, noise = tuple(int(n) for n in data["lengths"]), float(data["noise"])
        shapes = inputs.ndim == rows.ndim == 2 and len(inputs) == len(rows) == sum(lengths)
        if not (
            shapes and inputs.shape[1] == factors.style + factors.state and len(factors.names) == len(factors.dims)
        ):
            raise MotionError("The arrays of this multifactor model do not belong together.")
        sound = hypers.shape == (len(factors.kernel.names),) and np.all(hypers > 0) and 0 < noise < np.inf
        if not (sound and all(np.all(np.isfinite(a)) for a in (hypers, inputs, rows))):
            raise MotionError("This multifactor model holds values that cannot be.")
        if chosen is not None and (chosen.dtype.kind != "i" or np.any((chosen < 0) | (chosen >= len(rows)))):
            raise MotionError("This multifactor model is to be told by frames that it does not have.")
        return cls(factors, hypers, noise, inputs, rows, lengths, chosen)
