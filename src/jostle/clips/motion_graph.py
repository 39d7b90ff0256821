"""Which clips can go on as which others: motion graphs (Kovar, Gleicher and Pighin 2002; Lee et al. 2002).

A clip at frame a can go on as another that comes to frame b where the frames that follow a look like those that lead to
b: a transition blends the two windows, and is as good as they are alike. Windows of points hold velocities and
accelerations too. They are compared with place and heading taken out at its best, which has a closed form: seen from
above as complex numbers, with u and v about their middles,

    min over turns and shifts of  sum |u - e^(i t) v - s|^2  =  sum |u|^2 + sum |v|^2 - 2 |sum u conj(v)|

so that the distances of all pairs of windows are one product of matrices. Local minima below a threshold are
transitions, and what is kept is the largest part in which every frame can be reached from every other: nobody who
walks in it ever comes to an end.

    graph = build_graph(clips, threshold=0.06)     # metres, of points, rms
    graph.jumps[0]                                 # frame 57 of all goes on as frame 212
    graph.blended(graph.jumps[:1])                 # the frames between, where the first clip has them
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Complex
from scipy.ndimage import minimum_filter
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from jostle.clips.clip import Clip
from jostle.clips.edit import stacked
from jostle.errors import MotionError
from jostle.maths import quat
from jostle.skeleton import Pose
from jostle.types import Array, Bool, Float, Int

BLEND = 0.25  # seconds


@dataclass(frozen=True)
class Jump:
    """From frame `start` on, the next frames are blended into those that lead to `end`. Frames count over all clips."""

    start: int
    end: int
    distance: float  # metres


@dataclass(frozen=True, eq=False)
class MotionGraph:
    clips: tuple[Clip, ...]
    window: int  # frames of a blend
    jumps: tuple[Jump, ...]
    kept: Bool[Array, "N"]  # frames from which one can go on for ever, and that can be reached

    @property
    def first(self) -> Int[Array, "C"]:
        """The number of each clip's first frame."""
        return np.cumsum([0, *(clip.frame_count for clip in self.clips)])[:-1]

    @property
    def share(self) -> float:
        """Of the frames, how many are kept."""
        return float(np.mean(self.kept))

    def place(self, frame: int) -> tuple[int, int]:
        """The clip of a frame, and its number in it."""
        clip = int(np.searchsorted(self.first, frame, side="right")) - 1
        return clip, frame - int(self.first[clip])

    def goes_on(self, frame: int) -> bool:
        """Whether the next frame of the same clip is part of the graph too."""
        clip, own = self.place(frame)
        return own + 1 < self.clips[clip].frame_count and bool(self.kept[frame] and self.kept[frame + 1])

    @cached_property
    def poses(self) -> Pose:
        """All frames."""
        return stacked([clip.poses for clip in self.clips])

    def blended(self, jumps: Sequence[Jump]) -> Pose:
        """Of each jump the `window` frames after the first, where the first clip is, (n, window). The last has the pose
        of the second.
        """
        span = np.arange(self.window)
        rows = np.array([jump.start for jump in jumps])[:, None] + 1 + span  # (n, L)
        onto = np.array([jump.end for jump in jumps])[:, None] + 1 - self.window + span
        old, new = self.poses.rows(rows), self.poses.rows(onto)
        radians, shift = fit(self._flat[rows], self._flat[onto])
        turned = quat.from_yaw(radians)[:, None]
        there = quat.apply(turned, new.root) + np.pad(shift, ((0, 0), (0, 1)))[:, None]
        wxyz = new.wxyz.copy()
        wxyz[..., 0, :] = quat.mul(turned, wxyz[..., 0, :])
        p = (span + 1.0) / self.window
        share = 3.0 * p**2 - 2.0 * p**3  # smooth at both ends
        root = (1.0 - share[:, None]) * old.root + share[:, None] * there
        offsets = None
        if old.offsets is not None and new.offsets is not None:
            column = share[:, None, None]
            offsets = (1.0 - column) * old.offsets + column * new.offsets
        return Pose(root, quat.slerp(old.wxyz, wxyz, share[:, None]), offsets)

    @cached_property
    def _flat(self) -> Complex[Array, "N P"]:
        """Points of all frames, seen from above."""
        points = np.concatenate([_points(clip) for clip in self.clips])
        return points[..., 0] + 1j * points[..., 1]


def build_graph(clips: Sequence[Clip], threshold: float, blend: float = BLEND) -> MotionGraph:
    """The graph of clips with one skeleton and rate. `threshold` is in metres, `blend` in seconds."""
    clips = tuple(clips)
    if len({clip.fps for clip in clips}) > 1 or not all(clip.skeleton.same_as(clips[0].skeleton) for clip in clips):
        raise MotionError("A motion graph is of clips with one skeleton and one rate; retarget or resample them first.")
    window = max(2, round(blend * clips[0].fps))
    return graph_of(clips, window, window_distances(clips, window), threshold)


