"""What jostle ships: clips that it made itself (`python -m jostle.assets.make`), and walkers with their recipes.

Clips of a walker (`python -m jostle.assets.walked`) have folders of their own for those in which it is pushed, `pushed`
and `held_out`: there a JSON with the force lies beside each clip.
A walker is a bundle, `walkers/NAME.jostle`; the recipe that it was made with lies beside it, `walkers/NAME.toml`.
Those made without one of the terms of the objective lie in `walkers/ablations`; recipes begin at `walkers/starts`.
A character that is steered by a learnt policy is `policies/NAME.jostle` (`python -m jostle.assets.steered`).
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from jostle.errors import MotionError, unknown_name
from jostle.types import PathLike

__all__ = [
    "clip_names",
    "clip_path",
    "held_out_clips",
    "policy_names",
    "policy_path",
    "pushed_clips",
    "walker_folder",
    "walker_names",
    "walker_path",
]

_CLIPS, _WALKERS, _POLICIES = (
    Path(str(files("jostle.assets"))) / folder for folder in ("clips", "walkers", "policies")
)  # fmt: skip


def clip_names() -> tuple[str, ...]:
    """The names of the shipped clips, in alphabetical order."""
    return _names(_CLIPS, ".bvh")


def clip_path(name: str) -> Path:
    """Where the shipped clip of this name lies: `clip_path("walk")`."""
    return _path("shipped clip", name, _CLIPS, ".bvh")


def pushed_clips(folder: PathLike = _CLIPS) -> tuple[tuple[Path, Path], ...]:
    """The clips in which a walker is pushed, each with the JSON of its force; of the shipped ones unless told where."""
    return _pairs(Path(folder) / "pushed")


def held_out_clips(folder: PathLike = _CLIPS) -> tuple[tuple[Path, Path], ...]:
    """Likewise those that nothing may be made from: what was made is judged by them."""
    return _pairs(Path(folder) / "held_out")


def walker_folder() -> Path:
    return _WALKERS


def walker_names() -> tuple[str, ...]:
    """The names of the shipped walkers, in alphabetical order."""
    return _names(_WALKERS, ".jostle")


def walker_path(name: str) -> Path:
    """Where the shipped walker of this name lies: `walker_path("stocky")`."""
    return _path("shipped walker", name, _WALKERS, ".jostle")


def policy_names() -> tuple[str, ...]:
    """The names of the shipped characters that are steered, in alphabetical order."""
    return _names(_POLICIES, ".jostle")


def policy_path(name: str) -> Path:
    """Where the shipped steered character of this name lies: `policy_path("walk")`."""
    return _path("shipped steered character", name, _POLICIES, ".jostle")


def _names(folder: Path, ending: str) -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in folder.glob(f"*{ending}")))


def _pairs(folder: Path) -> tuple[tuple[Path, Path], ...]:
    return tuple((clip, clip.with_suffix(".json")) for clip in sorted(folder.glob("*.bvh")))


def _path(kind: str, name: str, folder: Path, ending: str) -> Path:
    if name not in _names(folder, ending):
        raise MotionError(unknown_name(kind, name, _names(folder, ending)))
    return folder / f"{name}{ending}"
