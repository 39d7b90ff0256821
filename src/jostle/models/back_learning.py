"""Learning a scaled GPLVM with back constraints: L_P of Ye & Liu 2010, Appendix A, and what made it generalise.

    L_P = D/2 ln|K| - N ln|W| + 1/2 tr(K^-1 Y W^2 Y') + 1/2 tr(X X') + ln(beta alpha gamma alpha' gamma'),  X = K' A

without the constants N D/2 ln(2 pi) of p(Y | X), N Q/2 ln(2 pi) of p(X) and the normalisers of the priors, which have
none. W is put in at its best. Written so (`paper=True`), it has no least value: with X = K' A, alpha' can go to zero
while A grows; and a noise 1/beta of a tenth of a degree makes islands of poses that a person would call alike. Here:

alpha' = 1        A has its scale already.
alpha = 1         W has its scale already, up to the cap on W.
w <= most         a column that hardly varies would count as much as a leg; the paper's W has no bound.
1/beta fixed      at a share of the features' own variance. Learnt, it says how well the training rows can be fitted;
                  what counts is how far rows of the next clip are, which it cannot know. Held-out errors of five pairs
                  of clips of one person each (not those of `evaluate reconstruction`) fell from 4.5 to 3.6 degrees.
gamma' fixed      from the median distance between rows, seen along their first principal components: noise of the many
                  small directions does not move x. With gamma' sought, K' turns into the identity.
1/2 r tr(A'K'A)   the back map's own smoothness: it is then a Gaussian process regression, not an interpolation.
few iterations    more make held-out errors worse, not better.

With K' = E E', X = E Z and A = K'^-1 E Z, so the search is for Z, in which the smoothness is |Z|^2: L-BFGS finds in 60
iterations what it does not find in a thousand for A.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from jostle.errors import MotionError
from jostle.models import checks, learn, sparse
from jostle.models.back import BackGplvm, BackMap
from jostle.models.kernels import Rbf, rbf
from jostle.models.learn import Watch
from jostle.types import Array, Float

NOISE = 0.1  # 1/beta, where a scaled feature varies by 1
MOST = 1.0  # w_d, over 1 / root mean square of the features
INPUTS = 8  # principal components that the back map sees
REACH = 1.0  # of k', in median distances between rows
SMOOTH = 10.0  # r
ITERATIONS = 60
_THIN = 1e-6  # of the largest eigenvalue of K': what is below is rounding
_PAPER = {"alpha": 1.0, "gamma": 1.0, "beta": 0.1, "alpha_back": 2.0, "gamma_back": 2.0}  # where the paper begins
_PAPER_BOUNDS = (-9.0, 9.0)  # of logarithms: the paper's L_P falls without end


@dataclass(frozen=True)
class Smooth:
    """L_P as above. Parameters Z (R, Q) and log_gamma; data E (N, R), Y (N, D), most."""

    noise: float
    smooth: float

    def __call__(self, params: Mapping[str, Any], data: Mapping[str, Any]) -> tuple[Any, Any]:
        X, log_gamma = data["E"] @ params["Z"], params["log_gamma"][0]
        h = jnp.stack([jnp.ones(()), jnp.exp(log_gamma)])
        fit = sparse.scaled(rbf(), h, self.noise, X, data["Y"], data["most"], data.get("inducing"))
        prior = 0.5 * jnp.sum(X * X) + log_gamma  # tr(X X')/2 + ln gamma
        return fit.loss + prior + 0.5 * self.smooth * jnp.sum(params["Z"] ** 2), fit.jitter


@dataclass(frozen=True)
class Paper:
    """L_P to the letter. Parameters A (N, Q) and logarithms; data P (N, P), Y (N, D), most."""

    def __call__(self, params: Mapping[str, Any], data: Mapping[str, Any]) -> tuple[Any, Any]:
        logs = params["logs"]  # alpha, gamma, beta, alpha', gamma'
        alpha, gamma, beta, alpha_back, gamma_back = jnp.exp(logs)
        X = alpha_back * Rbf()(gamma_back[None], data["P"], data["P"]) @ params["A"]
        fit = sparse.scaled(rbf(), jnp.stack([alpha, gamma]), 1.0 / beta, X, data["Y"], data["most"])
        return fit.loss + 0.5 * jnp.sum(X * X) + jnp.sum(logs), fit.jitter


def fit_gplvm(
    rows: Float[Array, "N D"],
    latent: int = 3,
    *,
    names: Sequence[str] | None = None,
    centre: Float[Array, "D"] | None = None,
    most: float = MOST,
    noise: float = NOISE,
    inputs: int = INPUTS,
    reach: float = REACH,
    smooth: float = SMOOTH,
    iterations: int = ITERATIONS,
    paper: bool = False,
    seed: int = 0,
    watch: Watch | None = None,
    stage: str = "poses",
) -> BackGplvm:
    """Learn latent positions of rows, and the maps there and back. Nothing needs to be told but the rows.

    `most` is relative to the features' root mean square. `paper` minimises L_P to the letter; of the options only
    `centre`, `iterations` and `seed` count then. The seed chooses frames that stand for all, where there are very many.
    """
    if not np.all(np.isfinite(rows)):
        raise MotionError("These rows hold values that are no numbers; mend or leave out what they were made from.")
    kept, notes = checks.moving(rows, names or [str(i) for i in range(rows.shape[1])])
    checks.check_latent(latent, len(rows), int(np.sum(kept)))
    middle = rows.mean(axis=0) if centre is None else np.where(kept, centre, rows.mean(axis=0))
    y = (rows - middle)[:, kept]
    start = _Start.of(y, latent, max(inputs, latent))
    if paper:
        if len(rows) > sparse.EXACT:
            raise MotionError(f"The paper's model is for up to {sparse.EXACT} frames, not {len(rows)}; give fewer.")
        return _fit_paper(rows, middle, kept, y, start, notes, iterations, watch, stage)
    inducing = sparse.choose(start.x, seed)
    limit = most / start.size
    P = y @ start.axes / start.size
    centres = P if inducing is None else P[inducing]
    gamma_back = 1.0 / (reach**2 * _median_square(centres))
    E, back = _whitened(Rbf()(np.array([gamma_back]), P, centres), _kernel(gamma_back, centres))
    Z = np.linalg.solve(E.T @ E + 1e-2 * np.eye(E.shape[1]), E.T @ start.x)
    data: dict[str, Any] = {"E": E, "Y": y, "most": np.array(limit)}
    if inducing is not None:
        data["inducing"] = inducing
    first = {"Z": Z, "log_gamma": np.zeros(1)}
    bounds = {"log_gamma": (-6.0, 12.0)}
    found = learn.minimise(Smooth(noise, smooth), first, data, iterations, bounds=bounds, watch=watch, stage=stage)
    spread = float(np.sqrt(np.mean((E @ found.params["Z"]) ** 2)))
    weights = back @ found.params["Z"] / spread  # X is rescaled to unit spread: its scale is gamma's, and nobody's
    gamma = float(np.exp(found.params["log_gamma"][0])) * spread**2
    notes += learn_notes(found)
    maps = BackMap(start.axes / start.size, centres, gamma_back, weights)
    return BackGplvm(rows, middle, kept, maps, gamma, noise, limit, inducing, notes=tuple(notes))


@dataclass(frozen=True, eq=False)
class _Start:
    x: Float[Array, "N Q"]  # first principal components, the first with unit spread
    axes: Float[Array, "d P"]  # principal directions
    size: float  # root mean square of all features

    @classmethod
    def of(cls, y: Float[Array, "N d"], latent: int, inputs: int) -> _Start:
        _, _, axes = np.linalg.svd(y, full_matrices=False)
        axes = axes[: min(inputs, len(axes))].T
        axes = axes * np.sign(axes[np.argmax(np.abs(axes), axis=0), range(axes.shape[1])])
        x = y @ axes[:, :latent]
        if x.shape[1] < latent:
            raise MotionError(f"{len(y)} frames span fewer than {latent} dimensions; give more of them.")
        return cls(x / max(float(np.sqrt(np.mean(x[:, 0] ** 2))), 1e-12), axes, float(np.sqrt(np.mean(y**2))))


def _fit_paper(
    rows: Array, middle: Array, kept: Array, y: Array, start: _Start, notes: list[str], iterations: int,
    watch: Watch | None, stage: str,
) -> BackGplvm:  # fmt: skip
    """All of Y in the back kernel, A free, five hyperparameters with their priors, W as it likes."""
    K_back = _PAPER["alpha_back"] * _kernel(_PAPER["gamma_back"], y)
    A = np.linalg.solve(K_back + 1e-6 * np.eye(len(y)), start.x)
    logs = np.log([_PAPER[name] for name in ("alpha", "gamma", "beta", "alpha_back", "gamma_back")])
    data = {"P": y, "Y": y, "most": np.array(1e9)}
    found = learn.minimise(
        Paper(), {"A": A, "logs": logs}, data, iterations, bounds={"logs": _PAPER_BOUNDS}, watch=watch, stage=stage
    )
    alpha, gamma, beta, alpha_back, gamma_back = (float(value) for value in np.exp(found.params["logs"]))
    back = BackMap(np.eye(y.shape[1]), y, gamma_back, alpha_back * found.params["A"])
    notes = [*notes, *learn_notes(found)]
    return BackGplvm(rows, middle, kept, back, gamma, 1.0 / beta, 1e9, None, alpha, tuple(notes))


def learn_notes(found: learn.Learnt) -> list[str]:
    """What learning had to do, in sentences."""
    notes = [] if found.trouble is None else [found.trouble]
    if found.jitter > 0:
        notes.append(f"A covariance needed {found.jitter:.1e} on its diagonal to be factored.")
    return notes


def _kernel(gamma: float, p: Float[Array, "n P"]) -> Float[Array, "n n"]:
    return Rbf()(np.array([gamma]), p, p)


def _median_square(p: Float[Array, "n P"]) -> float:
    """Between different rows."""
    squares = np.sum(p**2, axis=1)
    apart = squares[:, None] + squares[None] - 2.0 * p @ p.T
    return max(float(np.median(apart[np.triu_indices(len(p), 1)])), 1e-12)


def _whitened(K: Float[Array, "N M"], own: Float[Array, "M M"]) -> tuple[Float[Array, "N R"], Float[Array, "M R"]]:
    """E with E E' = K own^-1 K', and B with A = B Z: what thin directions of `own` say is left out."""
    values, vectors = np.linalg.eigh(own)
    thick = values > _THIN * values[-1]
    back = vectors[:, thick] / np.sqrt(values[thick])
    return K @ back, back
