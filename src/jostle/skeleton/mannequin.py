"""A mannequin for any skeleton: what the viewer shows, renders draw and glTF files carry.

A person becomes an artist's mannequin, sculpted by role (`figure`); anything else is drawn as its rounded cones. The
meshes are rigid: each belongs to one joint and is given in that joint's frame. A joint may carry several (a limb and
its ball), and they share its name.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from jostle.skeleton.cones import Cone, creature_cones, part_name
from jostle.skeleton.figure import sculpt_person
from jostle.skeleton.loft import Mesh, ball, frame_along, loft
from jostle.skeleton.roles import is_humanoid, split_side
from jostle.skeleton.skeleton import Skeleton
from jostle.types import Array, Float, Int

Colour = tuple[float, float, float]

# sRGB. Maple and terracotta; the right side a shade deeper than the left, so that crossing legs can be told apart.
_PALETTE: dict[str, dict[str | None, Colour]] = {
    "limb": {None: (0.91, 0.80, 0.66), "left": (0.93, 0.83, 0.70), "right": (0.83, 0.70, 0.56)},
    "trunk": {None: (0.90, 0.79, 0.65)},
    "joint": {None: (0.72, 0.38, 0.25), "left": (0.80, 0.43, 0.28), "right": (0.60, 0.31, 0.23)},
    "visor": {None: (0.72, 0.38, 0.25)},
}


@dataclass(frozen=True, eq=False)
class Part:
    """A rigid piece of the mannequin: a closed mesh in the frame of its joint, and its colour (sRGB, 0 to 1)."""

    name: str
    joint: int
    vertices: Float[Array, "n 3"]
    normals: Float[Array, "n 3"]
    faces: Int[Array, "m 3"]
    colour: Colour


@lru_cache(maxsize=64)
def build_mannequin(skeleton: Skeleton) -> tuple[Part, ...]:
    """The pieces to draw for this skeleton, person or animal; fewer than 8,000 triangles in all for a person."""
    if is_humanoid(skeleton):
        return tuple(
            _part(skeleton, piece.joint, piece.mesh, piece.tone, piece.side) for piece in sculpt_person(skeleton)
        )
    return tuple(part for cone in creature_cones(skeleton) for part in _creature_parts(skeleton, cone))


def _part(skeleton: Skeleton, joint: int, mesh: Mesh, tone: str, side: str | None) -> Part:
    shades = _PALETTE[tone]
    return Part(
        part_name(skeleton, joint), joint, mesh.vertices, mesh.normals, mesh.faces, shades.get(side, shades[None])
    )


def _creature_parts(skeleton: Skeleton, cone: Cone) -> list[Part]:
    side = split_side(skeleton.names[cone.joint])[0]
    return [_part(skeleton, cone.joint, cone_mesh(cone), "limb" if side else "trunk", side)]


def cone_mesh(cone: Cone, *, rings: int = 2, segments: int = 12) -> Mesh:
    """The surface of a rounded cone."""
    line = cone.b - cone.a
    length = float(np.linalg.norm(line))
    if length < 1e-6:
        return ball(cone.a, np.full(3, cone.radius_a), segments=segments)
    profile = np.array([[0.0, *[cone.radius_a] * 3], [length, *[cone.radius_b] * 3]])
    frame = frame_along(line, np.array([1.0, 0.0, 0.0]))
    return loft(cone.a, frame, profile, caps=(cone.radius_a, cone.radius_b), rings=rings, segments=segments)
