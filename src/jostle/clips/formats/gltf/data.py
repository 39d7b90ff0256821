"""Buffers and accessors of glTF: bytes to checked arrays.

Nothing is allocated on the word of a file: a view must lie in its buffer, an accessor in its view, and what all
accessors of a document decode to is bounded together.
"""

from __future__ import annotations

import base64
import binascii
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from jostle.clips.formats.gltf.file import Document, Json
from jostle.files import MAX_BYTES, read_bytes
from jostle.types import Array

_COMPONENTS = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


def _read_buffer(doc: Document, index: int) -> memoryview:
    if index not in doc.buffers:
        uri = doc.item("buffers", index, "a buffer view").get("uri")
        if uri is None:
            if index or doc.binary is None:
                doc.fail(f"buffer {index} has no data; export it again.")
            doc.buffers[index] = doc.binary
        else:
            doc.buffers[index] = memoryview(read_resource(doc, uri, f"buffer {index}"))
    return doc.buffers[index]


def read_resource(doc: Document, uri: object, label: str) -> bytes:
    """The bytes behind a data URI, or of a file that lies in the document's own folder."""
    if not isinstance(uri, str):
        doc.fail(f"{label} has an address that is no text; export it again.")
    if uri.startswith("data:"):
        head, _, body = uri.partition(",")
        try:
            data = base64.b64decode(body, validate=True) if head.endswith(";base64") else unquote(body).encode()
        except (binascii.Error, ValueError):
            doc.fail(f"{label} has base64 data that is damaged; export it again.")
    else:
        data = _neighbour(doc, uri, label)
    doc.bytes_left -= len(data)
    if doc.bytes_left < 0:
        doc.fail(f"its buffers together are larger than {MAX_BYTES // 2**20} MB; export a shorter take.")
    return data


def _neighbour(doc: Document, uri: str, label: str) -> bytes:
    folder = Path(doc.path).resolve().parent
    target = None
    with suppress(ValueError, OSError, RuntimeError):  # a NUL in the name, a loop of links
        target = (folder / unquote(uri)).resolve()
    if target is None or "://" in uri or not target.is_relative_to(folder):
        doc.fail(f"{label} points outside the file's own folder ({uri[:60]!r}); export it as .glb.")
    return read_bytes(target, doc.bytes_left)


def read_view(doc: Document, index: object, label: str) -> tuple[memoryview, int]:
    """The bytes of a buffer view and its stride (0 where packed)."""
    view = doc.item("bufferViews", index, label)
    where = f"buffer view {index}"
    buffer = _read_buffer(doc, doc.index(view.get("buffer"), len(doc.items("buffers")), f"{where} refers to buffer"))
    start = doc.whole(view, "byteOffset", 0, where)
    length = doc.whole(view, "byteLength", 0, where)
    if start + length > len(buffer):
        doc.fail(f"{where} ends at byte {start + length} of a buffer of {len(buffer)}; export it again.")
    return buffer[start : start + length], doc.whole(view, "byteStride", 0, where)


def read_accessor(doc: Document, index: object, kinds: tuple[str, ...], label: str, normalise: bool = False) -> Array:
    """Numbers of an accessor, shape (count, width): float64, or integers where it holds plain ones.

    With `normalise`, integers mean fractions of their range whatever the file says of them.
    """
    accessor = doc.item("accessors", index, label)
    where = f"accessor {index} ({label})"
    kind, component = accessor.get("type"), accessor.get("componentType")
    if kind not in kinds or not isinstance(component, int) or component not in _COMPONENTS:
        doc.fail(f"{where} is not of a type that fits there; export it again.")
    dtype, width = np.dtype(_COMPONENTS[component]), _WIDTHS[kind]
    count = doc.whole(accessor, "count", 0, where)
    doc.values_left -= count * width
    if doc.values_left < 0:
        doc.fail(f"{where} with its {count} elements goes beyond what one figure may hold; export a shorter take.")
    if count == 0:
        doc.fail(f"{where} is empty; export it again.")
    if "bufferView" in accessor:
        out = _elements(doc, accessor, count, width, dtype, where)
    else:
        out = np.zeros((count, width), dtype)
    if "sparse" in accessor:
        out = _with_sparse(doc, out.copy(), doc.child(accessor, "sparse"), where)
    return _decoded(doc, out, normalise or accessor.get("normalized") is True, where)


def _elements(doc: Document, owner: Json, count: int, width: int, dtype: np.dtype[Any], where: str) -> Array:
    data, stride = read_view(doc, owner.get("bufferView"), where)
    start, size = doc.whole(owner, "byteOffset", 0, where), width * dtype.itemsize
    stride = stride or size
    if stride < size or start + stride * (count - 1) + size > len(data):
        doc.fail(f"{where} wants {count} elements, more than its buffer view holds; export it again.")
    return np.ndarray((count, width), dtype, data, start, (stride, dtype.itemsize))


def _with_sparse(doc: Document, out: Array, sparse: Json, where: str) -> Array:
    count = doc.whole(sparse, "count", 0, where)
    if count > len(out):
        doc.fail(f"{where} replaces more elements than it has; export it again.")
    at, new = doc.child(sparse, "indices"), doc.child(sparse, "values")
    component = at.get("componentType")
    if not isinstance(component, int) or component not in (5121, 5123, 5125):
        doc.fail(f"{where} has sparse indices of an unknown type; export it again.")
    if count:
        rows = _elements(doc, at, count, 1, np.dtype(_COMPONENTS[component]), where)[:, 0]
        if rows.max() >= len(out):
            doc.fail(f"{where} has a sparse index beyond its end; export it again.")
        out[rows] = _elements(doc, new, count, out.shape[1], out.dtype, where)
    return out


def _decoded(doc: Document, raw: Array, normalise: bool, where: str) -> Array:
    if raw.dtype.kind == "f":
        if not np.all(np.isfinite(raw)):
            doc.fail(f"{where} holds numbers that are not finite; repair the take where it was made.")
        return raw.astype(float)
    if normalise:
        return np.maximum(raw / float(np.iinfo(raw.dtype).max), -1.0)
    return raw.astype(np.int64)
