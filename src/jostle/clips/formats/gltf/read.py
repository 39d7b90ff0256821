"""glTF animation to a clip: sample every node, walk the tree with plain matrices, re-express against the bind pose.

Scales need no care of their own. Each frame gives every joint a matrix G(t) in the file's world, with whatever an
armature scaled by 100 did to it. Against the bind pose B, D = G(t) B^-1 is how the joint has turned since rest: its
rotation is the joint's world rotation in jostle, where rest is the identity; the joint's place is G(t)'s last column.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from jostle.clips.clip import Clip
from jostle.clips.formats.gltf.data import read_accessor
from jostle.clips.formats.gltf.figure import TO_JOSTLE, Figure, find_figure
from jostle.clips.formats.gltf.file import Document, Json
from jostle.clips.formats.gltf.nodes import compose, local_matrix, rest_parts
from jostle.clips.formats.gltf.tracks import PATHS, Tracks, frame_times, read_tracks, sample
from jostle.errors import FileError, MotionError, unknown_name
from jostle.maths import quat
from jostle.skeleton import locals_of
from jostle.types import Array, Float, PathLike

BLOCK = 60_000  # node-frames at a time
STILL = 1e-5  # of the figure's size: bones that move less do not move
SWELL = 0.01  # a scale that departs less from the rest pose's is rounding


def read_gltf(path: PathLike, animation: str | int | None = None, fps: float | None = None) -> Clip:
    """A clip from a .glb or .gltf file: one of its animations (the first unless named or numbered), or its rest pose.

    Keys are sampled at a constant rate: `fps`, or else the first usual rate (`tracks.RATES`) on which all keys lie.
    """
    if fps is not None and not (np.isfinite(fps) and 0 < fps <= 10_000):
        raise MotionError(f"{fps} frames a second is no rate; give a positive number such as 30.")
    doc = Document(path)
    figure = find_figure(doc)
    chosen = _choose(doc, animation)
    if chosen is None:
        return _rest_clip(doc, figure, fps or 30.0)
    tracks = read_tracks(doc, chosen, figure)
    times, rate = frame_times(doc, chosen, tracks, fps and float(fps), len(figure.nodes))
    return _clip(doc, figure, tracks, times, rate, _clip_name(doc, chosen))


def animations(path: PathLike) -> list[tuple[str, float]]:
    """The animations in a .glb or .gltf file: name and length in seconds, in the file's order."""
    doc = Document(path)
    out = []
    for number, name in enumerate(_names(doc)):
        inputs = {s.get("input") for s in doc.objects(doc.items("animations")[number], "samplers", name) if _int(s)}
        spans = [read_accessor(doc, i, ("SCALAR",), f"times of animation '{name}'")[[0, -1], 0] for i in inputs]
        out.append((name, float(max(s[1] for s in spans) - min(s[0] for s in spans)) if spans else 0.0))
    return out


def _int(sampler: Json) -> bool:
    return isinstance(sampler.get("input"), int)


def _names(doc: Document) -> list[str]:
    return [doc.name(animation, f"animation{i}") for i, animation in enumerate(doc.items("animations"))]


def _choose(doc: Document, given: str | int | None) -> int | None:
    """The number of the animation meant: by number, by name, by the part of the name after `Armature|`."""
    names = _names(doc)
    if given is None:
        return 0 if names else None
    if isinstance(given, str):
        for known in (names, [n.lower() for n in names], [n.rsplit("|", 1)[-1].lower() for n in names]):
            wanted = given if known is names else given.lower()
            if wanted in known:
                return known.index(wanted)
    if str(given).isdecimal() and int(given) < len(names):
        return int(given)
    if not names:
        raise FileError(doc.path, "it has no animation; read it without naming one to get its rest pose.")
    short = [n.rsplit("|", 1)[-1] for n in names]
    raise FileError(
        doc.path, unknown_name("animation", str(given)[:60], short if len(set(short)) == len(short) else names)
    )


def _clip_name(doc: Document, chosen: int) -> str:
    stem, names = Path(doc.path).stem, _names(doc)
    return stem if len(names) == 1 else f"{stem}-{names[chosen].rsplit('|', 1)[-1]}"


