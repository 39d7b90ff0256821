"""`jostle evaluate NAME`: the papers' tables, ours beside theirs."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from jostle.cli.common import print_json, print_table, progress, say

if TYPE_CHECKING:
    from jostle.evaluate import Report
    from jostle.evaluate.report import Table

Name = Annotated[str, tyro.conf.Positional]


def evaluate(
    name: Name = "list",
    /,
    data: Path | None = None,
    seed: int = 0,
    quick: bool = False,
    json: bool = False,
    plots: Path | None = None,
    walker: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = (),
    resume: Path | None = None,
) -> None:
    """Measure, and print our figures with the paper's in brackets.

    Args:
        name: which experiment; `list` names them all
        data: folder of motion capture (default: where the environment variable JOSTLE_DATA points)
        seed: changes every random choice
        quick: fewer trials, under a minute
        json: print one JSON object instead of tables
        plots: folder for pictures
        walker: measure this walker, by name or file, instead of all that are shipped (may be given several times)
        resume: file in which finished parts are kept; what is there already is not measured again
    """
    from jostle.evaluate import EXPERIMENTS, Request
    from jostle.evaluate import evaluate as measure

    if name == "list":
        about = {known: title for known, (_, title) in EXPERIMENTS.items()}
        print_json({"experiments": about}) if json else print_table(list(about.items()))
        return
    given = data or (Path(os.environ["JOSTLE_DATA"]) if os.environ.get("JOSTLE_DATA") else None)
    with progress(f"evaluating {name}") as told:
        request = Request(given, seed, quick, plots, walker, resume, progress=told)
        report = measure(name, request)
    if json:
        print_json(report.to_dict())
    else:
        _print(report)


def _print(report: Report) -> None:
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 10_000
    for table in report.tables():
        for lines in _columns(table, width):
            print("\n".join(lines), end="\n\n")
    for note in report.notes:
        print(note)
    for skipped in report.skipped:
        print(f"not measured: {skipped}")
    say(f"{report.name}: {report.seconds:.0f} s, seed {report.seed}")


def _columns(table: Table, width: int) -> Iterator[list[str]]:
    """The table as lines no wider than this: as many columns at a time as fit beside the first."""
    cells = [table.head, *table.rows]
    wide = [max(len(row[i]) for row in cells) + 2 for i in range(len(table.head))]
    first = 1
    while first < len(wide):
        last = first + 1
        while last < len(wide) and wide[0] + sum(wide[first : last + 1]) <= width:
            last += 1
        shown = [0, *range(first, last)]
        lines = ("".join(row[i].ljust(wide[i]) for i in shown).rstrip() for row in cells)
        yield [line for line in lines if line]
        first = last
