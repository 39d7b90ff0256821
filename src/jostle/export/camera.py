"""A pinhole camera, where it stands, and how it follows somebody without jerking."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.errors import JostleError, unknown_name
from jostle.maths import spring
from jostle.types import Array, Float

# Degrees: how far round from straight ahead of the figure (to its left), and how far up.
VIEWS = {
    "three-quarter": (38.0, 9.0),
    "front": (0.0, 7.0),
    "side": (-76.0, 6.0),
    "left": (90.0, 5.0),
    "right": (-90.0, 5.0),
    "back": (180.0, 9.0),
    "top": (38.0, 62.0),
}


@dataclass(frozen=True, eq=False)
class Camera:
    """Looks from `eye` at `target` with `field` radians from the top to the bottom of the picture. Z is up."""

    eye: Float[Array, "3"]
    target: Float[Array, "3"]
    field: float = 0.46

    @property
    def axes(self) -> Float[Array, "3 3"]:
        """Rows: to the right of the picture, down it, and into it."""
        into = self.target - self.eye
        into = into / np.linalg.norm(into)
        right = np.cross(into, [0.0, 0.0, 1.0])
        right /= max(float(np.linalg.norm(right)), 1e-9)
        return np.stack([right, np.cross(into, right), into])

    def focal(self, height: int) -> float:
        """Pixels per unit of slope."""
        return 0.5 * height / np.tan(0.5 * self.field)

    def project(
        self, points: Float[Array, "*n 3"], width: int, height: int
    ) -> tuple[Float[Array, "*n 2"], Float[Array, "*n"]]:
        """Pixel coordinates (y down, the picture's corner at 0, 0) and depth in metres."""
        seen = (points - self.eye) @ self.axes.T
        depth = seen[..., 2]
        safe = np.where(depth > 1e-6, depth, np.inf)[..., None]
        return seen[..., :2] / safe * self.focal(height) + [0.5 * width, 0.5 * height], depth

    def rays(self, width: int, height: int) -> tuple[Float[Array, "w 3"], Float[Array, "h 3"]]:
        """Directions with unit depth through pixel (x, y) are the sum of the x-th and the y-th row."""
        focal = self.focal(height)
        right, down, into = self.axes
        across = (np.arange(width) + 0.5 - 0.5 * width) / focal
        along = (np.arange(height) + 0.5 - 0.5 * height) / focal
        return across[:, None] * right, along[:, None] * down + into


def view_direction(view: str, heading: float) -> Float[Array, "3"]:
    """The unit vector from the figure towards the camera."""
    if view not in VIEWS:
        raise JostleError(unknown_name("camera view", view, VIEWS))
    round_, up = np.radians(VIEWS[view])
    return np.array([np.cos(heading + round_) * np.cos(up), np.sin(heading + round_) * np.cos(up), np.sin(up)])


def fit_distance(
    points: Float[Array, "n 3"], target: Float[Array, "3"], towards: Float[Array, "3"], aspect: float, field: float
) -> float:
    """How far from `target` the camera must stand so that all points are inside the picture."""
    axes = Camera(target + towards, target, field).axes
    seen = (points - target) @ axes.T
    slope = np.tan(0.5 * field)
    need = np.maximum(np.abs(seen[:, 0]) / (slope * aspect), np.abs(seen[:, 1]) / slope) - seen[:, 2]
    return float(np.max(need))


def smooth_path(points: Float[Array, "T 3"], dt: float, halflife: float = 0.22) -> Float[Array, "T 3"]:
    """A critically damped follower run forwards and backwards and averaged, so that it neither jerks nor lags."""
    return 0.5 * (_chase(points, dt, halflife) + _chase(points[::-1], dt, halflife)[::-1])


def _chase(points: Array, dt: float, halflife: float) -> Array:
    """Start as a follower of the first half second's mean velocity would already be: behind by its steady lag."""
    span = min(len(points) - 1, max(1, round(0.5 / dt)))
    v = (points[span] - points[0]) / (max(span, 1) * dt)
    lag, speed = _steady(dt, halflife)
    x, v = points[0] - lag * v, speed * v
    out = np.empty_like(points)
    for i, goal in enumerate(points):
        out[i] = x
        x, v = spring.step(x, v, goal, halflife, dt)
    return out


def _steady(dt: float, halflife: float) -> tuple[float, float]:
    """How far `spring.step` stays behind a goal that moves at 1 m/s in steps of dt, and the velocity it then has."""
    y = 2.0 * spring.HALF / halflife
    fade = np.exp(-y * dt)
    # x' - x = dt and v' = v, for the offset o and the velocity v of x = goal + o
    matrix = np.array([[fade * (1.0 + y * dt) - 1.0, fade * dt], [-fade * y * y * dt, fade * (1.0 - y * dt) - 1.0]])
    offset, speed = np.linalg.solve(matrix, [dt, 0.0])
    return float(-offset), float(speed)
