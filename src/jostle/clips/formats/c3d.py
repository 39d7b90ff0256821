"""C3D, the biomechanics laboratories' format, through the `c3d` extra (ezc3d).

Points are in the file's unit (millimetres almost always) and Z up almost always. A point with a negative residual was
not seen; some writers leave zeros instead of saying so. Both are gaps. Analog channels are left alone.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from jostle.clips.formats.text import MAX_NUMBER, MAX_VALUES
from jostle.clips.points import Points, RawPoints, default_labels
from jostle.errors import FormatError, MissingExtraError
from jostle.files import read_bytes, replacing
from jostle.types import Array, Bool, Float, PathLike

_UNITS = {"mm": 0.001, "cm": 0.01, "dm": 0.1, "m": 1.0, "in": 0.0254, "inch": 0.0254, "ft": 0.3048}
_PATIENCE = 120.0  # seconds, for files of the largest size that is read at all
_MAX_LABEL = 200
_CHILD = Path(__file__).with_name("c3d_child.py")


def read_c3d(path: PathLike) -> RawPoints:
    """The points of a C3D file."""
    data = read_bytes(path)
    if len(data) < 1024 or data[1] != 0x50:
        raise FormatError(path, "it is no C3D file or is cut short; its second byte must be 0x50. Export it again.")
    _require_library(path)
    arrays = _read_apart(path, data)
    if arrays["points"].size == 0:
        raise FormatError(path, "it holds no points, only other channels; export it with marker or joint positions.")
    if arrays["points"].size > MAX_VALUES:
        raise FormatError(path, f"it holds more than {MAX_VALUES:,} values; cut it into shorter takes.")
    positions = np.moveaxis(arrays["points"], (0, 1, 2), (2, 1, 0)).copy()  # (T, P, 3)
    positions[_gaps(positions, arrays["residuals"].T)] = np.nan
    rate = arrays["rate"][arrays["rate"] > 0]
    unit = _UNITS.get(str(arrays["units"][0]).strip().lower()) if arrays["units"].size else None
    fps = float(rate[0]) if rate.size and np.isfinite(rate[0]) else None
    return RawPoints(_labels(arrays["labels"], positions.shape[1]), positions, fps, unit)


def _read_apart(path: PathLike, data: bytes) -> dict[str, Array]:
    """What the file holds, read by a process of its own: see `c3d_child`."""
    with tempfile.TemporaryDirectory() as folder:  # the library opens files by name, and not every name is ASCII
        source, target = Path(folder) / "in.c3d", Path(folder) / "out.npz"
        source.write_bytes(data)
        command = [sys.executable, "-P", str(_CHILD), str(source), str(target)]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=_PATIENCE)
            with np.load(target, allow_pickle=False) as arrays:
                return {name: arrays[name] for name in arrays.files}
        except (subprocess.SubprocessError, OSError, ValueError):
            raise FormatError(path, "it is no C3D file or is cut short; export it again.") from None


def _require_library(path: PathLike) -> None:
    if find_spec("ezc3d") is None:
        raise MissingExtraError(path, "C3D", "c3d")


def _gaps(positions: Float[Array, "T P 3"], residuals: Float[Array, "T P"]) -> Bool[Array, "T P"]:
    wrong = ~np.all(np.isfinite(positions) & (np.abs(positions) < MAX_NUMBER), axis=-1)
    return wrong | (residuals < 0) | np.all(positions == 0.0, axis=-1)


def _labels(given: Array, count: int) -> tuple[str, ...]:
    """The file's labels; spare ones where it has none, and numbers where two are alike."""
    spare = default_labels(count)
    names = [str(given[i]).strip()[:_MAX_LABEL] if i < given.size else "" for i in range(count)]
    names = [name or spare[i] for i, name in enumerate(names)]
    return tuple(names) if len(set(names)) == count else tuple(f"{name}_{i}" for i, name in enumerate(names))


def write_c3d(points: Points, path: PathLike) -> None:
    """Write points in millimetres, Z up; gaps get a residual of -1."""
    _require_library(path)
    import ezc3d

    file = ezc3d.c3d()
    seen = np.all(np.isfinite(points.positions), axis=-1)  # (T, P)
    data = np.ones((4, *points.positions.shape[1::-1]))
    data[:3] = np.moveaxis(np.where(seen[..., None], points.positions * 1000.0, 0.0), (0, 1, 2), (2, 1, 0))
    file["parameters"]["POINT"]["RATE"]["value"] = [float(points.fps)]
    file["parameters"]["POINT"]["LABELS"]["value"] = list(points.labels)
    file["parameters"]["POINT"]["UNITS"]["value"] = ["mm"]
    file["data"]["points"] = data
    file["data"]["meta_points"]["residuals"] = np.where(seen, 0.0, -1.0).T[None]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "points.c3d"
        file.write(str(copy))
        with replacing(path) as temporary:
            shutil.copyfile(copy, temporary)
