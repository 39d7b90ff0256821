"""Triangles to pixels in NumPy: which triangle is in front at every pixel, and where on it the pixel lies.

Triangles are cut into spans, one for each row of pixels they cross; a span's pixels are consecutive, so all spans of
all triangles expand into one flat list of samples without a loop. The nearest sample of each pixel then wins
(`np.maximum.at` on inverse depth). A mannequin of 8,000 triangles takes some tens of milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.types import Array, Float, Int


@dataclass(frozen=True, eq=False)
class Samples:
    """One entry for every covered pixel: its flat index, the face in front, and where on that face it lies.

    A quantity q given at the corners has the value q0 + w1 (q1 - q0) + w2 (q2 - q0) at the pixel.
    """

    pixel: Int[Array, "k"]
    face: Int[Array, "k"]
    w1: Float[Array, "k"]
    w2: Float[Array, "k"]
    nearness: Float[Array, "k"]  # inverse depth


def rasterise(
    xy: Float[Array, "n 2"], nearness: Float[Array, "n"], faces: Int[Array, "m 3"], width: int, height: int
) -> Samples:
    """The front faces seen on a grid of pixels whose centres lie at +0.5. Counter-clockwise faces (y down) are seen."""
    corners = xy[faces].astype(np.float64)  # (m, 3, 2)
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    area = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    keep = np.flatnonzero((area < -1e-9) & (nearness[faces] > 0.0).all(axis=1))
    corners, area = corners[keep], area[keep]
    depth = nearness[faces[keep]].astype(np.float64)  # (f, 3)
    weights = _weights(corners, area)  # (f, 2, 3)
    slope = np.einsum("fw,fwk->fk", depth[:, 1:] - depth[:, :1], weights)  # (f, 3): nearness = s0 x + s1 y + s2
    slope[:, 2] += depth[:, 0]

    face, row, first, count = _spans(corners, width, height)
    start = np.cumsum(count) - count
    run = np.arange(int(count.sum()))
    pixel = run + np.repeat(row * width + first - start, count)  # (samples,)
    at_first = slope[face, 0] * (first + 0.5) + slope[face, 1] * (row + 0.5) + slope[face, 2]
    per_pixel = slope[face, 0]
    near = np.repeat(at_first - per_pixel * start, count) + np.repeat(per_pixel, count) * run
    near = near.astype(np.float32)
    front = np.zeros(width * height, dtype=np.float32)
    np.maximum.at(front, pixel, near)
    winner = np.full(width * height, -1)
    seen = near >= front[pixel]
    winner[pixel[seen]] = np.repeat(face, count)[seen]
    return _finish(winner, front, weights, keep, width)


def _weights(corners: Float[Array, "f 3 2"], area: Float[Array, "f"]) -> Float[Array, "f 2 3"]:
    """Barycentric weights of corners 1 and 2 as affine functions of the pixel: w = c0 x + c1 y + c2."""
    x, y = corners[..., 0], corners[..., 1]
    out = np.empty((len(area), 2, 3))
    out[:, 0, 0], out[:, 0, 1] = y[:, 2] - y[:, 0], x[:, 0] - x[:, 2]
    out[:, 1, 0], out[:, 1, 1] = y[:, 0] - y[:, 1], x[:, 1] - x[:, 0]
    out[..., :2] /= area[:, None, None]
    out[..., 2] = -(out[..., 0] * x[:, :1] + out[..., 1] * y[:, :1])
    return out


def _spans(corners: Float[Array, "f 3 2"], width: int, height: int) -> tuple[Array, Array, Array, Array]:
    """(face, row, first column, columns) for every row that a face crosses. A pixel is covered if its centre is."""
    y = corners[..., 1]
    top = np.clip(np.ceil(y.min(axis=1) - 0.5), 0, height).astype(np.int64)
    bottom = np.clip(np.ceil(y.max(axis=1) - 0.5), 0, height).astype(np.int64)
    rows = np.maximum(bottom - top, 0)
    face = np.repeat(np.arange(len(corners)), rows)
    row = np.arange(len(face)) + np.repeat(top - (np.cumsum(rows) - rows), rows)
    left, right = np.full(len(face), 0.0), np.full(len(face), float(width))
    for i in range(3):
        p, q = corners[face, i], corners[face, (i + 1) % 3]
        rise = q[:, 1] - p[:, 1]
        level = rise == 0.0  # the rows themselves bound a level edge
        cross = p[:, 0] + (row + 0.5 - p[:, 1]) * (q[:, 0] - p[:, 0]) / np.where(level, 1.0, rise)
        left = np.where(~level & (rise > 0.0), np.maximum(left, cross), left)
        right = np.where(~level & (rise < 0.0), np.minimum(right, cross), right)
    first = np.ceil(left - 0.5).astype(np.int64).clip(0)
    count = np.maximum(np.ceil(right - 0.5).astype(np.int64).clip(max=width) - first, 0)
    used = count > 0
    return face[used], row[used], first[used], count[used]


def _finish(
    winner: Int[Array, "p"], front: Float[Array, "p"], weights: Float[Array, "f 2 3"], keep: Int[Array, "f"], width: int
) -> Samples:
    pixel = np.flatnonzero(winner >= 0)
    face = winner[pixel]
    row, column = np.divmod(pixel, width)
    x, y = (column + 0.5).astype(np.float32), (row + 0.5).astype(np.float32)
    c = weights.astype(np.float32)[face]  # (k, 2, 3)
    w = c[..., 0] * x[:, None] + c[..., 1] * y[:, None] + c[..., 2]
    return Samples(pixel, keep[face], w[:, 0], w[:, 1], front[pixel])
