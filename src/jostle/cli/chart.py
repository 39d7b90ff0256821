"""What a person sees while walkers learn: a bar with the time left, the best walk, each term as a line of blocks."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from itertools import pairwise
from types import TracebackType

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from jostle.tuning.goal import TERMS
from jostle.tuning.journal import Row
from jostle.tuning.run import LONGEST, STALLED, Generation, Run
from jostle.tuning.session import Session

_BLOCKS = " ▁▂▃▄▅▆▇█"
_LOWEST = 1e-2  # of a weighted term: less is not seen in the cost
_EVERY = 10  # generations from one line to the next where there is no terminal


def spark(values: Sequence[float], width: int, high: float) -> str:
    """Values as a line of blocks, on a logarithmic scale from 0.01 to `high`; the newest stand on the right."""
    count = min(width, len(values))
    edges = [round(i * len(values) / count) for i in range(count + 1)] if count else [0]
    shown = [max(values[a:b]) for a, b in pairwise(edges)]
    span = max(math.log(high / _LOWEST), 1e-9) if high > 0 else 1.0
    levels = [math.log(max(v, _LOWEST) / _LOWEST) / span for v in shown]
    return "".join(_BLOCKS[min(8, math.ceil(8 * min(1.0, level)))] for level in levels)


def expected(run: Run, asked: int | None) -> int:
    """How many generations there will be, at most: those asked for, those of the recipe, or the longest run."""
    stages = run.recipe.stages[run.at.stage :]
    left = sum(LONGEST if stage.generations is None else stage.generations for stage in stages) - run.at.at_rung
    most = run.at.generation + max(0, left)
    return most if asked is None else min(asked, most)


class Screen:
    """A live display on standard error, or a line now and then where that is no terminal."""

    def __init__(self, session: Session, generations: int | None, minutes: float | None) -> None:
        self.session, self.generations, self.minutes = session, generations, minutes
        self.begun, self.first = time.monotonic(), session.run.at.generation
        self.console = Console(stderr=True)
        self.live = Live(console=self.console, auto_refresh=False, transient=True, vertical_overflow="crop")

    def __enter__(self) -> Screen:
        if self.console.is_terminal:
            self.live.start()
            self.live.update(Text("the first generation walks …"), refresh=True)
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.console.is_terminal:
            self.live.stop()

    def show(self, told: Generation) -> None:
        if self.console.is_terminal:
            self.live.update(self._picture(told), refresh=True)
        elif told.number % _EVERY == 0 or told.news or told.number == self.first + 1:
            self.console.print(_line(told), highlight=False, soft_wrap=True, markup=False)

    def _picture(self, told: Generation) -> RenderableType:
        run, rows = self.session.run, self.session.journal.rows
        done, total, left = self._progress()
        bar = Table.grid(padding=(0, 1))
        bar.add_row(run.recipe.name, ProgressBar(total=total, completed=done, width=30), f"{_clock(left)} left at most")
        where = f"stage {told.stage + 1} of {len(run.recipe.stages)}, walks of {told.seconds:g} s, "
        where += f"generation {told.number}, {run.at.unbettered} of {STALLED} without a better one"
        return Group(bar, Text(where), Text(_line(told)), Text(), _terms(rows, self.console.width))

    def _progress(self) -> tuple[float, float, float]:
        """Done, total and seconds left, in the measure that ends first."""
        spent = time.monotonic() - self.begun
        made = self.session.run.at.generation
        most = expected(self.session.run, self.generations)
        left = spent / max(made - self.first, 1) * (most - made)
        if self.minutes is not None and 60.0 * self.minutes - spent < left:
            return spent, 60.0 * self.minutes, max(0.0, 60.0 * self.minutes - spent)
        return float(made), float(max(most, 1)), left


def _terms(rows: Sequence[Row], width: int) -> Table:
    """The best cost so far, and what each term adds to the cost of each generation's best."""
    table = Table.grid(padding=(0, 1))
    room = max(10, min(120, width - 22))
    walking = [row["cost"] for row in rows if row["w_fail"] == 0.0]  # falls cost so much that all else would look flat
    high = float(max(walking or [row["cost"] for row in rows]))
    for name, column in (("best", "lowest"), *((term, f"w_{term}") for term in TERMS)):
        values = [row[column] for row in rows]
        if name == "best" or max(values) > 0.0:
            table.add_row(name, f"{values[-1]:10.4g}", spark(values, room, high))
    return table


def _line(told: Generation) -> str:
    seen = told.seen
    text = f"generation {told.number}: best {told.lowest:.4g}, now {told.cost:.4g}; walked {seen['seconds']:.1f} of "
    text += f"{told.seconds:g} s, {told.survived:.0%} of all to the end; "
    text += f"{seen['speed']:.2f} m/s, step {seen['step_m']:.2f} m"
    return text + (f"; next: {told.news}" if told.news else "")


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
