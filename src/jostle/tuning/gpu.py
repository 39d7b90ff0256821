"""Scoring on a GPU: the whole population walks at once, every walk of every candidate a world of its own.

Scores are those of `trials.Bench` within single precision: gaits are chaotic, so costs agree to a few digits and not
bit for bit (and motor noise is drawn by the GPU itself, from the same distribution). What was found on a GPU is judged
on the processor before it counts (`jostle evaluate walk`).
"""

from __future__ import annotations

from threading import Lock

import numpy as np

from jostle.controllers.walker.gpu import GpuWalk
from jostle.controllers.walker.parameters import SPACES
from jostle.controllers.walker.people import walker_physics
from jostle.tuning.chance import grounds, noise_scale, noise_seeds, turn_steps
from jostle.tuning.objective import judge
from jostle.tuning.returns import aim_of, instants, judge_recovery, judge_return
from jostle.tuning.trials import Bench, Job, Outcome, kept_ready, mean, over_trials, push_steps, walk_key
from jostle.types import Array, Float, Int

_KEPT = 4  # batches kept ready
_LOCK = Lock()  # Warp's present device and stream belong to the process; what waits for the GPU does not hold it


def _turns(job: Job, dt: float) -> tuple[Int[Array, "trials n"], Float[Array, "trials n"]]:
    """The steps at which a wish changes, for all walks of a candidate, and where to."""
    turns = turn_steps(job.chance, job.seed, job.seconds, dt) if job.chance is not None else []
    at, to = np.array([step for step, _ in turns], dtype=int), np.array([wish for _, wish in turns])
    return np.tile(at, (job.walks, 1)), to.T if len(turns) else np.zeros((job.walks, 0))


class Gpu:
    """`score` as `Bench.score`, on a GPU ("cuda:0"), or slowly on the processor ("cpu")."""

    def __init__(self, device: str = "cuda:0") -> None:
        self.device = device
        self._walks: dict[tuple, GpuWalk] = {}
        self._bench = Bench()  # for those that others take over from: they are few

    def score(self, job: Job, values: Float[Array, "B P"]) -> Outcome:
        """Let every candidate walk and score it."""
        return mean([self._score(job, values, timestep) for timestep in job.timesteps])

    def _score(self, job: Job, values: Float[Array, "B P"], timestep: float) -> Outcome:
        rows = np.repeat(values, job.walks, axis=0)  # the walks of a candidate stand side by side
        walk = self._walk(job, len(rows), timestep)
        plan = push_steps(job, walk.dt)
        plan, steps = (*plan, *_turns(job, walk.dt)), round(job.seconds / walk.dt)
        events = [np.tile(own, (len(values), *[1] * (own.ndim - 1))) if own.size else None for own in plan]
        begun = self._bench.begun(job, timestep)
        body, returned = walk.physics.body, job.goal.objective != "energy"
        with _LOCK:
            if job.chance is not None:
                seeds = np.tile(noise_seeds(job.chance, job.seed), len(values))
                walk.shake(noise_scale(job.chance, walk.dt), seeds)
                walk.head_for(job.chance.middle or 0.0)
                if job.chance.lays_ground:
                    laid = grounds(job.chance, job.seed, job.ground)
                    walk.lay_ground(*(np.tile(own, len(values)) for own in laid))
            if returned:
                walk.aim(**aim_of(job.goal, body, walk.dt))
            walk.start(rows, *events, begun=None if begun is None else begun.tiled(len(rows)))
            walk.run(steps)
        walk.wait()
        with _LOCK:
            seen, sums = walk.seen(), walk.returned() if returned else {}
        if job.goal.objective == "recovery":
            scored = judge_recovery(sums, seen, job.goal, instants(steps, walk.dt))
        elif returned:
            scored = judge_return(sums, seen, job.goal, body.total_mass, instants(steps, walk.dt))
        else:
            scored = judge(seen, job.goal, rows[:, SPACES[job.machine].start_speed], body.total_mass)
        return over_trials(scored, seen["lasted"] == 1.0, len(values), job)

    def _walk(self, job: Job, count: int, timestep: float) -> GpuWalk:
        def build() -> GpuWalk:
            physics = walker_physics(job.person, job.ground, timestep)
            return GpuWalk(physics, count, job.machine, job.person.fallen, self.device)

        with _LOCK:
            return kept_ready(self._walks, walk_key(job, count, timestep), build, _KEPT)
