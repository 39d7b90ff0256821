"""Unit quaternions, scalar first (wxyz). Every function broadcasts over leading axes.

The module is the namespace: `quat.mul(a, b)`, `quat.apply(q, v)`. A quaternion `world_from_hips` takes vectors
of the hips' frame to the world: `quat.apply(world_from_hips, v)`.
"""

from __future__ import annotations

import numpy as np

from jostle.maths import vec
from jostle.types import Array, Float

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


def identity(shape: tuple[int, ...] = ()) -> Float[Array, "*b 4"]:
    q = np.zeros((*shape, 4))
    q[..., 0] = 1.0
    return q


def mul(a: Float[Array, "*#b 4"], b: Float[Array, "*#b 4"]) -> Float[Array, "*c 4"]:
    """The rotation b, then a."""
    if a.ndim == 1 and b.ndim == 1:  # the same numbers, in a quarter of the time
        return _mul(*a.tolist(), *b.tolist())
    aw, ax, ay, az = a[..., 0], a[..., 1], a[..., 2], a[..., 3]
    bw, bx, by, bz = b[..., 0], b[..., 1], b[..., 2], b[..., 3]
    out = np.empty(np.broadcast_shapes(a.shape, b.shape))
    out[..., 0] = aw * bw - ax * bx - ay * by - az * bz
    out[..., 1] = aw * bx + ax * bw + ay * bz - az * by
    out[..., 2] = aw * by - ax * bz + ay * bw + az * bx
    out[..., 3] = aw * bz + ax * by - ay * bx + az * bw
    return out


def _mul(aw: float, ax: float, ay: float, az: float, bw: float, bx: float, by: float, bz: float) -> Float[Array, "4"]:
    return np.array([
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    ])  # fmt: skip


def inv(q: Float[Array, "*b 4"]) -> Float[Array, "*b 4"]:
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def apply(q: Float[Array, "*#b 4"], v: Float[Array, "*#b 3"]) -> Float[Array, "*c 3"]:
    """Rotate v by q: v + 2 w (u x v) + 2 u x (u x v), with q = (w, u)."""
    if q.ndim == 1 and v.ndim == 1:
        return _apply(*q.tolist(), *v.tolist())
    w, x, y, z = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    vx, vy, vz = v[..., 0], v[..., 1], v[..., 2]
    tx, ty, tz = 2 * (y * vz - z * vy), 2 * (z * vx - x * vz), 2 * (x * vy - y * vx)
    out = np.empty((*np.broadcast_shapes(q.shape[:-1], v.shape[:-1]), 3))
    out[..., 0] = vx + w * tx + y * tz - z * ty
    out[..., 1] = vy + w * ty + z * tx - x * tz
    out[..., 2] = vz + w * tz + x * ty - y * tx
    return out


def _apply(w: float, x: float, y: float, z: float, vx: float, vy: float, vz: float) -> Float[Array, "3"]:
    tx, ty, tz = 2 * (y * vz - z * vy), 2 * (z * vx - x * vz), 2 * (x * vy - y * vx)
    return np.array([vx + w * tx + y * tz - z * ty, vy + w * ty + z * tx - x * tz, vz + w * tz + x * ty - y * tx])


def inv_apply(q: Float[Array, "*#b 4"], v: Float[Array, "*#b 3"]) -> Float[Array, "*c 3"]:
    return apply(inv(q), v)


def inv_mul(a: Float[Array, "*#b 4"], b: Float[Array, "*#b 4"]) -> Float[Array, "*c 4"]:
    """b as seen from a: inverse(a) b."""
    return mul(inv(a), b)


def normalise(q: Float[Array, "*b 4"]) -> Float[Array, "*b 4"]:
    return q / vec.length(q)


def positive(q: Float[Array, "*b 4"]) -> Float[Array, "*b 4"]:
    """The one of q and -q with a non-negative scalar part: the short way round."""
    return np.where(q[..., :1] < 0.0, -q, q)


