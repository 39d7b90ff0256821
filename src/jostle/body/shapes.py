"""What a body touches the world with: capsules, boxes, and the corners of its soles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.types import Array, Float


@dataclass(frozen=True, eq=False)
class Capsule:
    """A line with a radius; in the frame of the joint that carries it."""

    joint: int
    start: Float[Array, "3"]
    end: Float[Array, "3"]
    radius: float

    @property
    def volume(self) -> float:
        length = float(np.linalg.norm(self.end - self.start))
        return np.pi * self.radius**2 * (length + 4.0 / 3.0 * self.radius)


@dataclass(frozen=True, eq=False)
class Box:
    """Centre, half sizes and the rotation of its axes; in the frame of the joint that carries it."""

    joint: int
    centre: Float[Array, "3"]
    half: Float[Array, "3"]
    wxyz: Float[Array, "4"]

    @property
    def volume(self) -> float:
        return float(8.0 * np.prod(self.half))


Shape = Capsule | Box


@dataclass(frozen=True, eq=False)
class Sole:
    """The corners on which a foot (or a paw) stands: heel, ball and toe, inner and outer.

    `joints` says which joint carries each corner and `points` where, in that joint's frame.
    """

    name: str  # "left_foot", or the joint's own name for an animal
    labels: tuple[str, ...]  # "left_heel_in", …: the names of the sites in a simulation
    joints: tuple[int, ...]
    points: Float[Array, "n 3"]


def radius_for(volume: float, length: float) -> float:
    """The radius of the capsule of this volume whose straight part has this length: pi r^2 (l + 4 r / 3) = v."""
    radius = np.cbrt(0.75 * volume / np.pi)  # of the ball, for a line of no length
    for _ in range(40):  # Newton's method; the cubic is convex for r > 0, so from above it descends to the root
        value = np.pi * radius**2 * (length + 4.0 / 3.0 * radius) - volume
        radius -= value / (np.pi * radius * (2.0 * length + 4.0 * radius))
    return float(radius)
