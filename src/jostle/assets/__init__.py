"""What jostle ships: clips of its own procedural gait (`python -m jostle.assets.make`), and walkers with their recipes.

A walker is a bundle, `walkers/NAME.jostle`; the recipe that it was made with lies beside it, `walkers/NAME.toml`.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from jostle.errors import MotionError, unknown_name

__all__ = ["clip_names", "clip_path", "walker_names", "walker_path"]

_CLIPS = Path(str(files("jostle.assets"))) / "clips"
_WALKERS = Path(str(files("jostle.assets"))) / "walkers"


def clip_names() -> tuple[str, ...]:
    """The names of the shipped clips, in alphabetical order."""
    return tuple(sorted(path.stem for path in _CLIPS.glob("*.bvh")))


def clip_path(name: str) -> Path:
    """Where the shipped clip of this name lies: `clip_path("walk")`."""
    if name not in clip_names():
        raise MotionError(unknown_name("shipped clip", name, clip_names()))
    return _CLIPS / f"{name}.bvh"


def walker_names() -> tuple[str, ...]:
    """The names of the shipped walkers, in alphabetical order."""
    return tuple(sorted(path.stem for path in _WALKERS.glob("*.jostle")))


def walker_path(name: str) -> Path:
    """Where the shipped walker of this name lies: `walker_path("stocky")`."""
    if name not in walker_names():
        raise MotionError(unknown_name("shipped walker", name, walker_names()))
    return _WALKERS / f"{name}.jostle"
