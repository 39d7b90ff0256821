"""Euler curves that an animator can read: no jumps, and away from gimbal lock where that is possible.

A rotation has two triples of angles in a turn, (a, b, c) and (a + π, π - b, c + π), and whole turns may be added to
each angle. The curve takes, frame by frame, the triple nearest to the frame before. At gimbal lock (b = ±π/2) only
a + c or a - c is determined: c keeps its last value and a makes up for it.
"""

from __future__ import annotations

import numpy as np

from jostle.maths import quat
from jostle.types import Array, Float

ORDERS = ("ZXY", "ZYX", "YXZ", "XYZ", "XZY", "YZX")
_NEAR_LOCK = np.sin(np.radians(80.0))
_TURN = 2.0 * np.pi


def best_order(wxyz: Float[Array, "T J 4"], orders: tuple[str, ...] = ORDERS) -> str:
    """The order with the fewest poses within ten degrees of gimbal lock; of equals the first."""
    m = np.abs(quat.to_matrix(wxyz))  # |sin b| is the entry in the first axis' row and the last axis' column
    locked = [int(np.sum(m[..., "XYZ".index(o[0]), "XYZ".index(o[2])] > _NEAR_LOCK)) for o in orders]
    return orders[int(np.argmin(locked))]


def continuous_euler(wxyz: Float[Array, "T J 4"], order: str) -> Float[Array, "T J 3"]:
    """Intrinsic angles in radians whose curves do not jump."""
    angles = quat.to_euler(wxyz, order)
    steps = np.abs(np.diff(np.unwrap(angles, axis=0), axis=0)).max(axis=(0, 2), initial=0.0)
    lock = np.abs(np.cos(angles[..., 1])) < 2e-6  # (T, J)
    rough = (steps > 0.5 * np.pi) | lock.any(axis=0)  # only these joints need the walk over the frames
    angles[:, ~rough] = np.unwrap(angles[:, ~rough], axis=0)
    if rough.any():
        angles[:, rough] = _follow(angles[:, rough], lock[:, rough], order)
    return angles


def _follow(angles: Float[Array, "T n 3"], lock: Array, order: str) -> Float[Array, "T n 3"]:
    """Frame by frame the triple nearest to the one before."""
    other = np.stack([angles[..., 0] + np.pi, np.pi - angles[..., 1], angles[..., 2] + np.pi], axis=-1)
    parity = 1.0 if order in ("XYZ", "YZX", "ZXY") else -1.0
    out = angles.copy()
    for t in range(1, len(out)):
        last = out[t - 1]
        one, two = _nearest_turn(angles[t], last), _nearest_turn(other[t], last)
        far = np.abs(one - last).sum(axis=-1) > np.abs(two - last).sum(axis=-1)
        out[t] = np.where(far[:, None], two, one)
        if lock[t].any():
            held = _held(angles[t], last, parity)
            out[t, lock[t]] = held[lock[t]]
    return out


def _nearest_turn(angles: Array, last: Array) -> Array:
    return angles + _TURN * np.round((last - angles) / _TURN)


def _held(angles: Float[Array, "n 3"], last: Float[Array, "n 3"], parity: float) -> Float[Array, "n 3"]:
    """At lock the rotation depends on a + k c alone, k = ±1: keep the last c."""
    middle = _nearest_turn(angles[:, 1], last[:, 1])
    k = parity * np.sign(np.sin(angles[:, 1]))
    first = angles[:, 0] + k * (angles[:, 2] - last[:, 2])
    return np.stack([_nearest_turn(first, last[:, 0]), middle, last[:, 2]], axis=-1)
