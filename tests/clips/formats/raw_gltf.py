"""An independent reading of a GLB with plain matrices: what the specification says, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation, Slerp
from tiny_gltf import unpack

DTYPES = {5126: "<f4", 5121: "u1", 5123: "<u2", 5125: "<u4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


class Raw:
    def __init__(self, path: Path) -> None:
        self.json, self.data = unpack(path.read_bytes())
        self.nodes = self.json["nodes"]

    def accessor(self, index: int) -> np.ndarray:
        accessor = self.json["accessors"][index]
        view = self.json["bufferViews"][accessor["bufferView"]]
        width = WIDTHS[accessor["type"]]
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        dtype = DTYPES[accessor["componentType"]]
        return np.frombuffer(self.data, dtype, accessor["count"] * width, start).reshape(-1, width).astype(float)

    def animation(self, name: str) -> dict[str, Any]:
        return next(a for a in self.json["animations"] if a["name"].rsplit("|", 1)[-1] == name)

    def worlds(self, animation: dict[str, Any] | None = None, at: float = 0.0) -> dict[int, np.ndarray]:
        """The world matrix of every node, with an animation's LINEAR channels at a time."""
        moved: dict[int, dict[str, np.ndarray]] = {}
        for channel in animation["channels"] if animation else []:
            sampler = animation["samplers"][channel["sampler"]]
            assert sampler.get("interpolation", "LINEAR") == "LINEAR"
            times, values = self.accessor(sampler["input"])[:, 0], self.accessor(sampler["output"])
            moved.setdefault(channel["target"]["node"], {})[channel["target"]["path"]] = between(times, values, at)
        out: dict[int, np.ndarray] = {}
        children = {c for node in self.nodes for c in node.get("children", [])}
        todo = [(n, np.eye(4)) for n in range(len(self.nodes)) if n not in children]
        while todo:
            node, above = todo.pop()
            out[node] = above @ local(self.nodes[node] | moved.get(node, {}))
            todo += [(child, out[node]) for child in self.nodes[node].get("children", [])]
        return out

    def skinned(self, node: int, worlds: dict[int, np.ndarray]) -> list[np.ndarray]:
        """Vertices of each primitive of a skinned node: sum of w G I v, in the file's axes."""
        skin = self.json["skins"][self.nodes[node]["skin"]]
        inverse = self.accessor(skin["inverseBindMatrices"]).reshape(-1, 4, 4).swapaxes(1, 2)
        matrices = np.array([worlds[j] @ i for j, i in zip(skin["joints"], inverse, strict=True)])
        out = []
        for primitive in self.json["meshes"][self.nodes[node]["mesh"]]["primitives"]:
            points = self.accessor(primitive["attributes"]["POSITION"])
            joints = self.accessor(primitive["attributes"]["JOINTS_0"]).astype(int)
            weights = self.accessor(primitive["attributes"]["WEIGHTS_0"])
            homogeneous = np.concatenate([points, np.ones((len(points), 1))], axis=1)
            weights = weights / weights.sum(axis=1, keepdims=True)
            out.append(np.einsum("nk,nkij,nj->ni", weights, matrices[joints], homogeneous)[:, :3])
        return out


def between(times: np.ndarray, values: np.ndarray, at: float) -> np.ndarray:
    at = float(np.clip(at, times[0], times[-1]))
    if values.shape[1] == 4:
        return Slerp(times, Rotation.from_quat(values))(at).as_quat() if len(times) > 1 else values[0]
    return np.array([np.interp(at, times, column) for column in values.T])


def local(node: dict[str, Any]) -> np.ndarray:
    if "matrix" in node:
        return np.array(node["matrix"]).reshape(4, 4).T
    out = np.eye(4)
    turn = Rotation.from_quat(node.get("rotation", [0, 0, 0, 1])).as_matrix()
    out[:3, :3] = turn @ np.diag(node.get("scale", [1, 1, 1]))
    out[:3, 3] = node.get("translation", [0, 0, 0])
    return out
