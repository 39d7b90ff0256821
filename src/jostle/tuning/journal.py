"""The log of a run: one line a generation with every term of the objective, as CSV beside the checkpoint."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path

from jostle.errors import FileError
from jostle.files import read_bytes, write_text
from jostle.tuning.goal import TERMS
from jostle.tuning.objective import LEGS
from jostle.tuning.run import Generation
from jostle.types import PathLike

SEEN = ("seconds", "speed", "drift", "climb", "step_m", "cycle_s", "hip", "knee", "ankle", "power", "torque")
SEEN += ("head_speed_sd", "double_support", "heel_off", "toe_off", "flat", *LEGS, "cycles")
COLUMNS = ("generation", "stage", "asked_s", "sigma", "survived", "cost", "lowest", "median", "simulated_s", "wall_s")
COLUMNS += (*(f"w_{name}" for name in TERMS), *(f"e_{name}" for name in TERMS), *SEEN)  # terms weighted, and not

Row = dict[str, float | int]


def row_of(told: Generation, wall: float) -> Row:
    """A generation as a line of the log; `wall` is the time it took."""
    first = (told.number, told.stage + 1, told.seconds, told.sigma, told.survived)
    first += (told.cost, told.lowest, told.median, told.simulated, wall)
    row = dict(zip(COLUMNS, first, strict=False))
    for name in TERMS:  # an objective has some of them
        row |= {f"w_{name}": told.weighted.get(name, 0.0), f"e_{name}": told.terms.get(name, 0.0)}
    return row | {name: told.seen[name] for name in SEEN}


class Journal:
    """The rows so far, in memory and on disk. `upto` is the last generation to keep of an older file."""

    def __init__(self, path: PathLike, upto: int = 0) -> None:
        self.path = Path(path)
        self.rows: list[Row] = read_journal(path, upto) if upto and self.path.exists() else []
        write_text(path, "".join([_line(COLUMNS), *(_line([_short(row[c]) for c in COLUMNS]) for row in self.rows)]))

    def add(self, row: Row) -> None:
        self.rows.append(row)
        try:
            with open(self.path, "a", encoding="utf-8", newline="") as file:
                file.write(_line([_short(row[column]) for column in COLUMNS]))
        except OSError as error:
            raise FileError(self.path, f"it cannot be written ({error.strerror or error}).") from None


def read_journal(path: PathLike, upto: int | None = None) -> list[Row]:
    """The rows of a log, up to a generation; the last line may be half written."""
    text = read_bytes(path).decode("utf-8", errors="replace")
    lines = csv.DictReader(io.StringIO(text))
    rows = []
    for line in lines:
        try:
            row = {column: float(line.get(column, "nan")) for column in COLUMNS}  # an older log has fewer columns
        except (TypeError, ValueError):
            break
        if not row["generation"] <= (math.inf if upto is None else upto):  # NaN neither: then it is no log
            break
        if not rows or row["generation"] > rows[-1]["generation"]:  # two processes may have written
            rows.append(row)
    return rows


def _line(cells: Sequence[str]) -> str:
    return ",".join(cells) + "\n"


def _short(value: float | int) -> str:
    return repr(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))
