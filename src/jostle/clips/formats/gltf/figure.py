"""The figure in a glTF file: which nodes are its joints, and where they are in the bind pose.

**Which nodes.** All joints of the first skin, and of every skin that shares a joint with it (a suit of four meshes has
four skins over one armature). A file without a skin: the animated nodes. Joints with several roots, as rigs with
control bones have, get their common ancestor as root; what lies between joints is kept, so the tree is the file's.

**Where at rest.** A skin's inverse bind matrix I takes the mesh to the joint's frame, so B = M I^-1 is the joint's
place in the bind pose, M being where the bind pose stands in the world. The nodes say where joints are now, G. As a
rule they agree: G I is one and the same M for all joints, and B = G. Some exporters (FBX2glTF) leave the nodes in the
middle of a motion; then B is the honest rest pose, since the mesh was modelled in it, and M is the mesh's own node if
its scale is the joints' own, otherwise what the first joint says. Animation always moves G; only the rest pose is B.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.clips.formats.gltf.data import read_accessor
from jostle.clips.formats.gltf.file import Document
from jostle.clips.formats.gltf.nodes import local_matrix, world_matrix
from jostle.clips.formats.rest import standing_axes
from jostle.skeleton import Skeleton, build_skeleton, is_humanoid
from jostle.types import Array, Float

MAX_JOINTS = 2000
AGREE = 1e-3  # of the scale, and of the figure's size
TO_JOSTLE = [2, 0, 1]  # (x, y, z) of jostle is (z, x, y) of glTF


@dataclass(frozen=True, eq=False)
class Figure:
    """Joints as node numbers (-1: a root of our own above several), and their bind pose in the file's world."""

    nodes: tuple[int, ...]
    skins: tuple[int, ...]
    rest: Float[Array, "J 4 4"]
    skeleton: Skeleton


def find_figure(doc: Document) -> Figure:
    """The joints, their tree and their rest pose."""
    skins = _find_skins(doc)
    members = {node for skin in skins for node in skin_joints(doc, skin)} or animated_nodes(doc)
    if not members:
        doc.fail(
            "it holds neither a skin nor an animation, so there is no figure to read; export it with its armature."
        )
    if len(members) > MAX_JOINTS:
        doc.fail(f"it has {len(members)} joints, more than {MAX_JOINTS}; export only the figure.")
    nodes = _ordered(doc, _with_between(doc, members, everything=not skins))
    if len(nodes) > MAX_JOINTS:
        doc.fail(f"it has {len(nodes)} joints, more than {MAX_JOINTS}; export only the figure.")
    places = {node: joint for joint, node in enumerate(nodes)}
    parents = [-1 if joint == 0 else places.get(doc.parents[node], 0) for joint, node in enumerate(nodes)]
    rest = _rest(doc, skins, nodes, parents)
    skeleton = _skeleton(doc, nodes, parents, rest)
    turn = _turn_to_stand(skeleton)
    if turn is not None:
        rest = turn @ rest
        skeleton = _skeleton(doc, nodes, parents, rest)
    return Figure(tuple(nodes), tuple(skins), rest, skeleton)


def _turn_to_stand(skeleton: Skeleton) -> Float[Array, "4 4"] | None:
    """The turn by right angles after which a person's bind pose stands and faces X, if it needs one: in file axes.

    glTF says Y up and facing Z, and not every exporter listens. Frames stay where they are in the world.
    """
    axes = standing_axes(skeleton) if is_humanoid(skeleton) else None
    if axes is None or np.array_equal(axes, np.eye(3)):
        return None
    order = np.eye(3)[TO_JOSTLE]
    turn = np.eye(4)
    turn[:3, :3] = order.T @ axes @ order
    return turn


