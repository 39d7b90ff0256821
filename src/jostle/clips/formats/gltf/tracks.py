"""Animated properties of glTF nodes: keys read, values between keys, and the frames at which to ask for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.clips.formats.gltf.data import read_accessor
from jostle.clips.formats.gltf.figure import Figure
from jostle.clips.formats.gltf.file import Document, Json
from jostle.maths import quat
from jostle.types import Array, Float

RATES = (30.0, 24.0, 25.0, 60.0, 50.0, 48.0, 100.0, 120.0, 90.0, 240.0)  # tried in this order
MAX_JOINT_FRAMES = 2_000_000  # 110 MB of rotations and offsets
PATHS = {"translation": "VEC3", "rotation": "VEC4", "scale": "VEC3"}


@dataclass(frozen=True, eq=False)
class Track:
    """One animated property of one node: its keys; rotations are wxyz."""

    times: Float[Array, "n"]
    values: Float[Array, "n w"]
    tangents: tuple[Float[Array, "n w"], Float[Array, "n w"]] | None  # in, out: CUBICSPLINE
    step: bool
    turns: bool


Tracks = dict[tuple[int, str], Track]  # by node and property


def read_tracks(doc: Document, chosen: int, figure: Figure) -> Tracks:
    """The animated properties of the figure's nodes and of the nodes above it."""
    animation = doc.items("animations")[chosen]
    label = f"animation '{doc.name(animation, str(chosen))}'"
    samplers = doc.objects(animation, "samplers", label)
    concerned = {n for node in figure.nodes if node >= 0 for n in doc.chain(node)}
    tracks, lost = {}, set()
    for channel in doc.objects(animation, "channels", label):
        target = doc.child(channel, "target")
        node, path = target.get("node"), target.get("path")
        if not isinstance(path, str) or path not in PATHS or not isinstance(node, int) or node not in concerned:
            lost.add("morph targets" if path == "weights" else "nodes outside the skeleton")
        elif (node, path) not in tracks:
            if "matrix" in doc.nodes[node]:
                doc.fail(f"{label} moves {doc.label(node)}, which has a fixed matrix; export it again.")
            sampler = samplers[doc.index(channel.get("sampler"), len(samplers), f"{label} refers to sampler")]
            tracks[node, path] = _track(doc, sampler, path, f"{label}, {doc.label(node)}, {path}")
    if lost:
        doc.warn(f"{label} also moves {' and '.join(sorted(lost))}, which a clip does not keep.")
    return tracks


def _track(doc: Document, sampler: Json, path: str, label: str) -> Track:
    times = read_accessor(doc, sampler.get("input"), ("SCALAR",), f"times of {label}").astype(float)[:, 0]
    kind = sampler.get("interpolation", "LINEAR")
    if kind not in ("LINEAR", "STEP", "CUBICSPLINE"):
        doc.fail(f"{label} has the interpolation {str(kind)[:20]!r}; LINEAR, STEP and CUBICSPLINE are known.")
    if np.any(np.diff(times) < 0):
        doc.fail(f"{label} has keys that go back in time; export it again.")
    turns = path == "rotation"
    values = read_accessor(doc, sampler.get("output"), (PATHS[path],), label, normalise=True)
    each = 3 if kind == "CUBICSPLINE" else 1
    if len(values) != each * len(times):
        doc.fail(f"{label} has {len(times)} keys and {len(values)} values; export it again.")
    if turns:
        values = values[:, [3, 0, 1, 2]]
    keys = values[1::3] if each == 3 else values
    if turns:
        lengths = np.linalg.norm(keys, axis=1, keepdims=True)
        if lengths.min() < 1e-6:
            doc.fail(f"{label} has a rotation of length zero; export it again.")
        keys = keys if each == 3 else keys / lengths  # a spline's tangents belong to its keys as they are
    return Track(times, keys, (values[0::3], values[2::3]) if each == 3 else None, kind == "STEP", turns)


def sample(track: Track, at: Float[Array, "T"]) -> Float[Array, "T w"]:
    """A track's value at each time; before its first key and after its last it holds still."""
    keys, count = track.times, len(track.times)
    near = np.clip(np.searchsorted(keys, at), 1, max(count - 1, 1)) - 1
    for side in (near, np.minimum(near + 1, count - 1)):  # times are float32 in the file: a frame on a key is that key
        at = np.where(np.abs(keys[side] - at) <= 2.0**-22 * np.abs(at), keys[side], at)
    if track.step or count == 1:
        return track.values[np.clip(np.searchsorted(keys, at, side="right") - 1, 0, count - 1)]
    i = np.clip(np.searchsorted(keys, at, side="right") - 1, 0, count - 2)
    gap = keys[i + 1] - keys[i]
    u = np.clip((at - keys[i]) / np.where(gap > 0, gap, 1.0), 0.0, 1.0)
    a, b = track.values[i], track.values[i + 1]
    if track.tangents is None:
        return quat.slerp(a, b, u) if track.turns else a + u[:, None] * (b - a)
    out = _hermite(u[:, None], gap[:, None], a, track.tangents[1][i], b, track.tangents[0][i + 1])
    return quat.normalise(out) if track.turns else out


def _hermite(u: Array, gap: Array, a: Array, leaving: Array, b: Array, arriving: Array) -> Array:
    """glTF 2.0, appendix C.5; the tangents are per second."""
    return (
        (2 * u**3 - 3 * u**2 + 1) * a
        + gap * (u**3 - 2 * u**2 + u) * leaving
        + (3 * u**2 - 2 * u**3) * b
        + gap * (u**3 - u**2) * arriving
    )


def frame_times(
    doc: Document, chosen: int, tracks: Tracks, fps: float | None, joints: int
) -> tuple[Float[Array, "T"], float]:
    if not tracks:
        return np.zeros(1), fps or 30.0
    start = min(track.times[0] for track in tracks.values())
    span = max(track.times[-1] for track in tracks.values()) - start
    rate = fps or _guess_rate(doc, chosen, list({id(t.times): t.times - start for t in tracks.values()}.values()))
    count = span * rate + 1.0
    if not count * joints <= MAX_JOINT_FRAMES:
        doc.fail(
            f"it lasts {span:.0f} s, which at {rate:g} frames a second is too long for {joints} joints; cut it first."
        )
    return start + np.arange(int(count + 0.02)) / rate, rate


def _guess_rate(doc: Document, chosen: int, keys: list[Array]) -> float:
    """The rate jostle wrote; or a usual one on whose frames all keys lie; or that of the densest track."""
    noted = doc.items("animations")[chosen].get("extras")
    noted = noted.get("fps") if isinstance(noted, dict) else None
    own = (float(noted),) if isinstance(noted, int | float) and 1 <= noted <= 1000 else ()
    for rate in (*own, *RATES):
        if all(np.all(np.abs(times * rate - np.round(times * rate)) < 0.02) for times in keys):
            return rate
    densest = max(keys, key=lambda times: len(np.unique(times)))
    gaps = np.diff(np.unique(densest))
    return float(np.clip(1.0 / np.median(gaps), 1.0, 1000.0)) if len(gaps) else 30.0
