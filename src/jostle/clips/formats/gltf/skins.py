"""The skin of a glTF figure: meshes on the skeleton that `read_gltf` gives, and props that hang from a joint."""

from __future__ import annotations

import numpy as np

from jostle.clips.formats.gltf.figure import TO_JOSTLE, Figure, bind_matrices, find_figure, skin_joints
from jostle.clips.formats.gltf.file import Document
from jostle.clips.formats.gltf.mesh import Primitive, read_primitives
from jostle.clips.formats.gltf.nodes import world_matrix
from jostle.clips.skin import Skin, SkinMesh
from jostle.types import Array, PathLike


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
