"""The most likely pose that satisfies constraints: (8) of Levine et al. 2012.

    min (y - mu)' D^-1 (y - mu)    such that    C(y) = 0, or C(y) >= 0

mu is the conditional mean of section 6.2, and D the variances w_k^-2 of the channels. (The paper's sigma, a common
factor of all channels, does not matter to what is nearest, and "max" in its (8) is a slip for "min".) Constraints are
linearised, J y = c, and their multipliers solve a system of their own size, however many channels there are:

    y = mu + D J' l,    (J D J' + eps) l = c - J mu,    l >= 0 for inequalities

Equalities are eliminated; what is left is a least-squares problem in non-negative multipliers. Constraints that
contradict each other, or ask for more than the body can, are missed as little as possible: eps, a variance of
constraints, says how firm they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.optimize

from jostle.controllers.policy.constraints.configuration import Configuration
from jostle.types import Array, Bool, Float

ITERATIONS = 5
CLOSE = 2e-3  # metres, and radians: constraints kept to this are kept
LESS = 0.7  # of what was missed: an iteration that leaves more was the last
_FIRM = 1e-6  # eps, m^2: beside 1e-2 for a hand and 1e-3 for a foot, where D is in the units of the model


@dataclass(frozen=True, eq=False)
class Rows:
    """What constraints ask of a change of the row: J dy = gap, or at least the gap."""

    jacobian: Float[Array, "n P"]
    gap: Float[Array, "n"]
    at_least: Bool[Array, "n"]

    @property
    def missed(self) -> float:
        """By how much the worst one is."""
        return float(np.max(np.where(self.at_least, self.gap, np.abs(self.gap)), initial=0.0))


def equal(jacobian: Float[Array, "*n P"], gap: Float[Array, "*n"]) -> Rows:
    gap = np.ravel(gap)
    return Rows(jacobian.reshape(len(gap), jacobian.shape[-1]), gap, np.zeros(len(gap), dtype=bool))


def at_least(jacobian: Float[Array, "*n P"], gap: Float[Array, "*n"]) -> Rows:
    gap = np.ravel(gap)
    return Rows(jacobian.reshape(len(gap), jacobian.shape[-1]), gap, np.ones(len(gap), dtype=bool))


def stacked(rows: Sequence[Rows]) -> Rows:
    return Rows(
        np.concatenate([one.jacobian for one in rows]),
        np.concatenate([one.gap for one in rows]),
        np.concatenate([one.at_least for one in rows]),
    )


def nearest(mean: Float[Array, "P"], spread: Float[Array, "P"], rows: Rows) -> Float[Array, "P"]:
    """The most likely row for which the linear constraints hold: J (y - mean) = gap. `spread` is the diagonal of D."""
    across = spread * rows.jacobian  # (n, P)
    G = across @ rows.jacobian.T
    G[np.diag_indices(len(G))] += _FIRM
    return mean + _multipliers(G, rows.gap, rows.at_least) @ across


def _multipliers(G: Float[Array, "n n"], gap: Float[Array, "n"], at_least: Bool[Array, "n"]) -> Float[Array, "n"]:
    """min 1/2 l' G l - l' gap, with l >= 0 for inequalities."""
    if not at_least.any():
        return np.linalg.solve(G, gap)
    out, e, i = np.zeros(len(gap)), np.flatnonzero(~at_least), np.flatnonzero(at_least)
    across = G[np.ix_(e, i)]
    inner = np.linalg.solve(G[np.ix_(e, e)], np.column_stack([across, gap[e]]))
    S, r = G[np.ix_(i, i)] - across.T @ inner[:, :-1], gap[i] - across.T @ inner[:, -1]  # when equalities hold
    if np.any(r > 0.0):
        out[i] = _one_sided(S, r)
    out[e] = inner[:, -1] - inner[:, :-1] @ out[i]
    return out


def _one_sided(S: Float[Array, "n n"], r: Float[Array, "n"]) -> Float[Array, "n"]:
    """min 1/2 l' S l - l' r with l >= 0. Mostly those that are violated are those that pull."""
    out, pulls = np.zeros(len(r)), r > 0.0
    out[pulls] = np.linalg.solve(S[np.ix_(pulls, pulls)], r[pulls])
    if np.all(out >= 0.0) and np.all(S @ out >= r - 1e-9):
        return out
    lower = np.linalg.cholesky(S + 1e-12 * np.max(np.diag(S)) * np.eye(len(r)))
    return scipy.optimize.nnls(lower.T, np.linalg.solve(lower, r))[0]


def most_likely(
    mean: Configuration,
    start: Configuration,
    spread: Float[Array, "P"],
    asked: Callable[[Configuration], Rows | None],
    iterations: int = ITERATIONS,
) -> Configuration:
    """Gauss-Newton, from a pose near the answer; one iteration is the linearised form.

    The paper linearises about the last frame's pose, and so it is here. (The mean is further away: it has given up
    a third of what constraints changed before.) A step that misses by more than the one before is halved.
    """
    here, rows, kinematics = start, asked(start), mean.kinematics
    if rows is None:
        return mean
    for left in reversed(range(iterations)):
        moved = rows.jacobian @ (here.row - mean.row)
        step = nearest(mean.row, spread, Rows(rows.jacobian, rows.gap + moved, rows.at_least)) - here.row
        tried, share, most = kinematics.at(here.row + step, mean.place), 1.0, max(rows.missed, CLOSE)
        if not left:
            return tried
        found = asked(tried)
        while found is not None and found.missed > most and share > 0.2:
            share *= 0.5
            tried = kinematics.at(here.row + share * step, mean.place)
            found = asked(tried)
        if found is None or found.missed < CLOSE or (found.missed > LESS * rows.missed and share == 1.0):
            return tried
        here, rows = tried, found
    return here
