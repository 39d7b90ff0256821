"""How the pelvis moves about the path: sway in three directions, and three small turns.

Amplitudes are those of adults at natural speed (Perry & Burnfield 2010; Murray, Drought & Kory 1964): up and down by
a few centimetres twice a cycle, highest over the standing foot; 4 cm from side to side; 10 degrees of turning and 7
of dropping in all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

from jostle.assets.path import Path
from jostle.maths import quat
from jostle.types import Array, Float

GRAVITY = 9.81
Sway = Callable[[Array], Array]  # phase in cycles (n,) to ahead, left, up in metres (n, 3)


@dataclass(frozen=True)
class Wobble:
    """Amplitudes (metres, degrees) and, in cycles after the left heel strike, when each is greatest.

    `ahead`, `up` and `tilt` repeat every step, the others every cycle.
    """

    ahead: tuple[float, float] = (0.0, 0.0)
    left: tuple[float, float] = (0.0, 0.0)
    up: tuple[float, float] = (0.0, 0.0)
    turn: tuple[float, float] = (0.0, 0.0)  # left hip back
    drop: tuple[float, float] = (0.0, 0.0)  # left hip up
    tilt: tuple[float, float] = (0.0, 0.0)  # forward, about `lean`
    lean: float = 0.0


def wave(pair: tuple[float, float], phase: Float[Array, "n"], times: int = 1) -> Float[Array, "n"]:
    return pair[0] * np.cos(2.0 * np.pi * times * (phase - pair[1]))


def harmonic_sway(wobble: Wobble) -> Sway:
    w = wobble
    return lambda phase: np.stack([wave(w.ahead, phase, 2), wave(w.left, phase), wave(w.up, phase, 2)], axis=-1)


def sampled_sway(offsets: Float[Array, "n 3"]) -> Sway:
    """A sway through samples evenly spaced over one cycle."""
    closed = np.concatenate([offsets, offsets[:1]])
    spline = CubicSpline(np.linspace(0.0, 1.0, len(closed)), closed, bc_type="periodic")
    return lambda phase: spline(np.mod(phase, 1.0))


@dataclass(frozen=True, eq=False)
class Pelvis:
    """The pelvis at any time: a path, a cycle, a height above the ground and what wobbles about them."""

    path: Path
    cycle: float  # seconds
    height: float
    wobble: Wobble
    sway: Sway

    def bank(self, t: Float[Array, "n"]) -> Float[Array, "n"]:
        """The lean into a turn that balances it: tan(bank) = v w / g. Left turns lean left, a negative turn about X."""
        return -np.arctan(self.path.speed * self.path.turning(t) / GRAVITY)

    def frame(self, t: Float[Array, "n"]) -> Float[Array, "n 4"]:
        """The path's heading, leaning into the turn: what the wobbles are measured in."""
        bank = quat.from_axis_angle(np.array([1.0, 0.0, 0.0]), self.bank(t))
        return quat.mul(quat.from_yaw(self.path.heading(t)), bank)

    def at(self, t: Float[Array, "n"]) -> tuple[Float[Array, "n 3"], Float[Array, "n 4"]]:
        """Position and orientation in the world."""
        phase, w = t / self.cycle, self.wobble
        frame = self.frame(t)
        offset = self.sway(phase) + np.array([0.0, 0.0, self.height])
        position = quat.apply(frame, offset)
        position[:, :2] += self.path.position(t)
        turn, drop, tilt = wave(w.turn, phase), wave(w.drop, phase), w.lean + wave(w.tilt, phase, 2)
        wobble = quat.from_euler(np.radians(np.stack([turn, drop, tilt], axis=-1)), "ZXY")
        return position, quat.mul(frame, wobble)
