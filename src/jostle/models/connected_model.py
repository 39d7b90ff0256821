"""The connected GPLVM of Levine et al. 2012 at run time: three Gaussian processes that share latent positions.

    pose       y    = g(x)                      section 4.4
    velocity   y'   = g'(x_t - x_t-1, x_t)      4.1: linear for small steps, so that who stays in one place stands still
    dynamics   x_t  = f(x_t-1, x_t-2)           (2), with the paper's hyperparameters

Poses come with a scalar variance: every channel has the same, divided by its own w^2. Of the velocity only the root's
is used in synthesis. `dynamics` is a `gp.Posterior` over pairs (x_t-1, x_t-2) side by side, with mean, variance and
the derivatives of both; so are `poses` over x and `velocities` over (x_t - x_t-1, x_t).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from jostle.clips import Clip
from jostle.errors import MotionError
from jostle.features import Placement, placement
from jostle.features.quaternions import QuaternionFeatures
from jostle.maths.linalg import cholesky
from jostle.models import kernels, sparse
from jostle.models.connected_latent import embed
from jostle.models.gp import Posterior, log_density
from jostle.models.sequences import transitions
from jostle.skeleton import Pose
from jostle.types import Array, Float

GAMMA = (0.005, 0.5, 1e-4)  # of the dynamics: the paper's, variance, inverse squared width and noise
STILL_POSE, STILL_VELOCITY = 0.01, 0.1  # of a quaternion or metres; per second: the least a channel is scaled by


@dataclass(frozen=True, eq=False)
class Connected:
    features: QuaternionFeatures
    latent_rows: Float[Array, "N Q"]
    lengths: tuple[int, ...]
    rows: Float[Array, "N D"]  # poses and velocities of the training frames
    alpha: Float[Array, "2"]  # alpha_2 and alpha_3; alpha_1 is 1
    beta: Float[Array, "3"]  # beta_2, beta_3 and beta_4; beta_1 is 1
    w_c: float
    loss: float  # minus (4), without constants
    chosen: Mapping[str, Array]  # rows that stand for all, where there are many
    notes: tuple[str, ...] = ()

    kind = "connected"

    @cached_property
    def centre(self) -> Float[Array, "P"]:
        """b of section 4.4."""
        return self.rows[:, : self.features.pose_count].mean(axis=0)

    @cached_property
    def poses(self) -> Posterior:
        """g without b, in raw units."""
        Y, h = self.rows[:, : self.features.pose_count] - self.centre, np.array([1.0, self.alpha[0]])
        noise, chosen = float(self.alpha[1]), self.chosen.get("pose_rows")
        return sparse.condition(kernels.rbf(), h, noise, self.latent_rows, Y, chosen)

    @cached_property
    def velocities(self) -> Posterior:
        """g', of everything in a pose and of the root's travel, per second."""
        before, after = transitions(self.lengths, 1)
        inputs = moved(self.latent_rows[after], self.latent_rows[before[:, 0]])
        h, noise = np.concatenate([[1.0], self.beta[:2]]), float(self.beta[2])
        Y = self.rows[after, self.features.pose_count :]
        kernel = kernels.velocity_product(self.latent_rows.shape[1])
        return sparse.condition(kernel, h, noise, inputs, Y, self.chosen.get("velocity_rows"))

    @cached_property
    def _travels(self) -> Posterior:
        return replace(self.velocities, weights=np.ascontiguousarray(self.velocities.weights[:, -3:]))

    @cached_property
    def dynamics(self) -> Posterior:
        """f of (x_t-1, x_t-2)."""
        past, now = transitions(self.lengths, 2)
        pairs = self.latent_rows[past[:, ::-1]].reshape(len(past), -1)
        X = self.latent_rows[now]
        return sparse.condition(
            kernels.rbf(), np.array(GAMMA[:2]), GAMMA[2], pairs, X, self.chosen.get("dynamics_rows")
        )

    @cached_property
    def scales(self) -> tuple[Float[Array, "P"], Float[Array, "V"]]:
        """W and W_Ydot at their best: w_k^2 = N / y_k' K^-1 y_k, where K^-1 y is what the mean misses by the noise."""
        before, after = transitions(self.lengths, 1)
        count = self.features.pose_count
        Y, changes = self.rows[:, :count] - self.centre, self.rows[after, count:]
        missed = Y - self.poses.mean(self.latent_rows)
        lost = changes - self.velocities.mean(moved(self.latent_rows[after], self.latent_rows[before[:, 0]]))
        w = len(Y) / np.maximum(np.sum(Y * missed, axis=0) / self.poses.noise, 1e-300)
        v = len(changes) / np.maximum(np.sum(changes * lost, axis=0) / self.velocities.noise, 1e-300)
        return np.minimum(np.sqrt(w), 1 / STILL_POSE), np.minimum(np.sqrt(v), 1 / STILL_VELOCITY)

    def latent(self, clip: Clip) -> Float[Array, "T Q"]:
        """By optimisation, from the nearest training frames: the clip's poses, velocities and dynamics together."""
        return embed(self, self.features.encode(clip))

    def pose_rows(self, x: Float[Array, "*b Q"]) -> Float[Array, "*b P"]:
        return self.poses.mean(x) + self.centre

    def pose(self, x: Float[Array, "*b Q"]) -> Pose:
        return self.features.pose(self.pose_rows(x))

    def variance(self, x: Float[Array, "*b Q"]) -> Float[Array, "*b"]:
        """Of the pose, before it is divided by each channel's w^2."""
        return self.poses.variance(x)

    def velocity(self, x: Float[Array, "*b Q"], x_before: Float[Array, "*b Q"]) -> Float[Array, "*b V"]:
        """Everything in a pose, then ahead, aside and turn of the root, per second."""
        return self.velocities.mean(moved(x, x_before))

    def travel(self, x: Float[Array, "*b Q"], x_before: Float[Array, "*b Q"]) -> Float[Array, "*b 3"]:
        """Of the velocity only ahead, aside and turn of the root."""
        return self._travels.mean(moved(x, x_before))

    def next(self, x: Float[Array, "*b Q"], x_before: Float[Array, "*b Q"]) -> Float[Array, "*b Q"]:
        """The mean of the dynamics."""
        return self.dynamics.mean(np.concatenate([x, x_before], axis=-1))

    def rollout(self, start: Float[Array, "T Q"], frames: int) -> Float[Array, "frames Q"]:
        path = [*start[-2:]]
        if len(path) < 2:
            raise MotionError("The dynamics are of second order: give two latent positions or more to go on from.")
        for _ in range(frames):
            path.append(self.next(path[-1], path[-2]))
        return np.array(path[2:]).reshape(frames, start.shape[1])

    def motion(self, x: Float[Array, "T Q"], at: Placement | None = None) -> Clip:
        before = np.concatenate([x[:1], x[:-1]])
        return self.features.decode(np.concatenate([self.pose_rows(x), self.velocity(x, before)], axis=1), at)

    def follow(self, y_before: Float[Array, "P"], x: Float[Array, "Q"], x_before: Float[Array, "Q"]) -> Array:
        """The pose at x given what the pose at x_before really was: 6.2. It returns to g(x) at the pace of the data."""
        mean, spread = self.poses.joint(np.stack([x, x_before]))
        kept = np.clip(spread[0, 1] / max(spread[1, 1], 1e-12), 0.0, 1.0)
        return mean[0] + self.centre + kept * (y_before - mean[1] - self.centre)

    def predict(self, start: Clip, frames: int) -> Clip:
        """The mean of the dynamics, beginning in the very pose in which the clip ends."""
        clip = self.features.decode(self.features.encode(start), placement(start))  # as the model sees it
        given = self.features.encode(clip)
        x = embed(self, given)
        path = np.concatenate([x[-2:], self.rollout(x, frames)])
        poses = [given[-1, : self.features.pose_count]]
        for before, now in pairwise(path[1:]):
            poses.append(self.follow(poses[-1], now, before))
        rows = np.concatenate([np.array(poses), self.velocity(path[1:], path[:-1])], axis=1)
        whole = self.features.decode(rows, placement(clip, -1))
        return whole.with_poses(whole.poses.rows(slice(1, None))).renamed(f"{start.name} continued")

    def log_likelihood(self, clip: Clip) -> float:
        """ln p of poses and velocities given all training frames, the clip's frames among each other included."""
        rows = self.features.encode(clip)
        x, count = embed(self, rows), self.features.pose_count
        pairs = moved(x[1:], x[:-1])
        total = 0.0
        for process, inputs, Y, w in (
            (self.poses, x, rows[:, :count] - self.centre, self.scales[0]),
            (self.velocities, pairs, rows[1:, count:], self.scales[1]),
        ):
            factor = cholesky(process.covariance(inputs) + process.noise * np.eye(len(inputs)))
            total += log_density((Y - process.mean(inputs)) * w, factor) + len(inputs) * float(np.sum(np.log(w)))
        return total

    def pack(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Velocities are differences of poses and are not stored, except the root's."""
        data, arrays = self.features.pack()
        told = {"lengths": list(self.lengths), "w_c": self.w_c, "loss": self.loss, "notes": list(self.notes)}
        own = {"latent_rows": self.latent_rows, "poses": self.rows[:, : self.features.pose_count],
               "travel": self.rows[:, -3:], "alpha": self.alpha, "beta": self.beta}  # fmt: skip
        return {"features": data} | told, arrays | own | dict(self.chosen)

    @classmethod
    def unpack(cls, data: dict[str, Any], arrays: dict[str, Array]) -> Connected:
        features = QuaternionFeatures.unpack(data["features"], arrays)
        X, poses, travel = (arrays[name] for name in ("latent_rows", "poses", "travel"))
        alpha, beta = arrays["alpha"], arrays["beta"]
        lengths = tuple(int(length) for length in data["lengths"])
        count = sum(lengths)
        shapes = X.shape[:1] == (count,) and poses.shape == (count, features.pose_count) and travel.shape == (count, 3)
        positive = alpha.shape == (2,) and beta.shape == (3,) and np.all(alpha > 0) and np.all(beta > 0)
        if not (shapes and positive and min(lengths) > 2 and X.ndim == 2):
            raise MotionError("The arrays of this connected model do not belong together.")
        if not all(np.all(np.isfinite(a)) for a in (X, poses, travel, alpha, beta)):
            raise MotionError("This connected model holds values that are no numbers.")
        names = ("pose_rows", "velocity_rows", "dynamics_rows")
        chosen = {name: arrays[name] for name in names if name in arrays}
        if any(a.dtype.kind != "i" or np.any((a < 0) | (a >= count)) for a in chosen.values()):
            raise MotionError("This connected model is to be told by frames that it does not have.")
        rows = features.joined(poses, travel, lengths)
        notes = tuple(str(note) for note in data["notes"])
        return cls(features, X, lengths, rows, alpha, beta, float(data["w_c"]), float(data["loss"]), chosen, notes)


def moved(x: Float[Array, "*b Q"], x_before: Float[Array, "*b Q"]) -> Float[Array, "*b 2*Q"]:
    """What velocities depend on: the step, and where it led."""
    return np.concatenate([x - x_before, x], axis=-1)
