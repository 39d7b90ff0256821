"""The container of glTF 2.0: GLB chunks, JSON and the tree of nodes, trusted by nobody.

A `Document` hands out what it holds only after a check: an index outside its list, a circle in the node tree or text
where a number belongs is one `FormatError`, never a traceback. What a file may cost is bounded before anything is
allocated: the JSON by its number of commas and brackets, arrays (data.py) by a budget for the whole document.
"""

from __future__ import annotations

import json
import math
import struct
import warnings
from typing import Any, NoReturn

import numpy as np

from jostle.errors import FormatError, JostleWarning
from jostle.files import MAX_BYTES, read_bytes
from jostle.types import Array, PathLike

MAX_JSON_TOKENS = 2_000_000  # a Python object costs about 70 bytes
MAX_TEXT = 64 * 2**20  # of a .gltf, whose buffers may be base64 inside the JSON
MAX_DEPTH = 2000
MAX_VALUES = 48_000_000  # numbers decoded from one document

Json = dict[str, Any]


class Document:
    """A parsed glTF file; every method checks what it hands out."""

    def __init__(self, path: PathLike) -> None:
        self.path = path
        data = read_bytes(path)
        text, self.binary = self._chunks(data) if data[:4] == b"glTF" else (data, None)
        self.json = self._parse(text)
        self._lists: dict[str, list[Json]] = {}
        self.buffers: dict[int, memoryview] = {}
        self.worlds: dict[int, Array] = {}  # where nodes are at rest, filled by figure.py
        self.pictures: dict[int, Array] = {}  # decoded textures, filled by mesh.py
        self.vertices = 0
        self.values_left, self.bytes_left = MAX_VALUES, MAX_BYTES
        version = self.child(self.json, "asset").get("version")
        if not (isinstance(version, str) and version.startswith("2.")):
            self.fail(f"it is glTF of version {str(version)[:20]!r}; export it as glTF 2.0.")
        required = self.json.get("extensionsRequired") or []
        self.required = {str(name) for name in required} if isinstance(required, list) else set()
        if "EXT_meshopt_compression" in self.required:
            self.fail("it is compressed with EXT_meshopt_compression; export it without compression.")
        self.nodes = self.items("nodes")
        self.parents = self._find_parents()

    def fail(self, problem: str) -> NoReturn:
        raise FormatError(self.path, problem)

    def warn(self, loss: str) -> None:
        warnings.warn(f"{self.path}: {loss}", JostleWarning, stacklevel=2)

    # The text and its lists

    def _chunks(self, data: bytes) -> tuple[bytes, memoryview | None]:
        if len(data) < 20:
            self.fail(f"the GLB header is cut short after {len(data)} bytes; export it again.")
        version, length = struct.unpack_from("<II", data, 4)
        if version != 2:
            self.fail(f"it is GLB of version {version}; export it as glTF 2.0.")
        if length > len(data):
            self.fail(f"it should have {length} bytes and ends after {len(data)}; copy or export it again.")
        chunks: dict[bytes, memoryview] = {}
        at, view = 12, memoryview(data)
        while at + 8 <= length:
            size, kind = struct.unpack_from("<I4s", data, at)
            if at + 8 + size > length:
                self.fail(f"the chunk at byte {at} reaches beyond the end of the file; export it again.")
            chunks.setdefault(kind, view[at + 8 : at + 8 + size])
            at += 8 + size + (-size) % 4
        if b"JSON" not in chunks:
            self.fail("it has no JSON chunk, so it is no GLB; export it again.")
        return bytes(chunks[b"JSON"]), chunks.get(b"BIN\0")

    def _parse(self, text: bytes) -> Json:
        if len(text) > MAX_TEXT:
            self.fail(f"its JSON is larger than {MAX_TEXT // 2**20} MB; export it as .glb.")
        if sum(text.count(mark) for mark in (b"{", b"[", b",")) > MAX_JSON_TOKENS:
            self.fail("its JSON has more entries than any figure needs; export only the figure.")
        try:
            parsed = json.loads(text.decode("utf-8-sig", errors="replace"))
        except (ValueError, RecursionError) as error:
            line = getattr(error, "lineno", None)
            at = f" at line {line}, column {getattr(error, 'colno', 0)}" if line else ""
            self.fail(f"it is no glTF: its JSON cannot be read{at}; export it again.")
        if not isinstance(parsed, dict):
            self.fail("it is no glTF: its JSON is not an object; export it again.")
        return parsed

    def items(self, kind: str) -> list[Json]:
        """One of the document's lists of objects; empty where the key is absent."""
        if kind not in self._lists:  # checked once, for an index into them must cost nothing
            self._lists[kind] = self.objects(self.json, kind, "the file")
        return self._lists[kind]

    def objects(self, owner: Json, key: str, label: str) -> list[Json]:
        found = owner.get(key, [])
        if not (isinstance(found, list) and all(isinstance(item, dict) for item in found)):
            self.fail(f"'{key}' of {label} is not a list of objects; export it again.")
        return found

    def item(self, kind: str, index: object, label: str) -> Json:
        """The object that an index refers to."""
        found = self.items(kind)
        return found[self.index(index, len(found), f"{label} refers to {kind}")]

    def index(self, given: object, count: int, label: str) -> int:
        if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given < count:
            self.fail(f"{label} {str(given)[:20]}, and there are {count}; export it again.")
        return given

    def child(self, owner: Json, key: str) -> Json:
        found = owner.get(key, {})
        if not isinstance(found, dict):
            self.fail(f"'{key}' is not an object; export it again.")
        return found

    def whole(self, owner: Json, key: str, default: int, label: str) -> int:
        """A whole number that is not negative."""
        value = owner.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**40:
            self.fail(f"{label} has '{key}' {str(value)[:20]}, which is no count; export it again.")
        return value

    def numbers(self, owner: Json, key: str, default: tuple[float, ...], label: str) -> Array:
        """A list of finite numbers, as many as the default has."""
        value = owner.get(key, default)
        if not isinstance(value, list | tuple) or len(value) != len(default):
            self.fail(f"{label} has a '{key}' that is not {len(default)} numbers; export it again.")
        try:
            out = np.array([math.nan if isinstance(v, str | bool) else float(v) for v in value])
        except (TypeError, ValueError, OverflowError):
            out = np.array([math.nan])
        if not np.all(np.isfinite(out)) or np.any(np.abs(out) > 1e18):
            self.fail(f"{label} has a '{key}' that is not finite numbers; export it again.")
        return out

    def name(self, owner: Json, default: str) -> str:
        """A name that any terminal and any file can hold."""
        given = owner.get("name")
        if not isinstance(given, str):
            return default
        clean = "".join(c if c.isprintable() else " " for c in given.encode("utf-8", "replace").decode("utf-8"))
        return clean.strip()[:200] or default

    def label(self, node: int) -> str:
        return f"node {node} ('{self.name(self.nodes[node], 'unnamed')}')"

    # The node tree

    def children(self, node: int) -> list[int]:
        listed = self.nodes[node].get("children", [])
        if not isinstance(listed, list):
            self.fail(f"{self.label(node)} has children that are no list; export it again.")
        return [self.index(c, len(self.nodes), f"{self.label(node)} has the child") for c in listed]

    def _find_parents(self) -> list[int]:
        parents = [-1] * len(self.nodes)
        for node in range(len(self.nodes)):
            for child in self.children(node):
                if parents[child] >= 0 or child == node:
                    self.fail(f"{self.label(child)} has two parents, so the nodes are no tree; export it again.")
                parents[child] = node
        reached = 0
        open_nodes = [n for n, parent in enumerate(parents) if parent < 0]
        while open_nodes:
            reached += 1
            open_nodes.extend(self.children(open_nodes.pop()))
        if reached < len(self.nodes):  # with one parent each, whatever no root reaches turns in a circle
            self.fail("its nodes form a circle; export it again.")
        return parents

    def chain(self, node: int) -> list[int]:
        """The nodes from the top of the scene down to `node`, both included."""
        path = [node]
        while self.parents[path[-1]] >= 0:
            path.append(self.parents[path[-1]])
            if len(path) > MAX_DEPTH:
                self.fail(f"its nodes are nested deeper than {MAX_DEPTH}; export only the figure.")
        return path[::-1]
