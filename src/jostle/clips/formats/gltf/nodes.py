"""Transforms of glTF nodes: a matrix, or translation, rotation and scale; and where that puts a node in the world."""

from __future__ import annotations

import numpy as np

from jostle.clips.formats.gltf.file import Document
from jostle.maths import quat
from jostle.types import Array, Float


def local_matrix(doc: Document, node: int) -> Float[Array, "4 4"]:
    """A node's own transform at rest."""
    owner, label = doc.nodes[node], doc.label(node)
    if "matrix" in owner:
        return doc.numbers(owner, "matrix", tuple(np.eye(4).ravel()), label).reshape(4, 4).T
    t, r, s = rest_parts(doc, node)
    return compose(t, r, s)


def rest_parts(doc: Document, node: int) -> tuple[Array, Array, Array]:
    """Translation, rotation (wxyz) and scale of a node at rest."""
    owner, label = doc.nodes[node], doc.label(node)
    xyzw = doc.numbers(owner, "rotation", (0.0, 0.0, 0.0, 1.0), label)
    length = np.linalg.norm(xyzw)
    if length < 1e-6:
        doc.fail(f"{label} has a rotation of length zero; export it again.")
    translation = doc.numbers(owner, "translation", (0.0, 0.0, 0.0), label)
    return translation, xyzw[[3, 0, 1, 2]] / length, doc.numbers(owner, "scale", (1.0, 1.0, 1.0), label)


def compose(t: Array, wxyz: Array, s: Array) -> Float[Array, "*t 4 4"]:
    """T R S as one matrix, for all leading axes."""
    out = np.zeros((*np.broadcast_shapes(t.shape[:-1], wxyz.shape[:-1], s.shape[:-1]), 4, 4))
    out[..., :3, :3] = quat.to_matrix(wxyz) * s[..., None, :]
    out[..., :3, 3], out[..., 3, 3] = t, 1.0
    return out


def world_matrix(doc: Document, node: int) -> Float[Array, "4 4"]:
    """Where a node is at rest."""
    out = np.eye(4)
    for n in doc.chain(node):
        if n not in doc.worlds:
            doc.worlds[n] = out @ local_matrix(doc, n)
        out = doc.worlds[n]
    return out
