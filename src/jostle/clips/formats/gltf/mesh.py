"""Triangles of a glTF mesh with their weights, and one colour a vertex.

Materials are reduced to what a figure on screen needs: base colour, base colour texture and vertex colours are
multiplied (in linear light, as glTF says) and looked up at each vertex. That is exact for the small palettes that
game characters are painted with.
"""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np

from jostle.clips.formats.gltf.data import read_accessor, read_resource, read_view
from jostle.clips.formats.gltf.file import Document, Json
from jostle.types import Array, Float, Int

MAX_PIXELS = 4096 * 4096  # of all pictures together
MAX_VERTICES = 1_500_000


@dataclass(frozen=True, eq=False)
class Primitive:
    """One material's share of a mesh, in the mesh's own coordinates; `joints` count within the skin."""

    vertices: Float[Array, "n 3"]
    normals: Float[Array, "n 3"]
    faces: Int[Array, "m 3"]
    joints: Int[Array, "n 4"] | None
    weights: Float[Array, "n 4"] | None
    colours: Float[Array, "n 3"]  # sRGB


def read_primitives(doc: Document, mesh: object, label: str) -> list[Primitive]:
    """All triangles of a mesh, one item for each material."""
    if "KHR_draco_mesh_compression" in doc.required:
        doc.fail("its meshes are compressed with Draco; export it without compression.")
    owner = doc.item("meshes", mesh, label)
    where = f"mesh '{doc.name(owner, str(mesh))}'"
    parts, dropped = [], 0
    for primitive in doc.objects(owner, "primitives", where):
        if primitive.get("mode", 4) in (4, 5, 6):
            parts.append(_read_primitive(doc, primitive, where))
        else:
            dropped += 1
    if dropped:
        doc.warn(f"{where} also has points or lines, which are not shown.")
    return parts


def _read_primitive(doc: Document, primitive: Json, where: str) -> Primitive:
    attributes = doc.child(primitive, "attributes")
    vertices = read_accessor(doc, attributes.get("POSITION"), ("VEC3",), f"positions of {where}").astype(float)
    doc.vertices += len(vertices)
    if doc.vertices > MAX_VERTICES:
        doc.fail(f"it has more than {MAX_VERTICES} vertices; export a coarser mesh.")
    faces = _faces(doc, primitive, len(vertices), where)
    if "NORMAL" in attributes:
        normals = _attribute(doc, attributes, "NORMAL", ("VEC3",), len(vertices), where)
    else:
        normals = face_normals(vertices, faces)
    joints, weights = _weights(doc, attributes, len(vertices), where)
    return Primitive(
        vertices, normals, faces, joints, weights, _colours(doc, primitive, attributes, len(vertices), where)
    )


def _attribute(doc: Document, owner: Json, name: str, kinds: tuple[str, ...], count: int, where: str) -> Array:
    values = read_accessor(doc, owner.get(name), kinds, f"{name} of {where}", normalise=True)
    if len(values) != count:
        doc.fail(f"{where} has {count} positions and {len(values)} entries of {name}; export it again.")
    return values


