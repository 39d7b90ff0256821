"""The ground under a character: a plane that rises along X and may tilt while it is walked on, or a beam of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from jostle.maths import quat
from jostle.types import Array, Float


@dataclass(frozen=True)
class Floor:
    """A plane through the point (x, z), the same for every Y. `along` is where that point is on the plane itself.

    Tilting turns the plane about a line on it, which stays where it is in the world and on the plane: so nothing jumps
    under a foot on that line, and marks on the ground (a grid, footprints) stay with the ground.
    """

    slope: float = 0.0  # radians; positive rises along X
    x: float = 0.0
    z: float = 0.0
    along: float = 0.0  # metres, measured on the plane
    width: float = 0.0  # metres, of a beam along X in its middle; 0: no edges

    @property
    def normal(self) -> Float[Array, "3"]:
        return np.array([-np.sin(self.slope), 0.0, np.cos(self.slope)])

    @property
    def point(self) -> Float[Array, "3"]:
        return np.array([self.x, 0.0, self.z])

    @property
    def wxyz(self) -> Float[Array, "4"]:
        """The turn that takes the level ground to this one."""
        return quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), -self.slope)

    def height(self, x: float) -> float:
        """Of the plane at `x` (metres above the world's zero)."""
        return self.z + float(np.tan(self.slope)) * (x - self.x)

    def heights(self, x: Float[Array, "*n"]) -> Float[Array, "*n"]:
        return self.z + float(np.tan(self.slope)) * (x - self.x)

    def distance(self, x: float) -> float:
        """Where the point at `x` is on the plane itself: marks of the ground have fixed distances."""
        return self.along + (x - self.x) / float(np.cos(self.slope))

    def distances(self, x: Float[Array, "*n"]) -> Float[Array, "*n"]:
        return self.along + (x - self.x) / float(np.cos(self.slope))

    def tilted(self, slope: float, x: float) -> Floor:
        """Turned to another slope about the line at `x`."""
        return replace(self, slope=slope, x=x, z=self.height(x), along=self.distance(x))


LEVEL = Floor()
