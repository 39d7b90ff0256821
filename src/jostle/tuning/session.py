"""A run and its files: NAME.jostle (the best so far), NAME.run (checkpoint), NAME.csv (every term), NAME.png (a plot).

After every generation all of them belong together: the walker and the log are written first and the checkpoint last, so
that whatever an interruption leaves behind is made again, to the same bits, by the generation that is repeated.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path

from jostle.controllers.walker.walker import Walker
from jostle.errors import CommandError, FileError
from jostle.tuning.checkpoint import load_run, save_run
from jostle.tuning.journal import Journal, row_of
from jostle.tuning.plot import draw_journal
from jostle.tuning.recipe import Recipe
from jostle.tuning.run import Evaluate, Generation, Run, begin
from jostle.types import Array, Float, PathLike

_PLOTTED = 30.0  # seconds from one picture to the next

Keep = Callable[[Walker, Path, Recipe], None]  # writes the bundle: how is known to the rooms above


@dataclass(frozen=True)
class Files:
    """Where a run keeps what."""

    walker: Path

    def beside(self, ending: str) -> Path:
        return self.walker.with_suffix(ending)

    @property
    def run(self) -> Path:
        return self.beside(".run")

    @property
    def log(self) -> Path:
        return self.beside(".csv")

    @property
    def plot(self) -> Path:
        return self.beside(".png")


def files_for(out: PathLike) -> Files:
    if Path(out).suffix != ".jostle":
        raise FileError(out, "a walker is written as a .jostle file; name one, such as mine.jostle.")
    return Files(Path(out))


class Session:
    """`step` is one generation, kept on disk when it returns."""

    def __init__(self, run: Run, files: Files, keep: Keep) -> None:
        self.run, self.files, self._keep = run, files, keep
        self.journal = Journal(files.log, upto=run.at.generation)
        self._drawn = time.monotonic()

    def step(self) -> Generation:
        begun = time.perf_counter()
        told = self.run.step()
        self.journal.add(row_of(told, time.perf_counter() - begun))
        self._keep(best_walker(self.run), self.files.walker, self.run.recipe)
        save_run(self.run, self.files.run)
        if time.monotonic() - self._drawn > _PLOTTED:
            self.draw()
        return told

    def draw(self) -> None:
        """The picture of the run so far."""
        if self.journal.rows:
            draw_journal(self.journal.rows, self.files.plot, self.run.recipe.name)
        self._drawn = time.monotonic()


def best_walker(run: Run) -> Walker:
    """The best so far, on the ground that it was found on."""
    stage = run.recipe.stages[run.at.best_stage]
    return Walker(run.recipe.name, run.recipe.person, run.recipe.machine, run.best, stage.ground)


def begin_session(recipe: Recipe, start: Float[Array, "P"], evaluate: Evaluate, files: Files, keep: Keep) -> Session:
    """A new run; one that lies there already is not overwritten."""
    if files.run.exists():
        raise FileError(files.run, "there is a run already; go on with --resume, name another file, or delete it.")
    if files.walker.exists():
        raise FileError(files.walker, "it exists already; name another file, or delete it.")
    run = begin(recipe, start, evaluate)
    save_run(run, files.run)
    return Session(run, files, keep)


def resume_session(files: Files, evaluate: Evaluate, keep: Keep, recipe: Recipe | None = None) -> Session:
    """Go on where a run stopped. A recipe, where one is given, must be the run's own."""
    if not files.run.exists():
        raise FileError(files.run, "there is no run to go on with; leave out --resume to begin one.")
    run = load_run(files.run, evaluate)
    if recipe is not None and recipe.to_dict() != run.recipe.to_dict():
        differ = [f.name for f in fields(Recipe) if getattr(recipe, f.name) != getattr(run.recipe, f.name)]
        raise CommandError(
            f"{files.run} was begun with another recipe (it differs in: {', '.join(differ)}); "
            "resume without a recipe, or write to another file."
        )
    return Session(run, files, keep)
