"""A skinned mesh: vertices of the rest pose that follow the joints by weight.

A glTF file may carry one (`formats.gltf.read_skin`); `mannequin_skin` dresses a skeleton in jostle's own. Since the
identity pose is the rest pose, a joint that has moved to x and turned by R takes a vertex v of the rest pose to
x + R (v - r), r being the joint's place at rest; a vertex goes to the weighted mean of where its joints take it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from jostle.maths import quat
from jostle.skeleton import Globals, Skeleton
from jostle.skeleton.mannequin import build_mannequin
from jostle.types import Array, Float, Int


@dataclass(frozen=True, eq=False)
class SkinMesh:
    """Triangles in the rest pose; each vertex follows up to four joints. Colours are sRGB, one a vertex."""

    name: str
    vertices: Float[Array, "n 3"]
    normals: Float[Array, "n 3"]
    faces: Int[Array, "m 3"]
    joints: Int[Array, "n 4"]
    weights: Float[Array, "n 4"]
    colours: Float[Array, "n 3"]
    prop: bool = False  # a helmet or a sword: hangs from one joint and is not skinned


@dataclass(frozen=True, eq=False)
class Skin:
    """The meshes of a figure and the skeleton that they were modelled on."""

    skeleton: Skeleton
    meshes: tuple[SkinMesh, ...]


@dataclass(frozen=True, eq=False)
class SkinPart:
    """A share of a skin in one colour, with the bones that move it: what a viewer of skinned meshes wants.

    Bones start unturned at `rest`; to show a pose, set them to the joints' world positions and rotations.
    """

    name: str
    colour: tuple[float, float, float]
    vertices: Float[Array, "n 3"]
    faces: Int[Array, "m 3"]
    bones: Int[Array, "b"]  # joints of the skeleton
    rest: Float[Array, "b 3"]
    weights: Float[Array, "n b"]


def mannequin_skin(skeleton: Skeleton) -> Skin:
    """jostle's mannequin as a skin, one mesh a colour, each vertex following one joint."""
    by_colour: dict[tuple[float, float, float], list[SkinMesh]] = {}
    for part in build_mannequin(skeleton):
        count = len(part.vertices)
        joints = np.zeros((count, 4), dtype=np.int64)
        joints[:, 0] = part.joint
        mesh = SkinMesh(
            part.name,
            part.vertices + skeleton.rest_positions[part.joint],
            part.normals,
            np.asarray(part.faces, dtype=np.int64),
            joints,
            np.tile(np.eye(4)[0], (count, 1)),
            np.tile(part.colour, (count, 1)).astype(float),
        )
        by_colour.setdefault(part.colour, []).append(mesh)
    merged = [replace(_merged(meshes), name=f"mannequin{i}") for i, meshes in enumerate(by_colour.values(), start=1)]
    return Skin(skeleton, tuple(merged))


def deform(skin: Skin, pose: Globals) -> list[Float[Array, "*t n 3"]]:
    """Where the vertices of each mesh are in a pose, or in a stack of poses."""
    rest, out = skin.skeleton.rest_positions, []
    for mesh in skin.meshes:
        at = np.zeros((*pose.positions.shape[:-2], *mesh.vertices.shape))
        for k in range(4):
            j = mesh.joints[:, k]
            moved = pose.positions[..., j, :] + quat.apply(pose.wxyz[..., j, :], mesh.vertices - rest[j])
            at += mesh.weights[:, k, None] * moved
        out.append(at)
    return out


def parts(skin: Skin, colours: int = 8) -> tuple[SkinPart, ...]:
    """The skin as few pieces of one colour each, at most `colours` of them."""
    whole = _merged(list(skin.meshes))
    by_face = whole.colours[whole.faces].mean(axis=1)  # (m, 3)
    palette, chosen = _palette(by_face, colours)
    out = []
    for number, colour in enumerate(palette):
        faces = whole.faces[chosen == number]
        if len(faces):
            out.append(_part(skin, whole, faces, f"colour{number + 1}", tuple(float(c) for c in colour)))
    return tuple(out)


def _part(skin: Skin, whole: SkinMesh, faces: Array, name: str, colour: tuple[float, ...]) -> SkinPart:
    used, corners = np.unique(faces, return_inverse=True)
    joints, weights = whole.joints[used], whole.weights[used]
    bones, columns = np.unique(joints[weights > 0], return_inverse=True)
    dense = np.zeros((len(used), len(bones)))
    np.add.at(dense, (np.nonzero(weights > 0)[0], columns.ravel()), weights[weights > 0])
    rest = skin.skeleton.rest_positions[bones]
    red, green, blue = colour
    return SkinPart(name, (red, green, blue), whole.vertices[used], corners.reshape(-1, 3), bones, rest, dense)


def _palette(colours: Float[Array, "m 3"], limit: int) -> tuple[Float[Array, "c 3"], Int[Array, "m"]]:
    """At most `limit` colours, and which one each face gets: exact where there are so few, otherwise k-means."""
    shades, first, counts = np.unique(np.round(colours * 255), axis=0, return_inverse=True, return_counts=True)
    shades, first = shades / 255, first.ravel()
    if len(shades) <= limit:
        return shades, first
    centres = shades[[np.argmax(counts)]]
    while len(centres) < limit:  # start from shades far from those taken, the commoner the better
        away = np.min(np.sum((shades[:, None] - centres) ** 2, axis=2), axis=1)
        centres = np.concatenate([centres, shades[[np.argmax(away * counts)]]])
    for _ in range(12):
        nearest = np.argmin(np.sum((shades[:, None] - centres) ** 2, axis=2), axis=1)
        for c in np.unique(nearest):
            centres[c] = np.average(shades[nearest == c], axis=0, weights=counts[nearest == c])
    return centres, np.argmin(np.sum((shades[:, None] - centres) ** 2, axis=2), axis=1)[first]


def _merged(meshes: list[SkinMesh]) -> SkinMesh:
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    faces = np.concatenate([mesh.faces + start for mesh, start in zip(meshes, starts[:-1], strict=True)])
    return SkinMesh(
        meshes[0].name,
        np.concatenate([mesh.vertices for mesh in meshes]),
        np.concatenate([mesh.normals for mesh in meshes]),
        faces,
        np.concatenate([mesh.joints for mesh in meshes]),
        np.concatenate([mesh.weights for mesh in meshes]),
        np.concatenate([mesh.colours for mesh in meshes]),
    )


# Reading
