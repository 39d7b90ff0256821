"""Which states and style a new clip has, where states follow Gaussian-process dynamics.

Unknown are a style and a state for every frame. The search begins at stretches of the training clips that look most
like the clip, at their own and neighbouring paces, with the style of the clip they are from, and climbs the joint
posterior of poses and dynamics from the best few that differ.

Here the dynamics weigh 5 whatever they weighed in learning (1 in a GPDM, D/d in a B-GPDM). With D/d a stranger who
walks slower than anyone in training is forced to their pace: on walks and runs that no table reports, predictions of
the stylistic B-GPDM missed by 0.89 with D/d, 0.65 with 1 and 0.62 with 5, those of the stylistic GPDM by 0.78 with 1
and 0.73 with 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from jostle.models import learn
from jostle.models.factor_gp import FactorGp
from jostle.models.factors import Factors
from jostle.models.judge import assemble, climb, scale_prior, seeking
from jostle.models.latent_dynamics import Dynamics, LatentDynamics
from jostle.models.sequences import slices
from jostle.types import Array, Float

PACES = (0.7, 0.85, 1.0, 1.2, 1.4)  # frames of training a frame of the clip
CLIMBS = 6
BALANCE = 5.0  # of the dynamics
_ITERATIONS = 100


@dataclass(frozen=True, eq=False)
class Path:
    style: Float[Array, "S"]
    X: Float[Array, "T q"]
    loss: float


@dataclass(frozen=True)
class Seek:
    factors: Factors
    dynamics: LatentDynamics

    def __call__(self, params: Mapping[str, Any], data: Mapping[str, Any]) -> tuple[Any, Any]:
        X = params["X"]
        fit = seeking(self.factors, assemble([params["style"][None]], X), data)
        seen = {"hypers": data["x_hypers"], "noise": data["x_noise"], "inputs": data["x_inputs"],
                "weights": data["x_weights"], "shrink": data["x_shrink"]}  # fmt: skip
        motion = self.dynamics.future_loss(X, seen)
        return fit.loss + data["balance"] * motion + scale_prior([params["style"]]), fit.jitter


def settle(gp: FactorGp, dynamics: Dynamics, rows: Float[Array, "T D"]) -> Path:
    """The most probable path of rows given everything that was learnt."""
    data = gp.given(rows) | {f"x_{name}": value for name, value in dynamics.seen.items()}
    data |= {"balance": np.array(BALANCE)}
    best = climb(Seek(gp.factors, dynamics.settings), _starts(gp, data["Y"]), data, _ITERATIONS)
    return Path(best.params["style"], best.params["X"], best.loss)


def _starts(gp: FactorGp, Y: Float[Array, "T K"]) -> list[learn.Params]:
    count, own, style = len(Y), gp.ready.Y * gp.scales, gp.factors.style
    sought, tried = Y * gp.scales, []
    for clip, part in enumerate(slices(gp.lengths)):
        length = part.stop - part.start
        for pace in PACES:
            for first in range(0, max(int(length - 1 - pace * (count - 1)), 0) + 1, 2):
                at = np.clip(first + np.round(pace * np.arange(count)).astype(int), 0, length - 1)
                apart = float(np.sum((own[part.start + at] - sought) ** 2))
                tried.append((apart, clip, first, part.start + at))
    tried.sort(key=lambda t: t[0])
    taken: list[tuple[int, int]] = []
    out: list[learn.Params] = []
    for _, clip, first, at in tried:
        if all(clip != c or abs(first - f) > 6 for c, f in taken):
            taken.append((clip, first))
            out.append({"style": gp.inputs[at[0], :style].copy(), "X": gp.inputs[at, style:].copy()})
        if len(out) == CLIMBS:
            break
    return out
