"""A skinned mesh: vertices of the rest pose that follow the joints by weight.

`read_skin` takes the mesh that a glTF file carries, `mannequin_skin` dresses a skeleton in jostle's own. Since the
identity pose is the rest pose, a joint that has moved to x and turned by R takes a vertex v of the rest pose to
x + R (v - r), r being the joint's place at rest; a vertex goes to the weighted mean of where its joints take it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from jostle.clips.formats.gltf.figure import TO_JOSTLE, Figure, bind_matrices, find_figure, skin_joints
from jostle.clips.formats.gltf.file import Document
from jostle.clips.formats.gltf.mesh import Primitive, read_primitives
from jostle.clips.formats.gltf.nodes import world_matrix
from jostle.maths import quat
from jostle.skeleton import Globals, Skeleton
from jostle.skeleton.mannequin import build_mannequin
from jostle.types import Array, Float, Int, PathLike


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


def read_skin(path: PathLike, all_props: bool = False) -> Skin:
    """The meshes of a .glb or .gltf figure, on the skeleton that `read_gltf` gives for the same file.

    Characters often hold every sword and shield they own at once: of several props on one joint the first is kept,
    unless `all_props`.
    """
    doc = Document(path)
    figure = find_figure(doc)
    with np.errstate(over="ignore", invalid="ignore"):
        meshes = [*_skinned(doc, figure), *_props(doc, figure, all_props)]
    if not meshes:
        doc.fail("it has a skeleton but no mesh; export it with its mesh.")
    if not all(np.all(np.isfinite(mesh.vertices)) for mesh in meshes):
        doc.fail("its mesh has vertices beyond all measure; export it again.")
    return Skin(figure.skeleton, tuple(meshes))


def has_mesh(path: PathLike) -> bool:
    """Whether a .glb or .gltf file brings anything to look at."""
    return bool(Document(path).items("meshes"))


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


def _skinned(doc: Document, figure: Figure) -> list[SkinMesh]:
    out = []
    places = {node: joint for joint, node in enumerate(figure.nodes)}
    for node, owner in enumerate(doc.nodes):
        if "mesh" not in owner or owner.get("skin") not in figure.skins:
            continue
        joints = skin_joints(doc, owner["skin"])
        inverse_binds = bind_matrices(doc, owner["skin"])
        if inverse_binds is None:
            inverse_binds = np.tile(np.eye(4), (len(joints), 1, 1))
        of_skin = np.array([places[joint] for joint in joints])
        bound = figure.rest[of_skin] @ inverse_binds[: len(joints)]  # B I: where each joint holds the mesh at rest
        for i, part in enumerate(read_primitives(doc, owner["mesh"], doc.label(node))):
            name = f"{doc.name(owner, f'mesh{node}')}{i or ''}"
            if part.joints is None or part.weights is None:
                doc.warn(f"a part of {doc.label(node)} has no weights and was left out.")
            elif part.joints.max() >= len(joints):
                doc.fail(f"{doc.label(node)} follows a joint that its skin does not have; export it again.")
            else:
                matrix = np.zeros((len(part.vertices), 4, 4))
                for k in range(4):
                    matrix += part.weights[:, k, None, None] * bound[part.joints[:, k]]
                out.append(_placed(part, name, matrix, of_skin[part.joints], part.weights, False))
    return out


def _props(doc: Document, figure: Figure, all_props: bool) -> list[SkinMesh]:
    """Meshes without a skin that hang from a joint, and follow it rigidly."""
    out, holding = [], set()
    places = {node: joint for joint, node in enumerate(figure.nodes)}
    for node, owner in enumerate(doc.nodes):
        if "mesh" not in owner or "skin" in owner:
            continue
        holders = [places[n] for n in doc.chain(node) if n in places]
        if not holders:
            doc.warn(f"{doc.label(node)} hangs from no joint and was left out.")
            continue
        joint = holders[-1]
        if joint in holding and figure.skins and not all_props:
            continue
        holding.add(joint)
        try:
            held = np.linalg.solve(world_matrix(doc, figure.nodes[joint]), world_matrix(doc, node))
        except np.linalg.LinAlgError:
            doc.fail(f"{doc.label(node)} hangs from a joint of scale zero; export it again.")
        matrix = (figure.rest[joint] @ held)[None]
        for i, part in enumerate(read_primitives(doc, owner["mesh"], doc.label(node))):
            count = len(part.vertices)
            joints, weights = np.full((count, 4), joint), np.tile(np.eye(4)[0], (count, 1))
            name = f"{doc.name(owner, f'mesh{node}')}{i or ''}"
            out.append(_placed(part, name, matrix, joints, weights, True))
    return out


def _placed(part: Primitive, name: str, matrix: Array, joints: Array, weights: Array, prop: bool) -> SkinMesh:
    """A primitive in the rest pose, in jostle's axes."""
    at = np.einsum("nij,nj->ni", matrix[:, :3, :3], part.vertices) + matrix[:, :3, 3]
    normals = np.einsum("nij,nj->ni", matrix[:, :3, :3], part.normals)
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = np.where(length > 0, normals / np.where(length > 0, length, 1.0), np.array([0.0, 1.0, 0.0]))
    # A mirroring matrix turns triangles inside out.
    faces = part.faces[:, ::-1] if np.linalg.det(matrix[0, :3, :3]) < 0 else part.faces
    joints = np.where(weights > 0, joints, 0)
    return SkinMesh(
        name, at[:, TO_JOSTLE], normals[:, TO_JOSTLE], np.ascontiguousarray(faces), joints, weights, part.colours, prop
    )