def _clip(doc: Document, figure: Figure, tracks: Tracks, times: Array, rate: float, name: str) -> Clip:
    chain = {n for node in figure.nodes if node >= 0 for n in doc.chain(node)}
    order = sorted(chain, key=lambda n: len(doc.chain(n)))
    skeleton, joints = figure.skeleton, len(figure.nodes)
    root, wxyz, offsets = (np.empty((len(times), *shape)) for shape in ((3,), (joints, 4), (joints, 3)))
    swell = 0.0
    step = max(BLOCK // len(order), 1)
    for start in range(0, len(times), step):
        block = slice(start, start + step)
        with np.errstate(all="ignore"):  # absurd numbers are caught at the end of _globals
            world = _worlds(doc, order, tracks, times[block])
            positions, turns, sizes = _globals(doc, figure, world, len(times[block]))
        pose = locals_of(skeleton, positions, turns, keep_offsets=True)
        root[block], wxyz[block], offsets[block] = pose.root, pose.wxyz, pose.offsets
        swell = max(swell, float(np.max(np.abs(sizes - 1.0))))
    if swell > SWELL:
        doc.warn(
            f"joints change their size by up to {swell:.0%}; their places follow, the thickness of a mesh does not."
        )
    for joint in range(joints):
        wxyz[:, joint] = quat.continuous(wxyz[:, joint])
    size = max(float(np.ptp(skeleton.rest_positions, axis=0).max()), 1e-9)
    still = np.all(np.abs(offsets[:, 1:] - skeleton.offsets[1:]) <= STILL * size)
    return Clip(skeleton, rate, root, wxyz, None if still else offsets, name)


def _globals(
    doc: Document, figure: Figure, world: dict[int, Array], frames: int
) -> tuple[Float[Array, "T J 3"], Float[Array, "T J 4"], Float[Array, "T J"]]:
    """The joints' places, turns since rest and sizes beside rest, in jostle's axes."""
    count = len(figure.nodes)
    positions, turns, sizes = np.empty((frames, count, 3)), np.empty((frames, count, 4)), np.empty((frames, count))
    to_rest = np.linalg.inv(figure.rest)
    for joint, node in enumerate(figure.nodes):
        positions[:, joint] = world[node][:, :3, 3][:, TO_JOSTLE]
        turned = (world[node] @ to_rest[joint])[:, :3, :3]  # D
        turns[:, joint], sizes[:, joint] = _turn(turned[:, TO_JOSTLE][:, :, TO_JOSTLE])
    if not all(np.all(np.abs(values) < 1e9) for values in (positions, turns, sizes)):  # false for NaN, too
        doc.fail("its joints fly off beyond all measure; repair the take where it was made.")
    return positions, turns, sizes


def _worlds(doc: Document, order: list[int], tracks: Tracks, times: Array) -> dict[int, Float[Array, "T 4 4"]]:
    """Where every node is at these times (one frame where it never moves)."""
    world = {-1: np.tile(np.eye(4), (1, 1, 1))}
    for node in order:
        if any((node, path) in tracks for path in PATHS):
            parts = [
                sample(tracks[node, path], times) if (node, path) in tracks else part
                for path, part in zip(PATHS, rest_parts(doc, node), strict=True)
            ]
            local = compose(*parts)
        else:
            local = local_matrix(doc, node)
        world[node] = world[doc.parents[node]] @ local
    return world


def _turn(m: Float[Array, "t 3 3"]) -> tuple[Float[Array, "t 4"], Float[Array, "t"]]:
    """The rotation in D and its scale. Where D also shears, the rotation nearest to it."""
    gram = np.swapaxes(m, 1, 2) @ m  # s^2 I without shear
    size = np.sqrt(np.trace(gram, axis1=1, axis2=2) / 3)
    bent = ~(np.abs(gram - size[:, None, None] ** 2 * np.eye(3)).max(axis=(1, 2)) <= 1e-6 * size**2)
    pure = m / np.where(size > 0, size, 1.0)[:, None, None]
    if np.any(bent & np.isfinite(size)):
        rows = np.flatnonzero(bent & np.isfinite(size))
        u, _, vt = np.linalg.svd(pure[rows])
        u[:, :, 2] *= np.sign(np.linalg.det(u @ vt))[:, None]
        pure[rows] = u @ vt
    return quat.from_matrix(pure), size


def _rest_clip(doc: Document, figure: Figure, fps: float) -> Clip:
    joints = figure.skeleton.joint_count
    root = figure.skeleton.offsets[:1].copy()
    return Clip(figure.skeleton, fps, root, quat.identity((1, joints)), None, Path(doc.path).stem)
