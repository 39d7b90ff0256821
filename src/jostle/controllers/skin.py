"""What of a body may touch an obstacle: balls that fill its shapes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from jostle.body import Body, Capsule, Shape
from jostle.maths import quat
from jostle.types import Array, Float, Int

_APART = 0.05  # metres between balls that fill a box, at most


@dataclass(frozen=True, eq=False)
class Skin:
    """Balls that fill the shapes of a body but its feet, which stay where the motion has them."""

    shapes: Int[Array, "n"]  # of which shape a ball is
    joints: Int[Array, "n"]  # that carry them
    points: Float[Array, "n 3"]  # their centres, in the joints' frames
    radii: Float[Array, "n"]

    def deepest(self, far: Float[Array, "n"], within: float) -> Int[Array, "m"]:
        """Of each shape that has a ball so near, the ball that is nearest; `far` counts from the balls' surfaces."""
        near = np.unique(self.shapes[far < within])
        return np.array([np.argmin(np.where(self.shapes == shape, far, np.inf)) for shape in near], dtype=int)


@lru_cache(maxsize=16)
def skin_of(body: Body) -> Skin:
    feet = {joint for sole in body.soles for joint in sole.joints}
    shapes = [shape for shape in body.shapes if shape.joint not in feet]
    filled = [_balls(shape) for shape in shapes]
    of = np.repeat(np.arange(len(shapes)), [len(points) for points, _ in filled])
    joints, radii = np.array([shape.joint for shape in shapes]), np.array([radius for _, radius in filled])
    return Skin(of, joints[of], np.concatenate([points for points, _ in filled]), radii[of])


def _balls(shape: Shape) -> tuple[Float[Array, "n 3"], float]:
    """Along a capsule; of a box, all but its edges: balls as thick as it is where it is thinnest."""
    if isinstance(shape, Capsule):
        return shape.start + np.linspace(0.0, 1.0, 7)[:, None] * (shape.end - shape.start), shape.radius
    radius = float(np.min(shape.half))
    inner = shape.half - radius
    lines = [np.linspace(-far, far, 1 + int(np.ceil(2.0 * far / _APART))) for far in inner]
    grid = np.stack(np.meshgrid(*lines), axis=-1).reshape(-1, 3)
    return shape.centre + quat.apply(shape.wxyz, grid), radius
