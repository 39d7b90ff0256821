"""A clip to glTF 2.0: joints as nodes, one animation, and a mannequin skinned to them: any viewer shows a body.

jostle's rest pose is the identity, so every node starts unturned and a bind matrix is a translation. Tips of bones are
written as leaf nodes. The exact frame rate stands in the animation's extras, since key times are float32.
"""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

from jostle import __version__
from jostle.clips.clip import Clip
from jostle.clips.formats.gltf.mesh import to_linear
from jostle.clips.skin import Skin, SkinMesh, mannequin_skin
from jostle.errors import FileError, MotionError
from jostle.files import write_bytes
from jostle.maths import quat
from jostle.skeleton import Skeleton
from jostle.types import Array, Float, PathLike

TO_GLTF = [1, 2, 0]  # (x, y, z) of glTF is (y, z, x) of jostle
XYZW = [2, 3, 1, 0]  # likewise for wxyz, scalar last
VERTICES, INDICES = 34962, 34963  # what a buffer view is for
_COMPONENTS = {"f4": 5126, "u1": 5121, "u2": 5123, "u4": 5125}
_KINDS = {1: "SCALAR", 3: "VEC3", 4: "VEC4", 16: "MAT4"}


class _Buffer:
    """Arrays packed one after the other, each with its view and its accessor."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []

    def add(self, values: Array, kind: str, target: int | None = None, bounds: bool = False) -> int:
        """The number of the accessor that gives these values back."""
        packed = np.ascontiguousarray(values, dtype=f"<{kind}").reshape(len(values), -1)
        self.data += bytes(-len(self.data) % 4)  # every view starts on a multiple of four
        view = {"buffer": 0, "byteOffset": len(self.data), "byteLength": packed.nbytes}
        self.views.append(view | ({"target": target} if target else {}))
        self.data += packed.tobytes()
        accessor = {
            "bufferView": len(self.views) - 1,
            "componentType": _COMPONENTS[kind],
            "count": len(packed),
            "type": _KINDS[packed.shape[1]],
        }
        if bounds:
            accessor |= {"min": packed.min(axis=0).tolist(), "max": packed.max(axis=0).tolist()}
        self.accessors.append(accessor)
        return len(self.accessors) - 1


def write_gltf(clip: Clip, path: PathLike, skin: Skin | None = None) -> None:
    """Write a clip as .glb, or as .gltf with all in the one file; dressed in the mannequin unless given a skin."""
    ending = Path(path).suffix.lower()
    if ending not in (".glb", ".gltf"):
        raise FileError(path, "glTF files end in .glb or .gltf; give it one of these endings.")
    if skin is not None and not skin.skeleton.same_as(clip.skeleton):
        raise MotionError(f"The skin does not fit clip '{clip.name}': it was modelled on another skeleton.")
    numbers = [clip.root, clip.wxyz] + ([] if clip.offsets is None else [clip.offsets[:, 1:]])
    if not all(np.all(np.isfinite(values)) for values in numbers):
        raise MotionError(f"Clip '{clip.name}' has frames that are not finite numbers; mend it before writing.")
    document, data = _document(clip, skin or mannequin_skin(clip.skeleton))
    write_bytes(path, _glb(document, data) if ending == ".glb" else _text(document, data))


def _glb(document: dict[str, Any], data: bytes) -> bytes:
    document["buffers"] = [{"byteLength": len(data)}]
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    data += bytes(-len(data) % 4)
    header = struct.pack("<4sII", b"glTF", 2, 12 + 8 + len(text) + 8 + len(data))
    return b"".join(
        [header, struct.pack("<I4s", len(text), b"JSON"), text, struct.pack("<I4s", len(data), b"BIN\0"), data]
    )


def _text(document: dict[str, Any], data: bytes) -> bytes:
    uri = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
    document["buffers"] = [{"byteLength": len(data), "uri": uri}]
    return json.dumps(document, indent=1).encode()


def _document(clip: Clip, skin: Skin) -> tuple[dict[str, Any], bytes]:
    buffer = _Buffer()
    skeleton = clip.skeleton
    nodes = _nodes(skeleton)
    body = {"name": "body", "mesh": 0, "skin": 0}
    binds = np.tile(np.eye(4), (skeleton.joint_count, 1, 1))
    binds[:, 3, :3] = -skeleton.rest_positions[:, TO_GLTF]  # columns are stored one after the other
    primitives = [_primitive(buffer, mesh, i, skeleton.joint_count) for i, mesh in enumerate(skin.meshes)]
    document = {
        "asset": {"version": "2.0", "generator": f"jostle {__version__}"},
        "scene": 0,
        "scenes": [{"name": clip.name, "nodes": [0, len(nodes)]}],
        "nodes": [*nodes, body],
        "meshes": [{"name": "body", "primitives": primitives}],
        "materials": [_material(mesh) for mesh in skin.meshes],
        "skins": [
            {
                "name": "skeleton",
                "skeleton": 0,
                "joints": list(range(skeleton.joint_count)),
                "inverseBindMatrices": buffer.add(binds.reshape(-1, 16), "f4"),
            }
        ],
        "animations": [_animation(buffer, clip)],
        "bufferViews": buffer.views,
        "accessors": buffer.accessors,
    }
    if not primitives:  # a skeleton too small to carry a mesh
        document["scenes"][0]["nodes"] = [0]
        document["nodes"] = nodes
        del document["meshes"], document["materials"]
    return document, bytes(buffer.data)


def _nodes(skeleton: Skeleton) -> list[dict[str, Any]]:
    """Joints in order, then tips."""
    joints = skeleton.joint_count
    nodes: list[dict[str, Any]] = [
        {"name": name, "translation": offset[TO_GLTF].tolist()}
        for name, offset in zip(skeleton.names, skeleton.offsets, strict=True)
    ]
    for end, (joint, offset) in enumerate(zip(skeleton.end_parents.tolist(), skeleton.end_offsets, strict=True)):
        name, at = _end_name(skeleton, joint, end), offset[TO_GLTF].tolist()
        nodes.append({"name": name, "translation": at, "extras": {"tip": True}})
        nodes[joint].setdefault("children", []).append(joints + end)
    for joint in range(joints):
        children = [*skeleton.children[joint], *nodes[joint].get("children", [])]
        if children:
            nodes[joint]["children"] = children
    return nodes


def _end_name(skeleton: Skeleton, joint: int, end: int) -> str:
    several = int(np.count_nonzero(skeleton.end_parents == joint)) > 1
    name = f"{skeleton.names[joint]}_end" + (f"_{end}" if several else "")
    return name if name not in skeleton.names else f"{name}_tip{end}"


def _primitive(buffer: _Buffer, mesh: SkinMesh, number: int, joints: int) -> dict[str, Any]:
    small = joints <= 256
    attributes = {
        "POSITION": buffer.add(mesh.vertices[:, TO_GLTF], "f4", VERTICES, bounds=True),
        "NORMAL": buffer.add(mesh.normals[:, TO_GLTF], "f4", VERTICES),
        "JOINTS_0": buffer.add(mesh.joints, "u1" if small else "u2", VERTICES),
        "WEIGHTS_0": buffer.add(mesh.weights, "f4", VERTICES),
    }
    if np.ptp(mesh.colours, axis=0).max() > 0:  # otherwise the material says it all
        attributes["COLOR_0"] = buffer.add(to_linear(mesh.colours), "f4", VERTICES)
    corners = "u2" if len(mesh.vertices) < 2**16 - 1 else "u4"
    faces = buffer.add(mesh.faces.ravel(), corners, INDICES)
    return {"attributes": attributes, "indices": faces, "material": number}


def _material(mesh: SkinMesh) -> dict[str, Any]:
    colour = [1.0, 1.0, 1.0] if np.ptp(mesh.colours, axis=0).max() > 0 else to_linear(mesh.colours[0]).tolist()
    surface = {"baseColorFactor": [*colour, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.7}
    return {"name": mesh.name, "pbrMetallicRoughness": surface}


def _animation(buffer: _Buffer, clip: Clip) -> dict[str, Any]:
    """Rotations of all joints, translations of the root, and of all joints where bones move."""
    times = buffer.add(np.arange(clip.frame_count) / clip.fps, "f4", bounds=True)
    turns = quat.continuous(quat.normalise(clip.wxyz))[..., XYZW]
    channels, samplers = [], []

    def animate(joint: int, path: str, values: Float[Array, "T w"]) -> None:
        samplers.append({"input": times, "interpolation": "LINEAR", "output": buffer.add(values, "f4")})
        channels.append({"sampler": len(samplers) - 1, "target": {"node": joint, "path": path}})

    animate(0, "translation", clip.root[:, TO_GLTF])
    for joint in range(clip.skeleton.joint_count):
        animate(joint, "rotation", turns[:, joint])
        if joint and clip.offsets is not None:
            animate(joint, "translation", clip.offsets[:, joint][:, TO_GLTF])
    return {"name": clip.name, "channels": channels, "samplers": samplers, "extras": {"fps": clip.fps}}
