"""What a walker feels: its angles and those of its parts in the world, its balance, and where its feet touch.

World-frame angles of a part are those of its up and forward vectors in the coronal, sagittal and transverse planes; a
foot's sagittal angle is that of its forward vector. Angles count about X, Y, Z by the right-hand rule in the frame
of the heading: X ahead, Y to the side of the swing leg, Z up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.body import Physics
from jostle.controllers.walker.mirror import Mirror
from jostle.controllers.walker.people import foot_corners
from jostle.maths import quat
from jostle.types import Array, Bool, Float

TOUCH = 0.002  # metres: a corner lower than this touches the ground
PLANTED = 3  # corners of foot or toe that make a stance foot planted


@dataclass(frozen=True, eq=False)
class Senses:
    """What a walker feels, in the mirror."""

    angles: Float[Array, "n 30"]
    rates: Float[Array, "n 30"]
    world: Float[Array, "n 4 3"]  # coronal, sagittal, transverse angles of torso, swing thigh, swing and stance foot
    turning: Float[Array, "n 4 3"]  # their angular velocities
    distance: Float[Array, "n 3"]  # from the stance ankle to the centre of mass
    velocity: Float[Array, "n 3"]  # of the centre of mass
    stride: Float[Array, "n 3"]  # from the stance ankle to the swing ankle
    low: Bool[Array, "n 4 6"]  # swing foot, stance foot, swing toe, stance toe: corners on the ground
    aside: Float[Array, "n"]  # of the centre of mass from the middle of a beam, to the side of the swing leg; else 0

    @property
    def planted(self) -> Bool[Array, "n"]:
        counts = self.low.T[:4, 1::2].sum(axis=0, dtype=np.int8)  # (2, n): of stance foot and toe
        return np.maximum(*counts) >= PLANTED

    @property
    def swing_touches(self) -> Bool[Array, "n"]:
        return np.any(self.low.T[:4, ::2], axis=(0, 1))

    @property
    def stubbed(self) -> Bool[Array, "n"]:
        """The top of the swing toe is on the ground."""
        return np.any(self.low.T[4:, 2], axis=0)


def world_angles(mirror: Mirror, frames: Float[Array, "9 6 n"]) -> Float[Array, "3 4 n"]:
    """Of torso, thigh and feet. Columns of a frame: 0 points forward, 2 up."""
    x, y = mirror.points(frames[0:3, :4], frames[3:6, :4])  # (3, 4, n): ahead and aside of each column
    z = frames[6:9, :4]
    world = np.empty_like(x)
    np.arctan2(-y[2], z[2], out=world[0])
    np.arctan2(x[2, :2], z[2, :2], out=world[1, :2])
    np.arctan2(-z[0, 2:], np.hypot(x[0, 2:], y[0, 2:]), out=world[1, 2:])
    np.arctan2(y[0], x[0], out=world[2])
    return world


def ground_normal(physics: Physics) -> Float[Array, "3"]:
    """Up, square to the ground."""
    wxyz = physics.model.geom("ground").quat
    return quat.apply(np.asarray(wxyz, dtype=float), np.array([0.0, 0.0, 1.0]))


def half_width(physics: Physics) -> float:
    """Metres from the middle of the ground to its edge; infinite where it has none."""
    ground = physics.model.geom("ground")
    return float(ground.size[1]) if ground.size[0] > 0.0 else np.inf


def corners(physics: Physics) -> Float[Array, "3 6 4 1"]:
    """Of a foot, a foot, a toe and a toe: four under the sole and two on top of the tip, in the joint's frame."""
    points = foot_corners(physics.body, "Left")
    no_top = points["Foot"][2:] + np.array([0.0, 0.0, 1.0])  # the top of a foot is out of reach
    foot = np.concatenate([points["Foot"], no_top])
    toe = np.concatenate([points["Toe"], points["Tip"]])
    return np.stack([foot, foot, toe, toe], axis=1).transpose(2, 0, 1)[..., None]
