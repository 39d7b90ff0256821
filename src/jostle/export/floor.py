"""The studio floor: squares with fine seams, shadows, rings around planted feet, fading into the backdrop.

The camera never rolls, so a row of pixels lies at one depth on a level floor: all but the pattern is computed once a
row. On a slope every pixel has a depth of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.controllers import Floor
from jostle.export.camera import Camera
from jostle.export.shade import Shadow, bilinear, linear
from jostle.types import Array, Float

BACKDROP_LOW, BACKDROP_HIGH = (0.93, 0.915, 0.89), (0.70, 0.735, 0.775)  # sRGB at the horizon and above
FLOOR, LINE = (0.80, 0.785, 0.76), (0.66, 0.645, 0.62)
MARKER = (0.80, 0.36, 0.22)
PIT = (0.42, 0.44, 0.48)
GRAZING = -2e-3  # a floor that is looked at at less than this is not seen


@dataclass(frozen=True, eq=False)
class Ground:
    """Where the pixels below the horizon meet the floor: world x and y, and the depth of each row or pixel."""

    first: int  # the first row that sees the floor
    x: Float[Array, "r w"]
    y: Float[Array, "r w"]
    along: Float[Array, "r w"]  # like x, measured on the floor
    depth: Float[Array, "r #w"]
    slant: Float[Array, "r #w"]  # how steeply the floor is looked at: negative


def paint_floor(
    camera: Camera,
    width: int,
    height: int,
    floor: Floor,
    shadows: list[Shadow],
    markers: Float[Array, "n 3"] | None = None,
    scale: float = 1.0,
) -> Float[Array, "h w 3"]:
    """Backdrop and floor in linear light; markers are (x, y, radius), `scale` is the side of a square in metres."""
    slope = camera.rays(width, height)[1][:, 2:].astype(np.float32)  # (h, 1): how steeply each row climbs
    image = np.repeat(_backdrop(slope)[:, None], width, axis=1)
    ground = meet_floor(camera, width, height, floor)
    if ground.depth.size == 0:
        return image
    colour = _tiles(ground, camera.focal(height), scale)
    for shadow in shadows:
        _darken(colour, ground, shadow, floor, camera, width, height)
    for marker in markers if markers is not None else ():
        _mark(colour, ground, marker, floor)
    if floor.width:
        _cut(colour, ground, floor.width, camera.focal(height))
    distance = np.hypot(ground.x - np.float32(camera.target[0]), ground.y - np.float32(camera.target[1]))
    reach = np.float32(np.linalg.norm(camera.eye - camera.target))
    fade = np.exp(-np.square(np.maximum(distance / reach - 0.2, 0.0) / 0.55))[..., None]
    behind = image[ground.first :]
    behind += (colour - behind) * fade
    return image


def meet_floor(camera: Camera, width: int, height: int, floor: Floor) -> Ground:
    across, along = (r.astype(np.float32) for r in camera.rays(width, height))
    if floor.slope == 0.0:
        slant = along[:, 2:]
    else:
        slant = along @ floor.normal.astype(np.float32)[:, None] + across @ floor.normal.astype(np.float32)
    below = np.flatnonzero(slant.min(axis=1) < GRAZING)
    first = int(below[0]) if len(below) else height
    slant = np.minimum(slant[first:], np.float32(GRAZING))  # what looks past the horizon sees the floor far away, faded
    depth = np.float32((camera.eye - floor.point) @ floor.normal) / -slant
    x = np.float32(camera.eye[0]) + depth * (across[:, 0] + along[first:, :1])
    y = np.float32(camera.eye[1]) + depth * (across[:, 1] + along[first:, 1:2])
    return Ground(first, x, y, floor.distances(x), depth, slant)


def _backdrop(slope: Float[Array, "h 1"]) -> Float[Array, "h 3"]:
    low, high = linear(np.array(BACKDROP_LOW)), linear(np.array(BACKDROP_HIGH))
    t = np.clip((slope + 0.02) / 0.55, 0.0, 1.0)
    return (low + (high - low) * t).astype(np.float32)


def _tiles(ground: Ground, focal: float, scale: float) -> Float[Array, "r w 3"]:
    """Faint checks and seams, each averaged over the pixel's footprint so that nothing shimmers far away."""
    base, line = linear(np.array(FLOOR)).astype(np.float32), linear(np.array(LINE)).astype(np.float32)
    footprint = ground.depth / np.float32(focal * scale) * np.clip(0.35 / np.maximum(-ground.slant, 1e-3), 1.0, 30.0)
    half = np.float32(0.006)
    thin = np.minimum(1.0, 2 * half / footprint)
    sharp = 0.035 * np.clip(1.0 - footprint * 2.0, 0.0, 1.0)
    seam, wave = np.float32(0.0), np.float32(1.0)
    for w in (ground.along / np.float32(scale), ground.y / np.float32(scale)):
        distance = np.abs(w - np.round(w))
        seam = np.maximum(seam, np.clip((half - distance) / footprint + 0.5, 0.0, 1.0))
        soft = np.clip((0.5 - distance) * 2.0 / footprint, 0.0, 1.0)  # the check's edges run midway between seams
        wave = wave * soft * (1.0 - 2.0 * (np.mod(np.round(w), 2.0)))
    tone = 1.0 + sharp * wave
    mix = 0.9 * thin * seam
    return tone[..., None] * base + mix[..., None] * (line - base)


