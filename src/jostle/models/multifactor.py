"""Multifactor models with Gaussian-process dynamics: the stylistic GPDM and B-GPDM. Wang 2010, 6.3.

    y_t = f(s, g, x_t) + noise,  x_t = h(x_t-1) + noise     (6.15), (6.16)

where s and g belong to the clip and x_t to the frame, and h is the Gaussian process of a GPDM. -ln p of all unknowns,
without constants, is (5.16) with the kernel (6.15) in place of (5.9); `balance` weighs the dynamics as in the B-GPDM.
Without tied factors the kernel is (5.9), and what is left is the GPDM itself: so the same code serves both sides of
the comparison in table 6.1.

Learning begins on the circle of `cycle_phase`, with the principal components of what a circle leaves for the other
dimensions: PCA of everybody's poses begins with one island a subject, and no style ever joins them. As in a GPDM the
mean square of X is held at 1, for the likelihood of its transitions grows without end as it shrinks. A step's noise is
at least a hundredth of that spread: a B-GPDM's goes to a thousandth and less, and then what is left of the covariance
of a future, given all that was seen, is rounding (a quarter of the predictions that were tried had no density).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from jostle.clips import Clip
from jostle.errors import MotionError
from jostle.features import AngleFeatures, Placement
from jostle.models import learn, multifactor_latent, sparse
from jostle.models.checks import check_clips, check_latent
from jostle.models.circle import STYLE, circle, circle_data, follow, learnt_notes, unpack_styles, unprefixed
from jostle.models.cycle_phase import find_cycle
from jostle.models.factor_gp import FactorGp
from jostle.models.factors import Factors, Labels, first_styles, label
from jostle.models.futures import likeliest
from jostle.models.gpdm_learning import pca, ready, unit
from jostle.models.judge import assemble, learning, tied
from jostle.models.latent_dynamics import Dynamics, LatentDynamics
from jostle.models.learn import Watch
from jostle.skeleton import Pose
from jostle.types import Array, Float, Int

_LEAST_NOISE = 1e-4  # the variance of a step
_OTHER = 0.3  # the spread of the dimensions beyond the circle when learning begins


@dataclass(frozen=True)
class MultifactorObjective:
    factors: Factors
    dynamics: LatentDynamics

    def __call__(self, params: Mapping[str, Any], data: Mapping[str, Any]) -> tuple[Any, Any]:
        X = unit(params["X"])
        fit = learning(self.factors, assemble(tied(params, data, self.factors), X), params, data)
        motion = self.dynamics.loss(X, params["log_alpha"], data)  # (5.18)
        prior = self.dynamics.prior(params["log_alpha"])
        return fit.loss + data["balance"] * motion.loss + prior, fit.jitter + motion.jitter


@dataclass(frozen=True, eq=False)
class Multifactor:
    features: AngleFeatures
    gp: FactorGp
    labels: Labels
    styles: Mapping[str, Float[Array, "_ _"]]
    settings: LatentDynamics
    log_alpha: Float[Array, "A"]
    balance: float  # how much the dynamics weigh
    notes: tuple[str, ...] = ()

    kind = "multifactor"

    @property
    def latent_rows(self) -> Float[Array, "N Z"]:
        return self.gp.inputs

    @property
    def lengths(self) -> tuple[int, ...]:
        return self.gp.lengths

    @cached_property
    def dynamics(self) -> Dynamics:
        X = self.gp.inputs[:, self.gp.factors.style :]
        return Dynamics(self.settings, X, self.lengths, self.log_alpha, _pairs(self.settings, X, self.lengths))

    def style(self, **labels: str) -> Float[Array, "S"]:
        """The tied factors of these labels side by side; a factor that is not named is the mean of its labels."""
        return style_of(self.labels, self.styles, labels)

    def at(self, style: Float[Array, "*b S"], X: Float[Array, "T q"]) -> Float[Array, "T Z"]:
        return np.concatenate([np.broadcast_to(style, (len(X), style.shape[-1])), X], axis=1)

    def settle(self, rows: Float[Array, "T D"]) -> multifactor_latent.Path:
        """The most probable style and states of rows that were seen."""
        return multifactor_latent.settle(self.gp, self.dynamics, rows)

    def latent(self, clip: Clip) -> Float[Array, "T Z"]:
        """By optimisation: one style for the clip and a state for every frame."""
        path = self.settle(self.features.encode(clip))
        return self.at(path.style, path.X)

    def pose(self, x: Float[Array, "*b Z"]) -> Pose:
        return self.features.pose(self.gp.mean(x))

    def variance(self, x: Float[Array, "*b Z"]) -> Float[Array, "*b"]:
        return self.gp.posterior.variance(x)

    def log_likelihood(self, clip: Clip) -> float:
        rows = self.features.encode(clip)
        path = self.settle(rows)
        return self.gp.log_likelihood(self.at(path.style, path.X), rows)

    def continued(self, rows: Float[Array, "T D"], frames: int) -> Float[Array, "frames D"]:
        """The likeliest future of the states, and the poses there given the training rows and these."""
        path = self.settle(rows)
        future = likeliest(self.dynamics, path.X, frames)
        return self.gp.future(self.at(path.style, future), self.at(path.style, path.X), rows)

    def predict(self, start: Clip, frames: int) -> Clip:
        rows = self.features.encode(start)
        return follow(self.features, start, rows, self.continued(rows, frames))

    def rollout(self, start: Float[Array, "T Z"], frames: int) -> Float[Array, "frames Z"]:
        s = self.gp.factors.style
        return self.at(start[-1, :s], self.dynamics.rollout(start[:, s:], frames))

    def motion(self, x: Float[Array, "T Z"], at: Placement | None = None) -> Clip:
        return self.features.decode(self.gp.mean(x), at)

    def pack(self) -> tuple[dict[str, Any], dict[str, Array]]:
        features, arrays = self.features.pack()
        gp, more = self.gp.pack()
        data = {"features": features, "gp": gp, "notes": list(self.notes), "balance": self.balance,
                "order": self.settings.order, "linear": self.settings.linear, "steps": self.settings.steps,
                "labels": {k: list(v) for k, v in self.labels.of.items()}}  # fmt: skip
        tables = {f"style_{name}": table for name, table in self.styles.items()}
        return data, arrays | {f"gp_{k}": v for k, v in more.items()} | tables | {"log_alpha": self.log_alpha}

    @classmethod
    def unpack(cls, data: dict[str, Any], arrays: dict[str, Array]) -> Multifactor:
        features = AngleFeatures.unpack(data["features"], arrays)
        gp = FactorGp.unpack(data["gp"], unprefixed(arrays))
        labels, styles = unpack_styles(data["labels"], arrays, gp)
        order, linear, steps = int(data["order"]), bool(data["linear"]), bool(data["steps"])
        settings, log_alpha = LatentDynamics(gp.factors.state, order, linear, steps), arrays["log_alpha"]
        balance = float(data["balance"])
        if log_alpha.shape != (len(settings.names),) or not np.all(np.isfinite(log_alpha)) or not balance > 0:
            raise MotionError("The dynamics of this multifactor model hold values that cannot be.")
        if gp.rows.shape[1] != len(features.names):
            raise MotionError("The features of this multifactor model are not those it was learnt from.")
        return cls(features, gp, labels, styles, settings, log_alpha, balance, tuple(map(str, data["notes"])))


def style_of(labels: Labels, styles: Mapping[str, Array], given: Mapping[str, str]) -> Float[Array, "S"]:
    for name in given:
        labels.index(name, given[name])
    parts = [
        table[labels.index(name, given[name])] if name in given else table.mean(axis=0)
        for name, table in styles.items()
    ]
    return np.concatenate(parts) if parts else np.zeros(0)


def fit_multifactor(
    clips: Sequence[Clip],
    *,
    subjects: Sequence[str] | None = None,
    gaits: Sequence[str] | None = None,
    more: Mapping[str, Sequence[str]] | None = None,
    smooth: bool = False,
    dimensions: int = STYLE,
    latent: int = 3,
    order: int = 1,
    fps: float = 30.0,
    iterations: int = 300,
    seed: int = 0,
    watch: Watch | None = None,
) -> Multifactor:
    """A stylistic GPDM, or with `smooth` a stylistic B-GPDM; `more` are further tied factors, a label for each clip."""
    clips = check_clips(clips, same_bones=False)
    labels, notes = label(clips, subjects, gaits, more)
    return learn_multifactor(clips, labels, notes, smooth=smooth, dimensions=dimensions, states=latent, order=order,
                             fps=fps, iterations=iterations, seed=seed, watch=watch)  # fmt: skip


def learn_multifactor(
    clips: Sequence[Clip],
    labels: Labels,
    notes: Sequence[str] = (),
    *,
    principal: bool = False,
    smooth: bool = False,
    dimensions: int = STYLE,
    states: int = 3,
    order: int = 1,
    fps: float = 30.0,
    iterations: int = 300,
    seed: int = 0,
    watch: Watch | None = None,
) -> Multifactor:
    """The same with labels made; with none this is a GPDM, which as a rule begins at `principal` components (5.3.3)."""
    features = AngleFeatures.of(clips, fps)
    rows = [features.encode(clip) for clip in clips]
    lengths = tuple(map(len, rows))
    made = ready(np.concatenate(rows), lengths, states)
    check_latent(states, sum(lengths), len(made.varied), "number of states")
    factors, dynamics = Factors(labels.names, (dimensions,) * len(labels.names), states), LatentDynamics(states, order)
    scaled = made.Y * np.minimum(1.0 / np.std(made.Y, axis=0), made.kappa)
    start = first_styles(labels, factors.dims, np.random.default_rng(seed)) | {
        "X": unit_of(pca(scaled, states) if principal else _first_states(features, rows, scaled, states)),
        "log_gamma": np.zeros(len(factors.kernel.names)), "log_noise": np.array(np.log(0.05)),
        "log_alpha": dynamics.start(),
    }  # fmt: skip
    balance = len(made.varied) / states if smooth else 1.0
    data = circle_data(labels, lengths) | dynamics.rows(lengths)
    data |= {"Y": made.Y, "kappa": np.array(made.kappa), "balance": np.array(balance)}
    chosen = sparse.choose(np.asarray(assemble(tied(start, data, factors), start["X"])), seed)
    data |= {} if chosen is None else {"chosen": chosen}
    pairs = _pairs(dynamics, start["X"], lengths)
    data |= {} if pairs is None else {"pairs": pairs}
    watch = watch or Watch()
    watch.plan(iterations)
    low, high = dynamics.bounds
    low[-1] = np.log(_LEAST_NOISE)
    bounds = {"log_gamma": (-6.0, 4.0), "log_noise": (-12.0, 1.0), "log_alpha": (low, high)}
    found = learn.minimise(MultifactorObjective(factors, dynamics), start, data, iterations, bounds=bounds, watch=watch)
    p = found.params
    z = np.concatenate([*tied(p, data, factors), unit_of(p["X"])], axis=1)
    gp = FactorGp(
        factors, np.exp(p["log_gamma"]), float(np.exp(p["log_noise"])), z, np.concatenate(rows), lengths, chosen
    )
    told = (*notes, *features.notes, *learnt_notes(found, chosen))
    return Multifactor(features, gp, labels, {n: p[n] for n in labels.names}, dynamics, p["log_alpha"], balance, told)


def _pairs(dynamics: LatentDynamics, X: Float[Array, "N q"], lengths: tuple[int, ...]) -> Int[Array, "M"] | None:
    """Transitions that stand for all, where there are very many: the same ones of the same X, so no bundle says it."""
    rows = dynamics.rows(lengths)
    return sparse.choose(dynamics.pairs(X, rows["past"], rows["now"])[0])


def unit_of(X: Float[Array, "N q"]) -> Float[Array, "N q"]:
    return X / np.sqrt(np.mean(X**2))


def _first_states(
    features: AngleFeatures, rows: Sequence[Array], Y: Float[Array, "N K"], states: int
) -> Float[Array, "N q"]:
    """A circle, and principal components of what a sinusoid in its phase does not explain."""
    theta = np.concatenate([find_cycle(features.decode(r), r).at(np.arange(len(r))) for r in rows])
    basis = np.concatenate([np.ones((len(Y), 1)), circle(theta)], axis=1)
    left = Y - basis @ np.linalg.lstsq(basis, Y, rcond=None)[0]
    u, s, _ = np.linalg.svd(left, full_matrices=False)
    other = u[:, : max(states - 2, 0)] * s[: max(states - 2, 0)]
    other = _OTHER * other / np.maximum(np.std(other, axis=0), 1e-12)
    return unit_of(np.concatenate([circle(theta), other], axis=1)[:, :states])
