"""Tasks that are asked for a point: theta are its polar coordinates around the character, as in section 7.1."""

from __future__ import annotations

from typing import Any

import numpy as np

from jostle.controllers.policy.tasks.step import Step
from jostle.controllers.policy.tasks.task import Task
from jostle.controllers.protocol import Command
from jostle.features import Placement
from jostle.types import Array, Float


class Targeted(Task):
    """Asked for `Command.target`. Theta is its direction, radians to the left, and how far away it is on the ground."""

    supports = frozenset({"target"})
    ahead: float = 1.0  # metres: where it is before anybody asks

    def after(self, step: Step, theta: Float[Array, "*b 2"]) -> Float[Array, "*b 2"]:
        return polar(step.seen_after(flat(theta)))

    def begin(self, at: Placement) -> Float[Array, "3"]:
        return np.array([at.x + self.ahead * np.cos(at.heading), at.y + self.ahead * np.sin(at.heading), 0.0])

    def heard(self, wish: Any, command: Command, at: Placement) -> Float[Array, "3"]:
        return wish if command.target is None else np.asarray(command.target, dtype=float)

    def seen(self, wish: Any, at: Placement) -> Float[Array, "2"]:
        return polar(seen_from(wish[:2], at))


def seen_from(point: Float[Array, "*b 2"], at: Placement) -> Float[Array, "*b 2"]:
    """Ahead and to the left of who stands there."""
    d, c, s = point - np.array([at.x, at.y]), np.cos(at.heading), np.sin(at.heading)
    return np.stack([c * d[..., 0] + s * d[..., 1], -s * d[..., 0] + c * d[..., 1]], axis=-1)


def flat(theta: Float[Array, "*b 2"]) -> Float[Array, "*b 2"]:
    """From polar coordinates to ahead and left."""
    return theta[..., 1:] * np.stack([np.cos(theta[..., 0]), np.sin(theta[..., 0])], axis=-1)


def polar(points: Float[Array, "*b 2"]) -> Float[Array, "*b 2"]:
    return np.stack([np.arctan2(points[..., 1], points[..., 0]), np.hypot(points[..., 0], points[..., 1])], axis=-1)