def graph_of(clips: Sequence[Clip], window: int, distances: Float[Array, "N N"], threshold: float) -> MotionGraph:
    """The graph by distances that are known, for who tries several thresholds."""
    lengths = tuple(clip.frame_count for clip in clips)
    graph = MotionGraph(tuple(clips), window, find_jumps(distances, lengths, window, threshold), np.ones(0, dtype=bool))
    return _strongest(graph, lengths)


def window_distances(clips: Sequence[Clip], window: int) -> Float[Array, "N N"]:
    """Between the windows that begin at each two frames, rms over points, in metres; inf where one does not fit."""
    flat, height, whole = [], [], []
    for clip in clips:
        points = _points(clip)
        count = clip.frame_count - window + 1
        rows = np.arange(clip.frame_count)[:, None] + np.arange(window)  # (T, window)
        seen = points[np.minimum(rows, clip.frame_count - 1)].reshape(clip.frame_count, -1, 3)
        middle = seen[..., :2].mean(axis=1, keepdims=True)
        flat.append((seen[..., 0] - middle[..., 0]) + 1j * (seen[..., 1] - middle[..., 1]))
        height.append(seen[..., 2])
        whole.append(np.arange(clip.frame_count) < count)
    U, H, ok = np.concatenate(flat), np.concatenate(height), np.concatenate(whole)
    size = np.sum(np.abs(U) ** 2, axis=1)
    level = np.sum(H**2, axis=1)
    squared = size[:, None] + size - 2.0 * np.abs(U @ U.conj().T) + level[:, None] + level - 2.0 * H @ H.T
    distances = np.sqrt(np.maximum(squared, 0.0) / U.shape[1])
    distances[~ok] = np.inf
    distances[:, ~ok] = np.inf
    return distances


def find_jumps(
    distances: Float[Array, "N N"], lengths: Sequence[int], window: int, threshold: float
) -> tuple[Jump, ...]:
    """Local minima below a threshold. A window that goes on as itself is none."""
    owner = np.repeat(np.arange(len(lengths)), lengths)
    begins = np.cumsum([0, *lengths[:-1]])
    found = []
    for a in begins:
        for b in begins:
            rows, columns = (slice(x, x + lengths[int(owner[x])]) for x in (a, b))
            block = distances[rows, columns]
            least = minimum_filter(block, size=3, mode="constant", cval=np.inf)
            for i, j in np.argwhere((block <= least) & (block < threshold)):
                start, end = int(a + i) - 1, int(b + j) + window - 1
                itself = a == b and abs(int(i) - int(j)) < window
                if not itself and i > 0:
                    found.append(Jump(start, end, float(block[i, j])))
    return tuple(found)


def _strongest(graph: MotionGraph, lengths: Sequence[int]) -> MotionGraph:
    """Its largest strongly connected part."""
    count = sum(lengths)
    last = np.cumsum(lengths) - 1
    on = np.setdiff1d(np.arange(count), last)
    starts = np.array([*on, *(jump.start for jump in graph.jumps)], dtype=np.int64)
    ends = np.array([*(on + 1), *(jump.end for jump in graph.jumps)], dtype=np.int64)
    edges = coo_array((np.ones(len(starts)), (starts, ends)), shape=(count, count))
    _, part = connected_components(edges, directed=True, connection="strong")
    kept = part == np.argmax(np.bincount(part))
    if np.count_nonzero(kept) < 2:
        kept[:] = False
    jumps = tuple(jump for jump in graph.jumps if kept[jump.start] and kept[jump.end])
    return replace(graph, jumps=jumps, kept=kept)


def fit(u: Complex[Array, "n L P"], v: Complex[Array, "n L P"]) -> tuple[Float[Array, "n"], Float[Array, "n 2"]]:
    """By how much windows of points v are turned about the vertical through the origin, then shifted, to lie on u."""
    middle, own = np.mean(u, axis=(1, 2)), np.mean(v, axis=(1, 2))
    radians = np.angle(np.sum((u - middle[:, None, None]) * np.conj(v - own[:, None, None]), axis=(1, 2)))
    shift = middle - np.exp(1j * radians) * own
    return radians, np.stack([np.real(shift), np.imag(shift)], axis=-1)


def _points(clip: Clip) -> Float[Array, "T P 3"]:
    return np.concatenate([clip.globals.positions, clip.globals.ends], axis=1)