def continuous(q: Float[Array, "T *b 4"]) -> Float[Array, "T *b 4"]:
    """Choose signs along the first axis so that neighbours lie in one hemisphere."""
    flips = np.sum(q[1:] * q[:-1], axis=-1) < 0.0  # (T-1, *b)
    sign = np.where(np.cumsum(flips, axis=0) % 2 == 1, -1.0, 1.0)
    out = q.copy()
    out[1:] *= sign[..., None]
    return out


def exp(v: Float[Array, "*b 3"]) -> Float[Array, "*b 4"]:
    """Rotation vector (axis times angle, radians) to quaternion."""
    half = 0.5 * vec.length(v)
    return np.concatenate([np.cos(half), 0.5 * np.sinc(half / np.pi) * v], axis=-1)


def log(q: Float[Array, "*b 4"]) -> Float[Array, "*b 3"]:
    """Quaternion to rotation vector, of length at most pi."""
    q = positive(q)
    sin_half = vec.length(q[..., 1:])
    angle = 2.0 * np.arctan2(sin_half, q[..., :1])
    small = sin_half < 1e-12
    factor = np.where(small, 2.0, angle / np.where(small, 1.0, sin_half))
    return factor * q[..., 1:]


def angle(q: Float[Array, "*b 4"]) -> Float[Array, "*b"]:
    """The size of the rotation, in [0, pi]."""
    return np.asarray(2.0 * np.arctan2(vec.length(q[..., 1:])[..., 0], np.abs(q[..., 0])))


def from_axis_angle(axis: Float[Array, "*#b 3"], radians: Float[Array, "*#b"] | float) -> Float[Array, "*c 4"]:
    return exp(axis * np.asarray(radians, dtype=float)[..., None])


def slerp(a: Float[Array, "*#b 4"], b: Float[Array, "*#b 4"], t: Float[Array, "*#b"] | float) -> Float[Array, "*c 4"]:
    """From a (t = 0) to b (t = 1) at constant speed, the short way round."""
    return mul(a, exp(np.asarray(t, dtype=float)[..., None] * log(inv_mul(a, b))))


def mean(q: Float[Array, "N *b 4"], weights: Float[Array, "N"] | None = None) -> Float[Array, "*b 4"]:
    """The rotation nearest to all of them: the top eigenvector of sum w q q' (Markley et al. 2007)."""
    w = np.ones(len(q)) if weights is None else weights
    scatter = np.einsum("n,n...i,n...j->...ij", w, q, q)
    return positive(np.linalg.eigh(scatter)[1][..., -1])


def between(a: Float[Array, "*#b 3"], b: Float[Array, "*#b 3"]) -> Float[Array, "*c 4"]:
    """The smallest rotation that takes direction a to direction b."""
    a, b = a / vec.length(a), b / vec.length(b)
    w = 1.0 + vec.dot(a, b)
    q = np.concatenate([w, vec.cross(a, b)], axis=-1)
    opposite = w[..., 0] < 1e-9
    if np.any(opposite):  # any axis across a serves
        least = np.eye(3)[np.argmin(np.abs(a), axis=-1)]
        half_turn = np.concatenate([np.zeros_like(w), vec.cross(a, least)], axis=-1)
        q = np.where(opposite[..., None], half_turn, q)
    return normalise(q)


def yaw(q: Float[Array, "*b 4"]) -> Float[Array, "*b"]:
    """The turn about the vertical (Z) in q = (turn about Z) (tilt), the swing-twist split: radians."""
    return np.asarray(2.0 * np.arctan2(q[..., 3], q[..., 0]))


def from_yaw(radians: Float[Array, "*b"] | float) -> Float[Array, "*b 4"]:
    half = 0.5 * np.asarray(radians, dtype=float)
    out = np.zeros((*half.shape, 4))
    out[..., 0], out[..., 3] = np.cos(half), np.sin(half)
    return out


def to_matrix(q: Float[Array, "*b 4"]) -> Float[Array, "*b 3 3"]:
    w, x, y, z = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    out = np.empty((*q.shape[:-1], 3, 3))
    out[..., 0, 0], out[..., 0, 1], out[..., 0, 2] = (
        1 - 2 * (y * y + z * z),
        2 * (x * y - w * z),
        2 * (x * z + w * y),
    )
    out[..., 1, 0], out[..., 1, 1], out[..., 1, 2] = (
        2 * (x * y + w * z),
        1 - 2 * (x * x + z * z),
        2 * (y * z - w * x),
    )
    out[..., 2, 0], out[..., 2, 1], out[..., 2, 2] = (
        2 * (x * z - w * y),
        2 * (y * z + w * x),
        1 - 2 * (x * x + y * y),
    )
    return out


