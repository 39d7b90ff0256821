"""Closed meshes swept along a line: rings of a squashed circle whose half-widths follow a profile, ends rounded off.

Everything the mannequin is made of is a loft. A ring lies across the line, `side` and `front` span it, and its four
half-widths (both sides alike, front, back) may differ, so that a calf bulges backwards and a sole is flat.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.types import Array, Float, Int


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles, counter-clockwise from outside, with a smooth unit normal at every vertex."""

    vertices: Float[Array, "n 3"]
    normals: Float[Array, "n 3"]
    faces: Int[Array, "m 3"]


@dataclass(frozen=True, eq=False)
class Frame:
    """Axes of a sweep: `along` the line, `side` and `front` across it; front, side, along are right-handed."""

    along: Float[Array, "3"]
    side: Float[Array, "3"]
    front: Float[Array, "3"]


def frame_along(direction: Float[Array, "3"], front: Float[Array, "3"]) -> Frame:
    """The frame whose line runs along `direction`, with `front` as nearly forward as it can be."""
    length = float(np.linalg.norm(direction))
    along = direction / length if length > 1e-12 else np.array([0.0, 0.0, 1.0])
    across = front - along * (front @ along)
    if np.linalg.norm(across) < 1e-3:  # the line runs forward: up is its front
        across = np.array([0.0, 0.0, 1.0]) - along * along[2]
    across /= np.linalg.norm(across)
    return Frame(along, np.cross(along, across), across)


def loft(
    base: Float[Array, "3"],
    frame: Frame,
    profile: Float[Array, "k 4"],
    *,
    caps: tuple[float, float],
    rings: int = 7,
    segments: int = 16,
    squareness: tuple[float, float] = (2.0, 2.0),
    bend: Float[Array, "k"] | None = None,
) -> Mesh:
    """Sweep from `base` along the frame. Rows of `profile`: distance, half-width to the sides, the front, the back.

    `caps` are the lengths of the rounded ends, `squareness` the exponents of the ring's front and back halves (2 is an
    ellipse, more is squarer), `bend` shifts the rings towards the front.
    """
    shift = np.zeros(len(profile)) if bend is None else bend
    rows = _smooth(np.column_stack([profile, shift]), rings)
    rows = np.concatenate([_cap(rows[0], -caps[0]), rows, _cap(rows[-1], caps[1])[::-1]])  # (r, 5)
    angle = np.linspace(0.0, 2.0 * np.pi, segments, endpoint=False)
    cos, sin = np.cos(angle), np.sin(angle)
    power = 2.0 / np.where(sin >= 0.0, *squareness)
    across = np.sign(cos) * np.abs(cos) ** power  # (s,)
    ahead = np.sign(sin) * np.abs(sin) ** power
    reach = np.where(sin >= 0.0, rows[:, 2:3], rows[:, 3:4]) * ahead + rows[:, 4:5]  # (r, s)
    points = (
        base
        + rows[:, :1, None] * frame.along
        + (rows[:, 1:2] * across)[..., None] * frame.side
        + reach[..., None] * frame.front
    )  # (r, s, 3)
    start = base + (profile[0, 0] - caps[0]) * frame.along + rows[0, 4] * frame.front
    stop = base + (profile[-1, 0] + caps[1]) * frame.along + rows[-1, 4] * frame.front
    return _close(points, start, stop)


def ball(centre: Float[Array, "3"], radii: Float[Array, "3"], *, rings: int = 5, segments: int = 12) -> Mesh:
    """An ellipsoid with its axes along the joint's."""
    polar = np.linspace(0.0, np.pi, rings + 2)[1:-1]
    angle = np.linspace(0.0, 2.0 * np.pi, segments, endpoint=False)
    unit = np.stack(
        [
            np.sin(polar)[:, None] * np.cos(angle),
            np.sin(polar)[:, None] * np.sin(angle),
            np.broadcast_to(-np.cos(polar)[:, None], (rings, segments)),
        ],
        axis=-1,
    )
    tip = np.array([0.0, 0.0, radii[2]])
    return _close(centre + unit * radii, centre - tip, centre + tip)


