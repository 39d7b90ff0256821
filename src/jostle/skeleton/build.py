"""What the sculptor of a person measures first, and what it hands over: pieces with a tone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.skeleton.cones import stature
from jostle.skeleton.loft import Frame, Mesh, frame_along
from jostle.skeleton.roles import find_roles
from jostle.skeleton.skeleton import Skeleton
from jostle.types import Array, Float

AHEAD = np.array([1.0, 0.0, 0.0])
UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class Piece:
    """A sculpted piece: whose joint it belongs to, its mesh in that joint's frame, and which tone it has."""

    joint: int
    mesh: Mesh
    tone: str
    side: str | None = None


@dataclass(frozen=True, eq=False)
class Build:
    """What the sculptor measures first."""

    skeleton: Skeleton
    tall: float
    hips: Float[Array, "3"]
    shoulders: Float[Array, "3"]
    frame: Frame  # up the trunk, to the left, ahead

    @property
    def trunk(self) -> float:
        return max(float(np.linalg.norm(self.shoulders - self.hips)), 1e-9)

    def at(self, role: str) -> Float[Array, "3"]:
        return self.skeleton.rest_positions[find_roles(self.skeleton)[role]]

    def half(self, limb: str) -> float:
        """Half of the distance between the left and the right joint of a pair."""
        return 0.5 * float(np.linalg.norm(self.at(f"left_{limb}") - self.at(f"right_{limb}")))


def measure(skeleton: Skeleton) -> Build:
    roles, at = find_roles(skeleton), skeleton.rest_positions
    hips = 0.5 * (at[roles["left_thigh"]] + at[roles["right_thigh"]])
    shoulders = 0.5 * (at[roles["left_upper_arm"]] + at[roles["right_upper_arm"]])
    return Build(skeleton, stature(skeleton), hips, shoulders, frame_along(shoulders - hips, AHEAD))
