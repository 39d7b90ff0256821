"""Score a population: every candidate walks under the conditions of a stage, alone or under pushes.

A `Job` is plain data, so that it can travel to another machine. What a candidate scores depends on the job and on its
own parameters alone, to the last bit: not on who walks beside it, on how the population is cut into pieces, or on the
number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

import numpy as np

from jostle.body import Ground
from jostle.controllers.walker.handover import left_off
from jostle.controllers.walker.parameters import GUIDED, SPACES
from jostle.controllers.walker.people import Person, walker_physics
from jostle.controllers.walker.trace import Shove, Trace, rollout
from jostle.controllers.walker.walk import Begun, Walk
from jostle.errors import CommandError
from jostle.tuning.chance import Chance, Fates, grounds, gust_steps, switch_times
from jostle.tuning.goal import Goal, weights_of
from jostle.tuning.objective import Score, score
from jostle.tuning.recipe import Pushes, Recipe
from jostle.tuning.returns import score_recovery, score_return
from jostle.types import Array, Float, Int

SETTLING = 1.0  # seconds before the first push
T = TypeVar("T")
_ROWS = 128  # simulations in one batch: more gain nothing, and their traces fill memory
_KEPT = 8  # batches kept ready
_ENDURED = ("fail", "lasted", "seconds")  # what all walks of a candidate tell, pushed or not


@dataclass(frozen=True)
class Job:
    """What a worker must know to score candidates."""

    person: Person
    machine: str
    ground: Ground
    goal: Goal
    seconds: float
    pushes: Pushes | None = None
    seed: tuple[int, ...] = (0,)  # of the sides that pushes come from
    timesteps: tuple[float, ...] = (0.002,)  # seconds
    chance: Chance | None = None

    @property
    def walks(self) -> int:
        """Of each candidate at one time step."""
        if self.chance is not None:
            return self.chance.trials
        return 1 if self.pushes is None else self.pushes.walks

    @property
    def calm(self) -> bool:
        """Is a gait judged by the last walk of a candidate, which nobody pushes?"""
        return self.pushes is not None and self.pushes.calm


@dataclass(frozen=True, eq=False)
class Outcome:
    """Of each candidate, the mean over its trials."""

    cost: Float[Array, "B"]
    terms: dict[str, Float[Array, "B"]]  # unweighted
    seen: dict[str, Float[Array, "B ..."]]
    survived: Float[Array, "B"]  # share of its trials that it walked to the end


def job_of(recipe: Recipe, stage: int, seconds: float, generation: int) -> Job:
    """The job of a generation; only pushes that are fresh depend on which one it is."""
    now = recipe.stages[stage]
    seed = (recipe.seed, stage, generation) if now.fresh else (recipe.seed, stage)
    steps = tuple(0.001 * ms for ms in now.timestep_ms)
    return Job(recipe.person, recipe.machine, now.ground, now.goal, seconds, now.pushes, seed, steps, now.chance)


class Bench:
    """Batches of simulations, built once and kept ready. Not to be shared between threads."""

    def __init__(self, threads: int = 0) -> None:
        self.threads = threads  # 0: all processors
        self._walks: dict[tuple, Walk] = {}

    def score(self, job: Job, values: Float[Array, "B P"]) -> Outcome:
        """Let every candidate walk and score it."""
        most = max(1, _ROWS // job.walks)
        pieces = np.array_split(values, -(-len(values) // most))
        begun = [self.begun(job, timestep) for timestep in job.timesteps]
        each = list(zip(job.timesteps, begun, strict=True))
        return join([mean([self._score(job, piece, *at) for at in each]) for piece in pieces])

    def begun(self, job: Job, timestep: float) -> Begun | None:
        """Where the walks of a candidate begin, if they take over from another walker."""
        chance = job.chance
        if chance is None or chance.after is None:
            return None
        if isinstance(chance.after, str):
            raise CommandError(f"The parameters of '{chance.after}' must be read before anyone takes over from it.")
        walk = self._walk(replace(job, machine=GUIDED.kind), chance.trials, timestep)
        return left_off(walk, GUIDED.vector(chance.after), switch_times(chance, job.seed), job.person.fallen)

    def _score(self, job: Job, values: Float[Array, "B P"], timestep: float, begun: Begun | None) -> Outcome:
        rows = np.repeat(values, job.walks, axis=0)  # the walks of a candidate stand side by side
        if len(rows) == 1:
            rows = np.repeat(rows, 2, axis=0)  # NumPy adds up a lone column in another order than one of several
        walk = self._walk(job, len(rows), timestep)
        trace = disturbed(job, walk, rows, None if begun is None else begun.tiled(len(rows)))
        scored = judged(trace, job, rows)
        return over_trials(scored, trace.steps == len(trace.phase), len(values), job)

    def _walk(self, job: Job, count: int, timestep: float) -> Walk:
        def build() -> Walk:
            return Walk(walker_physics(job.person, job.ground, timestep), count, job.machine, self.threads)

        return kept_ready(self._walks, walk_key(job, count, timestep), build, _KEPT)


def disturbed(job: Job, walk: Walk, rows: Float[Array, "B P"], begun: Begun | None = None) -> Trace:
    """Walk with all that happens in this job."""
    if job.chance is None:
        return rollout(walk, rows, job.seconds, job.person.fallen, shoves(job, len(rows), walk.dt))
    fates = Fates(job.chance, job.seed, job.seconds, walk.dt, len(rows))
    if job.chance.lays_ground:
        slope, friction = grounds(job.chance, job.seed, job.ground)
        walk.lay_ground(np.resize(slope, len(rows)), np.resize(friction, len(rows)))
    return rollout(walk, rows, job.seconds, job.person.fallen, happens=fates, begun=begun)


def judged(trace: Trace, job: Job, rows: Float[Array, "B P"]) -> Score:
    """By the objective that the job asks for."""
    if job.goal.objective == "return":
        return score_return(trace, job.goal)
    if job.goal.objective == "recovery":
        return score_recovery(trace, job.goal)
    return score(trace, job.goal, rows[:, SPACES[job.machine].start_speed])


def walk_key(job: Job, count: int, timestep: float) -> tuple:
    """What a batch that is kept ready depends on; one that is given other grounds is not for those that are not."""
    laid = job.chance is not None and job.chance.lays_ground
    return job.person, job.ground, job.machine, count, timestep, laid


def kept_ready(kept: dict[tuple, T], key: tuple, build: Callable[[], T], most: int) -> T:
    """What is kept under this key; where there is nothing it is built, and of `most` the oldest makes room."""
    if key not in kept:
        if len(kept) >= most:
            kept.pop(next(iter(kept)))
        kept[key] = build()
    return kept[key]


def over_trials(scored: Score, survived: Array, count: int, job: Job) -> Outcome:
    """Scores of walks that stand side by side as those of their candidates.

    Means; or, where one walk is calm, what was seen in that one, and only how long they lasted as a mean over all.
    """

    def over(values: Array) -> Array:
        return values[: count * job.walks].astype(float).reshape(count, job.walks, *values.shape[1:])

    def judged(values: Array) -> Array:
        return over(values)[:, -1] if job.calm else over(values).mean(axis=1)

    def table(values: dict[str, Array]) -> dict[str, Array]:
        return {name: (over(v).mean(axis=1) if name in _ENDURED else judged(v)) for name, v in values.items()}

    terms = table(scored.terms)
    fell = terms["fail"] - judged(scored.terms["fail"])  # zero where none is calm
    weight = weights_of(job.goal, job.person.mass)["fail"]
    cost = judged(scored.cost) + weight * fell
    return Outcome(cost, terms, table(scored.seen), over(survived).mean(axis=1))


def mean(outcomes: Sequence[Outcome]) -> Outcome:
    """Of the same candidates, scored several times."""
    if len(outcomes) == 1:
        return outcomes[0]

    def over(tables: Sequence[dict[str, Array]]) -> dict[str, Array]:
        return {name: np.mean([table[name] for table in tables], axis=0) for name in tables[0]}

    return Outcome(
        np.mean([outcome.cost for outcome in outcomes], axis=0),
        over([outcome.terms for outcome in outcomes]),
        over([outcome.seen for outcome in outcomes]),
        np.mean([outcome.survived for outcome in outcomes], axis=0),
    )


def join(pieces: Sequence[Outcome]) -> Outcome:
    """The outcomes of consecutive pieces of a population as one."""
    first = pieces[0]
    return Outcome(
        np.concatenate([piece.cost for piece in pieces]),
        {name: np.concatenate([piece.terms[name] for piece in pieces]) for name in first.terms},
        {name: np.concatenate([piece.seen[name] for piece in pieces]) for name in first.seen},
        np.concatenate([piece.survived for piece in pieces]),
    )


def push_plan(job: Job) -> tuple[Float[Array, "trials n"], Float[Array, "trials n 3"]]:
    """When each walk is pushed, and with which force: moments spread over a period, sides over the circle."""
    pushes = job.pushes
    if pushes is None:
        return np.zeros((1, 0)), np.zeros((1, 0, 3))
    rng = np.random.default_rng(job.seed)
    count = max(0, int(np.ceil((job.seconds - SETTLING) / pushes.every)))
    first = SETTLING + pushes.every * (np.arange(pushes.trials) + rng.random(pushes.trials)) / pushes.trials
    times = first[:, None] + pushes.every * np.arange(count)
    total = pushes.trials * count
    angles = 2.0 * np.pi * (rng.permutation(total) + rng.random(total)) / max(total, 1)
    ahead, aside = pushes.force if isinstance(pushes.force, tuple) else (pushes.force, pushes.force)
    forces = np.stack([ahead * np.cos(angles), aside * np.sin(angles), np.zeros(total)], axis=1)
    forces = forces.reshape(pushes.trials, count, 3)
    if pushes.calm:
        times, forces = np.concatenate([times, times[:1]]), np.concatenate([forces, np.zeros_like(forces[:1])])
    return times, forces


def push_steps(
    job: Job, dt: float
) -> tuple[Int[Array, "trials n"], Int[Array, "trials n"], Float[Array, "trials n 3"]]:
    """The plan in time steps: from which to which each push acts, and its force."""
    if job.chance is not None:
        return gust_steps(job.chance, job.seed, job.seconds, dt)
    times, forces = push_plan(job)
    begin = np.round(times / dt).astype(int)
    lasting = 0.0 if job.pushes is None else job.pushes.duration
    return begin, begin + max(1, round(lasting / dt)), forces


def shoves(job: Job, rows: int, dt: float) -> list[Shove]:
    """The plan as a sequence of forces that follow each other without overlap: at each moment one force a walker."""
    begin, end, forces = push_steps(job, dt)
    moments = np.unique(np.concatenate([begin.ravel(), end.ravel()]))
    made = []
    for now, then in pairwise(moments):
        acting = (begin <= now) & (now < end)  # (trials, n)
        if acting.any():
            own = (acting[:, :, None] * forces).sum(axis=1)  # (trials, 3)
            made.append(Shove(now * dt, (then - now) * dt, np.tile(own, (-(-rows // len(own)), 1))[:rows]))
    return made
