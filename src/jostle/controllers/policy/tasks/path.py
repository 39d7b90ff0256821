"""Follow a path: a line of points on the ground, given once, or one by one while the character goes.

Theta is how far the path is to the left, and into which direction it goes there, as if it went straight on. Where it
bends, theta is seen anew at every frame; points a little ahead are looked at, so that corners are cut as people do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from jostle.controllers.policy.tasks.axes import Axis, direction
from jostle.controllers.policy.tasks.heading import towards
from jostle.controllers.policy.tasks.step import Step
from jostle.controllers.policy.tasks.target import seen_from
from jostle.controllers.policy.tasks.task import Task
from jostle.controllers.protocol import Command
from jostle.errors import CommandError
from jostle.features import Placement
from jostle.maths.angles import wrapped
from jostle.types import Array, Float

_NEW = 0.05  # metres: a target that is nearer to the last point is the same one
_BESIDE = np.array([-1.5, -0.75, -0.3, 0.0, 0.3, 0.75, 1.5])  # metres


@dataclass(frozen=True, eq=False)
class Way:
    """Points in the world, two at least, and how far along them the character is, in metres."""

    points: Float[Array, "n 2"]
    along: float = 0.0
    closed: bool = False

    @property
    def line(self) -> Float[Array, "m 2"]:
        return np.concatenate([self.points, self.points[:1]]) if self.closed else self.points

    @property
    def marks(self) -> Float[Array, "m"]:
        """How far along each point is."""
        return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(self.line, axis=0), axis=1))])

    def at(self, along: float | Float[Array, "n"]) -> Float[Array, "*n 2"]:
        marks, line = self.marks, self.line
        along = along % marks[-1] if self.closed else along
        return np.stack([np.interp(along, marks, line[:, i]) for i in range(2)], axis=-1)

    def advanced(self, place: Float[Array, "2"], ahead: float) -> Way:
        """As far along as the nearest point of the path that is not behind and not more than `ahead` before."""
        tries = self.along + np.linspace(0.0, ahead, 21)
        far = np.linalg.norm(self.at(tries) - place, axis=1)
        return replace(self, along=float(tries[np.argmin(far)]))


@dataclass(frozen=True)
class Follow(Task):
    """A path of (x, y) in metres, or, without one, what `Command.target` names point by point."""

    points: tuple[tuple[float, float], ...] = ()
    closed: bool = False
    ahead: float = 0.5  # metres: where its direction is looked at
    sharp: float = 2.0
    slowest: float = 0.3
    wide: float = 0.6  # metres beside it, at which a third of the reward is left
    count: int = 16

    name = "path"
    supports = frozenset({"target"})

    def __post_init__(self) -> None:
        try:
            given = np.array(self.points, dtype=float)
        except (TypeError, ValueError):
            given = np.zeros(1)
        if len(given) and (given.shape != (len(given), 2) or not np.all(np.isfinite(given)) or len(given) < 2):
            raise CommandError(f"A path has two points or more, each of two finite numbers, not {self.points}.")
        pairs: list[list[float]] = given.reshape(-1, 2).tolist()
        object.__setattr__(self, "points", tuple((x, y) for x, y in pairs))

    @property
    def axes(self) -> tuple[Axis, ...]:
        return Axis.at("aside", _BESIDE), direction(self.count)

    def reward(self, step: Step, theta: Float[Array, "*b 2"]) -> Float[Array, "*b"]:
        beside = np.exp(-np.abs(self.after(step, theta)[..., 0]) / self.wide)
        return beside * towards(step, theta[..., 1], self.sharp, self.slowest)

    def after(self, step: Step, theta: Float[Array, "*b 2"]) -> Float[Array, "*b 2"]:
        """A straight path stays where it is."""
        course = theta[..., 1]
        across = -np.sin(course) * step.travel[..., 0] + np.cos(course) * step.travel[..., 1]
        turned = wrapped(course - step.dt * step.travel[..., 2])
        return np.stack(np.broadcast_arrays(theta[..., 0] - step.dt * across, turned), axis=-1)

    def begin(self, at: Placement) -> Way:
        """The given path; without one, who has nowhere to go stays near where he is."""
        if self.points:
            return Way(np.array(self.points), 0.0, self.closed).advanced(np.array([at.x, at.y]), 0.0)
        here, way = np.array([at.x, at.y]), np.array([np.cos(at.heading), np.sin(at.heading)])
        return Way(np.stack([here, here + 0.01 * way]))

    def heard(self, wish: Any, command: Command, at: Placement) -> Way:
        """One point more, where a new one is named; and as far along as the character came."""
        if command.target is not None and not self.points:
            point = np.asarray(command.target, dtype=float)[:2]
            if np.linalg.norm(point - wish.points[-1]) > _NEW:
                wish = self._longer(wish, point, at)
        return wish.advanced(np.array([at.x, at.y]), self.ahead)

    def _longer(self, wish: Way, point: Float[Array, "2"], at: Placement) -> Way:
        """From its last point on; from where the character is, if it is there already."""
        if wish.along >= wish.marks[-1] - self.ahead:
            return Way(np.stack([np.array([at.x, at.y]), point]))
        return replace(wish, points=np.concatenate([wish.points, point[None]]))

    def seen(self, wish: Any, at: Placement) -> Float[Array, "2"]:
        """Where it ends, its last direction leads to its end."""
        here = np.array([at.x, at.y])
        first, then = wish.at(wish.along), wish.at(wish.along + self.ahead)
        way = then - first if np.linalg.norm(then - first) > 1e-6 else wish.line[-1] - here
        course = float(np.arctan2(way[1], way[0])) - at.heading
        off = seen_from(first, at)
        aside = -np.sin(course) * off[0] + np.cos(course) * off[1]
        return np.array([aside, wrapped(course)])
