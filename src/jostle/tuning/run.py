"""An optimisation that its caller drives: `step` is one generation, and between two steps everything can be kept.

    run = begin(recipe, start, Bench().score)
    while run.finished is None:
        told = run.step()
        save_run(run, "mine.run")

Each generation the population is drawn, and beside it walks one more: the mean of the distribution, which in many
dimensions is better than what is drawn around it; or, when conditions have just become harder, the best so far, so
that the new conditions know its worth. It is never told to the search.

Costs of different conditions cannot be compared, so the best is judged anew when a duration or a stage begins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from jostle.errors import CommandError
from jostle.tuning.goal import weights_of
from jostle.tuning.recipe import Recipe, Stage
from jostle.tuning.search import Search, check_sum
from jostle.tuning.trials import Job, Outcome, job_of
from jostle.types import Array, Float

STALLED, LONGEST = 300, 3000  # generations without a better walk, and in all: then a stage ends (section 3.3.3)

Evaluate = Callable[[Job, Float[Array, "B P"]], Outcome]


@dataclass(frozen=True)
class Position:
    """Where a run is. Everything but arrays; equal positions and arrays go on equally."""

    stage: int = 0
    rung: int = 0  # which of the stage's durations
    generation: int = 0  # since the run began
    in_stage: int = 0  # generations since the stage began
    at_rung: int = 0  # … since this duration began
    unbettered: int = 0  # … since there was a better walk
    lowest: float | None = None  # cost under the present conditions
    walks: bool = False  # does the best walk the whole time?
    best_stage: int = 0  # the stage in which the best walked
    finished: str | None = None  # why, once it has


@dataclass(frozen=True)
class Generation:
    """What one generation brought: of its best walker unless said otherwise."""

    number: int
    stage: int
    seconds: float  # that were asked
    sigma: float
    survived: float  # share of the population that walked the whole time
    cost: float
    lowest: float  # so far, under these conditions
    median: float
    weighted: dict[str, float]  # terms of the objective; their sum is the cost
    terms: dict[str, float]
    seen: dict[str, float]
    better: bool  # is it the best so far?
    walks: bool  # the whole time?
    simulated: float  # seconds, all walkers together
    news: str = ""  # what begins now


@dataclass
class Run:
    """A recipe in the making; `begin` makes one, `load_run` of `checkpoint.py` brings one back."""

    recipe: Recipe
    evaluate: Evaluate
    origin: Float[Array, "P"]  # where the stage's search began, in the optimiser's units; also what is not searched
    best: Float[Array, "P"]  # parameters
    at: Position = field(default_factory=Position)
    costs: list[Float[Array, "n"]] = field(default_factory=list)  # of the stage, one entry a generation
    checks: list[int] = field(default_factory=list)
    sigma: float | None = None  # of a search that goes on from a mean alone; None: the recipe's

    def __post_init__(self) -> None:
        self.search = self._search()

    @property
    def finished(self) -> str | None:
        """None while there is something to do, then the reason why not."""
        return self.at.finished

    @property
    def stage(self) -> Stage:
        return self.recipe.stages[self.at.stage]

    @property
    def seconds(self) -> float:
        return self.stage.seconds[self.at.rung]

    def _search(self) -> Search:
        sigma = self.sigma or self.stage.sigma or self.recipe.sigma
        searched = self.origin[self.recipe.space.searched]
        seed = (self.recipe.seed, self.at.stage, len(searched))
        walkers, diagonal = self.recipe.walkers(self.at.stage), self.recipe.covariance == "diagonal"
        return Search(searched, sigma, walkers, seed, diagonal)

    def whole(self, units: Float[Array, "*n S"]) -> Float[Array, "*n P"]:
        """Candidates with the parameters that are not searched."""
        searched = self.recipe.space.searched
        full = np.broadcast_to(self.origin, (*units.shape[:-1], len(self.origin))).copy()
        full[..., searched] = units
        return full

    def step(self) -> Generation:
        """One generation. An exception in the middle leaves the run unusable; bring it back from its checkpoint."""
        if self.finished is not None:
            raise CommandError(f"This run is over: {self.finished}")
        space, now = self.recipe.space, self.at
        units = self.search.ask()
        beside = self.best if now.lowest is None else space.decode(self.whole(self.search.mean))
        values = np.concatenate([space.decode(self.whole(units)), beside[None]])
        for name, value in self.stage.hold.items():
            values[:, space.index[name]] = value
        job = job_of(self.recipe, now.stage, self.seconds, now.generation)
        outcome = self.evaluate(job, values)
        self.search.tell(units, outcome.cost[:-1])
        self.costs.append(outcome.cost[:-1])
        self.checks.append(check_sum(units))
        told = self._judge(job, values, outcome)
        self.at = replace(
            now,
            generation=now.generation + 1,
            in_stage=now.in_stage + 1,
            at_rung=now.at_rung + 1,
            unbettered=0 if told.better else now.unbettered + 1,
            lowest=told.lowest,
            walks=told.walks if told.better else now.walks,
            best_stage=now.stage,
        )
        return replace(told, news=self._go_on(told.survived))

    def _judge(self, job: Job, values: Float[Array, "n P"], outcome: Outcome) -> Generation:
        """Keep the best, and say what there was. Where what disturbs is fresh, costs are luck, so the mean is kept."""
        now = self.at
        top = int(np.argmin(outcome.cost))
        cost = float(outcome.cost[top])
        better = now.lowest is None or cost < now.lowest
        if self.stage.fresh:
            self.best = values[-1].copy()
        elif better:
            self.best = values[top].copy()
        weights = weights_of(self.stage.goal, self.recipe.person.mass)
        terms = {name: float(term[top]) for name, term in outcome.terms.items()}
        return Generation(
            number=now.generation + 1,
            stage=now.stage,
            seconds=self.seconds,
            sigma=self.search.sigma,
            survived=float(np.mean(outcome.survived[:-1])),
            cost=cost,
            lowest=cost if better else float(now.lowest or 0.0),
            median=float(np.median(outcome.cost[:-1])),
            weighted={name: weights[name] * term for name, term in terms.items()},
            terms=terms,
            seen={name: float(seen[top]) for name, seen in _flat(outcome.seen).items()},
            better=better,
            walks=bool(outcome.survived[top] == 1.0),
            simulated=float(np.sum(outcome.seen["seconds"])) * job.walks * len(job.timesteps),
        )

    def _go_on(self, survived: float) -> str:
        """To the next duration or stage, where it is time; says so."""
        stage, now = self.stage, self.at
        last, alive = now.rung + 1 == len(stage.seconds), survived >= stage.advance
        if not last and alive:
            self.at = replace(now, rung=now.rung + 1, at_rung=0, unbettered=0, lowest=None)
            return f"walks of {self.seconds:g} s"
        stalled = now.unbettered >= STALLED or now.in_stage >= LONGEST
        enough = stage.generations is not None and now.at_rung >= stage.generations and alive and now.walks
        if not stalled and not (last and enough):
            return ""
        if not (last and now.walks):
            return self._finish(
                f"stage {now.stage + 1} found nothing better for long, and too few walk for {self.seconds:g} s; "
                "start from another walker, or make the step to this stage smaller."
            )
        if now.stage + 1 == len(self.recipe.stages):
            return self._finish("every stage is done.")
        self.at = replace(
            now, stage=now.stage + 1, rung=0, in_stage=0, at_rung=0, unbettered=0, lowest=None, best_stage=now.stage
        )
        self.origin, self.sigma, self.costs, self.checks = self.recipe.space.encode(self.best), None, [], []
        self.search = self._search()
        return f"stage {self.at.stage + 1} of {len(self.recipe.stages)}"

    def _finish(self, why: str) -> str:
        self.at = replace(self.at, finished=why)
        return why


def _flat(seen: dict[str, Array]) -> dict[str, Array]:
    """One column a name: velocity and power ratio by their parts."""
    parts: dict[str, tuple[str, ...]] = {
        "velocity": ("speed", "drift", "climb"),
        "ratio": ("hip", "knee", "ankle"),
        "states": ("state_0", "state_1", "state_2", "state_3"),
    }
    flat = {}
    for name, values in seen.items():
        flat |= dict(zip(parts.get(name, (name,)), values.reshape(len(values), -1).T, strict=True))
    return flat


def begin(recipe: Recipe, start: Float[Array, "P"], evaluate: Evaluate) -> Run:
    """A new run from these parameters."""
    return Run(recipe, evaluate, recipe.space.encode(start), np.array(start, dtype=float))


def start_values(recipe: Recipe, values: Float[Array, "P"] | None = None, mass: float = 70.0) -> Float[Array, "P"]:
    """Where to start: the initial parameters, or those of a walker of this mass, with gains for the recipe's body.

    Parameters that the recipe sets by hand are taken as they are.
    """
    space = recipe.space
    start = space.for_mass(space.initial if values is None else values, recipe.person.mass / mass)
    for name, value in recipe.parameters.items():
        start[space.index[name]] = value
    return start
