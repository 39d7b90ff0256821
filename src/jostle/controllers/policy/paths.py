"""Where a latent position may go next: the dynamics at control time, and the actions. Levine et al. 2012, section 5.3.

An action is the next latent position: the mean of the dynamics, or a point beside it, off the way ahead and towards one
of the samples near by, for optimal actions flow towards peaks of the value, and these lie at samples.

Departures, each because of what happens without it:

- **Dynamics of their own.** The model's, with the paper's fixed hyperparameters, serve to learn latent positions. Their
  standard deviation on the data is a hundredth of a step, and so would be the ring of radius rho = 0.9 that they give:
  no action steers. Here steps are a process of the two positions before, learnt for these positions.
- **Actions as long as the sample is far.** `reach` of the way across to it, at most `largest` of a step, in place of a
  ring of one radius: samples near by are reached, those far off are only steered to.
- **Samples further off.** The 16 nearest are mostly neighbours in time, all in one direction. Every fourth of the 64
  nearest lies on other strands of the motion.
- **Paces.** The ring lies around the mean, and around a slower and a faster step: a turn that is walked through faster
  than the clips do is more agile than any step aside. Who goes off the way of the dynamics pays for it (c_x, in steps),
  so that it is done where it serves.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial import KDTree

from jostle.controllers.policy.constants import USUAL, Constants
from jostle.models.connected_model import Connected
from jostle.models.given import fit_dynamics
from jostle.models.latent_dynamics import Dynamics, LatentDynamics
from jostle.models.learn import Watch
from jostle.types import Array, Float


def learn_steps(model: Connected, watch: Watch | None = None) -> Dynamics:
    """The dynamics at control time of a model's latent positions."""
    X = model.latent_rows
    return fit_dynamics(LatentDynamics(X.shape[1], order=2, steps=True), X, model.lengths, watch)


@dataclass(frozen=True, eq=False)
class Paths:
    """Actions of latent positions, given the samples that they may steer towards."""

    steps: Dynamics
    samples: Float[Array, "S Q"]
    constants: Constants = USUAL

    def __post_init__(self) -> None:
        object.__setattr__(self, "_tree", KDTree(self.samples))

    @cached_property
    def usual(self) -> float:
        """How long a step is on average."""
        rows = self.steps.settings.rows(self.steps.lengths)
        return float(np.mean(np.linalg.norm(self.steps.X[rows["now"]] - self.steps.X[rows["past"][:, -1]], axis=1)))

    def actions(self, x: Float[Array, "*b Q"], x_before: Float[Array, "*b Q"]) -> Float[Array, "*b A Q"]:
        """The next positions: the mean of the dynamics first, and those of the first pace."""
        own = self.constants
        mean = self.steps.next(np.stack([x_before, x], axis=-2))  # (*b, Q)
        ahead = mean - x
        step = np.linalg.norm(ahead, axis=-1, keepdims=True)
        ahead = ahead / np.maximum(step, 1e-12)
        count = min(own.ring * own.apart, len(self.samples))
        _, near = self._tree.query(mean, k=count)  # pyright: ignore[reportAttributeAccessIssue]
        near = near[..., :: own.apart]
        away = self.samples[near] - mean[..., None, :]
        across = away - np.sum(away * ahead[..., None, :], axis=-1, keepdims=True) * ahead[..., None, :]
        size = np.linalg.norm(across, axis=-1, keepdims=True)
        longest = own.largest * np.maximum(step, own.standing * self.usual)
        length = np.minimum(own.reach * size, longest[..., None, :])
        aside = np.concatenate([np.zeros_like(mean)[..., None, :], length * across / np.maximum(size, 1e-12)], axis=-2)
        along = (x[..., None, :] + pace * (mean - x)[..., None, :] for pace in own.paces)
        return np.concatenate([middle + aside for middle in along], axis=-2)
