"""Labelled points: where joints or markers were in every frame, before any skeleton is put through them.

| ending | what is in it | up unless said | unit unless said |
|---|---|---|---|
| .txt | one frame a line, x y z of each point, commas or blanks between | Y | guessed |
| .csv | a header `time, Hips.x, Hips.y, Hips.z, …` (or `Hips_x`), one frame a line | Z | guessed |
| .npz | `positions` (T, P, 3), `labels`, `fps`, and `parents` where the tree is known | Z | metres |
| .c3d | see `clips.formats.c3d` | Z | what the file says |

A gap (an empty cell, `nan`, a C3D point without residual) is NaN and stays NaN: the solver knows what to do with it.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np

from jostle.clips.clip import Clip
from jostle.clips.formats.text import MAX_NUMBER, MAX_VALUES
from jostle.clips.formats.units import checked_unit
from jostle.errors import FileError, FormatError, MotionError
from jostle.files import read_bytes, write_bytes
from jostle.types import Array, Float, PathLike

DEFAULT_FPS = 60.0  # for text that does not say: the rate of the dog recordings whose format it is
_DOORS = {".txt": "formats.points_text", ".csv": "formats.points_text", ".npz": "points", ".c3d": "formats.c3d"}
_UP = {".txt": "Y"}
_AXES = {"Y": [2, 0, 1], "Z": [0, 1, 2]}  # which of the file's axes are jostle's forward, left and up


@dataclass(frozen=True, eq=False)
class Points:
    """T frames of P labelled points: metres, Z up, X forward. NaN where a point was not seen.

    `parents` is the tree that joins them, where one is known: -1 for the root.
    """

    labels: tuple[str, ...]
    positions: Float[Array, "T P 3"]
    fps: float = DEFAULT_FPS
    name: str = "points"
    parents: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        frames, points = self.positions.shape[:2]
        if frames == 0 or points == 0:
            raise MotionError(f"'{self.name}' holds no points.")
        if len(self.labels) != points:
            raise MotionError(f"'{self.name}' has {points} points but {len(self.labels)} labels.")
        if len(set(self.labels)) != points:
            twice = next(label for label in self.labels if self.labels.count(label) > 1)
            raise MotionError(f"Two points of '{self.name}' are called '{twice}'; labels must differ.")
        if not (np.isfinite(self.fps) and self.fps > 0):
            raise MotionError(f"'{self.name}' has {self.fps} frames a second; the rate must be positive.")
        if self.parents is not None and len(self.parents) != points:
            raise MotionError(f"'{self.name}' has {points} points but {len(self.parents)} parents.")


@dataclass(frozen=True, eq=False)
class RawPoints:
    """What a file holds, in its own unit and axes; None where it does not say."""

    labels: tuple[str, ...]
    positions: Float[Array, "T P 3"]
    fps: float | None = None
    unit: float | None = None
    parents: tuple[int, ...] | None = None


def read_points(path: PathLike, fps: float | None = None, unit: float | None = None, up: str | None = None) -> Points:
    """Labelled points from .txt, .csv, .npz or .c3d.

    `fps`, `unit` (metres per unit of the file) and `up` ("Y" or "Z") overrule what the file says or suggests.
    """
    ending = Path(path).suffix.lower()
    raw: RawPoints = _door(path, "read")(path)
    axes = _AXES.get((up or _UP.get(ending, "Z")).upper())
    if axes is None:
        raise MotionError(f"Up is 'Y' or 'Z', not '{up}'.")
    positions = raw.positions[..., axes]
    if not np.any(np.all(np.isfinite(positions), axis=-1)):
        raise FormatError(path, "no point was seen in any frame; export the recording again.")
    scale = checked_unit(unit) if unit is not None else (raw.unit or _guess_unit(positions))
    rate = fps or raw.fps or DEFAULT_FPS
    return Points(raw.labels, positions * scale, float(rate), Path(path).stem, raw.parents)


def write_points(points: Points, path: PathLike) -> None:
    """Write .txt (Y up), .csv, .npz or .c3d (Z up); metres, but millimetres in C3D."""
    _door(path, "write")(points, path)


def points_of(clip: Clip) -> Points:
    """The joints of a clip as points that know their tree."""
    parents = tuple(int(p) for p in clip.skeleton.parents)
    return Points(clip.skeleton.names, clip.positions, clip.fps, clip.name, parents)


def write_clip_points(clip: Clip, path: PathLike) -> None:
    """Write where a clip's joints are, without its rotations."""
    write_points(points_of(clip), path)


