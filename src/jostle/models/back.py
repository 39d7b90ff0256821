"""The scaled GPLVM with back constraints (Ye & Liu 2010, 3.1 and Appendix A), for any matrix of features.

Rows y (N, D) are drawn from D Gaussian processes over latent positions X (N, Q), each scaled by its own w_d, and the
positions are themselves a smooth function of the rows,

    X = K'(Y, C) A,    k'(y, y') = exp(-gamma'/2 |p(y) - p(y')|^2),

so that near rows have near positions, and a row that was never seen has one at once: that is the back map. Lawrence and
Quinonero-Candela call it the back constraint. C are the rows themselves, or where there are very many some of them.

What is sought by optimisation instead (`seek`) is where the expected square error is least,

    (|w (y - m(x))|^2 + D s^2(x)) beta / 2 + |x|^2 / 2,                                                        (1)

m and s^2 being the posterior's mean and variance. The likelihood itself rewards a large s^2 wherever a row is
farther from the training rows than noise, which every row of another clip is; there it ran away from the data and came
back ten degrees off where (1) is two.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from jostle.errors import MotionError
from jostle.maths.linalg import cholesky
from jostle.models import sparse
from jostle.models.gp import Posterior, log_density
from jostle.models.kernels import Kernel, Rbf, rbf
from jostle.types import Array, Bool, Float, Int

_STARTS = 3  # nearest training rows from which a search begins, besides the back map


@dataclass(frozen=True, eq=False)
class BackMap:
    """x = K'(p, C) A of features seen along some directions: rows -> latent positions."""

    axes: Float[Array, "D P"]  # what the kernel sees of a centred row: p = y @ axes
    centres: Float[Array, "M P"]  # C, seen likewise
    gamma: float  # gamma'
    weights: Float[Array, "M Q"]  # A

    def __call__(self, rows: Float[Array, "*b D"]) -> Float[Array, "*b Q"]:
        seen = (rows @ self.axes).reshape(-1, self.axes.shape[1])
        x = Rbf()(np.array([self.gamma]), seen, self.centres) @ self.weights
        return x.reshape(*rows.shape[:-1], -1)

    def jacobian(self, row: Float[Array, "D"]) -> Float[Array, "Q D"]:
        """How the position of a row moves with the row."""
        slopes = Rbf().slopes(np.array([self.gamma]), row @ self.axes, self.centres)  # (M, P)
        return self.weights.T @ slopes @ self.axes.T


