"""An optimisation at the terminal: from the command line to a session, its limits, and how it ends."""

from __future__ import annotations

import math
import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jostle.cli.chart import Screen
from jostle.cli.common import WALKER, load_walker, say, told_to_end, told_warnings
from jostle.controllers.walker.parameters import GUIDED, PACED, POISED, REACTIVE, Space, reactive, recast
from jostle.errors import CommandError, JostleError
from jostle.runtime import save_controller
from jostle.tuning.gpu import Gpu
from jostle.tuning.recipe import Recipe, Stage, read_recipe, recipe_from
from jostle.tuning.run import Evaluate, start_values
from jostle.tuning.schema import Where
from jostle.tuning.session import Files, Session, begin_session, files_for, resume_session
from jostle.tuning.trials import Bench
from jostle.tuning.typical import typical_states
from jostle.tuning.workers import cluster
from jostle.types import Array, Float

if TYPE_CHECKING:
    from jostle.controllers.walker.walker import Walker


@dataclass(frozen=True)
class Order:
    """What was asked on the command line."""

    recipe: str | None
    given: dict[str, Any]  # keys of a recipe
    wishes: dict[str, Any]  # keys of every stage
    output: str
    threads: int = 0
    cluster: str | None = None
    gpu: bool = False
    resume: bool = False


