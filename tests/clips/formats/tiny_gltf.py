"""Small glTF files for the tests, put together by hand."""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

KINDS = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
COMPONENTS = {"f4": 5126, "i1": 5120, "u1": 5121, "i2": 5122, "u2": 5123, "u4": 5125}


class Tiny:
    """Nodes, skins and animations as plain JSON, and the arrays they refer to."""

    def __init__(self, nodes: list[dict[str, Any]]) -> None:
        self.json: dict[str, Any] = {
            "asset": {"version": "2.0"},
            "nodes": nodes,
            "bufferViews": [],
            "accessors": [],
        }
        self.data = b""

    def add(self, values: Any, kind: str = "f4", **extra: Any) -> int:
        array = np.asarray(values, dtype=f"<{kind}")
        array = array.reshape(len(array), -1)
        view = {"buffer": 0, "byteOffset": len(self.data), "byteLength": array.nbytes}
        self.data += array.tobytes() + bytes(-array.nbytes % 4)
        self.json["bufferViews"].append(view)
        self.json["accessors"].append(
            {
                "bufferView": len(self.json["bufferViews"]) - 1,
                "componentType": COMPONENTS[kind],
                "count": len(array),
                "type": KINDS[array.shape[1]],
            }
            | extra
        )
        return len(self.json["accessors"]) - 1

    def animate(self, *channels: tuple[int, str, Any, Any], interpolation: str = "LINEAR", name: str = "move") -> Tiny:
        """Channels are (node, path, times, values); values may be the number of an accessor."""
        animation: dict[str, Any] = {"name": name, "channels": [], "samplers": []}
        for node, path, times, values in channels:
            output = values if isinstance(values, int) else self.add(values)
            animation["samplers"].append({"input": self.add(times), "output": output, "interpolation": interpolation})
            target = {"node": node, "path": path}
            animation["channels"].append({"sampler": len(animation["samplers"]) - 1, "target": target})
        self.json.setdefault("animations", []).append(animation)
        return self

    def skin(self, joints: list[int], bind_pose: list[np.ndarray] | None = None) -> Tiny:
        """A skin; `bind_pose` are the joints' matrices there (columns are axes), whose inverses are stored."""
        skin: dict[str, Any] = {"joints": joints}
        if bind_pose is not None:
            skin["inverseBindMatrices"] = self.add([np.linalg.inv(m).T.ravel() for m in bind_pose])
        self.json.setdefault("skins", []).append(skin)
        return self

    def gltf(self, path: Path, uri: str | None = None) -> Path:
        uri = uri or "data:application/octet-stream;base64," + base64.b64encode(self.data).decode()
        path.write_text(json.dumps(self.json | {"buffers": [{"byteLength": len(self.data), "uri": uri}]}))
        return path

    def glb(self, path: Path) -> Path:
        path.write_bytes(pack(self.json | {"buffers": [{"byteLength": len(self.data)}]}, self.data))
        return path


def pack(document: Any, data: bytes) -> bytes:
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    data += bytes(-len(data) % 4)
    head = struct.pack("<4sII", b"glTF", 2, 28 + len(text) + len(data))
    return head + struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(data), b"BIN\0") + data


def unpack(glb: bytes) -> tuple[Any, bytes]:
    size = struct.unpack_from("<I", glb, 12)[0]
    return json.loads(glb[20 : 20 + size]), glb[28 + size :]


def matrix(translation: Any = (0, 0, 0), turn: np.ndarray | None = None, scale: float = 1.0) -> np.ndarray:
    out = np.eye(4)
    out[:3, :3] = scale * (np.eye(3) if turn is None else turn)
    out[:3, 3] = translation
    return out
