"""From table 3.1's initial parameters to a walk of 100 s: how long does it take?

    python -m benchmarks.first_walk [SEED ...]       # 0, 1 and 2 where none is named

The thesis's objective, `stocky`, the diagonal search, walks of 4, 6 and 10 s. Every ten generations of walks of 10 s
the best so far walks alone for 100 s at 1 ms; the first that does it ends the run. (Wang 2010: three hours on 19
processors for 1,000 generations.)
"""

from __future__ import annotations

import sys
import time

import numpy as np

from jostle.controllers.walker.people import walker_physics
from jostle.controllers.walker.trace import rollout
from jostle.controllers.walker.walk import Walk
from jostle.tuning.recipe import Recipe, Stage
from jostle.tuning.run import Run, begin, start_values
from jostle.tuning.trials import Bench

LONG, FINE, EVERY = 100.0, 0.001, 10  # seconds, seconds, generations


def walks_long(run: Run) -> bool:
    """Does the best so far walk for 100 s at 1 ms?"""
    recipe = run.recipe
    walk = Walk(walker_physics(recipe.person, timestep=FINE), 1, recipe.machine, 1)
    trace = rollout(walk, run.best[None], LONG, recipe.person.fallen)
    return bool(trace.seconds[0] >= LONG - FINE)


def first_walk(seed: int) -> tuple[int, float]:
    """Generations and minutes until a walk of 100 s."""
    recipe = Recipe(name="first", covariance="diagonal", seed=seed, stages=(Stage(seconds=(4.0, 6.0, 10.0)),))
    run, began = begin(recipe, start_values(recipe), Bench().score), time.perf_counter()
    while run.finished is None:
        told = run.step()
        if told.seconds == 10.0 and told.walks and run.at.at_rung % EVERY == 0 and walks_long(run):
            return told.number, (time.perf_counter() - began) / 60.0
    raise RuntimeError(f"seed {seed}: {run.finished}")


def main(seeds: list[int]) -> None:
    found = []
    for seed in seeds:
        generations, minutes = first_walk(seed)
        found.append(minutes)
        print(f"seed {seed}: {generations} generations, {minutes:.1f} minutes", flush=True)
    print(f"a walk of 100 s after {np.mean(found):.1f} minutes on the mean, {max(found):.1f} at most")


if __name__ == "__main__":
    main([int(seed) for seed in sys.argv[1:]] or [0, 1, 2])
