"""A clip as plain JSON data and arrays, for bundles, and a hash by which it is known again."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from jostle.clips.clip import Clip
from jostle.errors import MotionError
from jostle.skeleton import Skeleton
from jostle.types import Array


def pack_clip(clip: Clip) -> tuple[dict[str, Any], dict[str, Array]]:
    skeleton = clip.skeleton
    data = {"name": clip.name, "fps": clip.fps, "unit": clip.unit, "joints": list(skeleton.names)}
    arrays = {
        "parents": skeleton.parents,
        "joint_offsets": skeleton.offsets,
        "end_parents": skeleton.end_parents,
        "end_offsets": skeleton.end_offsets,
        "root": clip.root,
        "wxyz": clip.wxyz,
    }
    if clip.offsets is not None:
        arrays["offsets"] = clip.offsets
    return data, arrays


def unpack_clip(data: dict[str, Any], arrays: dict[str, Array]) -> Clip:
    skeleton = Skeleton(
        tuple(str(name) for name in data["joints"]),
        arrays["parents"],
        arrays["joint_offsets"],
        arrays["end_parents"],
        arrays["end_offsets"],
    )
    fps, unit, name = float(data["fps"]), float(data["unit"]), str(data["name"])
    clip = Clip(skeleton, fps, arrays["root"], arrays["wxyz"], arrays.get("offsets"), name, unit)
    if not np.all(np.isfinite(clip.positions)):
        raise MotionError(f"Clip '{name}' holds values that are no finite numbers.")
    return clip


def clip_hash(clip: Clip) -> str:
    """The same motion on the same skeleton has the same hash, whatever file it came from."""
    digest = hashlib.sha256(json.dumps([clip.skeleton.names, clip.fps]).encode())
    skeleton = clip.skeleton
    for array in (skeleton.parents, skeleton.offsets, skeleton.end_parents, skeleton.end_offsets, clip.root, clip.wxyz):
        digest.update(np.ascontiguousarray(array).tobytes())
    if clip.offsets is not None:
        digest.update(np.ascontiguousarray(clip.offsets).tobytes())
    return digest.hexdigest()
