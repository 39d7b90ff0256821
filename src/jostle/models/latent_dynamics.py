"""How latent positions follow each other: the dynamics of the GPDM family.

x_t = f(x_{t-1}) + noise, where f is a Gaussian process (Wang 2010, 5.3.2), or of the two rows before (Wang, Fleet and
Hertzmann 2008). Integrated over f, a whole trajectory X has one density, (5.12), in which positions stand inside the
kernel matrix and outside of it. `LatentDynamics` are the settings: hashable, so that objectives can be made of them.
`Dynamics` are settings that have seen a trajectory: they continue it by the mean of f, say how likely a future is
given all that was seen, and find or sample futures.

Hyperparameters come as logarithms, the kernel's first and then the variance of the noise (1/alpha_4 of the paper), so
that learning needs no bounds for their sign. The scale of the latent space is nobody's business but the pose mapping's,
and (5.18) has no least value along it: whoever learns X must hold its scale (`models.gpdm` does).

All in jax, except what runs a frame at a time: `Dynamics.rollout` is NumPy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax.numpy as jnp
import numpy as np

from jostle.errors import MotionError
from jostle.models import sparse
from jostle.models.gp import Posterior
from jostle.models.kernels import Dot, Kernel, Scale, linear_rbf, linear_second_order
from jostle.models.likelihood import Fit, plain
from jostle.models.sequences import beginnings, transitions
from jostle.types import Array, Float, Int

LEAST, MOST = 1e-6, 1e4  # any other hyperparameter
LEAST_NOISE, MOST_NOISE = 1e-6, 1.0  # variance of a step, where X has about unit spread: a thousandth of it, all of it


@dataclass(frozen=True)
class LatentDynamics:
    """f takes `order` rows, the earliest first; with `steps` it gives what is added to the last of them."""

    q: int
    order: int = 1
    linear: bool = False  # the kernel (5.13) in place of (5.14)
    steps: bool = False

    @property
    def kernel(self) -> Kernel:
        if self.linear:
            return Scale(Dot())
        return linear_rbf() if self.order == 1 else linear_second_order(self.q)  # (5.14)

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.kernel.names, "noise")

    def start(self) -> Float[Array, "H"]:
        """Logarithms from which learning begins, where X has about unit spread and its steps are small."""
        values = {"noise": 1e-3}
        return np.log([values.get(name, 1.0) for name in self.names])

    def rows(self, lengths: Sequence[int]) -> dict[str, Array]:
        """Which rows of the stacked X follow which, for the data of an objective: seams are no transitions."""
        past, now = transitions(lengths, self.order)
        return {"past": past, "now": now, "first": beginnings(lengths, self.order)}

    def pairs(self, X: Any, past: Any, now: Any) -> tuple[Any, Any]:
        """Inputs (M, order Q) and outputs (M, Q) of f."""
        inputs = X[past].reshape(past.shape[0], -1)
        outputs = X[now] - X[past[:, -1]] if self.steps else X[now]
        return inputs, outputs

    def loss(self, X: Any, log_alpha: Any, rows: Mapping[str, Any]) -> Fit:
        """L_X, without its constant: (5.18). Every trajectory begins with a Gaussian prior of its own.

        Where there are too many transitions to be exact, `rows` say under "pairs" which of them stand for all.
        """
        inputs, outputs = self.pairs(X, rows["past"], rows["now"])
        alpha = jnp.exp(log_alpha)
        fit = sparse.plain(self.kernel, alpha[:-1], alpha[-1], inputs, outputs, rows.get("pairs"))
        return fit._replace(loss=fit.loss + 0.5 * jnp.sum(X[rows["first"]] ** 2))  # (5.18)

    @staticmethod
    def prior(log_alpha: Any) -> Any:
        """-ln p(alpha), p(alpha) ~ 1/prod alpha_i (Wang et al. 2008, (13)); the paper's last alpha is a precision."""
        return jnp.sum(log_alpha[:-1]) - log_alpha[-1]

    @property
    def bounds(self) -> tuple[Float[Array, "H"], Float[Array, "H"]]:
        """Least and most of each logarithm. That prior grows without end towards 0, so there must be some."""
        count = len(self.kernel.names)
        return np.log([LEAST] * count + [LEAST_NOISE]), np.log([MOST] * count + [MOST_NOISE])

    def future_loss(self, path: Any, seen: Mapping[str, Any], *, joint: bool = True) -> Any:
        """-ln p(X*_{order+1:} | X*_{1:order}, X), without its constant, of a path (order + T, Q).

        `joint` is the density of Wang et al. 2008, section 3.3: f is one and the same at all times, so that frames of
        the future inform each other. Without, every frame is judged by what the seen trajectories say alone.
        `seen` is what `Dynamics.seen` holds.
        """
        count = path.shape[0] - self.order
        past = jnp.arange(count)[:, None] + jnp.arange(self.order)[None, :]
        inputs, outputs = self.pairs(path, past, jnp.arange(count) + self.order)
        hypers, noise = seen["hypers"], seen["noise"]
        cross = self.kernel(hypers, inputs, seen["inputs"])  # (T, M)
        residual = outputs - cross @ seen["weights"]
        known = cross @ seen["shrink"]  # (T, M)
        if joint:
            K = self.kernel(hypers, inputs, inputs) - known @ cross.T + noise * jnp.eye(count)
            return plain(0.5 * (K + K.T), residual).loss
        spread = jnp.maximum(self.kernel.diagonal(hypers, inputs) - jnp.sum(known * cross, axis=1), 0.0) + noise
        return 0.5 * self.q * jnp.sum(jnp.log(spread)) + 0.5 * jnp.sum(jnp.sum(residual**2, axis=1) / spread)


