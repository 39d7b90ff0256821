"""Hamiltonian Monte Carlo: points drawn from a density that is known but for its constant, by its slope.

A point is thrown in a random direction, slides for a while along the landscape -ln p by leapfrog steps, and where it is
then is the next sample, accepted or not so that small errors of the steps do not matter (Duane et al. 1987; Neal 2011).
The step is adapted while the first points, which are thrown away, are drawn: it grows and shrinks until a share
`ACCEPT` is accepted (dual averaging, Hoffman and Gelman 2014). The count of leapfrog steps is drawn anew every time, so
that no period of the landscape can trap it.

Where some directions are much narrower than others `whiten` tells how: a square root S of the covariance, roughly, of
what is to be drawn. The density is sampled over z with x = x_0 + S z. A bad S costs time, never correctness.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np

from jostle.errors import JostleError
from jostle.models.backend import float64, one_thread
from jostle.types import Array, Float

ACCEPT = 0.8  # the share at which the step is aimed: a little above the 0.65 that is best for Gaussians
_SHRINK, _DELAY, _DECAY = 0.05, 10.0, 0.75  # gamma, t_0 and kappa of dual averaging
_FIRST_STEP = 0.1


@runtime_checkable
class Energy(Protocol):
    """-ln p of a point, in jax: hashable, equal where its settings are equal."""

    def __call__(self, x: Any, data: Mapping[str, Any]) -> Any: ...


@dataclass(frozen=True, eq=False)
class Samples:
    points: Float[Array, "n *shape"]
    accepted: float  # share, after the warm-up
    step: float  # of the leapfrog, as adapted


@float64
def sample(
    energy: Energy,
    start: Float[Array, "*shape"],
    data: Mapping[str, Any],
    count: int,
    *,
    seed: int | np.random.Generator,
    warm_up: int = 100,
    leaps: int = 20,
    whiten: Float[Array, "P P"] | None = None,
    step: float = _FIRST_STEP,
    tell: Callable[[int], None] = lambda points: None,
) -> Samples:
    """`count` points after `warm_up`; `leaps` are the most leapfrog steps between two. With no warm-up `step` holds."""
    rng = np.random.default_rng(seed)
    roots = jnp.eye(1) if whiten is None else jnp.asarray(whiten)
    base, given = jnp.asarray(start), {name: jnp.asarray(value) for name, value in data.items()}
    z = jnp.zeros(start.size)
    level, slope = _look(energy, base, roots, given, z)
    if not np.isfinite(level):
        raise JostleError("Sampling cannot begin: the density at its start is no number.")
    points, accepted, pace = [], 0, _Pace(step)
    with one_thread():
        for i in range(warm_up + count):
            thrown, dice = rng.standard_normal(start.size), rng.uniform()
            size = pace.step if i < warm_up else pace.settled(warm_up)
            leap = _leap(energy, base, roots, given, z, slope, thrown, size, int(rng.integers(leaps // 2, leaps + 1)))
            z_new, momentum, level_new, slope_new = leap
            gain = float(level - level_new + 0.5 * (thrown @ thrown - momentum @ momentum))
            chance = min(1.0, np.exp(min(gain, 0.0))) if np.isfinite(gain) else 0.0
            if dice < chance:
                z, level, slope = z_new, level_new, slope_new
                accepted += i >= warm_up
            if i < warm_up:
                pace.learn(chance)
            else:
                points.append(np.asarray(z))
            tell(1)
    moved = np.array(points).reshape(count, start.size)
    moved = moved if whiten is None else moved @ whiten.T
    return Samples(start + moved.reshape(count, *start.shape), accepted / max(count, 1), pace.settled(warm_up))


@dataclass
class _Pace:
    """The step, by dual averaging."""

    first: float
    behind: float = 0.0  # H: how far below ACCEPT, on average
    log_step: float = 0.0
    log_mean: float = 0.0
    told: int = 0

    def __post_init__(self) -> None:
        self.log_step = np.log(self.first)

    @property
    def step(self) -> float:
        return float(np.exp(self.log_step))

    def settled(self, warm_up: int) -> float:
        return float(np.exp(self.log_mean)) if warm_up else self.first

    def learn(self, chance: float) -> None:
        self.told += 1
        share = 1.0 / (self.told + _DELAY)
        self.behind = (1.0 - share) * self.behind + share * (ACCEPT - chance)
        self.log_step = np.log(10.0 * self.first) - np.sqrt(self.told) / _SHRINK * self.behind
        weight = self.told**-_DECAY
        self.log_mean = weight * self.log_step + (1.0 - weight) * self.log_mean


def _at(base: Any, roots: Any, z: Any) -> Any:
    moved = z if roots.shape[0] != z.shape[0] else roots @ z
    return base + moved.reshape(base.shape)


def _energy(z: Any, energy: Energy, base: Any, roots: Any, data: Mapping[str, Any]) -> Any:
    return energy(_at(base, roots, z), data)


def _look_slowly(energy: Energy, base: Any, roots: Any, data: Mapping[str, Any], z: Any) -> tuple[Any, Any]:
    return jax.value_and_grad(_energy)(z, energy, base, roots, data)


def _leap_slowly(
    energy: Energy, base: Any, roots: Any, data: Mapping[str, Any], z: Any, slope: Any, p: Any, step: Any, leaps: Any
) -> tuple[Any, Any, Any, Any]:
    """Leapfrog: the point, its momentum, and -ln p and its slope there."""

    def once(_: Any, state: tuple[Any, Any, Any, Any]) -> tuple[Any, Any, Any, Any]:
        z, p, _, slope = state
        p = p - 0.5 * step * slope
        z = z + step * p
        level, slope = _look_slowly(energy, base, roots, data, z)
        return z, p - 0.5 * step * slope, level, slope

    return jax.lax.fori_loop(0, leaps, once, (z, jnp.asarray(p), jnp.zeros(()), slope))


_look = jax.jit(_look_slowly, static_argnums=0)
_leap = jax.jit(_leap_slowly, static_argnums=0)


@float64
def root_of_covariance(
    energy: Energy, x: Float[Array, "*shape"], data: Mapping[str, Any], least: float = 1e-6
) -> Float[Array, "P P"]:
    """For `whiten`: of the Gaussian that has the energy's curvature at x, which should be where it is least."""
    given = {name: jnp.asarray(value) for name, value in data.items()}
    curvature = np.asarray(_curvature(energy, jnp.asarray(x), given)).reshape(x.size, x.size)
    values, vectors = np.linalg.eigh(0.5 * (curvature + curvature.T))
    values = np.maximum(np.abs(values), least * np.max(np.abs(values)))  # where it is not least, a slope is a width too
    return vectors / np.sqrt(values)


def _curvature_slowly(energy: Energy, x: Any, data: Mapping[str, Any]) -> Any:
    return jax.jacfwd(jax.grad(lambda y: energy(y, data)))(x)


_curvature = jax.jit(_curvature_slowly, static_argnums=0)
