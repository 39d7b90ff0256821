"""One picture: mannequins in world space, seen by a camera, lit and laid over the floor."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import UInt8

from jostle.controllers import LEVEL, Floor
from jostle.export.camera import Camera
from jostle.export.floor import paint_floor
from jostle.export.raster import Samples, rasterise
from jostle.export.shade import Shadow, cast_shadow, encode, lamp, linear, lit_share, shade_body
from jostle.maths import quat
from jostle.skeleton import Skeleton
from jostle.skeleton.mannequin import build_mannequin
from jostle.types import Array, Float, Int

SUPER = 2  # samples per pixel and axis
NEAR = 1e-3  # metres: nothing nearer to the eye is drawn


@dataclass(frozen=True, eq=False)
class Figure:
    """A mannequin as one mesh: every vertex in the frame of its joint."""

    joint: Int[Array, "n"]
    vertices: Float[Array, "n 3"]
    normals: Float[Array, "n 3"]
    faces: Int[Array, "m 3"]
    albedo: Float[Array, "m 3"]  # linear light, one colour a face

    def place(
        self, positions: Float[Array, "J 3"], wxyz: Float[Array, "J 4"]
    ) -> tuple[Float[Array, "n 3"], Float[Array, "n 3"]]:
        """Vertices and normals in the world."""
        turn = quat.to_matrix(wxyz)[self.joint]  # (n, 3, 3)
        points = np.einsum("nij,nj->ni", turn, self.vertices) + positions[self.joint]
        return points, np.einsum("nij,nj->ni", turn, self.normals)


@lru_cache(maxsize=64)
def build_figure(skeleton: Skeleton) -> Figure:
    parts = build_mannequin(skeleton)
    starts = np.cumsum([0, *(len(part.vertices) for part in parts)])
    return Figure(
        np.concatenate([np.full(len(part.vertices), part.joint) for part in parts]),
        np.concatenate([part.vertices for part in parts]),
        np.concatenate([part.normals for part in parts]),
        np.concatenate([part.faces + start for part, start in zip(parts, starts, strict=False)]),
        np.concatenate([np.tile(linear(np.array(part.colour)), (len(part.faces), 1)) for part in parts]).astype(
            np.float32
        ),
    )


@dataclass(frozen=True, eq=False)
class Actor:
    """A figure in one pose."""

    figure: Figure
    positions: Float[Array, "J 3"]
    wxyz: Float[Array, "J 4"]
    fade: float = 0.0  # 0 is solid, towards 1 it pales into the backdrop


def draw(
    actors: list[Actor],
    camera: Camera,
    width: int,
    height: int,
    *,
    floor: Floor = LEVEL,
    markers: Float[Array, "n 3"] | None = None,
    scale: float = 1.0,
    lamp_side: float = 1.0,
) -> UInt8[Array, "h w 3"]:
    """The actors on the floor as an 8-bit picture; far ones are painted first."""
    light = lamp(camera.eye - camera.target, lamp_side)
    depth = [float((actor.positions[0] - camera.eye) @ camera.axes[2]) for actor in actors]
    placed = [actor.figure.place(actor.positions, actor.wxyz) for actor in actors]
    shadows = [
        cast_shadow(points, actor.figure.faces, light, floor, 1.0 - actor.fade)
        for actor, (points, _) in zip(actors, placed, strict=True)
    ]
    image = paint_floor(camera, width, height, floor, shadows, markers, scale)
    for i in np.argsort(depth)[::-1]:
        _paint(image, actors[i], placed[i][0], placed[i][1], shadows[i], camera, light, floor)
    return encode(image)


def _paint(
    image: Float[Array, "h w 3"],
    actor: Actor,
    points: Float[Array, "n 3"],
    normals: Float[Array, "n 3"],
    shadow: Shadow,
    camera: Camera,
    light: Float[Array, "3"],
    floor: Floor,
) -> None:
    """Lay one figure over the picture, in the rectangle of pixels that it covers."""
    height, width = image.shape[:2]
    xy, depth = camera.project(points, width, height)
    low = np.floor(xy.min(axis=0)).astype(int).clip(0, [width, height])
    high = np.ceil(xy.max(axis=0)).astype(int).clip(0, [width, height])
    wide, tall = (high - low).tolist()
    if wide == 0 or tall == 0:
        return
    nearness = np.where(depth > NEAR, 1.0 / np.maximum(depth, NEAR), 0.0)
    seen = rasterise((xy - low) * SUPER, nearness, actor.figure.faces, SUPER * wide, SUPER * tall)
    light_sum = np.zeros((SUPER * wide * SUPER * tall, 3), dtype=np.float32)
    cover = np.zeros((SUPER * wide * SUPER * tall, 1), dtype=np.float32)
    normal = _interpolate(normals.astype(np.float32), actor.figure.faces, seen)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    at, towards = _positions(camera, seen, low, SUPER * wide, (width, height))
    lit = lit_share(shadow, at + normal * np.float32(0.012 * shadow.span))
    height_share = (at[:, 2] - floor.heights(at[:, 0])) / np.float32(shadow.span)
    light_sum[seen.pixel] = shade_body(actor.figure.albedo[seen.face], normal, towards, light, lit, height_share)
    cover[seen.pixel] = 1.0
    shape = (tall, SUPER, wide, SUPER)
    window = image[low[1] : high[1], low[0] : high[0]]
    solid = 1.0 - actor.fade
    window *= 1.0 - solid * _average(cover.reshape(*shape, 1))
    window += solid * _average(light_sum.reshape(*shape, 3))


def _average(samples: Float[Array, "h s w s c"]) -> Float[Array, "h w c"]:
    rows = samples[:, 0] + samples[:, 1]  # SUPER is 2
    return (rows[:, :, 0] + rows[:, :, 1]) * np.float32(0.25)


def _interpolate(values: Float[Array, "n 3"], faces: Int[Array, "m 3"], seen: Samples) -> Float[Array, "k 3"]:
    a, b, c = (values[faces[:, i]] for i in range(3))
    return a[seen.face] + seen.w1[:, None] * (b - a)[seen.face] + seen.w2[:, None] * (c - a)[seen.face]


def _positions(
    camera: Camera, seen: Samples, low: Int[Array, "2"], row_length: int, size: tuple[int, int]
) -> tuple[Float[Array, "k 3"], Float[Array, "k 3"]]:
    """World position of each sample and the unit vector from it to the eye."""
    across, along = (r.astype(np.float32) for r in camera.rays(SUPER * size[0], SUPER * size[1]))
    row, column = np.divmod(seen.pixel, row_length)
    ray = across[column + SUPER * low[0]] + along[row + SUPER * low[1]]
    at = camera.eye.astype(np.float32) + ray / seen.nearness[:, None]
    return at, -ray / np.linalg.norm(ray, axis=1, keepdims=True)