def from_matrix(m: Float[Array, "*b 3 3"]) -> Float[Array, "*b 4"]:
    """Rotation matrix to quaternion, by whichever of the four forms divides by the largest number."""
    d0, d1, d2 = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    a, b, c = m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]
    d, e, f = m[..., 1, 0] + m[..., 0, 1], m[..., 0, 2] + m[..., 2, 0], m[..., 2, 1] + m[..., 1, 2]
    forms = np.stack(
        [
            np.stack([1 + d0 + d1 + d2, a, b, c], axis=-1),
            np.stack([a, 1 + d0 - d1 - d2, d, e], axis=-1),
            np.stack([b, d, 1 - d0 + d1 - d2, f], axis=-1),
            np.stack([c, e, f, 1 - d0 - d1 + d2], axis=-1),
        ],
        axis=-2,
    )  # (*b, form, 4)
    best = np.argmax(np.stack([forms[..., i, i] for i in range(4)], axis=-1), axis=-1)
    return normalise(np.take_along_axis(forms, best[..., None, None], axis=-2)[..., 0, :])


def from_euler(radians: Float[Array, "*b n"], order: str) -> Float[Array, "*b 4"]:
    """Intrinsic rotations: "ZXY" turns about Z, then the new X, then the new Y, which is how BVH lists channels."""
    q = identity(radians.shape[:-1])
    for i, axis in enumerate(order):
        half = 0.5 * radians[..., i]
        turn = np.zeros((*half.shape, 4))
        turn[..., 0], turn[..., 1 + "XYZ".index(axis)] = np.cos(half), np.sin(half)
        q = turn if i == 0 else mul(q, turn)
    return q


def to_euler(q: Float[Array, "*b 4"], order: str = "ZXY") -> Float[Array, "*b 3"]:
    """Intrinsic angles, as `from_euler` takes them. At gimbal lock the whole turn goes to the first axis.

    About three axes the middle angle lies in [-pi/2, pi/2]; where the first axis comes again ("ZXZ"), in [0, pi].
    """
    i, j, last = ("XYZ".index(axis) for axis in order)
    k = 3 - i - j
    sign = 1.0 if (i, j, k) in ((0, 1, 2), (1, 2, 0), (2, 0, 1)) else -1.0
    m = to_matrix(q)
    locked_turn = np.arctan2(sign * m[..., k, j], m[..., j, j])
    if last == i:
        locked = np.abs(m[..., i, i]) > 1.0 - 1e-12
        middle = np.arccos(np.clip(m[..., i, i], -1.0, 1.0))
        first = np.where(locked, locked_turn, np.arctan2(m[..., j, i], -sign * m[..., k, i]))
        third = np.where(locked, 0.0, np.arctan2(m[..., i, j], sign * m[..., i, k]))
    else:
        locked = np.abs(m[..., i, k]) > 1.0 - 1e-12
        middle = np.arcsin(np.clip(sign * m[..., i, k], -1.0, 1.0))
        first = np.where(locked, locked_turn, np.arctan2(-sign * m[..., j, k], m[..., k, k]))
        third = np.where(locked, 0.0, np.arctan2(-sign * m[..., i, j], m[..., i, i]))
    return np.stack([first, middle, third], axis=-1)


def angular_velocity(q: Float[Array, "T *b 4"], dt: float) -> Float[Array, "T *b 3"]:
    """World-frame angular velocity by central differences, one-sided at the ends: radians per second."""
    if len(q) < 2:
        return np.zeros((*q.shape[:-1], 3))
    step = log(mul(q[1:], inv(q[:-1]))) / dt  # (T-1, *b, 3)
    out = np.empty((*q.shape[:-1], 3))
    out[0], out[-1] = step[0], step[-1]
    out[1:-1] = log(mul(q[2:], inv(q[:-2]))) / (2 * dt)
    return out
