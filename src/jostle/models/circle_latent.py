"""Where on the circle a new clip is, and in which style: found by a grid, then by L-BFGS from its best points.

The posterior of phase, step and style has many local optima: half a cycle off, left and right change places; a style
that is wrong makes another phase right. So 16 phases, 10 periods and up to 16 styles are tried, each frame judged for
itself, which needs one table a style; from the best 8 that differ, the joint posterior of all frames is climbed, at
first by all of them and to the end by those that are then ahead.

The likelihood prefers slow steps: the less of the circle a stranger has been through, the more of what sets them apart
can be one smooth deviation. Ten frames of a walk were placed with periods 15 % too long. But two things tell the pace.
Speed: who goes faster steps faster and farther, both by the root (the walk ratio, Sekiya et al. 1996), so ln dtheta is
half of ln speed and what the median training clip has beyond that, give or take a tenth. And the thighs: how they swing
against each other in the frames that are seen, of which speed knows nothing; who takes long strides steps slowly. Both
together missed the pace of walks and runs that no table reports by 4.6 % (rms; speed alone by 8.9 %, and by a third
for strides). This is believed closely: columns are no independent witnesses, and against a hundred of them a prior
counts only when it is narrow. The thesis has no such prior.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Num

from jostle.models import learn
from jostle.models.cycle_phase import swung_pace
from jostle.models.factor_gp import FactorGp
from jostle.models.factors import Factors
from jostle.models.judge import assemble, climb, scale_prior, seeking
from jostle.models.sequences import slices
from jostle.types import Array, Float

PHASES, PERIODS, STYLES, CLIMBS = 16, 10, 16, 8
_TABLE = 96  # phases at which a style's poses are computed
_BEYOND = 1.25  # how far periods are tried beyond those of training
_STEADY = 0.15  # the least spread of ln dtheta that is believed before a clip is seen
_STANDS = 0.003  # leg lengths a frame: slower, and speed says nothing
_WALKERS = 0.1  # of ln dtheta about what speed says
PACE_SPREAD = 0.01  # and about what the swing of the thighs makes of it
_ITERATIONS = 60


@dataclass(frozen=True, eq=False)
class Place:
    style: Float[Array, "S"]
    phase: float
    step: float
    loss: float  # -ln p of rows and factors, without constants

    def theta(self, frames: Num[Array, "n"]) -> Float[Array, "n"]:
        return self.phase + self.step * frames


@dataclass(frozen=True)
class Seek:
    factors: Factors

    def __call__(self, params: Mapping[str, Any], data: Mapping[str, Any]) -> tuple[Any, Any]:
        theta = params["phase"] + jnp.exp(params["log_step"]) * jnp.arange(data["Y"].shape[0])
        state = jnp.stack([jnp.cos(theta), jnp.sin(theta)], axis=1)
        z = assemble([params["style"][None]], state)
        fit = seeking(self.factors, z, data)
        pace = 0.5 * ((params["log_step"] - data["pace"]) / data["steady"]) ** 2
        return fit.loss + scale_prior([params["style"]]) + pace, fit.jitter


def settle(
    gp: FactorGp,
    styles: Mapping[str, Array],
    steps: Float[Array, "n"],
    rows: Float[Array, "T D"],
    travel: slice | None = None,
    swing: Float[Array, "T"] | None = None,
) -> Place:
    """The most probable place of rows given all that was learnt; `travel` are the columns of the root's steps, and
    `swing` is how the thighs swing in these rows, for who has two."""
    given = gp.given(rows)
    pace, steady = pace_prior(gp, steps, rows, travel, swing)
    data = given | {"pace": np.array(pace), "steady": np.array(steady)}
    best = climb(Seek(gp.factors), _starts(gp, styles, steps, given["Y"]), data, _ITERATIONS)
    p = best.params
    return Place(p["style"], float(p["phase"]), float(np.exp(p["log_step"])), best.loss)


def pace_prior(
    gp: FactorGp,
    steps: Float[Array, "n"],
    rows: Float[Array, "T D"],
    travel: slice | None,
    swing: Float[Array, "T"] | None = None,
) -> tuple[float, float]:
    """What ln dtheta is before a clip is seen in detail, and how sure that is."""
    logs = np.log(steps)
    if travel is not None:
        speeds = [float(np.linalg.norm(gp.rows[part, travel].mean(axis=0))) for part in slices(gp.lengths)]
        speed = float(np.linalg.norm(rows[:, travel].mean(axis=0)))
        if min(*speeds, speed) > _STANDS:
            pace = float(np.median(logs - 0.5 * np.log(speeds)) + 0.5 * np.log(speed))
            return pace if swing is None else swung_pace(swing, pace, _WALKERS), PACE_SPREAD
    return float(logs.mean()), max(float(logs.std()), _STEADY)


def combinations(styles: Mapping[str, Array], count: int = STYLES) -> list[Float[Array, "S"]]:
    """Every label of each factor, and its mean, with those of the others; where these are too many, some by lot."""
    tables = [[*table, table.mean(axis=0)] if len(table) > 1 else [*table] for table in styles.values()]
    if not tables:
        return [np.zeros(0)]
    whole = [np.concatenate(parts) for parts in product(*tables)]
    if len(whole) <= count:
        return whole
    return [whole[i] for i in sorted(np.random.default_rng(0).choice(len(whole), count, replace=False))]


def _starts(gp: FactorGp, styles: Mapping[str, Array], steps: Array, Y: Float[Array, "T K"]) -> list[learn.Params]:
    """The best of the grid that are not each other's neighbours."""
    tried = combinations(styles)
    phases = 2.0 * np.pi * np.arange(PHASES) / PHASES
    periods = np.geomspace(2.0 * np.pi / steps.max() / _BEYOND, 2.0 * np.pi / steps.min() * _BEYOND, PERIODS)
    theta = phases[:, None, None] + 2.0 * np.pi / periods[:, None] * np.arange(len(Y))  # (phases, periods, T)
    column = np.round(theta / (2.0 * np.pi) * _TABLE).astype(int) % _TABLE
    scores = np.array([_table(gp, style, Y)[np.arange(len(Y)), column].sum(axis=-1) for style in tried])
    out, taken = [], []
    for k in np.argsort(scores, axis=None):
        s, a, b = np.unravel_index(k, scores.shape)
        near = any(s == t and min((a - c) % PHASES, (c - a) % PHASES) <= 1 and abs(b - d) <= 1 for t, c, d in taken)
        if not near:
            taken.append((s, a, b))
            step = np.array(np.log(2.0 * np.pi / periods[b]))
            out.append({"style": tried[s].copy(), "phase": np.array(phases[a]), "log_step": step})
        if len(out) == CLIMBS:
            break
    return out


def _table(gp: FactorGp, style: Float[Array, "S"], Y: Float[Array, "T K"]) -> Float[Array, "T n"]:
    """-ln p of each frame at each phase of the table."""
    angles = 2.0 * np.pi * np.arange(_TABLE) / _TABLE
    z = np.concatenate([np.tile(style, (_TABLE, 1)), np.cos(angles)[:, None], np.sin(angles)[:, None]], axis=1)
    spread = gp.posterior.variance(z) + gp.noise
    a, b = Y * gp.scales, gp.posterior.mean(z) * gp.scales
    squared = np.sum(a * a, axis=1)[:, None] + np.sum(b * b, axis=1)[None, :] - 2.0 * a @ b.T
    return 0.5 * squared / spread + 0.5 * Y.shape[1] * np.log(spread)
