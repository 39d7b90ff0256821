"""A run on disk: one file, written whole after every generation, that holds all the run needs to go on as if nothing
had happened. An .npz of plain arrays with a JSON among them, never pickle."""

from __future__ import annotations

import io
import json
import warnings
import zipfile
import zlib
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from jostle.errors import FileError, FormatError, JostleWarning
from jostle.files import read_bytes, write_bytes
from jostle.tuning.recipe import Recipe, recipe_from
from jostle.tuning.run import LONGEST, Evaluate, Position, Run
from jostle.tuning.schema import Where
from jostle.types import Array, PathLike

FORMAT, VERSION = "jostle-run", 1
_MOST = 512 * 2**20  # bytes; three thousand generations of four thousand walkers are 100 MB
_ARRAYS = ("head", "origin", "best", "mean", "costs", "checks")


def save_run(run: Run, path: PathLike) -> None:
    head = {
        "format": FORMAT,
        "version": VERSION,
        "recipe": run.recipe.to_dict(),
        "at": asdict(run.at),
        "sigma": run.sigma,
        "now": run.search.sigma,
    }
    arrays = {
        "head": np.frombuffer(json.dumps(head, allow_nan=False).encode(), dtype=np.uint8),
        "origin": run.origin,
        "best": run.best,
        "mean": run.whole(run.search.mean),
        "costs": np.array(run.costs).reshape(len(run.costs), run.recipe.walkers(run.at.stage)),
        "checks": np.array(run.checks, dtype=np.int64),
    }
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    write_bytes(path, buffer.getvalue())


def load_run(path: PathLike, evaluate: Evaluate) -> Run:
    """Bring a run back. Where this machine computes other digits, it goes on from the mean, and a warning says so."""
    arrays = _arrays(path)
    try:
        head = json.loads(arrays["head"].tobytes())
        if head["format"] != FORMAT or head["version"] != VERSION:
            raise FormatError(path, f"it holds {head['format']} version {head['version']}, not a run of this jostle.")
        recipe = recipe_from(head["recipe"], Where(path, title="the recipe in this run"))
        at = _position(head["at"], recipe)
        sigma, now = (None if head[key] is None else float(head[key]) for key in ("sigma", "now"))
        _check(arrays, recipe, at)
        run = Run(recipe, evaluate, arrays["origin"], arrays["best"], at, sigma=sigma)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise FormatError(path, f"it does not hold a whole run ({error}); begin anew.") from None
    if run.search.replay(arrays["costs"], arrays["checks"]):
        run.costs, run.checks = list(arrays["costs"]), [int(check) for check in arrays["checks"]]
        return run
    warnings.warn(
        f"{path} was made on another machine or with other versions or numbers of threads: it goes on from its mean, "
        "not digit by digit.",
        JostleWarning,
        stacklevel=2,
    )
    return Run(recipe, evaluate, arrays["mean"], arrays["best"], at, sigma=now)


def _arrays(path: PathLike) -> dict[str, Array]:
    raw = read_bytes(path, limit=_MOST)
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            if sum(info.file_size for info in archive.infolist()) > _MOST:
                raise ValueError(f"it unpacks to more than {_MOST // 2**20} MB")
        with np.load(io.BytesIO(raw), allow_pickle=False) as members:
            return {name: members[name] for name in _ARRAYS}
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        raise FileError(path, f"it is no whole run ({error}); begin anew.") from None
    except (KeyError, ValueError) as error:
        raise FileError(path, f"it is no run of jostle's ({error}); begin anew.") from None


def _position(given: dict[str, Any], recipe: Recipe) -> Position:
    at = Position(**given)
    for key in fields(Position):
        value = getattr(at, key.name)
        if key.type == "int" and (not isinstance(value, int) or value < 0):
            raise ValueError(f"{key.name} is {value!r}")
    if at.stage >= len(recipe.stages) or at.rung >= len(recipe.stages[at.stage].seconds):
        raise ValueError("it stands in a stage that its recipe does not have")
    right = isinstance(at.lowest, float | None) and isinstance(at.finished, str | None) and isinstance(at.walks, bool)
    if not right:
        raise ValueError("its position is garbled")
    return at


def _check(arrays: dict[str, Array], recipe: Recipe, at: Position) -> None:
    size = (len(recipe.space),)
    count, walkers = len(arrays["costs"]), recipe.walkers(at.stage)
    shapes = {"origin": size, "best": size, "mean": size, "costs": (count, walkers), "checks": (count,)}
    for name, shape in shapes.items():
        if arrays[name].shape != shape or not np.all(np.isfinite(arrays[name])):
            raise ValueError(f"its array '{name}' is not what its recipe says")
    if count > min(LONGEST, at.in_stage):
        raise ValueError("it has told more generations than it has made")