def animated_nodes(doc: Document) -> set[int]:
    """Nodes that any animation of the file moves."""
    found = set()
    for number, animation in enumerate(doc.items("animations")):
        for channel in doc.objects(animation, "channels", f"animation {number}"):
            target = doc.child(channel, "target")
            if target.get("path") in ("translation", "rotation", "scale") and "node" in target:
                found.add(doc.index(target["node"], len(doc.nodes), f"animation {number} moves node"))
    return found


def skin_joints(doc: Document, skin: int) -> list[int]:
    listed = doc.items("skins")[skin].get("joints")
    if not isinstance(listed, list) or not 0 < len(listed) <= MAX_JOINTS:
        doc.fail(f"skin {skin} has no joints, or more than {MAX_JOINTS}; export only the figure.")
    return [doc.index(node, len(doc.nodes), f"skin {skin} has the joint") for node in listed]


def _find_skins(doc: Document) -> list[int]:
    """The first skin and all that stand on the same joints."""
    skins = range(len(doc.items("skins")))
    if not skins:
        return []
    used = [node["skin"] for node in doc.nodes if node.get("skin") in skins and "mesh" in node]
    first = min(used, default=0)
    joints = {skin: set(skin_joints(doc, skin)) for skin in skins}
    found, members = [first], set(joints[first])
    for skin in skins:
        if skin != first and joints[skin] & members:
            found.append(skin)
            members |= joints[skin]
    if len(found) < len(skins):
        doc.warn(f"{len(skins) - len(found)} of its {len(skins)} skins stand on another skeleton and were not read.")
    return found


def _with_between(doc: Document, members: set[int], everything: bool) -> set[int]:
    """The members, their lowest common ancestor, and what lies between; -1 where they have no ancestor in common."""
    chains = [doc.chain(node) for node in members]
    shared = 0
    shortest = min(len(chain) for chain in chains)
    while shared < shortest and len({chain[shared] for chain in chains}) == 1:
        shared += 1
    nodes = {node for chain in chains for node in chain[max(shared - 1, 0) :]}
    if everything:  # without a skin, whatever carries something further out is a joint too
        open_nodes = list(nodes)
        while open_nodes:
            branches = [c for c in doc.children(open_nodes.pop()) if c not in nodes and doc.children(c)]
            nodes.update(branches)
            open_nodes.extend(branches)
    return nodes if shared else nodes | {-1}


def _ordered(doc: Document, nodes: set[int]) -> list[int]:
    """Parents first: as the file numbers them where that does it, otherwise depth first. A root of our own leads."""
    real = sorted(nodes - {-1})
    own = [-1] if -1 in nodes else []
    if all(doc.parents[node] < node for node in real if doc.parents[node] in nodes):
        return own + real
    order, open_nodes = own, [n for n in reversed(real) if doc.parents[n] < 0 or doc.parents[n] not in nodes]
    while open_nodes:
        order.append(open_nodes.pop())
        open_nodes.extend(c for c in reversed(doc.children(order[-1])) if c in nodes)
    return order


def bind_matrices(doc: Document, skin: int) -> Float[Array, "j 4 4"] | None:
    """A skin's inverse bind matrices, or None where the file leaves them out."""
    owner = doc.items("skins")[skin]
    if "inverseBindMatrices" not in owner:
        return None
    flat = read_accessor(doc, owner["inverseBindMatrices"], ("MAT4",), f"bind matrices of skin {skin}")
    if len(flat) < len(skin_joints(doc, skin)):
        doc.fail(f"skin {skin} has fewer bind matrices than joints; export it again.")
    return np.swapaxes(flat.astype(float).reshape(-1, 4, 4), 1, 2)


