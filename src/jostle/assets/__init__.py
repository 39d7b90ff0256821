"""What jostle ships: clips of its own procedural gait (`python -m jostle.assets.make`), and walkers with their recipes.

A walker is a bundle, `walkers/NAME.jostle`; the recipe that it was made with lies beside it, `walkers/NAME.toml`.
Those made without one of the terms of the objective lie in `walkers/ablations`; recipes begin at `walkers/starts`.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from jostle.errors import MotionError, unknown_name

__all__ = ["clip_names", "clip_path", "walker_folder", "walker_names", "walker_path"]

_CLIPS, _WALKERS = (Path(str(files("jostle.assets"))) / folder for folder in ("clips", "walkers"))


def clip_names() -> tuple[str, ...]:
    """The names of the shipped clips, in alphabetical order."""
    return _names(_CLIPS, ".bvh")


def clip_path(name: str) -> Path:
    """Where the shipped clip of this name lies: `clip_path("walk")`."""
    return _path("shipped clip", name, _CLIPS, ".bvh")


def walker_folder() -> Path:
    return _WALKERS


def walker_names() -> tuple[str, ...]:
    """The names of the shipped walkers, in alphabetical order."""
    return _names(_WALKERS, ".jostle")


def walker_path(name: str) -> Path:
    """Where the shipped walker of this name lies: `walker_path("stocky")`."""
    return _path("shipped walker", name, _WALKERS, ".jostle")


def _names(folder: Path, ending: str) -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in folder.glob(f"*{ending}")))


def _path(kind: str, name: str, folder: Path, ending: str) -> Path:
    if name not in _names(folder, ending):
        raise MotionError(unknown_name(kind, name, _names(folder, ending)))
    return folder / f"{name}{ending}"