def join(meshes: list[Mesh]) -> Mesh:
    """Several closed meshes as one."""
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes[:-1])])
    return Mesh(
        np.concatenate([mesh.vertices for mesh in meshes]),
        np.concatenate([mesh.normals for mesh in meshes]),
        np.concatenate([mesh.faces + start for mesh, start in zip(meshes, starts, strict=True)]),
    )


def _smooth(rows: Float[Array, "k c"], count: int) -> Float[Array, "count c"]:
    """Rows at even distances along the cubic through the given ones whose slopes are theirs (Catmull-Rom)."""
    at = rows[:, 0]
    slope = np.gradient(rows, at, axis=0) if len(rows) > 2 else np.tile((rows[1] - rows[0]) / (at[1] - at[0]), (2, 1))
    x = np.linspace(at[0], at[-1], count)
    i = np.clip(np.searchsorted(at, x, side="right") - 1, 0, len(at) - 2)
    width = (at[i + 1] - at[i])[:, None]
    t = (x - at[i])[:, None] / width
    h00, h10 = (1 + 2 * t) * (1 - t) ** 2, t * (1 - t) ** 2
    h01, h11 = t * t * (3 - 2 * t), t * t * (t - 1)
    return h00 * rows[i] + h10 * width * slope[i] + h01 * rows[i + 1] + h11 * width * slope[i + 1]


def _cap(row: Float[Array, "5"], length: float, count: int = 2) -> Float[Array, "count 5"]:
    """Rings of a rounded end beyond `row`, the smallest first."""
    angle = np.linspace(0.5 * np.pi, 0.0, count + 1, endpoint=False)[1:]
    out = np.tile(row, (count, 1))
    out[:, 0] += length * np.sin(angle)
    out[:, 1:4] *= np.cos(angle)[:, None]
    return out


def _close(points: Float[Array, "r s 3"], start: Float[Array, "3"], stop: Float[Array, "3"]) -> Mesh:
    """Triangles between neighbouring rings, and a fan to a tip at each end."""
    rings, segments = points.shape[:2]
    vertices = np.concatenate([points.reshape(-1, 3), start[None], stop[None]])
    here = np.arange(segments)
    there = (here + 1) % segments
    quads = [
        np.concatenate([np.stack([a + here, a + there, b + there], -1), np.stack([a + here, b + there, b + here], -1)])
        for a, b in zip(np.arange(rings - 1) * segments, np.arange(1, rings) * segments, strict=True)
    ]
    last = (rings - 1) * segments
    fans = [
        np.stack([there, here, np.full(segments, rings * segments)], -1),
        np.stack([last + here, last + there, np.full(segments, rings * segments + 1)], -1),
    ]
    faces = np.concatenate([*quads, *fans])
    if _volume(vertices, faces) < 0.0:
        faces = faces[:, ::-1]
    return Mesh(vertices, _normals(vertices, faces), np.ascontiguousarray(faces))


def _volume(vertices: Float[Array, "n 3"], faces: Int[Array, "m 3"]) -> float:
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    return float(np.sum(a * np.cross(b, c))) / 6.0


def _normals(vertices: Float[Array, "n 3"], faces: Int[Array, "m 3"]) -> Float[Array, "n 3"]:
    """The mean of the normals of the faces around each vertex, weighted by the angle that each takes up there.

    Weights by area would lean towards whichever diagonal a quad happens to be cut along.
    """
    corners = vertices[faces]  # (m, 3, 3)
    out = _unit(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))
    total = np.zeros_like(vertices)
    for i in range(3):
        there, back = (_unit(corners[:, (i + k) % 3] - corners[:, i]) for k in (1, 2))
        angle = np.arccos(np.clip(np.sum(there * back, axis=1), -1.0, 1.0))
        np.add.at(total, faces[:, i], angle[:, None] * out)
    return _unit(total)


def _unit(v: Float[Array, "n 3"]) -> Float[Array, "n 3"]:
    return v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-300)
