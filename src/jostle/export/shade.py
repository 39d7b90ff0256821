"""Light: a warm key lamp with soft shadows, a sky above, a studio floor that fades into its backdrop.

Colours are linear inside and become sRGB at the very end. The lamp's view of the figure is rasterised once a frame;
it shadows the figure itself, and blurred twice (little where a foot touches, much where a head is high) the floor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import UInt8

from jostle.controllers import Floor
from jostle.export.raster import rasterise
from jostle.types import Array, Float, Int

KEY = np.array([0.42, 0.50, 0.76])  # towards the lamp: to the camera, to its left, up
KEY_COLOUR = np.array([1.00, 0.93, 0.82]) * 1.08
SKY = np.array([0.80, 0.88, 1.00]) * 0.52
BOUNCE = np.array([1.00, 0.86, 0.72]) * 0.30


def linear(srgb: Array) -> Array:
    """sRGB to linear light."""
    c = np.asarray(srgb, dtype=float)
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


_TOP = 3.0  # brighter light than this is white
_LIGHT = np.linspace(0.0, _TOP, 6144)
_ROLLED = np.minimum(_LIGHT, 0.8) + 0.2 * np.maximum(_LIGHT - 0.8, 0.0) / (np.maximum(_LIGHT - 0.8, 0.0) + 0.2)
_CURVE = np.where(_ROLLED <= 0.0031308, 12.92 * _ROLLED, 1.055 * _ROLLED ** (1 / 2.4) - 0.055)
_ENCODE = np.round(255.0 * _CURVE).astype(np.uint8)


def encode(light: Float[Array, "*n 3"]) -> UInt8[Array, "*n 3"]:
    """Linear light to 8-bit sRGB by table, highlights rolled off softly above 0.8."""
    steps = light * np.float32((len(_LIGHT) - 1) / _TOP) + np.float32(0.5)
    return np.take(_ENCODE, steps.astype(np.int32), mode="clip")


def dot(vectors: Float[Array, "k 3"], axis: Float[Array, "3"]) -> Float[Array, "k"]:
    """Written out: for three columns a matrix product is slower, and wakes BLAS's threads for nothing."""
    x, y, z = axis.astype(np.float32)
    return vectors[:, 0] * x + vectors[:, 1] * y + vectors[:, 2] * z


def lamp(towards_camera: Float[Array, "3"], side: float = 1.0) -> Float[Array, "3"]:
    """The direction to the key lamp: over the camera's left shoulder, or with `side` -1 its right one."""
    ahead = towards_camera * [1.0, 1.0, 0.0]
    ahead /= max(float(np.linalg.norm(ahead)), 1e-9)
    left = np.array([ahead[1], -ahead[0], 0.0])
    out = KEY[0] * ahead + side * KEY[1] * left + KEY[2] * np.array([0.0, 0.0, 1.0])
    return out / np.linalg.norm(out)


@dataclass(frozen=True, eq=False)
class Shadow:
    """What the lamp sees on a square grid: how near the first surface is, and two blurred covers for the floor."""

    axes: Float[Array, "3 3"]  # rows: across, down, away from the lamp
    corner: Float[Array, "2"]
    scale: float  # cells per metre
    mean: Float[Array, "r r"]  # nearness of the first surface, and its square, blurred a little
    square: Float[Array, "r r"]
    soft: Float[Array, "r r"]
    contact: Float[Array, "r r"]
    reach: float  # depth at which nearness is 0
    span: float  # how large the figure is, seen from the lamp

    def footprint(self, floor: Floor) -> Float[Array, "4 3"]:
        """The corners of the grid, carried along the light to the floor."""
        side = len(self.soft) / self.scale
        flat = self.corner + side * np.array([[0, 0], [1, 0], [1, 1], [0, 1]])  # (4, 2)
        points = flat @ self.axes[:2]
        way = (floor.point - points) @ floor.normal / (self.axes[2] @ floor.normal)
        return points + way[:, None] * self.axes[2]

    def cells(self, points: Float[Array, "k 3"]) -> tuple[Float[Array, "k 2"], Float[Array, "k"]]:
        """Where on the grid points lie, in cells, and how near they are to the lamp."""
        across, down, away = (dot(points, axis) for axis in self.axes)
        x, y = (across - np.float32(self.corner[0])), (down - np.float32(self.corner[1]))
        return np.stack([x, y], axis=1) * np.float32(self.scale), np.float32(self.reach) - away


