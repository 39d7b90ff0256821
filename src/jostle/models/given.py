"""Dynamics of latent positions that are given: only the hyperparameters of f are learnt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp

from jostle.models.latent_dynamics import Dynamics, LatentDynamics
from jostle.models.learn import Watch, minimise
from jostle.types import Array, Float

_ITERATIONS = 60


@dataclass(frozen=True)
class Given:
    """Minus the log density of positions that stay where they are, and of the prior of hyperparameters."""

    dynamics: LatentDynamics

    def __call__(self, params: Mapping[str, Any], data: Mapping[str, Any]) -> tuple[Any, Any]:
        fit = self.dynamics.loss(data["X"], params["log_alpha"], data)
        return fit.loss + self.dynamics.prior(params["log_alpha"]), jnp.asarray(fit.jitter)


def fit_dynamics(
    settings: LatentDynamics, X: Float[Array, "N Q"], lengths: tuple[int, ...], watch: Watch | None = None
) -> Dynamics:
    data = {"X": X, **settings.rows(lengths)}
    found = minimise(
        Given(settings), {"log_alpha": settings.start()}, data, _ITERATIONS, bounds={"log_alpha": settings.bounds},
        watch=watch or Watch(), stage="steps",
    )  # fmt: skip
    return Dynamics(settings, X, lengths, found.params["log_alpha"])