def _faces(doc: Document, primitive: Json, count: int, where: str) -> Int[Array, "m 3"]:
    if "indices" in primitive:
        corners = read_accessor(doc, primitive["indices"], ("SCALAR",), f"indices of {where}")[:, 0]
        if corners.dtype.kind != "i" or corners.min() < 0 or corners.max() >= count:
            doc.fail(f"{where} has a triangle with a corner beyond its {count} vertices; export it again.")
    else:
        corners = np.arange(count)
    mode = primitive.get("mode", 4)
    if mode == 4:
        return corners[: len(corners) // 3 * 3].reshape(-1, 3)
    if len(corners) < 3:
        return np.zeros((0, 3), dtype=np.int64)
    if mode == 6:  # a fan
        return np.stack([np.full(len(corners) - 2, corners[0]), corners[1:-1], corners[2:]], axis=1)
    strip = np.stack([corners[:-2], corners[1:-1], corners[2:]], axis=1)
    strip[1::2] = strip[1::2, [1, 0, 2]]  # every second triangle of a strip turns the other way
    return strip


def _weights(doc: Document, attributes: Json, count: int, where: str) -> tuple[Array | None, Array | None]:
    """The four strongest influences on each vertex, adding up to one."""
    if "JOINTS_0" not in attributes or "WEIGHTS_0" not in attributes:
        return None, None
    joints, weights = [], []
    for n in range(4):  # JOINTS_1 and on hold the fifth influence and further
        if f"JOINTS_{n}" in attributes and f"WEIGHTS_{n}" in attributes:
            joints.append(read_accessor(doc, attributes[f"JOINTS_{n}"], ("VEC4",), f"JOINTS_{n} of {where}"))
            weights.append(_attribute(doc, attributes, f"WEIGHTS_{n}", ("VEC4",), count, where))
            if joints[-1].shape != (count, 4) or joints[-1].dtype.kind != "i" or joints[-1].min() < 0:
                doc.fail(f"{where} has JOINTS_{n} that do not fit its {count} vertices; export it again.")
    j, w = np.concatenate(joints, axis=1), np.maximum(np.concatenate(weights, axis=1), 0.0)
    order = np.argsort(-w, axis=1, kind="stable")[:, :4]
    j, kept = np.take_along_axis(j, order, axis=1), np.take_along_axis(w, order, axis=1)
    if np.any(kept.sum(axis=1) < 0.95 * w.sum(axis=1)):
        doc.warn(f"{where} has vertices with more than four influences; the four strongest were kept.")
    total = kept.sum(axis=1, keepdims=True)
    kept = np.where(total > 1e-6, kept / np.where(total > 1e-6, total, 1.0), np.eye(4)[0])
    return np.where(kept > 0, j, 0), kept


def _colours(doc: Document, primitive: Json, attributes: Json, count: int, where: str) -> Float[Array, "n 3"]:
    material = doc.item("materials", primitive["material"], where) if "material" in primitive else {}
    surface = doc.child(material, "pbrMetallicRoughness")
    base = doc.numbers(surface, "baseColorFactor", (1.0, 1.0, 1.0, 1.0), f"the material of {where}")[:3]
    linear = np.tile(np.clip(base, 0.0, 1.0), (count, 1))
    if "COLOR_0" in attributes:
        linear *= np.clip(_attribute(doc, attributes, "COLOR_0", ("VEC3", "VEC4"), count, where)[:, :3], 0.0, 1.0)
    if "baseColorTexture" in surface:
        reference = doc.child(surface, "baseColorTexture")
        channel = f"TEXCOORD_{doc.whole(reference, 'texCoord', 0, where)}"
        if channel in attributes:
            at = _attribute(doc, attributes, channel, ("VEC2",), count, where)
            linear *= to_linear(_look_up(_picture(doc, reference, where), at) / 255.0)
    return to_srgb(linear)


def _picture(doc: Document, reference: Json, where: str) -> Array:
    texture = doc.item("textures", reference.get("index"), where)
    if "source" not in texture:  # a picture in a format that only an extension knows
        doc.warn(f"the texture of {where} is in a format that is not read; it is shown without.")
        return np.full((1, 1, 3), 255, np.uint8)
    number = doc.index(texture["source"], len(doc.items("images")), f"the texture of {where} refers to image")
    if number not in doc.pictures:
        doc.pictures[number] = _decode(doc, doc.items("images")[number], where)
    return doc.pictures[number]


def _decode(doc: Document, image: Json, where: str) -> Array:
    from PIL import Image  # only files with textures pay for it

    if "uri" in image:
        data = read_resource(doc, image["uri"], f"the texture of {where}")
    else:
        data = bytes(read_view(doc, image.get("bufferView"), f"the texture of {where}")[0])
    try:
        with Image.open(io.BytesIO(data), formats=("PNG", "JPEG", "WEBP")) as picture:
            room = MAX_PIXELS - sum(known.shape[0] * known.shape[1] for known in doc.pictures.values())
            if picture.width * picture.height > room:
                doc.fail("its textures together are larger than 4096 x 4096; make them smaller.")
            return np.asarray(picture.convert("RGB"))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError, Image.DecompressionBombWarning):
        doc.fail(f"the texture of {where} is no readable PNG, JPEG or WebP picture; export it again.")


def _look_up(picture: Array, at: Float[Array, "n 2"]) -> Array:
    """The nearest pixel, the picture repeating beyond its edges."""
    height, width = picture.shape[:2]
    columns = np.floor(np.mod(at[:, 0], 1.0) * width).astype(int).clip(0, width - 1)
    rows = np.floor(np.mod(at[:, 1], 1.0) * height).astype(int).clip(0, height - 1)
    return picture[rows, columns]


def face_normals(vertices: Float[Array, "n 3"], faces: Int[Array, "m 3"]) -> Float[Array, "n 3"]:
    """At each vertex the mean normal of its triangles, larger ones counting more."""
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    out = np.zeros_like(vertices)
    for i in range(3):
        np.add.at(out, faces[:, i], np.cross(b - a, c - a))
    length = np.linalg.norm(out, axis=1, keepdims=True)
    return np.where(length > 0, out / np.where(length > 0, length, 1.0), np.array([0.0, 0.0, 1.0]))


def to_linear(srgb: Float[Array, "*b 3"]) -> Float[Array, "*b 3"]:
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def to_srgb(linear: Float[Array, "*b 3"]) -> Float[Array, "*b 3"]:
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * np.maximum(linear, 0.0) ** (1 / 2.4) - 0.055)
