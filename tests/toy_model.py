"""A small motion model for tests of what every model shares: it learns in a second, and its path keeps to the cycle.

Latent positions are principal components of angles; a GP gives the features, another the step.
"""

from dataclasses import dataclass
from functools import cached_property

import jax.numpy as jnp
import numpy as np

from jostle.clips.edit import trim
from jostle.features import AngleFeatures, Placement
from jostle.models import gp, kernels
from jostle.models.checks import check_latent
from jostle.models.learn import Watch, minimise
from jostle.models.likelihood import scaled
from jostle.models.projection import widest
from jostle.models.sequences import transitions


@dataclass(frozen=True)
class _Loss:
    def __call__(self, params, data):
        h = jnp.exp(params["log_h"])
        K = kernels.rbf()(h[:2], data["X"], data["X"]) + h[2] * jnp.eye(data["X"].shape[0])
        fit = scaled(K, data["Y"], jnp.asarray(1e3))
        return fit.loss + 0.5 * jnp.sum(params["log_h"] ** 2), fit.jitter


@dataclass(frozen=True, eq=False)
class Toy:
    features: AngleFeatures
    latent_rows: np.ndarray
    rows: np.ndarray
    lengths: tuple
    hypers: np.ndarray
    notes: tuple = ()

    kind = "toy"

    @cached_property
    def _pose(self):
        h = np.exp(self.hypers)
        return gp.condition(kernels.rbf(), h[:2], float(h[2]), self.latent_rows, self.rows - self.rows.mean(axis=0))

    @cached_property
    def _step(self):
        past, now = transitions(self.lengths, 1)
        before = self.latent_rows[past[:, 0]]
        return gp.condition(kernels.rbf(), np.array([0.1, 8.0]), 1e-5, before, self.latent_rows[now] - before)

    def _features(self, x):
        return self._pose.mean(x) + self.rows.mean(axis=0)

    def latent(self, clip):
        near = ((self.features.encode(clip)[:, None] - self.rows) ** 2).sum(axis=-1).argmin(axis=1)
        return self.latent_rows[near]

    def pose(self, x):
        return self.features.pose(self._features(x))

    def variance(self, x):
        return self._pose.variance(x)

    def log_likelihood(self, clip):
        return -float(np.sum((self._features(self.latent(clip)) - self.features.encode(clip)) ** 2))

    def rollout(self, start, frames):
        path = [start[-1]]
        for _ in range(frames):
            path.append(path[-1] + self._step.mean(path[-1]))
        return np.array(path[1:])

    def motion(self, x, at=None):
        return self.features.decode(self._features(x), at or Placement())

    def predict(self, start, frames):
        x = self.latent(start)
        return trim(self.motion(np.concatenate([x[-1:], self.rollout(x, frames)])), 1 / self.features.fps)

    def pack(self):
        data, arrays = self.features.pack()
        own = {"latent": self.latent_rows, "rows": self.rows, "hypers": self.hypers}
        return {"features": data, "lengths": list(self.lengths), "notes": list(self.notes)}, arrays | own

    @classmethod
    def unpack(cls, data, arrays):
        features = AngleFeatures.unpack(data["features"], arrays)
        lengths, notes = tuple(data["lengths"]), tuple(data["notes"])
        return cls(features, arrays["latent"], arrays["rows"], lengths, arrays["hypers"], notes)


def fit_toy(clips, *, latent=3, gait="walk", iterations=100, seed=0, watch=None):
    features = AngleFeatures.of(clips, 30.0)
    encoded = [features.encode(clip) for clip in clips]
    rows = np.concatenate(encoded)
    check_latent(latent, *rows.shape)
    X = widest(rows, latent)(rows)
    X = X / X.std(axis=0)[0]
    watch = watch or Watch()
    watch.plan(iterations)
    start = {"log_h": np.array([0.0, 0.0, -4.0])}
    data = {"X": X, "Y": rows - rows.mean(axis=0)}
    learnt = minimise(_Loss(), start, data, iterations, bounds={"log_h": (-8.0, 8.0)}, watch=watch)
    notes = (learnt.trouble,) if learnt.trouble else ()
    return Toy(features, X, rows, tuple(map(len, encoded)), learnt.params["log_h"], notes)
