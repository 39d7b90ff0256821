"""A mannequin for any skeleton: what the viewer shows, renders draw and glTF files carry.

A person becomes an artist's mannequin, sculpted by role (`figure`); anything else is drawn as its rounded cones. The
meshes are rigid: each belongs to one joint and is given in that joint's frame. A joint may carry several (a limb and
its ball), and they share its name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from jostle.skeleton.cones import Cone, part_name, person_cones
from jostle.skeleton.creature import creature_cones
from jostle.skeleton.figure import sculpt_person
from jostle.skeleton.loft import Mesh, ball, frame_along, loft
from jostle.skeleton.roles import is_humanoid, split_side
from jostle.skeleton.skeleton import Skeleton
from jostle.types import Array, Float, Int

Colour = tuple[float, float, float]

# sRGB. Maple and terracotta; the right side a shade deeper than the left, so that crossing legs can be told apart.
_PALETTE: dict[str, dict[str | None, Colour]] = {
    "limb": {None: (0.85, 0.70, 0.53), "left": (0.88, 0.74, 0.57), "right": (0.77, 0.60, 0.44)},
    "trunk": {None: (0.86, 0.71, 0.54)},
    "joint": {None: (0.62, 0.31, 0.20), "left": (0.72, 0.36, 0.23), "right": (0.50, 0.25, 0.18)},
    "visor": {None: (0.30, 0.19, 0.16)},
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
    parts = tuple(_creature_parts(skeleton))
    return parts or (_part(skeleton, 0, ball(np.zeros(3), np.full(3, 0.05)), "joint", None),)  # a point is a ball


def _part(skeleton: Skeleton, joint: int, mesh: Mesh, tone: str, side: str | None) -> Part:
    shades = _PALETTE[tone]
    return Part(
        part_name(skeleton, joint), joint, mesh.vertices, mesh.normals, mesh.faces, shades.get(side, shades[None])
    )


def build_cones(skeleton: Skeleton) -> tuple[Cone, ...]:
    """The same body in the rough, one rounded cone a bone: for collision shapes and quick drawings."""
    return tuple(person_cones(skeleton) if is_humanoid(skeleton) else creature_cones(skeleton))


def _creature_parts(skeleton: Skeleton) -> Iterator[Part]:
    """The midline runs on smoothly; limbs show the balls of their joints, ears and claws do not."""
    cones = creature_cones(skeleton)
    girth = max((cone.radius_a for cone in cones), default=1.0)
    for cone in cones:
        side = split_side(skeleton.names[cone.joint])[0]
        share = cone.radius_a / girth
        segments = 16 if share > 0.5 else 10 if share > 0.2 else 6
        jointed = side is not None and share > 0.13
        mesh = cone_mesh(cone, segments=segments, inset=0.55 if jointed else 0.0)
        yield _part(skeleton, cone.joint, mesh, "limb" if side else "trunk", side)
        if jointed:
            knob = ball(cone.a, np.full(3, 0.94 * cone.radius_a), rings=4, segments=10)
            yield _part(skeleton, cone.joint, knob, "joint", side)


def cone_mesh(cone: Cone, *, rings: int = 2, segments: int = 12, inset: float = 0.0) -> Mesh:
    """The surface of a rounded cone; with `inset` its ends are drawn in by that many radii."""
    line = cone.b - cone.a
    length = float(np.linalg.norm(line))
    near, far = inset * cone.radius_a, length - inset * cone.radius_b
    if far - near < 0.2 * length:
        near, far = 0.4 * length, 0.6 * length
    profile = np.array([[near, *[cone.radius_a] * 3], [far, *[cone.radius_b] * 3]])
    frame = frame_along(line, np.array([1.0, 0.0, 0.0]))
    caps = (cone.radius_a * (1.0 - 0.5 * (inset > 0)), cone.radius_b * (1.0 - 0.5 * (inset > 0)))
    return loft(cone.a, frame, profile, caps=caps, rings=rings, segments=segments)
