"""Scoring on a GPU: the whole population walks at once, every trial of every candidate a world of its own.

Scores are those of `trials.Bench` within single precision: gaits are chaotic, so costs agree to a few digits and not
bit for bit, and what was found on a GPU is judged on the processor before it counts (`jostle evaluate walk`). It pays
with populations of hundreds; `docs/walking/optimising.md` has figures.
"""

from __future__ import annotations

import numpy as np

from jostle.controllers.walker.gpu import GpuWalk
from jostle.controllers.walker.parameters import SPACES
from jostle.controllers.walker.people import walker_physics
from jostle.tuning.objective import judge
from jostle.tuning.trials import Job, Outcome, mean, over_trials, push_plan
from jostle.types import Array, Float, Int

_KEPT = 4  # batches kept ready


class Gpu:
    """`score` as `Bench.score`, on a GPU ("cuda:0"), or slowly on the processor ("cpu")."""

    def __init__(self, device: str = "cuda:0") -> None:
        self.device = device
        self._walks: dict[tuple, GpuWalk] = {}

    def score(self, job: Job, values: Float[Array, "B P"]) -> Outcome:
        """Let every candidate walk and score it."""
        return mean([self._score(job, values, timestep) for timestep in job.timesteps])

    def _score(self, job: Job, values: Float[Array, "B P"], timestep: float) -> Outcome:
        rows = np.repeat(values, job.trials, axis=0)  # the trials of a candidate stand side by side
        walk = self._walk(job, len(rows), timestep)
        walk.start(rows, *_pushes(job, len(values), walk.dt))
        walk.run(round(job.seconds / walk.dt))
        seen = walk.seen()
        start_speed = rows[:, SPACES[job.machine].index["velocity.x"]]
        scored = judge(seen, job.goal, start_speed, walk.physics.body.total_mass)
        return over_trials(scored, seen["lasted"] == 1.0, len(values), job.trials)

    def _walk(self, job: Job, count: int, timestep: float) -> GpuWalk:
        key = (job.person, job.ground, job.machine, count, timestep)
        if key not in self._walks:
            if len(self._walks) >= _KEPT:
                self._walks.pop(next(iter(self._walks)))
            physics = walker_physics(job.person, job.ground, timestep)
            self._walks[key] = GpuWalk(physics, count, job.machine, job.person.fallen, self.device)
        return self._walks[key]


def _pushes(
    job: Job, candidates: int, dt: float
) -> tuple[Int[Array, "B n"], Int[Array, "B n"], Float[Array, "B n 3"]] | tuple[()]:
    """From which step to which each trial of each candidate is pushed, and how."""
    times, forces = push_plan(job)
    if job.pushes is None or not times.size:
        return ()
    begin = np.round(times / dt).astype(int)
    end = begin + max(1, round(job.pushes.duration / dt))
    return np.tile(begin, (candidates, 1)), np.tile(end, (candidates, 1)), np.tile(forces, (candidates, 1, 1))
