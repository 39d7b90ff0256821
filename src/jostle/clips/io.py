"""`load_clip` and `save_clip`: any format, by the file's ending.

Each format lives in `formats` (points in `points` and `solve`) and is imported only when it is used.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path

from jostle.clips.clip import Clip
from jostle.errors import FileError
from jostle.types import PathLike

_READERS = {
    ".bvh": ("formats.bvh", "read_bvh"),
    ".amc": ("formats.asf", "read_amc"),
    ".glb": ("formats.gltf", "read_gltf"),
    ".gltf": ("formats.gltf", "read_gltf"),
    ".txt": ("solve", "read_solved"),
    ".csv": ("solve", "read_solved"),
    ".npz": ("solve", "read_solved"),
    ".c3d": ("solve", "read_solved"),
}
_WRITERS = {
    ".bvh": ("formats.bvh", "write_bvh"),
    ".glb": ("formats.gltf", "write_gltf"),
    ".gltf": ("formats.gltf", "write_gltf"),
    ".usd": ("formats.usd", "write_usd"),
    ".usda": ("formats.usd", "write_usd"),
    ".usdc": ("formats.usd", "write_usd"),
    ".txt": ("points", "write_clip_points"),
    ".csv": ("points", "write_clip_points"),
    ".npz": ("points", "write_clip_points"),
    ".c3d": ("points", "write_clip_points"),
}
READABLE, WRITABLE = tuple(_READERS), tuple(_WRITERS)


def load_clip(path: PathLike, **options: object) -> Clip:
    """Read a clip from any readable file. Options are the format's own: `unit` for BVH, `animation` for glTF …"""
    return _door(path, _READERS, "read", options)(path, **options)


def save_clip(clip: Clip, path: PathLike, **options: object) -> None:
    """Write a clip in the format that the path's ending names; an existing file is replaced only by a whole one."""
    _door(path, _WRITERS, "written", options)(clip, path, **options)


def _door(path: PathLike, formats: dict[str, tuple[str, str]], verb: str, options: Iterable[str]) -> Callable:
    ending = Path(path).suffix.lower()
    if ending not in formats:
        what = f"files ending in '{ending}'" if ending else "files without an ending"
        raise FileError(path, f"{what} cannot be {verb}; these can: {', '.join(formats)}.")
    module, function = formats[ending]
    door = getattr(import_module(f"jostle.clips.{module}"), function)
    known = list(inspect.signature(door).parameters)[1 if formats is _READERS else 2 :]
    strange = [option for option in options if option not in known]
    if strange:
        has = f"; it has: {', '.join(known)}" if known else ""
        raise FileError(path, f"{ending} has no option '{strange[0]}'{has}.")
    return door
