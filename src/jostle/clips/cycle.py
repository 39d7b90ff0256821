"""Find the gait cycle of a walk: from which frame to which does the motion come back to itself?

Two frames are alike when the joints stand alike around the pelvis, seen in its heading, and move alike: the distance
between frames i and j is the root mean square over the joints of the difference in place and, times 0.1 s, in
velocity, in metres. A cycle of length p from frame i *returns* when d(i, i + p) is small against the way out, the
largest d(i, i + q) for q < p. The half cycle of a walk, left for right, does not return in this sense; a person who
stands never leaves; and one who kicks comes back without having stepped. The shortest plausible p that returns is the
period, and the pair of frames most alike, with their neighbours, is the cycle: that is where the walk is steadiest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import uniform_filter1d

from jostle.clips.clip import Clip
from jostle.clips.contacts import smooth_velocity
from jostle.clips.edit import trim_frames
from jostle.clips.feet import body_size, find_feet
from jostle.errors import MotionError
from jostle.maths import quat
from jostle.skeleton import find_roles, is_humanoid
from jostle.types import Array, Bool, Float

SHORTEST, LONGEST = 0.3, 2.6  # seconds, for a body of 1.7 m: from a sprint to a sneaking walk
_VELOCITY_SHARE = 0.1  # seconds by which velocities are multiplied to stand beside positions
_SEARCH_FPS = 30.0
_WINDOW = 60.0  # seconds that are searched at once
_RETURNS = 0.4  # d(i, i + p) over the way out: below this a motion has come back
_LEAVES = 0.025  # way out, as a share of body size: below this it has not moved
_STEPS = 0.08  # what each foot must move against the pelvis, as a share of body size, for a gait
_ALIKE = 0.3  # left and right feet of a gait move alike to this share of what they move
_MOVES = 0.4  # a frame belongs to a gait if it moves at least this share as fast as the faster frames do


@dataclass(frozen=True)
class Cycle:
    """Frames `start` and `end` of a clip show the same moment of a gait, `count` cycles apart."""

    start: int
    end: int
    count: int
    period: float  # seconds of one cycle
    mismatch: float  # metres: how far apart the two frames are


def find_cycle(clip: Clip, cycles: int | None = 1) -> Cycle:
    """The best `cycles` gait cycles of a clip, or with None as many as are steady; MotionError where there is none.

    A clip whose last frame is its first already, as in games, is one cycle as a whole.
    """
    shape = _shape(clip)
    if (whole := _whole(clip, shape, 0.02, 3e-3)) is not None:
        return whole
    if clip.duration > _WINDOW:
        return _best_window(clip, cycles)
    stride = max(1, round(clip.fps / _SEARCH_FPS))
    apart, still = _distances(shape[::stride]), _still(shape[::stride])
    distances = np.where(still[:, None] | still[None], np.inf, apart)
    period = _find_period(clip, apart, distances, clip.fps / stride)
    if period is None:
        whole = _whole(clip, shape, 0.25, 0.1)  # one cycle cut to its length, but not closed
        if whole is None or whole.period > _pendulum(clip) * LONGEST or not _is_gait(clip, 0, clip.frame_count - 1):
            raise MotionError(
                f"Clip '{clip.name}' shows no repeated steps; loop needs a walk or run of at least one full cycle, "
                "so trim it to one or choose another clip."
            )
        return whole
    count, pair = _most_steady(distances, period) if cycles is None else (cycles, _best_pair(distances, period, cycles))
    if pair is None:
        raise MotionError(
            f"Clip '{clip.name}' is too short for {count} cycles of {period * stride / clip.fps:.2f} s each; "
            "ask for fewer or give a longer clip."
        )
    start, end, mismatch = _refined(shape, pair[0] * stride, pair[1] * stride, stride)
    return Cycle(start, end, count, (end - start) / count / clip.fps, mismatch)


def _best_window(clip: Clip, cycles: int | None) -> Cycle:
    """The best cycle of a long clip, minute by minute: all its pairs of frames at once would not fit in memory."""
    length, found, problem = round(_WINDOW * clip.fps), [], None
    for first in range(0, clip.frame_count - length // 4, length * 3 // 4):
        try:
            cycle = find_cycle(trim_frames(clip, first, first + length), cycles)
        except MotionError as error:
            problem = problem or error
        else:
            found.append(replace(cycle, start=cycle.start + first, end=cycle.end + first))
    if not found and problem is not None:
        raise problem
    return min(found, key=lambda cycle: (-cycle.count, cycle.mismatch))


def _whole(clip: Clip, shape: Float[Array, "T D"], share: float, least: float) -> Cycle | None:
    """The whole clip, where its last frame comes back to its first: to a share of the way out and of the body."""
    places, size = shape[:, : shape.shape[1] // 2], body_size(clip.skeleton)
    gap, out = np.linalg.norm(places[-1] - places[0]), np.max(np.linalg.norm(places - places[0], axis=-1))
    if clip.frame_count < 4 or gap > min(share * out, least * size) or out < 0.005 * size:
        return None
    return Cycle(0, clip.frame_count - 1, 1, clip.duration, float(gap))


def _pendulum(clip: Clip) -> float:
    """Larger bodies swing more slowly: by this factor, against one of 1.7 m."""
    return float(np.sqrt(body_size(clip.skeleton) / 1.7))


def _shape(clip: Clip) -> Float[Array, "T D"]:
    """Places of the joints around the pelvis in its heading, and their velocities, so that distances are in metres."""
    pelvis = find_roles(clip.skeleton).get("pelvis", 0)
    unturn = quat.from_yaw(-quat.yaw(clip.globals.wxyz[:, pelvis]))[:, None]
    at = clip.positions
    ground = at[:, pelvis : pelvis + 1] * np.array([1.0, 1.0, 0.0])
    places = quat.apply(unturn, at - ground)
    velocities = quat.apply(unturn, smooth_velocity(at, clip.fps))
    scale = 1.0 / np.sqrt(clip.skeleton.joint_count)
    flat = [x.reshape(clip.frame_count, -1) * scale for x in (places, _VELOCITY_SHARE * velocities)]
    return np.concatenate(flat, axis=-1)


def _still(shape: Float[Array, "n D"]) -> Bool[Array, "n"]:
    """Frames in which a person stands before or after the walk: a cycle begins and ends in motion."""
    speed = np.linalg.norm(shape[:, shape.shape[1] // 2 :], axis=-1)
    return speed < _MOVES * np.quantile(speed, 0.8)


def _distances(shape: Float[Array, "n D"]) -> Float[Array, "n n"]:
    """All distances, each averaged with those of the neighbours two frames before and after."""
    squares = np.sum(shape**2, axis=-1)
    d = np.sqrt(np.maximum(squares[:, None] + squares[None] - 2.0 * shape @ shape.T, 0.0))
    n = len(d)
    out = d.copy()
    for p in range(n):  # along each diagonal: pairs (i, i + p) move on together
        smooth = uniform_filter1d(np.diagonal(d, p), 5, mode="nearest")
        out[np.arange(n - p), np.arange(p, n)] = smooth
        out[np.arange(p, n), np.arange(n - p)] = smooth
    return out


def _find_period(clip: Clip, apart: Array, d: Array, rate: float) -> int | None:
    """The shortest p that returns, in frames of the distance matrices: of all frames, and of those in motion only."""
    size, n = body_size(clip.skeleton), len(d)
    shortest, longest = SHORTEST * _pendulum(clip) * rate, min(n - 1, round(LONGEST * _pendulum(clip) * rate))
    returns = np.full(longest + 1, np.inf)
    out = np.zeros(n)  # the way out so far, for each start
    for p in range(1, longest + 1):
        left = out[: n - p] > _LEAVES * size
        if p >= shortest and np.any(left):
            returns[p] = np.min(np.where(left, np.diagonal(d, p) / np.maximum(out[: n - p], 1e-12), np.inf))
        out = np.maximum(out[: n - p], np.diagonal(apart, p))
    stride = round(clip.fps / rate)
    for p in np.flatnonzero(returns <= _RETURNS).tolist():
        near = max(2, round(0.15 * p))
        if returns[p] <= returns[max(0, p - near) : p + near + 1].min():
            start = int(np.argmin(np.diagonal(d, p)))
            if _is_gait(clip, start * stride, (start + p) * stride):
                return p
    return None


def _is_gait(clip: Clip, start: int, end: int) -> bool:
    """Whether between two frames every foot steps, a person's left and right ones in turn and alike."""
    frames = slice(start, end)
    pelvis = find_roles(clip.skeleton).get("pelvis", 0)
    unturn = quat.from_yaw(-quat.yaw(clip.globals.wxyz[frames, pelvis]))[:, None]
    feet = clip.positions[frames][:, list(find_feet(clip).joints)] - clip.positions[frames, pelvis : pelvis + 1]
    feet = quat.apply(unturn, feet)
    ranges = np.linalg.norm(np.ptp(feet, axis=0), axis=-1)
    if np.min(ranges) < max(_STEPS * body_size(clip.skeleton), 0.4 * np.max(ranges)):
        return False
    return not is_humanoid(clip.skeleton) or _unlike(feet[:, 0], feet[:, 1]) < _ALIKE