@dataclass(frozen=True)
class Limits:
    minutes: float | None = None
    generations: int | None = None

    def __post_init__(self) -> None:
        for name in ("minutes", "generations"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                raise CommandError(f"--{name} must be a positive number, not {value:g}.")

    def reached(self, generation: int, seconds: float) -> str | None:
        if self.generations is not None and generation >= self.generations:
            return f"stopped after {generation} generations, as asked"
        if self.minutes is not None and seconds >= 60.0 * self.minutes:
            return f"stopped after {self.minutes:g} minutes, as asked"
        return None


def follow(order: Order, limits: Limits) -> None:
    """Run until it is done, a limit is reached, or ctrl-C; in each case everything is on disk."""
    files = files_for(order.output)
    if order.threads < 0:
        raise CommandError(f"--threads must be 0 (all) or a positive number, not {order.threads}.")
    if order.gpu and order.cluster is not None:
        raise CommandError("A population walks on a cluster or on a GPU, not on both; leave out --cluster or --gpu.")
    recipe = read_order(order)
    with _evaluator(order) as evaluate:
        with told_warnings():
            session = _session(order, recipe, files, evaluate)
        _run(session, limits, _again(order))


@contextmanager
def _evaluator(order: Order) -> Iterator[Evaluate]:
    if order.gpu:
        yield Gpu().score
        return
    if order.cluster is None:
        yield Bench(order.threads).score
        return
    with cluster(order.cluster) as workers:
        say(f"Walking on {workers.threads} threads at {order.cluster}.")
        yield workers.score


def read_order(order: Order) -> Recipe | None:
    """The recipe with what the command line says in its place; None where nothing is said."""
    if order.recipe is None and not order.given and not order.wishes and order.resume:
        return None
    recipe = Recipe(name=Path(order.output).stem) if order.recipe is None else read_recipe(order.recipe)
    stages = tuple(_wished(stage, order.wishes) for stage in recipe.stages)
    changed = replace(recipe, stages=stages, **order.given)
    checked = recipe_from(changed.to_dict(), Where("the command line"))  # as a file is
    return replace(checked, stages=tuple(_informed(stage, checked, order.recipe) for stage in checked.stages))


def _informed(stage: Stage, recipe: Recipe, source: str | None) -> Stage:
    """With the parameters of the walker that it takes over from, in place of its name."""
    if stage.chance is None or not isinstance(stage.chance.after, str):
        return stage
    guided = _recast(recipe, _found(stage.chance.after, source), GUIDED)
    return replace(stage, chance=replace(stage.chance, after=GUIDED.named(guided)))


def _wished(stage: Stage, wishes: dict[str, Any]) -> Stage:
    return replace(stage, **wishes, **({"fastest": False} if "speed" in wishes else {}))


def _session(order: Order, recipe: Recipe | None, files: Files, evaluate: Evaluate) -> Session:
    if recipe is None or order.resume:
        return resume_session(files, evaluate, _keep, recipe)
    return begin_session(recipe, _start(recipe, order.recipe), evaluate, files, _keep)


def _keep(walker: Walker, path: Path, recipe: Recipe) -> None:
    save_controller(walker, path, seed=recipe.seed, recipe=recipe.to_dict())


def _start(recipe: Recipe, source: str | None) -> Float[Array, "P"]:
    """The parameters to start from: the initial ones, a walker's, or a blend of several."""
    if recipe.start == "initial":
        if recipe.machine == "reactive":
            raise CommandError("A reactive walker is made from one that walks; name that one as the start.")
        return start_values(recipe)
    shares = {recipe.start: 1.0} if isinstance(recipe.start, str) else recipe.start
    walkers = [_begun(recipe, name, source) for name in shares]
    if len(walkers) == 1:
        return walkers[0]
    return recipe.space.between(np.stack(walkers), np.array(list(shares.values())))


def _begun(recipe: Recipe, name: str, source: str | None) -> Float[Array, "P"]:
    """The parameters of a walker for the recipe's body and kind."""
    walker = _found(name, source)
    if walker.machine == recipe.machine:
        return start_values(recipe, walker.values, walker.person.mass)
    if recipe.machine not in (GUIDED.kind, PACED.kind, POISED.kind, REACTIVE.kind):
        raise CommandError(
            f"'{name}' is a {walker.machine}, and the recipe makes a {recipe.machine}; start from one of those."
        )
    if recipe.machine != REACTIVE.kind:
        return start_values(recipe, _recast(recipe, walker, recipe.space), recipe.person.mass)
    guided = _recast(recipe, walker, GUIDED)
    habits = typical_states(guided, recipe.person, recipe.stages[0].ground, recipe.seed)
    return start_values(recipe, reactive(guided, *habits), recipe.person.mass)


def _found(name: str, source: str | None) -> Walker:
    """A walker by its name. A file is looked for beside the recipe, then here."""
    beside = Path(source).parent / name if source is not None else Path(name)
    return load_walker(name if name.startswith(WALKER) or not beside.exists() else str(beside))


def _recast(recipe: Recipe, walker: Walker, to: Space) -> Float[Array, "G"]:
    """As a walker of another kind, with the recipe's body."""
    values = recast(walker.title, walker.machine, walker.values, to)
    return to.for_mass(values, recipe.person.mass / walker.person.mass)


def _again(order: Order) -> str:
    """The command that goes on."""
    words = ["jostle", "walk", "optimise", "-o", order.output, "--resume"]
    where = ["--cluster", order.cluster] if order.cluster else ["--gpu"] if order.gpu else []
    return shlex.join([*words, *where])


def _run(session: Session, limits: Limits, again: str) -> None:
    begun, run = time.monotonic(), session.run
    end = run.finished or limits.reached(run.at.generation, 0.0)
    try:
        with told_to_end(), Screen(session, limits.generations, limits.minutes) as screen:
            while end is None:
                screen.show(session.step())
                end = run.finished or limits.reached(run.at.generation, time.monotonic() - begun)
    except KeyboardInterrupt:
        _tell(session, "stopped", again)
        raise SystemExit(130) from None
    except JostleError:  # a full disk or a cluster that is gone
        _tell(session, "stopped by an error", again)
        raise
    _tell(session, end, again)


def _tell(session: Session, end: str, again: str) -> None:
    """How it ended, what is there, and how to go on."""
    run, files = session.run, session.files
    rows = session.journal.rows
    say(f"{run.recipe.name}: {end.rstrip('.')}.")
    if rows:
        best = next((row for row in reversed(rows) if row["cost"] == rows[-1]["lowest"]), rows[-1])
        say(
            f"{files.walker} is the best of {len(rows)} generations: cost {best['cost']:.3f} in walks of "
            f"{best['asked_s']:g} s, {best['speed']:.2f} m/s, steps of {best['step_m']:.2f} m; "
            f"every term is in {files.log} and {files.plot}."
        )
    if run.finished is None:
        say(f"Go on with: {again}")
    session.draw()
