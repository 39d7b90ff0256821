"""How a joint may turn: freely, by hinges, or not at all; and the angles that come nearest to a rotation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.errors import BodyError
from jostle.maths import quat
from jostle.types import Array, Float


@dataclass(frozen=True)
class Ball:
    """Turns any way, by at most `limit` radians from the rest pose where that is given."""

    limit: float | None = None


@dataclass(frozen=True)
class Hinge:
    """Turns about one axis of its parent's frame at rest, within `limits` (radians) where those are given."""

    axis: tuple[float, float, float]
    limits: tuple[float, float] | None = None


@dataclass(frozen=True)
class Hinges:
    """None to three hinges at right angles; the first turns the others. None at all is a weld."""

    hinges: tuple[Hinge, ...] = ()

    def __post_init__(self) -> None:
        axes = self.axes
        if len(axes) > 3 or not np.allclose(axes @ axes.T, np.eye(len(axes)), atol=1e-9):
            raise BodyError("A joint takes at most three hinges, and their axes must be unit vectors at right angles.")

    @property
    def axes(self) -> Float[Array, "n 3"]:
        return np.array([hinge.axis for hinge in self.hinges], dtype=float).reshape(-1, 3)


Dof = Ball | Hinges


def turn_by(hinges: Hinges, angles: Float[Array, "*t n"]) -> Float[Array, "*t 4"]:
    """The rotation that these angles make."""
    turned = quat.identity(angles.shape[:-1])
    for i, axis in enumerate(hinges.axes):
        turned = quat.mul(turned, quat.from_axis_angle(axis, angles[..., i]))
    return turned


def angles_of(hinges: Hinges, wxyz: Float[Array, "*t 4"]) -> Float[Array, "*t n"]:
    """The angles for a rotation; what the hinges cannot do is left out (one: the twist about it; two: the third)."""
    axes = hinges.axes
    if len(axes) == 0:
        return np.zeros((*wxyz.shape[:-1], 0))
    if len(axes) == 1:
        return 2.0 * np.arctan2(wxyz[..., 1:] @ axes[0], wxyz[..., 0])[..., None]
    third = np.cross(axes[0], axes[1])
    seen = np.concatenate([wxyz[..., :1], wxyz[..., 1:] @ np.stack([axes[0], axes[1], third]).T], axis=-1)
    angles = quat.to_euler(seen, "XYZ")
    if len(axes) == 3:
        angles[..., 2] *= np.sign(third @ axes[2])
    return angles[..., : len(axes)]