@dataclass(frozen=True, eq=False)
class BackGplvm:
    rows: Float[Array, "N D"]  # as given
    centre: Float[Array, "D"]  # what was subtracted
    kept: Bool[Array, "D"]  # columns that vary; the others are as in the centre
    back: BackMap  # of centred rows, the columns that are kept
    gamma: float
    noise: float  # 1/beta, where alpha = 1
    most: float  # largest w_d
    inducing: Int[Array, "M"] | None  # frames that stand for all, where there are very many
    alpha: float = 1.0
    notes: tuple[str, ...] = ()

    @cached_property
    def x(self) -> Float[Array, "N Q"]:
        """Latent positions of the training rows."""
        return self.back(self._seen(self.rows))

    @property
    def kernel(self) -> Kernel:
        return rbf()

    @cached_property
    def posterior(self) -> Posterior:
        """Of centred rows, the columns that are kept."""
        hypers = np.array([self.alpha, self.gamma])
        return sparse.condition(self.kernel, hypers, self.noise, self.x, self._seen(self.rows), self.inducing)

    @cached_property
    def scales(self) -> Float[Array, "d"]:
        """w: w_d^2 = N / y_d' (K + 1/beta)^-1 y_d, where L_P is least, up to `most`."""
        y = self._seen(self.rows)
        residual = y - self.posterior.mean(self.x)  # = 1/beta (K + 1/beta)^-1 y
        misfit = np.sum(y * residual, axis=0) / self.noise
        return np.minimum(np.sqrt(len(y) / np.maximum(misfit, 1e-300)), self.most)

    def encode(self, rows: Float[Array, "*b D"]) -> Float[Array, "*b Q"]:
        """Latent positions through the back map."""
        return self.back(self._seen(rows))

    def decode(self, x: Float[Array, "*b Q"]) -> Float[Array, "*b D"]:
        """The mean of the rows there."""
        out = np.broadcast_to(self.centre, (*x.shape[:-1], len(self.centre))).copy()
        out[..., self.kept] += self.posterior.mean(x)
        return out

    def jacobian(self, x: Float[Array, "Q"]) -> Float[Array, "D Q"]:
        """The derivative of `decode`."""
        out = np.zeros((len(self.centre), len(x)))
        out[self.kept] = self.posterior.jacobian(x)
        return out

    def variance(self, x: Float[Array, "*b Q"]) -> Float[Array, "*b"]:
        """Of a scaled feature w_d y_d, without noise: at most alpha, which it is far from all data."""
        return self.posterior.variance(x)

    def log_likelihood(self, rows: Float[Array, "T D"], x: Float[Array, "T Q"] | None = None) -> float:
        """ln p(rows | x, training rows), all rows together, with every constant; x through the back map, unless given.

        Columns that did not vary in training say nothing.
        """
        x = self.encode(rows) if x is None else x
        y, p = self._seen(rows), self.posterior
        factor = cholesky(p.covariance(x) + p.noise * np.eye(len(x)))
        return log_density((y - p.mean(x)) * self.scales, factor) + len(x) * float(np.sum(np.log(self.scales)))

    def seek(self, rows: Float[Array, "T D"], iterations: int = 60) -> Float[Array, "T Q"]:
        """Latent positions where (1) is least, each row on its own: from the back map and the nearest training rows."""
        y = self._seen(rows)
        apart = np.linalg.norm((y[:, None] - self._seen(self.rows)[None]) * self.scales, axis=-1)  # (T, N)
        nearest = np.argsort(apart, axis=1, kind="stable")[:, :_STARTS].T
        starts = np.concatenate([self.back(y)[None], self.x[nearest]])  # (starts, T, Q)
        found = [self._sought(y, x, iterations) for x in starts]
        costs = np.stack([cost for _, cost in found])
        return np.stack([x for x, _ in found])[np.argmin(costs, axis=0), np.arange(len(y))]

    def _seen(self, rows: Float[Array, "*b D"]) -> Float[Array, "*b d"]:
        if rows.shape[-1] != len(self.centre):
            raise MotionError(f"These rows have {rows.shape[-1]} columns, and the model's have {len(self.centre)}.")
        return (rows - self.centre)[..., self.kept]

    def _sought(self, y: Float[Array, "T d"], x: Float[Array, "T Q"], iterations: int) -> tuple[Array, Array]:
        """Levenberg-Marquardt on (1), a damping for each row; the variance enters by its slope alone."""
        cost, slope, curve = self._cost(y, x)
        damping = np.full(len(x), 1e-3)
        for _ in range(iterations):
            eye = np.eye(x.shape[1])
            stiff = curve + damping[:, None, None] * (np.einsum("tqq->t", curve)[:, None, None] * eye)
            step = np.linalg.solve(stiff, -slope[..., None])[..., 0]
            tried = self._cost(y, x + step)
            better = tried[0] < cost
            x = np.where(better[:, None], x + step, x)
            cost, slope = np.where(better, tried[0], cost), np.where(better[:, None], tried[1], slope)
            curve = np.where(better[:, None, None], tried[2], curve)
            damping = np.where(better, 0.2 * damping, 5.0 * damping)
            if np.all((np.max(np.abs(step), axis=1) < 1e-6) | (damping > 1e8)):
                break
        return x, cost

    def _cost(self, y: Float[Array, "T d"], x: Float[Array, "T Q"]) -> tuple[Array, Array, Array]:
        """(1), its slope, and the Gauss-Newton part of its second derivative."""
        p, w = self.posterior, self.scales
        k = p.kernel(p.hypers, x, p.inputs)  # (T, N)
        slopes = self.gamma * k[..., None] * (p.inputs[None] - x[:, None])  # (T, N, Q): dk/dx
        miss = (y - k @ p.weights) * w
        jacobian = np.swapaxes(np.swapaxes(slopes, 1, 2) @ (p.weights * w), 1, 2)  # (T, d, Q)
        pulled = k @ p.shrink
        spread = self.alpha - np.sum(k * pulled, axis=1)
        columns, eye = y.shape[1], np.eye(x.shape[1])
        cost = 0.5 * (np.sum(miss**2, axis=1) + columns * spread) / p.noise + 0.5 * np.sum(x**2, axis=1)
        slope = -np.einsum("tdq,td->tq", jacobian, miss) - columns * np.einsum("tn,tnq->tq", pulled, slopes)
        return cost, slope / p.noise + x, np.swapaxes(jacobian, 1, 2) @ jacobian / p.noise + eye

    def pack(self) -> tuple[dict[str, Any], dict[str, Array]]:
        data = {name: getattr(self, name) for name in ("gamma", "noise", "most", "alpha")}
        data |= {"back_gamma": self.back.gamma, "notes": list(self.notes)}
        arrays = {"rows": self.rows, "centre": self.centre, "kept": self.kept}
        arrays |= {f"back_{part}": getattr(self.back, part) for part in ("axes", "centres", "weights")}
        return data, arrays if self.inducing is None else arrays | {"inducing": self.inducing}

    @classmethod
    def unpack(cls, data: dict[str, Any], arrays: dict[str, Array]) -> BackGplvm:
        axes, centres, weights = (arrays[f"back_{part}"] for part in ("axes", "centres", "weights"))
        rows, centre, kept, inducing = arrays["rows"], arrays["centre"], arrays["kept"], arrays.get("inducing")
        numbers = [float(data[name]) for name in ("gamma", "noise", "most", "alpha", "back_gamma")]
        whole = (
            rows.ndim == 2 and centre.shape == kept.shape == rows.shape[1:] and kept.dtype == bool
            and axes.ndim == centres.ndim == weights.ndim == 2 and len(axes) == np.sum(kept)
            and centres.shape[1] == axes.shape[1] and len(centres) == len(weights)
            and all(np.isfinite(n) and n > 0 for n in numbers) and all(np.all(np.isfinite(a)) for a in (rows, weights))
            and (inducing is None or (inducing.dtype.kind == "i" and np.all((inducing >= 0) & (inducing < len(rows)))))
        )  # fmt: skip
        if not whole:
            raise MotionError("The parts of this latent variable model do not fit each other; the bundle is damaged.")
        gamma, noise, most, alpha, back_gamma = numbers
        notes = tuple(str(note) for note in data["notes"])
        back = BackMap(axes, centres, back_gamma, weights)
        return cls(rows, centre, kept, back, gamma, noise, most, inducing, alpha, notes)
