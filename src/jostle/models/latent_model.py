"""A learnt GPDM (or GPLVM) of any matrix of rows: poses from latent positions, and latent positions of new rows.

Y = g(X) + noise is a Gaussian process with the kernel (5.9); column d has the scale 1/w_d. What is kept are X, Y and
the hyperparameters; everything else is made from them when it is first asked for, the same every time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from jostle.errors import MotionError
from jostle.maths.linalg import cholesky
from jostle.models import gp, sparse
from jostle.models.gpdm_learning import KERNEL, Fitted, Rows, ready
from jostle.models.latent_dynamics import Dynamics, LatentDynamics
from jostle.models.sequences import slices
from jostle.types import Array, Float, Int


@dataclass(frozen=True, eq=False)
class LatentModel:
    Y: Float[Array, "N D"]  # training rows, as given
    lengths: tuple[int, ...]
    X: Float[Array, "N Q"]
    log_beta: Float[Array, "2"]
    dynamics: Dynamics | None  # None makes it a GPLVM
    balance: float = 1.0  # lambda: how much dynamics weigh where new rows are placed
    calm: float = 1.0  # how many times the learnt noise the dynamics have when they predict (`calmed`)
    chosen: Int[Array, "M"] | None = None  # frames that stand for all, where there are too many to be exact

    @cached_property
    def rows(self) -> Rows:
        return ready(self.Y, self.lengths, self.X.shape[1])

    @cached_property
    def posterior(self) -> gp.Posterior:
        """Of the columns that vary, about their mean."""
        beta = np.exp(self.log_beta)
        return sparse.condition(KERNEL, beta[:1], float(beta[1]), self.X, self.rows.Y, self.chosen)

    @cached_property
    def scales(self) -> Float[Array, "K"]:
        """W, at its best for these X: w_d^2 = N / y_d' K_Y^-1 y_d, and no more than kappa."""
        noise = self.posterior.noise
        told = (self.rows.Y - self.posterior.mean(self.X)) / noise  # K_Y^-1 Y, as K_Y less its noise gives the mean
        misfit = np.sum(self.rows.Y * told, axis=0)
        return np.minimum(np.sqrt(len(self.X) / np.maximum(misfit, 1e-300)), self.rows.kappa)

    @cached_property
    def predictive(self) -> Dynamics:
        """The dynamics with which it predicts: those learnt, with `calm` times their noise."""
        d = self.moving()
        return replace(d, log_alpha=np.concatenate([d.log_alpha[:-1], d.log_alpha[-1:] + np.log(self.calm)]))

    def moving(self) -> Dynamics:
        if self.dynamics is None:
            raise MotionError("This model was learnt without dynamics: it knows poses, and nothing of what follows.")
        return self.dynamics

    def mean(self, x: Float[Array, "*b Q"]) -> Float[Array, "*b D"]:
        """The most likely row; columns that never varied stay at their mean."""
        out = np.broadcast_to(self.rows.mean, (*x.shape[:-1], len(self.rows.mean))).copy()
        out[..., self.rows.varied] += self.posterior.mean(x)
        return out

    def variance(self, x: Float[Array, "*b Q"]) -> Float[Array, "*b"]:
        """Of a reconstructed row, its noise included: of column d in units of 1/w_d."""
        return self.posterior.variance(x) + self.posterior.noise

    def scaled(self, Y: Float[Array, "T D"]) -> Float[Array, "T K"]:
        """Rows in units of 1/w, about the mean: those in which their distances mean something."""
        return (Y[:, self.rows.varied] - self.rows.mean[self.rows.varied]) * self.scales

    def log_density(self, Y: Float[Array, "T D"], x: Float[Array, "T Q"]) -> float:
        """ln p(Y | x, training data), all frames together, of the columns that vary; every constant is in it."""
        own = self.posterior.covariance(x) + self.posterior.noise * np.eye(len(x))
        residual = self.scaled(Y) - self.posterior.mean(x) * self.scales
        return gp.log_density(residual, cholesky(own)) + len(x) * float(np.sum(np.log(self.scales)))

    def beginnings(self) -> list[slice]:
        return slices(self.lengths)

    def pack(self) -> tuple[dict[str, Any], dict[str, Array]]:
        arrays = {"rows": self.Y, "latents": self.X, "log_beta": self.log_beta}
        data: dict[str, Any] = {"lengths": list(self.lengths), "balance": self.balance, "calm": self.calm}
        if self.chosen is not None:
            arrays["chosen"] = self.chosen
        if (d := self.dynamics) is not None:
            data["dynamics"] = {"order": d.settings.order, "linear": d.settings.linear, "steps": d.settings.steps}
            arrays["log_alpha"] = d.log_alpha
            if d.chosen is not None:
                arrays["pairs"] = d.chosen
        return data, arrays

    @classmethod
    def unpack(cls, data: dict[str, Any], arrays: dict[str, Array]) -> LatentModel:
        Y, X, lengths = arrays["rows"], arrays["latents"], tuple(int(n) for n in data["lengths"])
        ready(Y, lengths, X.shape[1] if X.ndim == 2 else 0)
        if len(X) != len(Y) or arrays["log_beta"].shape != (2,) or not np.all(np.isfinite(X)):
            raise MotionError(f"A latent model has {len(Y)} rows and latent positions of shape {X.shape}.")
        dynamics = None
        if (told := data.get("dynamics")) is not None:
            settings = LatentDynamics(X.shape[1], int(told["order"]), bool(told["linear"]), bool(told["steps"]))
            if settings.order not in (1, 2) or arrays["log_alpha"].shape != (len(settings.names),):
                raise MotionError("The dynamics of a latent model do not fit their hyperparameters.")
            dynamics = Dynamics(settings, X, lengths, arrays["log_alpha"], arrays.get("pairs"))
        balance, calm = float(data["balance"]), float(data["calm"])
        return cls(Y, lengths, X, arrays["log_beta"], dynamics, balance, calm, arrays.get("chosen"))


