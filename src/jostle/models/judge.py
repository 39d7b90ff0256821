"""How likely rows of features are at sought factors, in jax: what learning and the search for factors minimise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax.numpy as jnp

from jostle.models import learn, likelihood, sparse
from jostle.models.factors import Factors
from jostle.models.learn import Learnt, Objective, Params
from jostle.models.likelihood import Fit

_FIRST, _KEPT = 20, 3  # iterations that everybody has, and how many go on


def assemble(styles: Sequence[Any], state: Any) -> Any:
    """Inputs from one row of each tied factor, or from as many as there are states."""
    wide = [jnp.broadcast_to(style, (state.shape[0], style.shape[-1])) for style in styles]
    return jnp.concatenate([*wide, state], axis=1)


def tied(params: Mapping[str, Any], data: Mapping[str, Any], factors: Factors) -> list[Any]:
    """Each clip's value of each tied factor, for every row: parameters are tables, data say which row has which."""
    return [params[name][data[f"{name}_of"]] for name in factors.names]


def learning(factors: Factors, z: Any, params: Mapping[str, Any], data: Mapping[str, Any]) -> Fit:
    """(5.17) with the kernel (6.15), the priors p(beta, gamma) ~ 1/(beta gamma) of 6.3, and one on the styles' scale.

    The thesis leaves styles a uniform prior. Their scale is then nobody's: W undoes it, so it drifts. A standard
    normal prior holds it, and hardly anything else.
    """
    gamma, noise = jnp.exp(params["log_gamma"]), jnp.exp(params["log_noise"])
    fit = sparse.scaled(factors.kernel, gamma, noise, z, data["Y"], data["kappa"], data.get("chosen"))
    prior = jnp.sum(params["log_gamma"]) - params["log_noise"]  # the paper's beta is a precision
    return fit._replace(loss=fit.loss + prior + scale_prior([params[name] for name in factors.names]))


def scale_prior(styles: Sequence[Any]) -> Any:
    """-ln N(styles; 0, I), without its constant."""
    return 0.5 * sum((jnp.sum(style**2) for style in styles), jnp.zeros(()))


def seeking(factors: Factors, z: Any, data: Mapping[str, Any]) -> Fit:
    """-ln p(Y* | z, training rows), all rows of Y* together; `data` are those of `FactorGp.given`."""
    kernel, h = factors.kernel, data["hypers"]
    k = kernel(h, z, data["Z"])  # (T, N)
    own = kernel(h, z, z) - k @ data["shrink"] @ k.T + data["noise"] * jnp.eye(z.shape[0])
    return likelihood.plain(0.5 * (own + own.T), (data["Y"] - k @ data["weights"]) * data["W"])


def climb(objective: Objective, starts: Sequence[Params], data: Mapping[str, Any], iterations: int) -> Learnt:
    """The best of several searches: each takes its first steps, and those that are then ahead go on."""
    first = [learn.minimise(objective, start, data, _FIRST) for start in starts]
    ahead = sorted(first, key=lambda found: found.loss)[:_KEPT]
    return min((learn.minimise(objective, f.params, data, iterations) for f in ahead), key=lambda found: found.loss)