def _rest(doc: Document, skins: list[int], nodes: list[int], parents: list[int]) -> Float[Array, "J 4 4"]:
    """The bind pose of every joint in the file's world."""
    bound: dict[int, Array] = {}
    for skin in skins:
        for node, matrix in _bind_pose(doc, skin).items():
            bound.setdefault(node, matrix)
    rest = np.tile(np.eye(4), (len(nodes), 1, 1))
    for joint, node in enumerate(nodes):
        if node in bound:
            rest[joint] = bound[node]
        elif parents[joint] >= 0 and doc.parents[node] == nodes[parents[joint]]:
            rest[joint] = rest[parents[joint]] @ local_matrix(doc, node)
        elif node >= 0:
            rest[joint] = world_matrix(doc, node)
        size = np.abs(np.linalg.det(rest[joint, :3, :3]))
        if not (np.all(np.isfinite(rest[joint])) and 1e-24 < size < 1e24):
            doc.fail(
                f"{doc.label(node)} has no size in the rest pose (its scale or bind matrix is zero); export it again."
            )
    return rest


def _bind_pose(doc: Document, skin: int) -> dict[int, Array]:
    """Joint nodes of one skin and their B; nothing where the nodes themselves are the rest pose."""
    joints, inverse_binds = skin_joints(doc, skin), bind_matrices(doc, skin)
    if inverse_binds is None:
        return {}
    now = np.array([world_matrix(doc, node) for node in joints])  # G
    placed = now @ inverse_binds[: len(joints)]  # G I, the same M for all joints where the nodes are in the bind pose
    size = np.ptp(now[:, :3, 3], axis=0).max() + 1e-9
    scale = np.abs(placed[:, :3, :3]).max()
    apart = np.abs(placed - placed[0])
    if apart[:, :3, :3].max() <= AGREE * scale and apart[:, :3, 3].max() <= AGREE * size:
        return {}
    try:
        binds = np.linalg.inv(inverse_binds[: len(joints)])
    except np.linalg.LinAlgError:
        doc.fail(f"skin {skin} has a bind matrix that cannot be inverted; export it again.")
    return dict(zip(joints, _stand(doc, skin, placed) @ binds, strict=True))


def _stand(doc: Document, skin: int, placed: Float[Array, "j 4 4"]) -> Float[Array, "4 4"]:
    """M: where the bind pose stands in the world, for a file whose nodes have left it."""
    first = np.abs(np.linalg.det(placed[0, :3, :3]))
    for node, owner in enumerate(doc.nodes):
        if owner.get("skin") == skin and "mesh" in owner:
            mesh = world_matrix(doc, node)
            if abs(np.abs(np.linalg.det(mesh[:3, :3])) - first) <= 0.03 * first:
                return mesh
    return placed[0]


def _skeleton(doc: Document, nodes: list[int], parents: list[int], rest: Float[Array, "J 4 4"]) -> Skeleton:
    at = rest[:, :3, 3][:, TO_JOSTLE]
    offsets = at.copy()
    offsets[1:] -= at[parents[1:]]
    inner, ends = {*nodes, *animated_nodes(doc)}, []
    for joint, node in enumerate(nodes):
        for child in doc.children(node) if node >= 0 else ():
            if _is_end(doc, child) and child not in inner:
                tip = (rest[joint] @ local_matrix(doc, child))[:3, 3][TO_JOSTLE]
                ends.append((child, joint, tip - at[joint]))
    listed = [(joint, tip) for _, joint, tip in sorted(ends, key=lambda end: end[0])]
    return build_skeleton(_names(doc, nodes), parents, offsets, listed)


def _is_end(doc: Document, node: int) -> bool:
    """A leaf that shows nothing marks the tip of a bone."""
    return not doc.children(node) and not any(
        key in doc.nodes[node] for key in ("mesh", "camera", "skin", "extensions")
    )


def _names(doc: Document, nodes: list[int]) -> list[str]:
    """The nodes' names, with numbers where two are the same."""
    taken: dict[str, int] = {}
    out = []
    for node in nodes:
        name = doc.name(doc.nodes[node], f"node{node}") if node >= 0 else "root"
        while name in taken:
            taken[name] += 1
            name = f"{name}_{taken[name]}"
        taken[name] = 1
        out.append(name)
    return out
