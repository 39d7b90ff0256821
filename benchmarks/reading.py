"""Parsing a BVH file of 1,000 frames and 31 joints, beside pymotion and bvhio."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import bvhio
import numpy as np
from pymotion.io.bvh import BVH

from benchmarks.timing import Row, median_seconds
from jostle import Clip, save_clip
from jostle.clips.formats.bvh import read_bvh
from jostle.maths import quat
from jostle.skeleton import build_skeleton


def rows() -> list[Row]:
    with _long_file() as path:
        ours = median_seconds(lambda: read_bvh(path))
        pymotion = median_seconds(lambda: _with_pymotion(path))
        other = median_seconds(lambda: bvhio.readAsBvh(str(path)), repeats=3)
        job = f"read BVH ({path.name})"
        return [Row(job, ours, "pymotion", pymotion), Row(job, ours, "bvhio", other)]


def _with_pymotion(path: Path) -> object:
    """pymotion's reader up to what ours returns: joint rotations as quaternions and root positions."""
    file = BVH()
    file.load(str(path))
    return file.get_data()


@contextmanager
def _long_file() -> Iterator[Path]:
    """CMU's 120_13 (1,002 frames, 31 joints) where JOSTLE_DATA has it, else one of the same size made here."""
    real = Path(os.environ.get("JOSTLE_DATA", "")) / "cmu_bvh" / "120_13.bvh"
    if real.is_file():
        yield real
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.bvh"
        save_clip(random_clip(frames=1001, joints=31), path)
        yield path


def random_clip(frames: int, joints: int, seed: int = 0) -> Clip:
    """A person-sized tree of joints that wriggles."""
    rng = np.random.default_rng(seed)
    parents = [-1, *(int(rng.integers(max(0, j - 4), j)) for j in range(1, joints))]
    offsets = rng.normal(scale=0.15, size=(joints, 3))
    skeleton = build_skeleton([f"Joint{j}" for j in range(joints)], parents, offsets, ends=[(joints - 1, (0, 0, 0.1))])
    wxyz = quat.exp(0.5 * rng.normal(size=(frames, joints, 3)))
    return Clip(skeleton, 120.0, rng.normal(size=(frames, 3)), wxyz, name="random")
