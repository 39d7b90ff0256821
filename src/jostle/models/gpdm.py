"""GPDM and B-GPDM of clips: Wang 2010, chapter 5; Wang, Fleet and Hertzmann 2008; Urtasun, Fleet and Fua 2006.

A pose is a point in a latent space of few dimensions, poses are a smooth function of it, and points follow each other
by dynamics; both functions are Gaussian processes and integrated out. What each module has of it:

    latent_dynamics   p(X | alpha), (5.12)-(5.14), first and second order; mean prediction
    gpdm_learning     the posterior (5.16)-(5.18) and how it is learnt; B-GPDM
    two_stage         hyperparameters with X integrated out, then X
    latent_model      poses from latent positions, and how sure
    placing           latent positions of new poses
    futures           the likeliest future, and samples by Hamiltonian Monte Carlo

Rows are angle features at 30 frames a second, so clips of people of different builds can be learnt together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jostle.clips import Clip
from jostle.errors import MotionError
from jostle.features.angles import AngleFeatures
from jostle.features.features import Placement, placement
from jostle.models import futures, hmc, sparse
from jostle.models.checks import check_clips
from jostle.models.gpdm_learning import Fitted, Plan, fit_posterior, ready
from jostle.models.latent_dynamics import LatentDynamics
from jostle.models.latent_model import LatentModel, model_of, trial
from jostle.models.learn import Watch
from jostle.models.placing import place
from jostle.models.two_stage import fit_two_stage
from jostle.skeleton import Pose
from jostle.types import Array, Float

_GIVEN = 60  # frames of the past that a prediction looks at: two seconds, more than a cycle


@dataclass(frozen=True, eq=False)
class Gpdm:
    kind: str  # "gpdm" or "bgpdm"
    features: AngleFeatures
    model: LatentModel
    notes: tuple[str, ...] = ()

    @property
    def latent_rows(self) -> Float[Array, "N Q"]:
        return self.model.X

    @property
    def lengths(self) -> tuple[int, ...]:
        return self.model.lengths

    def latent(self, clip: Clip) -> Float[Array, "T Q"]:
        return place(self.model, self.features.encode(clip))

    def pose(self, x: Float[Array, "*b Q"]) -> Pose:
        return self.features.pose(self.model.mean(x))

    def variance(self, x: Float[Array, "*b Q"]) -> Float[Array, "*b"]:
        return self.model.variance(x)

    def log_likelihood(self, clip: Clip) -> float:
        rows = self.features.encode(clip)
        return self.model.log_density(rows, place(self.model, rows))

    def predict(self, start: Clip, frames: int, *, likeliest: bool = False) -> Clip:
        """By the mean of the dynamics, step by step; or, as in chapter 6, by the likeliest future as a whole."""
        x = self._last(start, frames)
        if likeliest:
            return self._shown(start, futures.likeliest(self.model.predictive, x, frames))
        return self._shown(start, self.model.predictive.rollout(x, frames))

    def rollout(self, start: Float[Array, "T Q"], frames: int) -> Float[Array, "frames Q"]:
        """The mean of the dynamics, step by step."""
        return self.model.predictive.rollout(start, frames)

    def motion(self, x: Float[Array, "T Q"], at: Placement | None = None) -> Clip:
        return self.features.decode(self.model.mean(x), at)

    def sample(self, start: Clip, frames: int, count: int = 1, *, seed: int = 0) -> list[Clip]:
        """Clips that continue a clip, each another, by Hamiltonian Monte Carlo (figure 5.2 e)."""
        return [self._shown(start, x) for x in self.samples(start, frames, count, seed=seed).points]

    def samples(self, start: Clip, frames: int, count: int = 1, *, seed: int = 0) -> hmc.Samples:
        """Their latent paths, and how the sampler fared."""
        return futures.sample(self.model.moving(), self._last(start, frames), frames, count, seed=seed)

    def _last(self, start: Clip, frames: int) -> Float[Array, "T Q"]:
        if frames < 1:
            raise MotionError(f"A prediction has at least one frame, not {frames}.")
        return place(self.model, self.features.encode(start)[-_GIVEN:])

    def _shown(self, start: Clip, x: Float[Array, "T Q"]) -> Clip:
        """Poses of latent positions that follow a clip, standing where it ended."""
        rows = self.model.mean(np.concatenate([x[:1], x]))  # a row leads from the pose before it: the first is not seen
        decoded = self.features.decode(rows, placement(start, start.frame_count - 1))
        shown = decoded.poses.rows(slice(1, None))
        return decoded.with_poses(shown).renamed(start.name)

    def pack(self) -> tuple[dict[str, Any], dict[str, Array]]:
        features, of_features = self.features.pack()
        model, arrays = self.model.pack()
        return {"kind": self.kind, "features": features, "model": model, "notes": list(self.notes)}, {
            **of_features,
            **arrays,
        }

    @classmethod
    def unpack(cls, data: dict[str, Any], arrays: dict[str, Array]) -> Gpdm:
        features, model = AngleFeatures.unpack(data["features"], arrays), LatentModel.unpack(data["model"], arrays)
        if len(features.names) != model.Y.shape[1]:
            raise MotionError(f"Features of {len(features.names)} columns do not fit rows of {model.Y.shape[1]}.")
        return cls(str(data["kind"]), features, model, tuple(str(note) for note in data["notes"]))


def fit_gpdm(
    clips: Sequence[Clip],
    *,
    latent: int = 3,
    order: int = 1,
    linear: bool = False,
    two_stage: bool = False,
    iterations: int = 300,
    seed: int = 0,
    watch: Watch | None = None,
) -> Gpdm:
    """Latent positions and hyperparameters of the greatest posterior density (5.16).

    `linear` has the dynamics kernel (5.13), which does not walk; it is there to be compared with. `two_stage` learns
    the hyperparameters first, with latent positions integrated out: slower, smoother where several people walk.
    """
    return _fit("gpdm", clips, LatentDynamics(latent, _order(order), linear), two_stage, iterations, seed, watch)


def fit_bgpdm(
    clips: Sequence[Clip],
    *,
    latent: int = 3,
    order: int = 1,
    iterations: int = 300,
    seed: int = 0,
    watch: Watch | None = None,
) -> Gpdm:
    """The same with dynamics weighted by D/d: smooth latent paths, at some cost to poses."""
    return _fit("bgpdm", clips, LatentDynamics(latent, _order(order)), False, iterations, seed, watch)


def _order(order: int) -> int:
    if order not in (1, 2):
        raise MotionError(f"Dynamics are of order 1 or 2, not {order}.")
    return order


def _fit(
    kind: str,
    clips: Sequence[Clip],
    dynamics: LatentDynamics,
    two_stage: bool,
    iterations: int,
    seed: int,
    watch: Watch | None,
) -> Gpdm:
    clips = check_clips(clips, least=dynamics.order + 2, same_bones=False)
    features = AngleFeatures.of(clips)
    encoded = [features.encode(clip) for clip in clips]
    Y, lengths = np.concatenate(encoded), tuple(map(len, encoded))
    rows = ready(Y, lengths, dynamics.q)
    balance = rows.Y.shape[1] / dynamics.q if kind == "bgpdm" else 1.0
    plan = Plan(dynamics, dynamics.q, balance, iterations)
    watch = watch or Watch()
    if two_stage:
        fitted = fit_two_stage(rows, lengths, plan, seed=seed, watch=watch)
    else:
        watch.plan(iterations)
        fitted = fit_posterior(rows, lengths, plan, seed=seed, watch=watch)
    model = model_of(Y, lengths, fitted, balance)
    return Gpdm(kind, features, model, (*features.notes, *_notes(fitted, model)))


def _notes(fitted: Fitted, model: LatentModel) -> list[str]:
    """What learning had to do, and what it could not."""
    notes = [fitted.learnt.trouble] if fitted.learnt.trouble else []
    if fitted.learnt.jitter > 0:
        notes.append(f"Covariances were factored with {fitted.learnt.jitter:.1e} added to their diagonal.")
    if still := model.Y.shape[1] - len(model.rows.varied):
        notes.append(f"{still} of {model.Y.shape[1]} columns never vary; they stay at their mean.")
    if model.chosen is not None:
        notes.append(f"{len(model.Y)} frames are more than {sparse.EXACT}: {len(model.chosen)} of them stand for all.")
    went = trial(model)
    if model.calm > 1.0:
        notes.append(f"It predicts with {model.calm:g} times the noise that was learnt: with less it left the motion.")
    if not went.stays:
        notes.append("A long mean prediction leaves the clips; give more of the same motion.")
    elif not went.alive:
        notes.append("A long mean prediction comes to rest, as after clips that end or are no cycle.")
    return notes
