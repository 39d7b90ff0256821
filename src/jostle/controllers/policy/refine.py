"""Samples where the value is wrong: Levine et al. 2012, section 5.5.

Values of training frames say little about places between clips. The policy is run from random frames for random wishes;
where it passes with a large Bellman error, samples are added: centres of clusters of one width, found by expectation
maximisation, each state weighted by its error.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from jostle.controllers.policy.paths import Paths
from jostle.controllers.policy.planning import Plan, Samples, make_plan
from jostle.controllers.policy.tasks import Step, Task
from jostle.models.connected_model import Connected
from jostle.types import Array, Float

ROUNDS, RUNS, FRAMES = 4, 50, 200
ADDED = 0.5  # samples of a round, as a share of the training frames
_WIDTH = 1.0 / 16.0  # squared width of a cluster, of the mean squared step of its members
_STEPS = 12
_SOONER = 60  # frames between two wishes


def refined(
    model: Connected,
    paths: Paths,
    task: Task,
    samples: Samples,
    seed: int = 0,
    rounds: int = ROUNDS,
    told: Callable[[int, int], None] | None = None,
) -> Plan:
    """A plan after so many rounds."""
    rng, count = np.random.default_rng(seed), len(samples.x)
    plan = make_plan(model, paths, task, samples)
    for done in range(rounds):
        if told is not None:
            told(done, rounds)
        states, errors = visited(plan, rng)
        centres = clusters(states, errors, max(1, round(ADDED * count)), rng, paths.constants.faster)
        x, step = np.split(centres, 2, axis=1)
        step = step / paths.constants.faster
        samples = Samples(np.concatenate([samples.x, x]), np.concatenate([samples.step, step]), paths.constants)
        plan = make_plan(model, paths, task, samples)
    return plan


def visited(plan: Plan, rng: np.random.Generator) -> tuple[Float[Array, "n D"], Float[Array, "n"]]:
    """States that the policy passes, velocities weighted, and their Bellman errors; all runs go side by side."""
    begin = rng.integers(0, len(plan.samples.x), RUNS)
    x, step = plan.samples.x[begin], plan.samples.step[begin]
    theta = np.zeros((RUNS, len(plan.task.axes)))
    states, errors = [], []
    for frame in range(FRAMES):
        if frame % _SOONER == 0:
            theta = np.stack([rng.uniform(axis.low, axis.high, RUNS) for axis in plan.task.axes], axis=1)
        following, backed = plan.best(x, step, theta)
        states.append(plan.samples.stacked(x, step))
        errors.append((plan.worth(x, step, theta) - backed) ** 2)
        theta = plan.task.after(Step.between(plan.model, x, following), theta)
        x, step = following, following - x
    return np.concatenate(states), np.concatenate(errors)


def clusters(
    states: Float[Array, "n D"],
    weights: Float[Array, "n"],
    count: int,
    rng: np.random.Generator,
    faster: float = 1.0,
) -> Float[Array, "m D"]:
    """Centres by expectation maximisation with clusters of a fixed width."""
    count = min(count, len(states))
    share = weights / np.sum(weights) if np.sum(weights) > 0 else np.full(len(states), 1.0 / len(states))
    centres = states[rng.choice(len(states), count, replace=False, p=_possible(share, count))]
    q = states.shape[1] // 2
    speed = np.sum((states[:, q:] / faster) ** 2, axis=1)
    width = np.full(count, _WIDTH * float(np.mean(speed)))
    for _ in range(_STEPS):
        far = np.sum(states**2, axis=1)[:, None] - 2.0 * states @ centres.T + np.sum(centres**2, axis=1)[None]  # (n, m)
        belongs = -0.5 * far / width
        belongs = np.exp(belongs - np.max(belongs, axis=1, keepdims=True))
        belongs = weights[:, None] * belongs / np.sum(belongs, axis=1, keepdims=True)
        mass = np.sum(belongs, axis=0)
        held = mass > 1e-12 * np.sum(weights)
        centres = np.where(held[:, None], belongs.T @ states / np.maximum(mass, 1e-300)[:, None], centres)
        width = np.where(held, _WIDTH * (belongs.T @ speed) / np.maximum(mass, 1e-300), width)
        width = np.maximum(width, 1e-9)
    return centres


def _possible(share: Float[Array, "n"], count: int) -> Float[Array, "n"]:
    """Shares by which `count` different ones can be drawn."""
    share = share + 1e-12
    share = share if np.count_nonzero(share) >= count else np.ones_like(share)
    return share / np.sum(share)
