"""A policy that looks its actions up, beside one that looks ahead: `python -m benchmarks.lookup BUNDLE [BUNDLE ...]`.

Levine et al. 2012, section 8.1, expect a state-action function to be faster by the number of actions: what is best is
then known at samples, and nothing is tried out at run time. Here the best action of every sample and grid point is
stored as the way from the mean of the dynamics, and a state takes that of its nearest sample, or the mean of those
around it. The bundles are those of `jostle policy train --task heading`.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from jostle.controllers.policy.planning import Plan
from jostle.controllers.policy.policy import Policy
from jostle.evaluate.control.steered import Run, reward_of, run
from jostle.runtime import load_controller
from jostle.types import Array, Float

SEEDS, FRAMES = 3, 600


@dataclass(frozen=True, eq=False)
class Lookup(Plan):
    blended: bool = False

    @cached_property
    def known(self) -> Float[Array, "S G Q"]:
        x, step = self.samples.x, self.samples.step
        mean = self._mean(x, step)
        asked = (np.full((len(x), 1), theta) for theta in self.task.axes[0].values)
        return np.stack([Plan.best(self, x, step, theta)[0] - mean for theta in asked], axis=1)

    def best(
        self, x: Float[Array, "*b Q"], step: Float[Array, "*b Q"], theta: Float[Array, "*b d"]
    ) -> tuple[Float[Array, "*b Q"], Float[Array, "*b"]]:
        near, w = self.samples.weights(x, step)
        first, second, share = self.task.axes[0].cells(theta[..., 0])
        if self.blended:
            at = [np.sum(w[..., None] * self.known[near, corner[..., None]], axis=-2) for corner in (first, second)]
            ahead = at[0] + share[..., None] * (at[1] - at[0])
        else:
            ahead = self.known[near[..., 0], np.where(share < 0.5, first, second)]
        return self._mean(x, step) + ahead, np.zeros(x.shape[:-1])

    def _mean(self, x: Array, step: Array) -> Array:
        return self.paths.steps.next(np.stack([x - step, x], axis=-2))


def main(names: list[str]) -> None:
    print(f"{'':34} {'reward':>7} {'variance, p99':>14} {'ms a step':>10}")
    for name in names:
        policy = load_controller(name)
        assert isinstance(policy, Policy)
        parts = {field.name: getattr(policy.plan, field.name) for field in fields(Plan)}
        others = {"nearest": Lookup(**parts), "blended": Lookup(**parts, blended=True)}
        for title, plan in {"looks ahead": policy.plan, **others}.items():
            one = replace(policy, plan=plan, constraints=())
            run(one, 0, 2)  # what is worked out once
            begun = time.perf_counter()
            runs: list[Run] = [run(one, seed, FRAMES) for seed in range(SEEDS)]
            taken = 1e3 * (time.perf_counter() - begun) / (SEEDS * FRAMES)
            sure = np.percentile(np.concatenate([found.variance for found in runs]), 99)
            print(f"{name[-22:]:22} {title:11} {np.mean([reward_of(r) for r in runs]):7.2f} {sure:14.1f} {taken:10.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
