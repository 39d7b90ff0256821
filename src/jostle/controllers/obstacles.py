"""What stands in the way: posts and walls, as capsules and boxes. They tell points how far, and which way is out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from jostle.errors import CommandError
from jostle.maths import quat, vec
from jostle.types import Array, Float


@runtime_checkable
class Obstacle(Protocol):
    def distance(self, points: Float[Array, "n 3"]) -> tuple[Float[Array, "n"], Float[Array, "n 3"]]:
        """Metres from its surface, below zero inside, and the unit vector that leads out."""
        ...


@dataclass(frozen=True, eq=False)
class Post:
    """A capsule in the world."""

    start: Float[Array, "3"]
    end: Float[Array, "3"]
    radius: float

    def __post_init__(self) -> None:
        _check("post", (self.start, self.end, self.radius), self.radius)

    def distance(self, points: Float[Array, "n 3"]) -> tuple[Float[Array, "n"], Float[Array, "n 3"]]:
        line = np.asarray(self.end) - self.start
        share = np.clip((points - self.start) @ line / max(float(line @ line), 1e-12), 0.0, 1.0)
        away = points - (self.start + share[:, None] * line)
        length = vec.length(away)
        out = away / np.maximum(length, 1e-9)
        if np.min(length, initial=np.inf) < 1e-9:  # in the very middle any way across leads out
            out = np.where(length < 1e-9, _across(line), out)
        return length[:, 0] - self.radius, out


@dataclass(frozen=True, eq=False)
class Block:
    """A box in the world: centre, half sizes, and its turn about the vertical in radians."""

    centre: Float[Array, "3"]
    half: Float[Array, "3"]
    turn: float = 0.0

    def __post_init__(self) -> None:
        _check("block", (self.centre, self.half, self.turn), *self.half)

    def distance(self, points: Float[Array, "n 3"]) -> tuple[Float[Array, "n"], Float[Array, "n 3"]]:
        wxyz = quat.from_yaw(self.turn)
        local = quat.inv_apply(wxyz, points - self.centre)
        beyond = np.abs(local) - self.half
        outside = np.maximum(beyond, 0.0)
        length = vec.length(outside)
        face = np.argmax(beyond, axis=-1)  # the one that an inner point is nearest to
        inward = np.eye(3)[face]
        way = np.where(length < 1e-9, inward, outside / np.maximum(length, 1e-9))
        far = np.where(length[:, 0] > 0.0, length[:, 0], np.max(beyond, axis=-1))
        return far, quat.apply(wxyz, way * np.where(local < 0.0, -1.0, 1.0))


def _across(line: Float[Array, "3"]) -> Float[Array, "3"]:
    least = np.eye(3)[int(np.argmin(np.abs(line)))]
    along = line / max(float(np.linalg.norm(line)), 1e-12)
    aside = least - float(least @ along) * along
    return aside / np.linalg.norm(aside)


def _check(what: str, numbers: tuple[object, ...], *sizes: float) -> None:
    flat = np.concatenate([np.ravel(np.asarray(n, dtype=float)) for n in numbers])
    if not np.all(np.isfinite(flat)) or min(sizes) <= 0.0:
        raise CommandError(f"A {what} needs finite numbers, and sizes above zero.")