def default_labels(count: int) -> tuple[str, ...]:
    return tuple(f"Point{i:02d}" for i in range(count))


def _door(path: PathLike, verb: str) -> Callable:
    ending = Path(path).suffix.lower()
    if ending not in _DOORS:
        verbs = {"read": "read", "write": "written"}
        raise FileError(path, f"points cannot be {verbs[verb]} from '{ending}'; these will do: {', '.join(_DOORS)}.")
    return getattr(import_module(f"jostle.clips.{_DOORS[ending]}"), f"{verb}_{ending[1:]}")


def _guess_unit(positions: Float[Array, "T P 3"]) -> float:
    """Metre, centimetre or millimetre: whichever brings the body's largest extent nearest to a metre.

    Millimetres must make it e times as near, as for skeletons (`formats.units`).
    """
    seen = np.where(np.isfinite(positions), positions, np.nan)
    rows = ~np.all(np.isnan(seen), axis=(1, 2))
    spread = np.nanmax(seen[rows], axis=1) - np.nanmin(seen[rows], axis=1)  # (T, 3)
    size = float(np.median(np.nanmax(spread, axis=-1)))
    if size <= 0.0:
        return 1.0
    return min((1.0, 0.01, 0.001), key=lambda unit: abs(np.log(size * unit)) + (unit == 0.001))


def read_npz(path: PathLike) -> RawPoints:
    arrays = _load_arrays(path, read_bytes(path))
    if "positions" not in arrays:
        held = ", ".join(sorted(arrays)) or "nothing"
        raise FormatError(
            path, f"there is no array 'positions' in it, only {held}; save one of shape (frames, points, 3)."
        )
    positions = arrays["positions"]
    if positions.ndim != 3 or positions.shape[-1] != 3 or positions.dtype.kind not in "fiu" or 0 in positions.shape:
        raise FormatError(
            path, f"'positions' is {positions.dtype} {positions.shape}; it must be numbers (frames, points, 3)."
        )
    positions = np.asarray(positions, dtype=float)
    if np.any(np.isinf(positions)) or np.nanmax(np.abs(positions), initial=0.0) > MAX_NUMBER:
        raise FormatError(path, "'positions' holds infinite or absurdly large numbers; use NaN for gaps.")
    labels = arrays.get("labels")
    names = default_labels(positions.shape[1]) if labels is None else tuple(str(label) for label in np.ravel(labels))
    check_labels(path, names, positions.shape[1])
    return RawPoints(names, positions, _rate(path, arrays), 1.0, _parents(path, arrays, positions.shape[1]))


def _load_arrays(path: PathLike, data: bytes) -> dict[str, Array]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            total = sum(item.file_size for item in archive.infolist())
            if total > 8 * MAX_VALUES:
                raise FormatError(path, f"it unpacks to {total // 2**20} MB; cut it into shorter takes.")
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except (
        zipfile.BadZipFile,
        zlib.error,
        ValueError,
        KeyError,
        EOFError,
        OSError,
        NotImplementedError,
        RuntimeError,
        SyntaxError,
        TypeError,
        OverflowError,
        MemoryError,
    ):
        raise FormatError(path, "it is no whole .npz of plain arrays; save it again with numpy.savez.") from None


def _rate(path: PathLike, arrays: dict[str, Array]) -> float | None:
    given = arrays.get("fps")
    if given is None:
        return None
    if given.size != 1 or given.dtype.kind not in "fiu" or not (np.isfinite(given).all() and given.ravel()[0] > 0):
        raise FormatError(path, "'fps' must be one positive number.")
    return float(given.ravel()[0])


def _parents(path: PathLike, arrays: dict[str, Array], count: int) -> tuple[int, ...] | None:
    given = arrays.get("parents")
    if given is None:
        return None
    if given.shape != (count,) or given.dtype.kind not in "iu":
        raise FormatError(path, f"'parents' must be {count} whole numbers, -1 for the root.")
    return tuple(int(p) for p in given)


def check_labels(path: PathLike, labels: Sequence[str], count: int) -> None:
    if len(labels) != count:
        raise FormatError(path, f"there are {len(labels)} labels for {count} points; give each point one.")
    if len(set(labels)) != count:
        twice = next(label for label in labels if list(labels).count(label) > 1)
        raise FormatError(path, f"two points are called '{twice[:60]}'; rename one of them.")


def write_npz(points: Points, path: PathLike) -> None:
    arrays = {"positions": points.positions, "labels": np.array(points.labels), "fps": np.array(points.fps)}
    if points.parents is not None:
        arrays["parents"] = np.array(points.parents)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    write_bytes(path, buffer.getvalue())
