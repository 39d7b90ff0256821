"""The offset vector: what a character still has to lose of where it came from, and of what pushed it (section 3).

It is added to the joint positions (and velocities) that a motion gives, and dies off like a damped spring,

    O'' = K_s O + K_d O',    K_s = -50, K_d = -10                                                           (1)

which has roots -5 +- 5i, so that no integration is needed:

    O(t)  = e^(-5t) [ O cos 5t + (O' + 5 O) sin 5t / 5 ]
    O'(t) = e^(-5t) [ O' cos 5t - (10 O + O') sin 5t ]

A transition adds what jumps. A push adds an impulse of velocity, m_i = m exp(-w d_i^2), d_i how far joint i is from the
pushed point. A worked number: m = 1 m/s moves a joint by 6.4 cm at most, 0.16 s later, and then back through zero. So
an impulse bends a body and does not turn where it goes; `serve` turns the response itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.types import Array, Float

K_S, K_D = -50.0, -10.0  # 1/s^2, 1/s
OMEGA = 6.0  # 1/m^2: a joint 0.34 m away gets a half
_DECAY, _TURN = -0.5 * K_D, float(np.sqrt(-K_S - 0.25 * K_D * K_D))


@dataclass(frozen=True, eq=False)
class Offset:
    value: Float[Array, "*b"]
    rate: Float[Array, "*b"]  # a second

    def after(self, dt: float) -> Offset:
        """What is left `dt` seconds later."""
        c, s = np.exp(-_DECAY * dt) * np.cos(_TURN * dt), np.exp(-_DECAY * dt) * np.sin(_TURN * dt)
        x, v = self.value, self.rate
        return Offset(c * x + s * (v + _DECAY * x) / _TURN, c * v - s * (_DECAY * v - K_S * x) / _TURN)

    def plus(self, value: Float[Array, "*b"], rate: Float[Array, "*b"]) -> Offset:
        return Offset(self.value + value, self.rate + rate)


def nothing(*shape: int) -> Offset:
    return Offset(np.zeros(shape), np.zeros(shape))


def impulse(
    positions: Float[Array, "J 3"], point: Float[Array, "3"], m: Float[Array, "3"], omega: float = OMEGA
) -> Float[Array, "J 3"]:
    """M: the velocity that a push gives to every joint, m at the pushed point and less farther away."""
    d = np.linalg.norm(positions - point, axis=-1)
    return m * np.exp(-omega * d * d)[:, None]
