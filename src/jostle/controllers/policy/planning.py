"""Approximate dynamic programming over latent positions: Levine et al. 2012, sections 5.4 and 5.5.

The value of a state (x, x', theta) is that of samples near by: the k nearest in (x, x'), weighted by their inverse
squared distance, and between the grid points of theta linearly, (6). Actions of samples and what they lead to do not
depend on values, so they are found once; a sweep of (7) is then a few array operations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial import KDTree

from jostle.controllers.policy.paths import Paths
from jostle.controllers.policy.tasks import Axis, Step, Task
from jostle.controllers.policy.value_iteration import settle
from jostle.models.connected_model import Connected
from jostle.types import Array, Float, Int

NEIGHBOURS = 4
FASTER = 2.0  # weight of velocities beside positions
DISCOUNT = 0.95
_LEAST = 1e-6  # squared distance


@dataclass(frozen=True)
class Costs:
    """What a step costs beside what the task pays: 5.2, and how much it bends the way, which is ours."""

    unsure: float = 0.04  # c_y: for a pose as unsure as those of the data are on average
    bend: float = 0.0  # for a change of step as large as those of the data are on average


@dataclass(frozen=True, eq=False)
class Samples:
    """States that values are kept at."""

    x: Float[Array, "S Q"]
    step: Float[Array, "S Q"]  # x'

    @cached_property
    def tree(self) -> KDTree:
        return KDTree(np.concatenate([self.x, FASTER * self.step], axis=1))

    def weights(
        self, x: Float[Array, "*b Q"], step: Float[Array, "*b Q"]
    ) -> tuple[Int[Array, "*b k"], Float[Array, "*b k"]]:
        """The nearest samples, and how much each counts."""
        far, near = self.tree.query(np.concatenate([x, FASTER * step], axis=-1), k=NEIGHBOURS)
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
    costs: Costs = Costs()

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
        """What actions do, and what they cost."""
        before = np.broadcast_to(x[..., None, :], following.shape)
        bend = following - before - step[..., None, :]
        cost = self.costs.unsure * self.model.variance(following) / self.sureness
        cost += self.costs.bend * np.sum(bend**2, axis=-1) / self.usual_bend
        return Step.between(self.model, x[..., None, :], following), cost

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
        """The action of the policy, and what it is worth: the right side of (5)."""
        following = self.paths.actions(x, x - step)
        done, cost = self.outcome(x, step, following)
        asked = np.broadcast_to(theta[..., None, :], (*following.shape[:-1], theta.shape[-1]))
        paid = self.task.reward(done, asked) - cost
        future = self.worth(following, following - x[..., None, :], self.task.after(done, asked))
        total = paid + DISCOUNT * future
        which = np.argmax(total, axis=-1)[..., None]
        return np.take_along_axis(following, which[..., None], axis=-2)[..., 0, :], np.take_along_axis(
            total, which, -1
        )[..., 0]


def _corners(axes: tuple[Axis, ...], theta: Float[Array, "*b d"]) -> tuple[list[tuple[Array, ...]], list[Array]]:
    """The grid points around parameters, and their shares: multilinear interpolation."""
    cells: list[tuple[Array, ...]] = [()]
    shares: list[Array] = [np.ones(theta.shape[:-1])]
    for i, axis in enumerate(axes):
        first, second, share = axis.cells(theta[..., i])
        cells = [(*cell, point) for cell in cells for point in (first, second)]
        shares = [np.asarray(own * part) for own in shares for part in (1.0 - share, share)]
    return cells, shares


def make_plan(model: Connected, paths: Paths, task: Task, samples: Samples, costs: Costs | None = None) -> Plan:
    """Value iteration to convergence, (7)."""
    shape = tuple(axis.count for axis in task.axes)
    plan = Plan(model, paths, task, samples, np.zeros((len(samples.x), *shape)), costs or Costs())
    following = paths.actions(samples.x, samples.x - samples.step)  # (S, A, Q)
    done, cost = plan.outcome(samples.x, samples.step, following)
    near, w = samples.weights(following, following - samples.x[:, None])  # (S, A, k)
    grid = np.stack(np.meshgrid(*(axis.values for axis in task.axes), indexing="ij"), axis=-1).reshape(-1, len(shape))
    asked = np.broadcast_to(grid, (*following.shape[:2], *grid.shape))  # (S, A, G, d)
    paid = task.reward(done.wider, asked) - cost[..., None]  # (S, A, G)
    cells, shares = _corners(task.axes, task.after(done.wider, asked))
    flat = [np.ravel_multi_index(cell, shape) for cell in cells]  # (S, A, G) each
    values = settle(paid, near, w, flat, shares, DISCOUNT)
    return Plan(model, paths, task, samples, values.reshape(-1, *shape), plan.costs)


def data_samples(model: Connected) -> Samples:
    """The training frames, each with the step that led to it."""
    x, steps = model.latent_rows, np.zeros_like(model.latent_rows)
    for first, length in zip(np.cumsum([0, *model.lengths[:-1]]), model.lengths, strict=True):
        own = np.diff(x[first : first + length], axis=0)
        steps[first + 1 : first + length], steps[first] = own, own[0]
    return Samples(x, steps)
