"""Approximate dynamic programming over latent positions: Levine et al. 2012, sections 5.4 and 5.5.

The value of a state (x, x', theta) is that of samples near by: the k nearest in (x, x'), weighted by their inverse
squared distance, and between the grid points of theta linearly, (6). Actions of samples and what they lead to do not
depend on values, so they are found once; a sweep of (7) is then a few array operations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.spatial import KDTree

from jostle.controllers.policy.constants import USUAL, Constants
from jostle.controllers.policy.paths import Paths
from jostle.controllers.policy.tasks import Axis, Step, Task
from jostle.controllers.policy.value_iteration import settle
from jostle.models.connected_model import Connected
from jostle.types import Array, Float, Int

_FLOWN = 3.0  # usual steps
_LEAST = 1e-6  # squared distance
_FEW = 6  # actions whose poses are looked at first
_ESCAPED = 20.0  # times the variance that poses of the data have


@dataclass(frozen=True, eq=False)
class Samples:
    """States that values are kept at."""

    x: Float[Array, "S Q"]
    step: Float[Array, "S Q"]  # x'
    constants: Constants = USUAL

    @cached_property
    def tree(self) -> KDTree:
        return KDTree(self.stacked(self.x, self.step))

    def stacked(self, x: Float[Array, "*b Q"], step: Float[Array, "*b Q"]) -> Float[Array, "*b D"]:
        """(x, x') as neighbours are told by."""
        return np.concatenate([x, self.constants.faster * step], axis=-1)

    def weights(
        self, x: Float[Array, "*b Q"], step: Float[Array, "*b Q"]
    ) -> tuple[Int[Array, "*b k"], Float[Array, "*b k"]]:
        """The nearest samples, and how much each counts."""
        far, near = self.tree.query(self.stacked(x, step), k=self.constants.neighbours)
        w = 1.0 / np.maximum(far**2, _LEAST)
        return np.asarray(near), w / np.sum(w, axis=-1, keepdims=True)


@dataclass(frozen=True, eq=False)
class Plan:
    """A task over a model's latent space: actions are looked up, rewards and values are known."""

    model: Connected
    paths: Paths
    task: Task
    samples: Samples
    values: Float[Array, "S *grid"]

    @property
    def constants(self) -> Constants:
        return self.paths.constants

    @property
    def dt(self) -> float:
        return 1.0 / self.model.features.fps

    @cached_property
    def sureness(self) -> float:
        """The mean variance of poses at the data."""
        return float(np.mean(self.model.variance(self.model.latent_rows)))

    @cached_property
    def usual_bend(self) -> float:
        """The mean squared change of step in the data."""
        rows = self.paths.steps.settings.rows(self.model.lengths)
        X, past, now = self.model.latent_rows, rows["past"], rows["now"]
        return float(np.mean(np.sum((X[now] - 2.0 * X[past[:, 1]] + X[past[:, 0]]) ** 2, axis=1)))

    def outcome(
        self, x: Float[Array, "*b Q"], step: Float[Array, "*b Q"], following: Float[Array, "*b A Q"]
    ) -> tuple[Step, Float[Array, "*b A"]]:
        """What actions do, and what going there costs: the first term of R_Q, and how much it bends the way."""
        before = np.broadcast_to(x[..., None, :], following.shape)
        mean = following[..., :1, :]
        own = np.maximum(np.sum((mean - x[..., None, :]) ** 2, axis=-1), _LEAST)
        cost = self.constants.stray * np.sum((following - mean) ** 2, axis=-1) / own
        bend = following - before - step[..., None, :]
        cost += self.constants.bend * np.sum(bend**2, axis=-1) / self.usual_bend
        if self.constants.jolt:
            cost += self.constants.jolt * self.jolts(x - step, x, following) / self.usual_jolt
        return Step.between(self.model, x[..., None, :], following), cost

    def jolts(
        self, x_before: Float[Array, "*b Q"], x: Float[Array, "*b Q"], following: Float[Array, "*b A Q"]
    ) -> Float[Array, "*b A"]:
        """How much the body is jolted: the squared second difference of its pose, in metres at the ends of limbs."""
        kept = 2.0 * self.model.pose_rows(x) - self.model.pose_rows(x_before)  # where it would go on to
        return np.sum(
            (self.model.features.reach * (self.model.pose_rows(following) - kept[..., None, :])) ** 2, axis=-1
        )

    @cached_property
    def usual_jolt(self) -> float:
        """Its mean in the data."""
        rows = self.paths.steps.settings.rows(self.model.lengths)
        X, past, now = self.model.latent_rows, rows["past"], rows["now"]
        return float(np.mean(self.jolts(X[past[:, 0]], X[past[:, 1]], X[now][:, None])))

    def doubt(self, x: Float[Array, "*b Q"]) -> Float[Array, "*b"]:
        """The variance of poses, over that of those in the data: the second term of R_Q is c_y times this."""
        return np.asarray(self.model.variance(x) / self.sureness)

    def worth(
        self, x: Float[Array, "*b Q"], step: Float[Array, "*b Q"], theta: Float[Array, "*b d"]
    ) -> Float[Array, "*b"]:
        """(6)."""
        near, w = self.samples.weights(x, step)
        cells, shares = _corners(self.task.axes, theta)
        found = np.zeros(w.shape[:-1])
        for cell, share in zip(cells, shares, strict=True):
            at = self.values[(near, *(c[..., None] for c in cell))]
            found = found + share * np.sum(w * at, axis=-1)
        return np.asarray(found)

    def best(
        self, x: Float[Array, "*b Q"], step: Float[Array, "*b Q"], theta: Float[Array, "*b d"]
    ) -> tuple[Float[Array, "*b Q"], Float[Array, "*b"]]:
        """The action of the policy, and what it is worth: the right side of (5).

        Variances take the most time, and only lower what an action is worth: they are asked for of the `_FEW` best,
        and of those others that would be better still if their poses were sure.
        """
        following = self.paths.actions(x, x - step)
        done, cost = self.outcome(x, step, following)
        asked = np.broadcast_to(theta[..., None, :], (*following.shape[:-1], theta.shape[-1]))
        paid = self.task.reward(done, asked) - cost
        future = self.worth(following, following - x[..., None, :], self.task.after(done, asked))
        total = paid + self.constants.discount * future
        few = min(_FEW, total.shape[-1])
        first = np.argpartition(-total, few - 1, axis=-1)[..., :few]
        doubt = np.full(total.shape, np.inf)
        np.put_along_axis(doubt, first, self.doubt(np.take_along_axis(following, first[..., None], -2)), axis=-1)
        known = np.max(total - self.constants.unsure * doubt, axis=-1, keepdims=True)
        others = np.isinf(doubt) & (total > known)
        if np.any(others):
            doubt[others] = self.doubt(following[others])
        total -= self.constants.unsure * doubt
        which = np.argmax(total, axis=-1)[..., None]
        found = np.take_along_axis(following, which[..., None], axis=-2)[..., 0, :]
        found = self._led_back(x, found, np.take_along_axis(doubt, which, -1))
        return found, np.take_along_axis(total, which, -1)[..., 0]

    def _led_back(
        self, x: Float[Array, "*b Q"], found: Float[Array, "*b Q"], doubt: Float[Array, "*b 1"]
    ) -> Float[Array, "*b Q"]:
        """Who has left the motions goes to the nearest pose of theirs: out there all ways lead on."""
        out = doubt[..., 0] > _ESCAPED
        if np.any(out):
            way = self.paths.samples[self._places.query(found[out])[1]] - x[out]
            size = np.linalg.norm(way, axis=-1, keepdims=True)
            found[out] = x[out] + way * np.minimum(1.0, self._usual_step / np.maximum(size, 1e-12))
        return found

    @cached_property
    def _places(self) -> KDTree:
        return KDTree(self.paths.samples)

    @cached_property
    def _usual_step(self) -> float:
        return float(np.median(np.linalg.norm(self.samples.step, axis=-1)))


def _corners(axes: tuple[Axis, ...], theta: Float[Array, "*b d"]) -> tuple[list[tuple[Array, ...]], list[Array]]:
    """The grid points around parameters, and their shares: multilinear interpolation."""
    cells: list[tuple[Array, ...]] = [()]
    shares: list[Array] = [np.ones(theta.shape[:-1])]
    for i, axis in enumerate(axes):
        first, second, share = axis.cells(theta[..., i])
        cells = [(*cell, point) for cell in cells for point in (first, second)]
        shares = [np.asarray(own * part) for own in shares for part in (1.0 - share, share)]
    return cells, shares


def make_plan(model: Connected, paths: Paths, task: Task, samples: Samples) -> Plan:
    """Value iteration to convergence, (7)."""
    shape = tuple(axis.count for axis in task.axes)
    plan = Plan(model, paths, task, samples, np.zeros((len(samples.x), *shape)))
    following = paths.actions(samples.x, samples.x - samples.step)  # (S, A, Q)
    done, cost = plan.outcome(samples.x, samples.step, following)
    cost = cost + paths.constants.unsure * plan.doubt(following)
    near, w = samples.weights(following, following - samples.x[:, None])  # (S, A, k)
    grid = np.stack(np.meshgrid(*(axis.values for axis in task.axes), indexing="ij"), axis=-1).reshape(-1, len(shape))
    asked = np.broadcast_to(grid, (*following.shape[:2], *grid.shape))  # (S, A, G, d)
    paid = task.reward(done.wider, asked) - cost[..., None]  # (S, A, G)
    cells, shares = _corners(task.axes, task.after(done.wider, asked))
    flat = [np.ravel_multi_index(cell, shape) for cell in cells]  # (S, A, G) each
    values = settle(paid, near, w, flat, shares, paths.constants.discount)
    return replace(plan, values=values.reshape(-1, *shape))


def data_samples(model: Connected, constants: Constants = USUAL) -> Samples:
    """The training frames, each with the step that led to it."""
    x, steps = model.latent_rows, np.zeros_like(model.latent_rows)
    for first, length in zip(np.cumsum([0, *model.lengths[:-1]]), model.lengths, strict=True):
        own = np.diff(x[first : first + length], axis=0)
        steps[first + 1 : first + length], steps[first] = own, own[0]
    return Samples(x, steps, constants)


def steady(samples: Samples) -> Samples:
    """Without the first frames of clips, where these have flown off: little holds them in their place, and who is led
    there is led nowhere.
    """
    size = np.linalg.norm(samples.step, axis=1)
    kept = size <= _FLOWN * np.median(size)
    return replace(samples, x=samples.x[kept], step=samples.step[kept])