def model_of(Y: Float[Array, "N D"], lengths: tuple[int, ...], fitted: Fitted, balance: float = 1.0) -> LatentModel:
    """From what learning found."""
    model = LatentModel(Y, lengths, fitted.X, fitted.log_beta, fitted.dynamics, balance, chosen=fitted.chosen)
    return calmed(model) if fitted.dynamics is not None else model


CALMER = (1.0, 3.0, 10.0, 30.0, 100.0)
_LONG, _ENDS = 1500, 100  # frames of a trial rollout, and of its two ends, which are compared


@dataclass(frozen=True)
class Trial:
    """How a mean prediction from the end of the longest trajectory goes."""

    calm: float
    first: float  # median distance of its first frames to the nearest training row, where X has a mean square of 1
    away: float  # the same of its last frames
    pace: float  # median step of its last frames, beside that of the training rows

    @property
    def stays(self) -> bool:
        return self.away < 1.0

    @property
    def alive(self) -> bool:
        return self.stays and 0.4 < self.pace < 2.5

    @property
    def rank(self) -> tuple[bool, bool, bool, float]:
        """The least is best."""
        return not self.stays, not self.alive, self.away > 2.0 * self.first, self.away


def calmed(model: LatentModel) -> LatentModel:
    """The model with that noise of its dynamics, `CALMER` times the learnt, with which a mean prediction stays best.

    Laps of a walk differ by little, and f that believes every step goes on from the last of them to where no lap was.
    With more noise f averages over laps, and they attract. Only predictions are concerned. It should stay near the
    training rows, not stop, and not drift; where it stops with any noise, as after clips that end in a stand, it stays.
    """
    best = min((trial(replace(model, calm=calm)) for calm in CALMER), key=lambda t: t.rank)
    return replace(model, calm=best.calm)


def trial(model: LatentModel) -> Trial:
    last = max(model.beginnings(), key=lambda rows: rows.stop - rows.start)
    with np.errstate(over="ignore", invalid="ignore"):
        path = model.predictive.rollout(model.X[last], _LONG)
        if not np.all(np.abs(path) < 1e3):
            return Trial(model.calm, np.inf, np.inf, np.inf)
    steps = [np.linalg.norm(np.diff(model.X[rows], axis=0), axis=1) for rows in model.beginnings()]
    typical = float(np.median(np.concatenate(steps)))
    pace = float(np.median(np.linalg.norm(np.diff(path[-_ENDS:], axis=0), axis=1))) / max(typical, 1e-12)
    return Trial(model.calm, nearest(model.X, path[:_ENDS]), nearest(model.X, path[-_ENDS:]), pace)


def nearest(X: Float[Array, "N Q"], path: Float[Array, "T Q"]) -> float:
    """Median distance to the nearest training row, beside the spread of all."""
    apart = np.sqrt(np.min(np.sum((path[:, None] - X[None]) ** 2, axis=2), axis=1))
    return float(np.median(apart) / np.sqrt(np.mean(X**2)))
