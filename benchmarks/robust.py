"""How long an optimisation in a world that is not known takes: 300 generations, N = 10.

    python -m benchmarks.robust [GENERATIONS]        # as many are timed; 5 where none is said

A guided walker in gusts of 100 N for 10 s, a population of 19 (what pycma takes for its 144 parameters), common random
numbers. A generation takes as long as its walks last, so it is begun from one that bears most of them: hardly one is
longer. (Wang 2010: overnight on 20 processors.)
"""

from __future__ import annotations

import sys
import time

import numpy as np

from jostle.cli.common import WALKER, load_walker
from jostle.tuning.chance import Chance
from jostle.tuning.recipe import Recipe, Stage
from jostle.tuning.run import begin
from jostle.tuning.trials import Bench

ALL, TRIALS, POPULATION = 300, 10, 19


def seconds_a_generation(generations: int) -> list[float]:
    """The first one builds the simulations and is not counted."""
    walker = load_walker(WALKER + "push_100")
    stage = Stage(seconds=(10.0,), advance=0.0, chance=Chance(TRIALS, force=100.0), objective="return")
    recipe = Recipe("robust", walker.person, walker.machine, sigma=0.05, population=POPULATION, stages=(stage,))
    run, took = begin(recipe, walker.values, Bench().score), []
    for _ in range(1 + generations):
        begun = time.perf_counter()
        told = run.step()
        took.append(time.perf_counter() - begun)
        print(f"{took[-1]:.1f} s, {told.survived:.0%} of the population bears everything", flush=True)
    return took[1:]


def main(generations: int) -> None:
    took = seconds_a_generation(generations)
    print(f"{ALL} generations of {POPULATION} walkers, N = {TRIALS}: {ALL * np.median(took) / 3600.0:.2f} hours")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
