"""The clips that jostle ships, made by its own procedural gait (`python -m jostle.assets.make`)."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from jostle.errors import MotionError, unknown_name

__all__ = ["clip_names", "clip_path"]

_CLIPS = Path(str(files("jostle.assets"))) / "clips"


def clip_names() -> tuple[str, ...]:
    """The names of the shipped clips, in alphabetical order."""
    return tuple(sorted(path.stem for path in _CLIPS.glob("*.bvh")))


def clip_path(name: str) -> Path:
    """Where the shipped clip of this name lies: `clip_path("walk")`."""
    if name not in clip_names():
        raise MotionError(unknown_name("shipped clip", name, clip_names()))
    return _CLIPS / f"{name}.bvh"