@dataclass(frozen=True, eq=False)
class Dynamics:
    """Dynamics that have seen trajectories X (5.12): the posterior of f."""

    settings: LatentDynamics
    X: Float[Array, "N Q"]
    lengths: tuple[int, ...]
    log_alpha: Float[Array, "H"]
    chosen: Int[Array, "M"] | None = None  # transitions that stand for all, where there are too many to be exact

    @cached_property
    def posterior(self) -> Posterior:
        rows = self.settings.rows(self.lengths)
        inputs, outputs = self.settings.pairs(self.X, rows["past"], rows["now"])
        alpha = np.exp(self.log_alpha)
        return sparse.condition(self.settings.kernel, alpha[:-1], float(alpha[-1]), inputs, outputs, self.chosen)

    @property
    def seen(self) -> dict[str, Array]:
        """What `LatentDynamics.future_loss` wants to know."""
        p = self.posterior
        noise = np.array(p.noise)
        return {"hypers": p.hypers, "noise": noise, "inputs": p.inputs, "weights": p.weights, "shrink": p.shrink}

    def next(self, past: Float[Array, "*b order Q"]) -> Float[Array, "*b Q"]:
        """The mean of the row after these."""
        mean = self.posterior.mean(past.reshape(*past.shape[:-2], -1))
        return past[..., -1, :] + mean if self.settings.steps else mean

    def past(self, start: Float[Array, "T Q"]) -> Float[Array, "order Q"]:
        """As many of the last rows as the next one depends on."""
        order = self.settings.order
        if len(start) < order:
            raise MotionError(
                f"What comes next follows from {order} rows, and there are {len(start)}; give more of them."
            )
        return start[-order:]

    def rollout(self, start: Float[Array, "T Q"], frames: int) -> Float[Array, "frames Q"]:
        """Mean prediction: each row the mean of f of those before it, beginning with the last rows of `start`."""
        path = [*self.past(start)]
        for _ in range(frames):
            path.append(self.next(np.stack(path[-self.settings.order :])))
        return np.array(path[self.settings.order :]).reshape(frames, self.settings.q)