def cast_shadow(
    points: Float[Array, "n 3"],
    faces: Int[Array, "m 3"],
    light: Float[Array, "3"],
    floor: Floor,
    strength: float = 1.0,
    size: int = 224,
) -> Shadow:
    """Look at the figure from the lamp; `strength` is how dark it falls on the floor."""
    across = np.cross(light, [0.0, 0.0, 1.0])
    across /= np.linalg.norm(across)
    axes = np.stack([across, np.cross(-light, across), -light])
    seen = points @ axes.T
    span = float(np.ptp(seen[:, :2], axis=0).max())
    margin = 0.16 * span
    corner = 0.5 * (seen[:, :2].min(axis=0) + seen[:, :2].max(axis=0)) - 0.5 * span - margin
    scale = size / (span + 2.0 * margin)
    reach = float(seen[:, 2].max()) + 0.1 * span
    samples = rasterise((seen[:, :2] - corner) * scale, reach - seen[:, 2], faces, size, size)
    near = np.zeros(size * size)
    near[samples.pixel] = samples.nearness
    depth = near.reshape(size, size)
    cover = (near > 0.0).astype(np.float32).reshape(size, size)
    up = axes[:, 2] - np.tan(floor.slope) * axes[:, 0]  # of each axis, above a floor that rises along X
    height = _height(samples.pixel, samples.nearness, up, corner, scale, reach, size) - floor.height(0.0)
    low = np.zeros(size * size, dtype=np.float32)
    low[samples.pixel] = np.clip(1.0 - height / (0.16 * span), 0.0, 1.0)
    soft = strength * _blur(cover, 0.035 * span * scale)
    contact = strength * _blur(low.reshape(size, size), 0.009 * span * scale)
    return Shadow(axes, corner, scale, _blur(depth, 1.0, 2), _blur(depth * depth, 1.0, 2), soft, contact, reach, span)


def _height(pixel: Array, nearness: Array, up: Array, corner: Array, scale: float, reach: float, size: int) -> Array:
    """Of what the lamp sees at each cell; `up` is how much each of the lamp's axes rises."""
    row, column = np.divmod(pixel, size)
    x, y = (column + 0.5) / scale + corner[0], (row + 0.5) / scale + corner[1]
    return x * up[0] + y * up[1] + (reach - nearness) * up[2]


def _blur(image: Float[Array, "r r"], radius: float, passes: int = 3) -> Float[Array, "r r"]:
    """Three box filters: nearly a Gaussian."""
    half = max(1, round(radius))
    width = 2 * half + 1
    for _ in range(2 * passes):  # along the columns, then the picture on its side, and back
        total = np.cumsum(np.pad(image, [(half + 1, half), (0, 0)]), axis=0, dtype=np.float64)
        image = ((total[width:] - total[:-width]) / width).astype(image.dtype).T
    return image


def bilinear(image: Float[Array, "r r"], cells: Float[Array, "k 2"]) -> Float[Array, "k"]:
    size = image.shape[0]
    at = np.clip(cells - 0.5, 0.0, size - 1.001)
    low = at.astype(np.int32)
    fx, fy = (at - low).T
    flat = image.ravel()
    i = low[:, 1] * size + low[:, 0]
    top = flat[i] * (1 - fx) + flat[i + 1] * fx
    return top * (1 - fy) + (flat[i + size] * (1 - fx) + flat[i + size + 1] * fx) * fy


def lit_share(shadow: Shadow, points: Float[Array, "k 3"]) -> Float[Array, "k"]:
    """How much of the lamp each point of the figure sees: a variance shadow map (Donnelly and Lauritzen 2006).

    Of all surfaces around the cell, at most var / (var + gap^2) can be as far as this point: Chebyshev's inequality.
    """
    cells, near = shadow.cells(points)
    mean, square = bilinear(shadow.mean, cells), bilinear(shadow.square, cells)
    gap = np.maximum(mean - near, 0.0)
    variance = np.maximum(square - mean * mean, (0.004 * shadow.span) ** 2)
    share = variance / (variance + gap * gap)
    return np.clip((share - 0.22) / 0.78, 0.0, 1.0).astype(np.float32)


def shade_body(
    albedo: Float[Array, "k 3"],
    normals: Float[Array, "k 3"],
    towards: Float[Array, "k 3"],
    light: Float[Array, "3"],
    lit: Float[Array, "k"],
    height: Float[Array, "k"],
) -> Float[Array, "k 3"]:
    """Hemisphere and wrapped key light, a soft gleam and a rim against the backdrop; darker towards the floor.

    `towards` points to the eye, `lit` is the share of the lamp that is seen, `height` is in body sizes above the floor.
    """
    facing = dot(normals, light)
    key = np.clip((facing + 0.18) / 1.18, 0.0, 1.0) * lit
    up = 0.5 + 0.5 * normals[:, 2]
    near_floor = 0.62 + 0.38 * np.clip(5.0 * height, 0.0, 1.0)
    ambient = up[:, None] * SKY.astype(np.float32) + ((1 - up) * near_floor)[:, None] * BOUNCE.astype(np.float32)
    half = towards + light.astype(np.float32)
    half /= np.linalg.norm(half, axis=1, keepdims=True)
    gleam = 0.13 * np.clip(np.einsum("ki,ki->k", normals, half), 0.0, 1.0) ** 28 * lit
    rim = 0.16 * (1.0 - np.clip(np.einsum("ki,ki->k", normals, towards), 0.0, 1.0)) ** 3 * up
    return albedo * (ambient + key[:, None] * KEY_COLOUR.astype(np.float32)) + (gleam + rim)[:, None]
