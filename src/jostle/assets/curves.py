"""Normative joint curves of walking and running, as published figures.

Each curve is a table of knots, per cent of the gait cycle against degrees, from heel strike (0) to the next heel strike
of the same foot (100), and is read through a periodic cubic spline. Flexion and dorsiflexion are positive.
The thigh is measured from the vertical, so that it does not depend on how a laboratory defines the pelvis.

Walking at natural cadence: Winter, *The Biomechanics and Motor Control of Human Gait* (1991), and Perry & Burnfield,
*Gait Analysis* (2010). Running at about 3 m/s: Novacheck, "The biomechanics of running", Gait & Posture 7 (1998).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

from jostle.types import Array, Float

Curve = Callable[[Array], Array]


def _curve(knots: Mapping[int, float | int]) -> Curve:
    """Radians against cycles (1 is a whole cycle), periodic."""
    at = np.array([*knots, 100.0 + next(iter(knots))]) / 100.0
    values = np.radians([*knots.values(), next(iter(knots.values()))])
    return CubicSpline(at, values, bc_type="periodic")


@dataclass(frozen=True)
class Curves:
    """One side's joints against the phase of that side, in radians."""

    thigh: Curve
    knee: Curve
    ankle: Curve
    shoulder: Curve
    elbow: Curve


WALK = Curves(
    thigh=_curve(
        {
            0: 21,
            8: 18.5,
            14: 14.5,
            20: 9,
            30: -4,
            40: -14,
            49: -20,
            54: -20,
            61: -12.5,
            68: 0,
            76: 14,
            84: 23.5,
            91: 25,
            96: 23,
        }
    ),
    knee=_curve(
        {
            0: 5,
            5: 10,
            10: 16,
            15: 19,
            20: 17.5,
            30: 10,
            39: 7,
            46: 9.5,
            52: 17,
            58: 31,
            64: 50,
            70: 61,
            74: 62.5,
            80: 55,
            86: 38,
            92: 17,
            97: 5,
        }
    ),
    ankle=_curve(
        {
            0: 0,
            4: -4,
            7: -5.5,
            11: -4,
            20: 3,
            30: 7,
            44: 10.5,
            50: 7,
            56: -6,
            61: -18,
            64: -19,
            70: -11,
            77: -2.5,
            84: 1.5,
            92: 1,
        }
    ),
    shoulder=_curve({2: -23, 15: -19, 27: -8, 40: 5, 52: 10, 65: 6, 77: -7, 90: -19}),
    elbow=_curve({5: 15, 20: 18, 35: 28, 52: 37, 66: 32, 80: 21, 92: 16}),
)
RUN = Curves(
    thigh=_curve({0: 24, 8: 20, 18: 6, 28: -11, 37: -24, 43: -25, 50: -13, 60: 11, 70: 29, 78: 35, 86: 34, 94: 28}),
    knee=_curve(
        {
            0: 16,
            6: 28,
            14: 41,
            20: 39,
            30: 23,
            36: 16,
            42: 24,
            50: 55,
            58: 84,
            64: 92,
            70: 88,
            78: 68,
            86: 44,
            93: 28,
            97: 19,
        }
    ),
    ankle=_curve({0: 3, 6: 5, 14: 18, 20: 21, 27: 10, 33: -12, 38: -24, 44: -18, 55: 0, 68: 6, 85: 5}),
    shoulder=_curve({4: -25, 16: -6, 27: 7, 38: 11, 50: 5, 64: -14, 78: -35, 90: -40}),
    elbow=_curve({6: 90, 22: 101, 36: 106, 52: 101, 68: 92, 88: 86}),
)


def smooth(u: Float[Array, "*n"]) -> Float[Array, "*n"]:
    """From 0 to 1 over 0..1 with no speed and no acceleration at either end."""
    u = np.clip(u, 0.0, 1.0)
    return u**3 * (10.0 - 15.0 * u + 6.0 * u**2)


def fade_value(u: Float[Array, "*n"]) -> Float[Array, "*n"]:
    """From 1 to 0 over 0..1, with no speed and no acceleration at either end."""
    return 1.0 - smooth(u)


def fade_speed(u: Float[Array, "*n"]) -> Float[Array, "*n"]:
    """From 0 to 0 over 0..1, with speed 1 at the beginning and no acceleration at either end."""
    u = np.clip(u, 0.0, 1.0)
    return u * (1.0 - u) ** 3 * (1.0 + 3.0 * u)
