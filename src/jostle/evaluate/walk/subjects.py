"""Whose walk is measured: shipped walkers by name, or files."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from jostle import assets
from jostle.body import Ground
from jostle.controllers.walker.people import Person, walker_physics
from jostle.errors import CommandError, FileError, unknown_name
from jostle.types import Array, Float

if TYPE_CHECKING:
    from jostle.controllers.walker.walk import Walk

REPORTED = 0.001  # seconds: figures are measured at this step, although walkers are made at a larger one
_CHAPTER_3 = ("walker", "simbicon")  # the machines of those that are made for a world that is known


@dataclass(frozen=True, eq=False)
class Subject:
    """A walker under the name by which its figures are known; small, so that it travels between processes."""

    name: str
    person: Person
    machine: str  # one of SPACES
    values: Float[Array, "P"]
    ground: Ground

    @property
    def digest(self) -> str:
        """Different for every body, ground and parameter."""
        said = repr((self.person, self.machine, self.ground)).encode() + np.ascontiguousarray(self.values).tobytes()
        return hashlib.sha256(said).hexdigest()[:16]

    def walk(self, count: int, timestep: float = REPORTED, threads: int = 1) -> Walk:
        """A batch of this walker, not started yet."""
        from jostle.controllers.walker.walk import Walk

        return Walk(walker_physics(self.person, self.ground, timestep), count, self.machine, threads)

    def copies(self, count: int) -> Float[Array, "B P"]:
        return np.tile(self.values, (count, 1))


def find_subjects(names: Sequence[str]) -> list[Subject]:
    """These walkers (`stocky`, `walker:stocky`, or a file), or all of the thesis's chapter 3 that are shipped."""
    subjects = [read_subject(name) for name in names or assets.walker_names()]
    subjects = subjects if names else [subject for subject in subjects if subject.machine in _CHAPTER_3]
    if not subjects:
        raise CommandError("There is no walker to measure: no walker is shipped, so name a file with --walker.")
    known = [subject.name for subject in subjects]
    for name in known:
        if known.count(name) > 1:
            raise CommandError(f"Two of the walkers are called '{name}'; rename one of the files.")
    return subjects


def read_subject(name: str) -> Subject:
    from jostle.controllers.walker.walker import Walker
    from jostle.runtime import load_controller

    short = name.removeprefix("walker:")
    if short not in assets.walker_names() and not name.endswith(".jostle"):
        raise CommandError(unknown_name("shipped walker", short, assets.walker_names()) + " Or name a .jostle file.")
    path = assets.walker_path(short) if short in assets.walker_names() else Path(name)
    found = load_controller(path)
    if not isinstance(found, Walker):
        raise FileError(path, "it holds no walker, which is what `evaluate walk` measures.")
    return Subject(path.stem, found.person, found.machine, found.values, found.ground)
