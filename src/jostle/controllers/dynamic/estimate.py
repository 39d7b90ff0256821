"""Pushes in a clip whose forces nobody recorded: when, how long, which way, how hard.

What moves the centre of mass is the ground and whoever pushes. Two questions tell them apart:

- **Is it unusual?** Somebody in the normal motion goes on with it. Each frame of the clip is compared with
  the frame of the normal motion that has the pose most like it; by how much the mass times acceleration differs is
  unusual force. A force also displaces, and who is displaced by x falls faster, by an inverted pendulum's m g x / h;
  that is not the push's, and is taken off.
- **Could feet have given it?** Feet push only down and only where they are. What they cannot explain is the root
  residual of `body.support`. It is strict and misses much: a walker's foot explains a push of 50 N well.

With a normal motion at hand the first asks, and the second only about what comes after the first push, for a person who
steps back to place does something unusual, too. Without one, the frames of the clip that are away from forces which
feet cannot explain are taken for the normal motion, and a push must pass both questions; so a clip of normal motion has
none, and of weak pushes some are missed.

A push begins in the normal motion: in a pose of it, or (given the normal motion) after a time without unusual force. A
second one that comes while somebody still recovers is not told from the recovery. The part that was pushed is not told
either; it is taken to be the torso.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import median_filter, uniform_filter1d

from jostle.body import GRAVITY, Body, compile_body, ground_forces, inverse_dynamics
from jostle.clips import Clip
from jostle.controllers.dynamic.align import headings
from jostle.controllers.protocol import Push
from jostle.features.bodies import FPS, BodyFeatures, travel
from jostle.features.features import fitted
from jostle.maths import quat
from jostle.types import Array, Bool, Float, Int

PART = "torso"
SHORTEST, LONGEST = 0.1, 0.6  # seconds
LEAST = 0.4  # metres a second squared of the centre of mass: 28 N against 70 kg
NOISES = 1.8, 2.5  # of the normal motion's own differences at their 95th percentile, if it is given, and if not
BEYOND = 0.02  # body weights: a root residual that feet on the ground do not have by mistake
LATER = 0.3  # of the first push: one that comes later and is softer is part of the recovery
QUIET = 0.5  # seconds of normal motion, at least, to compare with
_AROUND = 0.2, 1.5  # seconds before and after a force that feet cannot explain: no normal motion
_ASIDE = 12  # frames: those nearer than this are the same place of the normal motion
_EDGE = 3  # frames at either end of a clip, where accelerations are poor
_NEAR = 2.0  # times the normal motion's own distances, at their 90th percentile
_ALIKE = 0.02  # metres: distances of rows are not less, for a normal motion of one cycle
_WAIT = 6  # frames without unusual force that are as good as a usual pose
_STEADY = 5  # frames over which noise is averaged
_LEAD = 4  # frames before it is seen in which a push may have begun
_DIP = 3  # frames: a hand that lets go for less is one push
_RISE = 0.2  # seconds in which it reaches its largest force
_LASTING = int(SHORTEST * FPS)


def estimate_pushes(clip: Clip, body: Body, usual: Clip | None = None) -> tuple[tuple[float, Push], ...]:
    """Pushes and the seconds since the first frame at which they begin; `usual` is the normal motion, if known."""
    seen = fitted(clip, body.skeleton, FPS)
    if seen.frame_count < QUIET * FPS:
        return ()
    ground = ground_forces(compile_body(body), seen)
    beyond = median_filter(ground.residual, 3) > BEYOND
    force = ground.dynamics.force[:, :2]
    if usual is None:
        calm = _calm(beyond)
        if calm.all() or calm.sum() < QUIET * FPS:
            return ()
        normal = _Normal.of(seen, travel(seen), force, body, calm)
        return _found(normal, seen, normal.way, force, beyond, strict=True)
    known = fitted(usual, body.skeleton, FPS)
    theirs = inverse_dynamics(compile_body(body), known).force[:, :2]
    ways = headings([known, seen], 0, FPS)
    return _found(_Normal.of(known, ways[0], theirs, body), seen, ways[1], force, beyond, strict=False)


def _calm(beyond: Bool[Array, "T"]) -> Bool[Array, "T"]:
    """Frames that are away from forces that feet cannot explain."""
    before, after = (int(seconds * FPS) for seconds in _AROUND)
    lasting = np.flatnonzero(np.convolve(beyond, np.ones(_LASTING), "valid") >= _LASTING)
    calm = np.ones(len(beyond), dtype=bool)
    for t in lasting:
        calm[max(0, t - before) : t + after] = False
    return calm


@dataclass(frozen=True, eq=False)
class _Normal:
    """Frames of the normal motion, and the forces over the ground that made them, along its way."""

    features: BodyFeatures
    way: float
    rows: Float[Array, "N D"]
    force: Float[Array, "N 2"]
    mass: float
    height: float  # of the centre of mass
    noise: float  # newtons by which like frames differ
    apart: float  # how far like frames are from each other

    @classmethod
    def of(
        cls, clip: Clip, way: float, force: Float[Array, "T 2"], body: Body, which: Bool[Array, "T"] | None = None
    ) -> _Normal:
        """Of a clip that goes this way; of some of its frames, if told which."""
        features = BodyFeatures.of([clip], "clip", pace=1.0)
        kept = np.ones(clip.frame_count, dtype=bool) if which is None else which.copy()
        kept[:_EDGE], kept[-_EDGE:] = False, False
        rows = features.encode(clip, way)[kept, : features.velocity.start]
        along = _along(force, way)[kept]
        apart, like = nearest(rows, rows, np.flatnonzero(kept))
        noise = float(np.quantile(np.linalg.norm(_smooth(along - along[like]), axis=1), 0.95))
        height = float(np.mean(body.total_com(clip.poses)[:, 2]))
        return cls(features, way, rows, along, body.total_mass, height, noise, float(np.quantile(apart, 0.9)))


def _found(
    normal: _Normal, clip: Clip, way: float, force: Float[Array, "T 2"], beyond: Bool[Array, "T"], strict: bool
) -> tuple[tuple[float, Push], ...]:
    rows = normal.features.encode(clip, way)[:, : normal.features.velocity.start]
    apart, like = nearest(rows, normal.rows)
    more = _along(force, way) - normal.force[like]  # (T, 2)
    near = apart <= _NEAR * max(normal.apart, _ALIKE)
    floor = max(LEAST * normal.mass, NOISES[strict] * normal.noise)
    strong = np.linalg.norm(_smooth(more), axis=1) > floor
    pushes, start = [], _EDGE
    while (first := _next(strong, near, beyond, start, strict, bool(pushes))) is not None:
        begins, ends, impulse = _event(more, first, normal.mass, GRAVITY / normal.height)
        span = slice(max(0, int(begins) - 1), int(np.ceil(ends)) + 2)
        hard = not pushes or np.linalg.norm(impulse) > LATER * np.linalg.norm(pushes[0][1].impulse)
        if hard and (np.sum(beyond[span]) >= _LASTING - 1 or not (strict or pushes)):
            seconds = (ends - begins) / FPS
            newtons = quat.apply(quat.from_yaw(way), np.array([*impulse, 0.0])) / seconds
            pushes.append((begins / FPS, Push(PART, newtons, seconds)))
        start = max(first + 1, int(np.ceil(ends)) + 1)
    return tuple(pushes)


def _along(force: Float[Array, "T 2"], way: float) -> Float[Array, "T 2"]:
    return quat.apply(quat.from_yaw(-way), np.pad(force, ((0, 0), (0, 1))))[:, :2]


def nearest(
    rows: Float[Array, "T D"], known: Float[Array, "N D"], frames: Int[Array, "T"] | None = None, aside: int = _ASIDE
) -> tuple[Float[Array, "T"], Int[Array, "T"]]:
    """How far each row is from the known one most like it, and which that is.

    Given the frames of the known rows themselves, one that is not from within `aside` frames of it.
    """
    squares = np.sum(rows**2, axis=1)[:, None] + np.sum(known**2, axis=1)[None] - 2.0 * rows @ known.T
    if frames is not None:
        squares[np.abs(frames[:, None] - frames) < min(aside, len(known) // 3)] = np.inf
    like = np.argmin(squares, axis=1)
    return np.sqrt(np.maximum(squares[np.arange(len(rows)), like], 0.0)), like


def _next(
    strong: Bool[Array, "T"], near: Bool[Array, "T"], beyond: Bool[Array, "T"], start: int, strict: bool, later: bool
) -> int | None:
    """The first frame, from this one on, in which somebody comes under a lasting unusual force.

    Until then they were in a pose of the normal motion, or, unless we are strict, under no such force for a while; or,
    the first time, feet cannot explain it.
    """
    for first in range(start, len(strong) - _LASTING - _EDGE):
        lasting = slice(first, first + _LASTING)
        quiet = not strict and not np.any(strong[max(0, first - _WAIT) : first])
        sure = not strict and not later and np.all(beyond[lasting])
        if np.all(strong[lasting]) and (quiet or sure or np.all(near[first - 2 : first + 1])):
            return first
    return None


def _smooth(force: Float[Array, "T 2"]) -> Float[Array, "T 2"]:
    return uniform_filter1d(force, _STEADY, axis=0)


def _event(more: Float[Array, "T 2"], first: int, mass: float, fall: float) -> tuple[float, float, Float[Array, "2"]]:
    """From half of its first summit to half of its highest, in frames, and the impulse of a push."""
    begun, stop = max(0, first - _LEAD), min(len(more), first + int(LONGEST * FPS) + _EDGE)
    pushed = _pushing(more[begun:stop], mass, fall)
    seen = slice(first - begun, first - begun + int(_RISE * FPS))
    way = pushed[seen].sum(axis=0)
    along = pushed @ (way / np.linalg.norm(way))
    top = seen.start + int(np.argmax(along[seen]))
    half = 0.5 * float(along[top])
    low = next((t for t in range(top, 0, -1) if along[t - 1] < half), 1)
    begins = low - _share(along[low], along[low - 1], half)
    high, half = _end(along, top)
    ends = max(high + _share(along[high], along[high + 1], half), begins + SHORTEST * FPS)
    impulse = pushed[max(0, low - 2) : high + 3].sum(axis=0) / FPS
    return begun + begins, begun + ends, impulse


def _end(along: Float[Array, "n"], top: int) -> tuple[int, float]:
    """The last frame, after the first summit, with half of the largest force, and that half; dips do not end a push."""
    high, largest = top, float(along[top])
    for t in range(top + 1, len(along) - 1):
        largest = max(largest, float(along[t]))
        if along[t] >= 0.5 * largest:
            high = t
        elif t - high == _DIP:
            break
    return high, 0.5 * largest


def _pushing(more: Float[Array, "n 2"], mass: float, fall: float) -> Float[Array, "n 2"]:
    """Unusual force without that of falling, m fall x, x what the unusual force displaced."""
    out, x, v = np.zeros_like(more), np.zeros(2), np.zeros(2)
    for t, force in enumerate(more):
        out[t] = force - mass * fall * x
        v = v + force / mass / FPS
        x = x + v / FPS
    return out


def _share(inside: float, outside: float, level: float) -> float:
    """How far between two frames a curve falls to a level, from 0 to 1."""
    return float(np.clip((inside - level) / max(inside - outside, 1e-9), 0.0, 1.0))
