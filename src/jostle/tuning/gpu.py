"""Scoring on a GPU: the whole population walks at once, every walk of every candidate a world of its own.

Scores are those of `trials.Bench` within single precision: gaits are chaotic, so costs agree to a few digits and not
bit for bit, and what was found on a GPU is judged on the processor before it counts (`jostle evaluate walk`).
"""

from __future__ import annotations

from threading import Lock

import numpy as np

from jostle.controllers.walker.gpu import GpuWalk
from jostle.controllers.walker.parameters import SPACES
from jostle.controllers.walker.people import walker_physics
from jostle.errors import CommandError
from jostle.tuning.objective import judge
from jostle.tuning.trials import Job, Outcome, kept_ready, mean, over_trials, push_steps
from jostle.types import Array, Float

_KEPT = 4  # batches kept ready
_LOCK = Lock()  # Warp's present device and stream belong to the process; what waits for the GPU does not hold it


class Gpu:
    """`score` as `Bench.score`, on a GPU ("cuda:0"), or slowly on the processor ("cpu")."""

    def __init__(self, device: str = "cuda:0") -> None:
        self.device = device
        self._walks: dict[tuple, GpuWalk] = {}

    def score(self, job: Job, values: Float[Array, "B P"]) -> Outcome:
        """Let every candidate walk and score it."""
        chance = job.chance
        if job.goal.objective == "return" or (chance is not None and (chance.turn or chance.noise)):
            raise CommandError("A GPU knows neither returns nor turns and noise by chance yet; leave out --gpu.")
        return mean([self._score(job, values, timestep) for timestep in job.timesteps])

    def _score(self, job: Job, values: Float[Array, "B P"], timestep: float) -> Outcome:
        rows = np.repeat(values, job.walks, axis=0)  # the walks of a candidate stand side by side
        walk = self._walk(job, len(rows), timestep)
        plan = push_steps(job, walk.dt)
        pushes = [np.tile(own, (len(values), *[1] * (own.ndim - 1))) for own in plan] if plan[0].size else []
        with _LOCK:
            walk.start(rows, *pushes)
            walk.run(round(job.seconds / walk.dt))
        walk.wait()
        with _LOCK:
            seen = walk.seen()
        start_speed = rows[:, SPACES[job.machine].index["velocity.x"]]
        scored = judge(seen, job.goal, start_speed, walk.physics.body.total_mass)
        return over_trials(scored, seen["lasted"] == 1.0, len(values), job)

    def _walk(self, job: Job, count: int, timestep: float) -> GpuWalk:
        def build() -> GpuWalk:
            physics = walker_physics(job.person, job.ground, timestep)
            return GpuWalk(physics, count, job.machine, job.person.fallen, self.device)

        with _LOCK:
            return kept_ready(self._walks, (job.person, job.ground, job.machine, count, timestep), build, _KEPT)