def _unlike(left: Float[Array, "T 3"], right: Float[Array, "T 3"]) -> float:
    """How much the left foot differs from the mirror image of the right one half a cycle later, over what it moves."""
    left, right = left - np.mean(left, axis=0), right - np.mean(right, axis=0)
    shifted = np.roll(right, len(right) // 2, axis=0) * np.array([1.0, -1.0, 1.0])
    return float(np.linalg.norm(left - shifted) / (np.linalg.norm(left) + np.linalg.norm(right)))


def _best_pair(d: Array, period: int, count: int) -> tuple[int, int] | None:
    """The two frames most alike about `count` periods apart."""
    n, middle = len(d), count * period
    slack = max(1, round(0.1 * middle))
    best, found = np.inf, None
    for p in range(max(1, middle - slack), min(n - 1, middle + slack) + 1):
        apart = np.diagonal(d, p)
        i = int(np.argmin(apart))
        if apart[i] < best:
            best, found = apart[i], (i, i + p)
    return found


def _most_steady(d: Array, period: int) -> tuple[int, tuple[int, int] | None]:
    """As many cycles as come back about as well as the best single one, and the frames between which they lie."""
    one = _best_pair(d, period, 1)
    if one is None:
        return 1, None
    for count in range(int((len(d) - 1) / period + 0.1), 1, -1):
        pair = _best_pair(d, period, count)
        if pair is not None and _steady(d, pair, count, 1.6 * d[one] + 0.01):
            return count, pair
    return 1, one


def _steady(d: Array, pair: tuple[int, int], count: int, allowed: float) -> bool:
    """Whether every cycle within the pair comes back to its first frame."""
    start, length = pair[0], (pair[1] - pair[0]) / count
    slack = max(1, round(0.1 * length))
    ends = [round(start + k * length) for k in range(1, count)]
    within = [np.min(d[start, max(0, end - slack) : end + slack + 1]) <= allowed for end in ends]
    return bool(d[pair] <= allowed and all(within))


def _refined(shape: Float[Array, "T D"], start: int, end: int, reach: int) -> tuple[int, int, float]:
    """The pair of full-rate frames nearest to each other around a pair found at the search rate."""
    if reach <= 1:
        return start, end, float(np.linalg.norm(shape[start] - shape[end]))
    first = np.arange(max(0, start - reach), min(len(shape), start + reach + 1))
    last = np.arange(max(0, end - reach), min(len(shape), end + reach + 1))
    d = np.linalg.norm(shape[first][:, None] - shape[last][None], axis=-1)
    i, j = np.unravel_index(int(np.argmin(d)), d.shape)
    return int(first[i]), int(last[j]), float(d[i, j])