def _darken(
    colour: Float[Array, "r w 3"], ground: Ground, shadow: Shadow, floor: Floor, camera: Camera, width: int, height: int
) -> None:
    """Multiply in one figure's shadow, in the rectangle of pixels where it can fall."""
    corners, depth = camera.project(shadow.footprint(floor), width, height)
    if np.any(depth < 0.1):
        rows, columns = slice(0, len(ground.x)), slice(0, width)
    else:
        low, high = np.floor(corners.min(axis=0)).astype(int), np.ceil(corners.max(axis=0)).astype(int) + 1
        rows = slice(max(low[1] - ground.first, 0), max(min(high[1], height) - ground.first, 0))
        columns = slice(max(low[0], 0), max(min(high[0], width), 0))
    x, y = ground.x[rows, columns], ground.y[rows, columns]
    if x.size == 0:
        return
    points = np.stack([x.ravel(), y.ravel(), floor.heights(x.ravel())], axis=1)
    cells, _ = shadow.cells(points)
    shade = (1.0 - 0.50 * bilinear(shadow.soft, cells)) * (1.0 - 0.62 * bilinear(shadow.contact, cells))
    colour[rows, columns] *= shade.reshape(x.shape)[..., None]


def _cut(colour: Float[Array, "r w 3"], ground: Ground, width: float, focal: float) -> None:
    """What is left of the floor where it is a beam: beside it, where no shadow falls, a pit."""
    pixel = ground.depth / np.float32(focal)
    beside = np.clip((np.abs(ground.y) - np.float32(0.5 * width)) / pixel + 0.5, 0.0, 1.0)[..., None]
    colour += (linear(np.array(PIT)).astype(np.float32) - colour) * beside


def _mark(colour: Float[Array, "r w 3"], ground: Ground, marker: Float[Array, "3"], floor: Floor) -> None:
    """A soft ring around a planted foot."""
    distance = np.hypot(ground.along - floor.distance(float(marker[0])), ground.y - marker[1]) / marker[2]
    near = np.nonzero(distance < 1.2)
    off = distance[near]
    ring = np.clip(1.0 - np.abs(off - 0.9) / 0.12, 0.0, 1.0) + 0.25 * np.clip((0.9 - off) * 8.0, 0.0, 1.0)
    tint = linear(np.array(MARKER)).astype(np.float32)
    colour[near] += (tint - colour[near]) * np.minimum(0.85 * ring, 1.0)[:, None]
