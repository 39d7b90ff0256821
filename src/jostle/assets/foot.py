"""How a foot rolls over the ground it stands on: heel, sole, ball, toe tip, in that order, without sliding.

Perry & Burnfield call them the heel, ankle, forefoot and toe rockers. While the foot is pitched up it turns about the
back of the heel; flat, it rests; with the heel up it turns about the ball while the toes stay flat; last, the toes turn
about their tip. Each pivot is a point of the foot that does not move, so a planted foot cannot slide, whatever
the body does above it. The pitch is the only thing to choose, and it changes with no jump in speed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.assets.curves import smooth
from jostle.assets.figure import ANKLE_UP, BALL_AHEAD, BALL_UP, HEEL_BACK, TIP_UP, TOES
from jostle.types import Array, Float


@dataclass(frozen=True)
class Rollover:
    """When, in cycles after heel strike, and how far, in degrees: one foot's time on the ground."""

    strike: float  # pitch at heel strike, toes up
    flat: float  # the sole is down
    heel_off: float
    toe_roll: float  # the toes begin to lift
    toe_off: float
    push: float  # how far the heel end is up at toe off
    toe_push: float  # and the toes


@dataclass(frozen=True, eq=False)
class Planted:
    """The ankle from the spot where it stands when the foot is flat (forward, up), and pitches, toes up, in radians."""

    ahead: Float[Array, "n"]
    up: Float[Array, "n"]
    foot_pitch: Float[Array, "n"]
    toe_pitch: Float[Array, "n"]


def roll(rollover: Rollover, phase: Float[Array, "n"]) -> Planted:
    """Where the ankle is and how the foot is pitched, `phase` cycles after heel strike."""
    r = rollover
    heel = np.radians(r.strike) * (1.0 - smooth(phase / r.flat))
    push = np.radians(r.push) * _rise((phase - r.heel_off) / (r.toe_off - r.heel_off))
    toe = np.radians(r.toe_push) * _rise((phase - r.toe_roll) / (r.toe_off - r.toe_roll))
    a_x, a_z = _turned(HEEL_BACK, ANKLE_UP, heel)  # about the heel
    b_x, b_z = _turned(-BALL_AHEAD, ANKLE_UP - BALL_UP, -push)  # from the ball to the ankle
    c_x, c_z = _turned(-TOES, BALL_UP - TIP_UP, -toe)  # from the tip to the ball
    on_heel = push <= 0.0
    ahead = np.where(on_heel, a_x - HEEL_BACK, b_x + c_x + BALL_AHEAD + TOES)
    up = np.where(on_heel, a_z, b_z + c_z + TIP_UP)
    return Planted(ahead, up, heel - push, heel - toe)


def _turned(x: float, z: float, pitch: Array) -> tuple[Array, Array]:
    """The vector (x, z) of the side view pitched up by an angle."""
    return x * np.cos(pitch) - z * np.sin(pitch), x * np.sin(pitch) + z * np.cos(pitch)


def _rise(u: Array) -> Array:
    """From 0 to 1 over 0..1: slowly first, fastest at three quarters, and still rising at the end."""
    u = np.maximum(u, 0.0)
    return u**3 * (2.5 - 1.5 * u)
