"""Legs between a moving pelvis and planted feet.

A leg is eight numbers in each frame: the hip and the ankle as rotation vectors, the bend of the knee and of the toes.
Standing, they follow from where pelvis and foot are (closed form). Swinging, they follow the normative curves, plus
polynomials that start from the standing leg's angles and speeds at toe off and fade, and others that arrive at those of
the next heel strike: no jump, no snap, and the knee keeps the shape that people's knees have. (Accelerations are not
carried over: those of a nearly straight knee are so large that the swing would be spent on undoing them.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.assets.curves import Curves, fade_speed, fade_value
from jostle.assets.figure import HIP_APART, HIP_DOWN, SHIN, THIGH
from jostle.assets.foot import Planted, Rollover, roll
from jostle.assets.pelvis import Pelvis
from jostle.maths import quat
from jostle.types import Array, Float, Int

Y, DOWN = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, -1.0])

_FADE, _FADE_SPEED = 0.5, 0.2  # of the swing: how soon angles and speeds that differ from the curves fade away
_STEP = 1e-3  # seconds, for the derivatives at toe off and heel strike


@dataclass(frozen=True, eq=False)
class Legs:
    """Both legs of a gait. Sides are +1 (left) and -1 (right); the right leg is half a cycle behind."""

    pelvis: Pelvis
    curves: Curves
    rollover: Rollover
    step_width: float
    toe_out: float  # degrees
    over: float  # cycles from heel strike to when the pelvis passes over the ankle
    lift: float  # degrees of extra bending in swing

    def angles(self, side: int, t: Float[Array, "n"]) -> Float[Array, "n 8"]:
        """Hip (3), knee, ankle (3), toes."""
        count, phase = self._count(side, t)
        standing = phase < self.rollover.toe_off
        out = np.empty((len(t), 8))
        out[standing] = self._standing(side, count[standing], t[standing])
        out[~standing] = self._swinging(side, count[~standing], t[~standing])
        return out

    def swing(self, side: int, t: Float[Array, "n"]) -> Float[Array, "n"]:
        """How much of its swing a leg has done: 0 while it stands."""
        phase = self._count(side, t)[1]
        return np.maximum((phase - self.rollover.toe_off) / (1.0 - self.rollover.toe_off), 0.0)

    def hip(self, side: int, t: Float[Array, "n"]) -> Float[Array, "n 3"]:
        position, wxyz = self.pelvis.at(t)
        return position + quat.apply(wxyz, np.array([0.0, side * HIP_APART, -HIP_DOWN]))

    def ankle(self, side: int, count: Int[Array, "n"], t: Float[Array, "n"]) -> tuple[Array, Array, Planted]:
        """Of the foot that stands for the `count`-th time: where its ankle is, its yaw, and its roll."""
        strike = self._strike(side, count)
        over = strike + self.over * self.pelvis.cycle
        heading = self.pelvis.path.heading(over)
        aside = side * 0.5 * self.step_width * np.stack([-np.sin(heading), np.cos(heading)], axis=-1)
        yaw = heading + side * np.radians(self.toe_out)
        planted = roll(self.rollover, (t - strike) / self.pelvis.cycle)
        ahead = planted.ahead[:, None] * np.stack([np.cos(yaw), np.sin(yaw)], axis=-1)
        ground = self.pelvis.path.position(over) + aside + ahead
        return np.column_stack([ground, planted.up]), yaw, planted

    def room(self, side: int, t: Float[Array, "n"], straightest: float) -> float:
        """How much the pelvis could rise, in metres, before a standing knee bends less than `straightest` radians."""
        count, phase = self._count(side, t)
        standing = phase < self.rollover.toe_off
        t, count = t[standing], count[standing]
        apart = self.hip(side, t) - self.ankle(side, count, t)[0]
        reach = np.sqrt(THIGH**2 + SHIN**2 + 2.0 * THIGH * SHIN * np.cos(straightest))
        return float(np.min(np.sqrt(reach**2 - np.sum(apart[:, :2] ** 2, axis=-1)) - apart[:, 2]))

    def _count(self, side: int, t: Array) -> tuple[Array, Array]:
        cycles = t / self.pelvis.cycle - (0.0 if side > 0 else 0.5)
        count = np.floor(cycles + 1e-9).astype(int)
        return count, cycles - count

    def _strike(self, side: int, count: Array) -> Array:
        return (count + (0.0 if side > 0 else 0.5)) * self.pelvis.cycle

    def _standing(self, side: int, count: Array, t: Array) -> Array:
        hip = self.hip(side, t)
        ankle, yaw, planted = self.ankle(side, count, t)
        pelvis = self.pelvis.at(t)[1]
        facing = quat.from_yaw(0.5 * (self.pelvis.path.heading(t) + yaw))
        thigh, shin = leg_between(hip, ankle, facing)
        foot = quat.mul(quat.from_yaw(yaw), quat.from_axis_angle(Y, -planted.foot_pitch))
        return np.column_stack(
            [
                quat.log(quat.inv_mul(pelvis, thigh)),
                quat.log(quat.inv_mul(thigh, shin))[:, 1],
                quat.log(quat.inv_mul(shin, foot)),
                planted.foot_pitch - planted.toe_pitch,
            ]
        )

    def _swinging(self, side: int, count: Array, t: Array) -> Array:
        lift_off = self._strike(side, count) + self.rollover.toe_off * self.pelvis.cycle
        landing = self._strike(side, count + 1)
        swing = landing - lift_off
        after = _fading(t - lift_off, self._misfit(side, count, lift_off, -_STEP), swing)
        before = _fading(landing - t, self._misfit(side, count + 1, landing, _STEP), -swing)
        return self._normative(side, t) + after + before

    def _misfit(self, side: int, count: Array, t: Array, h: float) -> Float[Array, "2 n 8"]:
        """The standing leg less the normative one at t: value and speed, by differences on the standing side."""
        f = [self._standing(side, count, t + i * h) - self._normative(side, t + i * h) for i in range(3)]
        return np.stack([f[0], (-1.5 * f[0] + 2.0 * f[1] - 0.5 * f[2]) / h])

    def _normative(self, side: int, t: Array) -> Array:
        phase = self._count(side, t)[1]
        bump = np.radians(self.lift) * np.sin(np.pi * self.swing(side, t)) ** 4
        pelvis = self.pelvis.at(t)[1]
        turned_out = quat.from_yaw(np.full(len(t), 0.5 * side * np.radians(self.toe_out)))
        flexed = quat.from_axis_angle(Y, -(self.curves.thigh(phase) + 0.5 * bump))
        thigh = quat.mul(self.pelvis.frame(t), quat.mul(turned_out, flexed))
        nothing = np.zeros(len(t))
        hip = quat.log(quat.inv_mul(pelvis, thigh))
        return np.column_stack(
            [hip, self.curves.knee(phase) + bump, nothing, -self.curves.ankle(phase) - 0.6 * bump, nothing, nothing]
        )


def _fading(t: Array, misfit: Float[Array, "2 n 8"], swing: Array) -> Array:
    """Offsets that start with these angles and speeds, `t` seconds after (before, if `swing` is negative) the start."""
    angles, speeds = misfit
    span, short = _FADE * swing, _FADE_SPEED * swing
    return fade_value(t / np.abs(span))[:, None] * angles + (fade_speed(t / np.abs(short)) * short)[:, None] * speeds


def leg_between(
    hip: Float[Array, "n 3"], ankle: Float[Array, "*#n 3"], facing: Float[Array, "n 4"]
) -> tuple[Float[Array, "n 4"], Float[Array, "n 4"]]:
    """World rotations of thigh and shin, by the law of cosines, with the knee ahead.

    `skeleton.ik` eases a leg off before it is straight, which is right for edits; here the foot must not give way.
    """
    aim = ankle - hip
    d = np.linalg.norm(aim, axis=-1)
    along = quat.mul(quat.between(DOWN, aim), facing)
    at_hip = np.arccos(np.clip((THIGH**2 + d**2 - SHIN**2) / (2.0 * THIGH * d), -1.0, 1.0))
    at_knee = np.arccos(np.clip((THIGH**2 + SHIN**2 - d**2) / (2.0 * THIGH * SHIN), -1.0, 1.0))
    thigh = quat.mul(along, quat.from_axis_angle(Y, -at_hip))
    return thigh, quat.mul(thigh, quat.from_axis_angle(Y, np.pi - at_knee))


def leg_rotations(angles: Float[Array, "n 8"]) -> tuple[Array, Array, Array, Array]:
    """Local rotations of thigh, shin, foot and toes."""
    return (
        quat.exp(angles[:, :3]),
        quat.from_axis_angle(Y, angles[:, 3]),
        quat.exp(angles[:, 4:7]),
        quat.from_axis_angle(Y, angles[:, 7]),
    )
