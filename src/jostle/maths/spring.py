"""Critically damped springs by half-life: the one knob an animator can guess.

A spring with half-life h covers half of what remains every h seconds, up to the small detour that a starting
velocity asks for. Exact for any dt, so a step of 1 s equals sixty steps of 1/60 s.
"""

from __future__ import annotations

import numpy as np

from jostle.types import Array, Float

HALF = 0.69314718056  # ln 2
_EPS = 1e-9


def damp(x: Float[Array, "*b"], goal: Float[Array, "*b"], halflife: float, dt: float) -> Float[Array, "*b"]:
    """First-order approach: half of the way every `halflife`."""
    return goal + (x - goal) * np.exp(-HALF * dt / max(halflife, _EPS))


def step(
    x: Float[Array, "*b"], v: Float[Array, "*b"], goal: Float[Array, "*b"], halflife: float, dt: float
) -> tuple[Float[Array, "*b"], Float[Array, "*b"]]:
    """Critically damped spring towards `goal`: the next position and velocity."""
    y = 2.0 * HALF / max(halflife, _EPS)  # half of the damping, which is critical
    offset = x - goal
    rise = v + offset * y
    fade = np.exp(-y * dt)
    return fade * (offset + rise * dt) + goal, fade * (v - rise * y * dt)


def decay(
    offset: Float[Array, "*b"], velocity: Float[Array, "*b"], halflife: float, t: Float[Array, "*t"] | float
) -> Float[Array, "*c"]:
    """What is left of an offset at time t: add it to a motion to leave its seam without a jump."""
    y = 2.0 * HALF / max(halflife, _EPS)
    time = np.asarray(t, dtype=float)
    time = time.reshape(time.shape + (1,) * offset.ndim)
    return np.exp(-y * time) * (offset + (velocity + offset * y) * time)
