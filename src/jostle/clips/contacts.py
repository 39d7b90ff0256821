"""When is a foot on the ground? And how far does it slide while it is?

A point of a foot is planted when it is low *and* slow, with two thresholds each: it must come below the strict pair to
land and rise above the loose pair to leave, so that noise near one threshold does not make a foot flicker. Heights
count from where the point itself stands (`feet.standing_heights`). Speeds are slopes of a straight line fitted over
0.08 s, so that 30 and 120 frames a second give the same answer. For a body of another size than 1.7 m, heights scale
with the size and speeds with its square root (equal Froude numbers move alike).

Clips made for games often walk in place: the ground runs backwards under them like a treadmill. Its speed is the
common speed of the lowest points while the body goes nowhere (`Contacts.treadmill`), and feet are judged against it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import binary_closing, binary_opening, convolve1d

from jostle.clips.clip import Clip
from jostle.clips.feet import Feet, FootPoint, body_size, find_feet, ground_height, standing_heights
from jostle.types import Array, Bool, Float, Int

LAND_HEIGHT, LEAVE_HEIGHT = 0.025, 0.05  # metres above where the point stands, for a body of 1.7 m
LAND_SPEED, LEAVE_SPEED = 0.35, 0.6  # metres a second
LAND_SHARE = 0.12  # or this share of the speed of swing (its 95th percentile), where that is more
WINDOW = 0.08  # seconds over which a speed is measured
SHORTEST = 0.06  # seconds: a shorter contact, or a shorter break of one, is noise
USUAL_SIZE = 1.7  # metres: the person for whom the thresholds are made
_SMALLEST_SCALE = 0.5  # noise and soft paws do not shrink with the body
_ALONG = 0.25  # of the treadmill's speed


@dataclass(frozen=True, eq=False)
class Contacts:
    """Which foot is planted in which frame. `heel` and `toe` split a person's foot; an animal's paw is both at once."""

    names: tuple[str, ...]
    joints: tuple[int, ...]  # a person's ankles, an animal's paws
    planted: Bool[Array, "T F"]
    heel: Bool[Array, "T F"]
    toe: Bool[Array, "T F"]
    ground: float  # height of the floor under the soles, metres
    treadmill: Float[Array, "2"]  # velocity of the ground under a clip made in place; zero otherwise
    fps: float

    @property
    def strikes(self) -> tuple[Int[Array, "n"], ...]:
        """For each foot, the frames in which it lands."""
        return tuple(np.flatnonzero(~foot[:-1] & foot[1:]) + 1 for foot in self.planted.T)

    @property
    def toe_offs(self) -> tuple[Int[Array, "n"], ...]:
        """For each foot, the first frames in which it has left the ground."""
        return tuple(np.flatnonzero(foot[:-1] & ~foot[1:]) + 1 for foot in self.planted.T)

    @property
    def step_count(self) -> int:
        """How many times a foot lands."""
        return sum(len(frames) for frames in self.strikes)

    @property
    def flight(self) -> Bool[Array, "T"]:
        """Frames in which no foot is planted."""
        return ~np.any(self.planted, axis=1)


def find_contacts(clip: Clip, ground: float | None = None) -> Contacts:
    """Contacts by height and speed with hysteresis; `ground` overrides the floor's height where it is known."""
    feet, size = find_feet(clip), body_size(clip.skeleton)
    tracks = foot_tracks(clip, feet)  # (T, P, 3)
    velocities = smooth_velocity(tracks, clip.fps)
    treadmill = _treadmill(clip, tracks, velocities, size)
    speeds = ground_speeds(velocities, treadmill)  # (T, P)
    slow = slow_speed(speeds, size)
    level = levelled(feet.points, tracks, speeds, slow, size)
    standing = standing_heights(feet.points, level, speeds, slow, size)
    floor = ground_height(clip.skeleton, feet.points, standing, size)
    if ground is not None:
        standing, floor = standing + (ground - floor), ground
    down = _without_flicker(_low_and_slow(level[..., 2] - standing, speeds, slow, size), clip.fps)
    heel, toe = _by_foot(feet, down)
    planted = _without_flicker(heel | toe, clip.fps)
    return Contacts(feet.names, feet.joints, planted, heel, toe, floor, treadmill, clip.fps)


def ground_speeds(velocities: Float[Array, "T P 3"], treadmill: Float[Array, "2"]) -> Float[Array, "T P"]:
    """Speeds against the ground. On a treadmill, whatever goes along with the ground counts as still.

    Hands that animate in place seldom let feet go back at one speed, but always back.
    """
    relative = velocities.copy()
    relative[..., :2] -= treadmill
    speeds = np.linalg.norm(relative, axis=-1)
    pace = float(np.linalg.norm(treadmill))
    if pace == 0.0:
        return speeds
    along = velocities[..., :2] @ (treadmill / pace)
    return np.where(along > _ALONG * pace, 0.0, speeds)


def slow_speed(speeds: Float[Array, "T P"], size: float) -> float:
    """Below this a foot may land. The faster it swings, the faster it still is when it does."""
    swing = float(np.quantile(speeds, 0.95))
    return max(LAND_SPEED * float(np.sqrt(size / USUAL_SIZE)), LAND_SHARE * swing)


def height_scale(size: float) -> float:
    """What heights are multiplied by for a body of this size."""
    return max(size / USUAL_SIZE, _SMALLEST_SCALE)


def levelled(
    points: tuple[FootPoint, ...], tracks: Float[Array, "T P 3"], speeds: Float[Array, "T P"], slow: float, size: float
) -> Float[Array, "T P 3"]:
    """The tracks over a level floor.

    The capture volume of some sessions leans by a degree, which is 5 cm over three metres of walking. A plane
    through the resting points takes it out. It leans by at most 3 degrees, and where feet stay within half a body's
    length there is no telling.
    """
    heights = tracks[..., 2] - standing_heights(points, tracks, speeds, slow, size)
    rest = (speeds < slow) & (np.abs(heights) < 2 * LEAVE_HEIGHT * height_scale(size))
    xy, z = tracks[rest][:, :2], heights[rest]
    if len(z) < 10:
        return tracks.copy()
    middle = np.median(xy, axis=0)
    spread = (xy - middle).T @ (xy - middle) / len(xy)
    slope = np.linalg.solve(spread + (0.15 * size) ** 2 * np.eye(2), (xy - middle).T @ (z - np.median(z)) / len(z))
    slope *= min(1.0, np.tan(np.radians(3.0)) / max(float(np.linalg.norm(slope)), 1e-9))
    out = tracks.copy()
    out[..., 2] -= (tracks[..., :2] - middle) @ slope
    return out


def foot_tracks(clip: Clip, feet: Feet) -> Float[Array, "T P 3"]:
    return np.stack([point.track(clip) for point in feet.points], axis=1)


def smooth_velocity(x: Float[Array, "T *b 3"], fps: float, window: float = WINDOW) -> Float[Array, "T *b 3"]:
    """The slope of the straight line through the frames within `window` seconds; the ends lean inwards."""
    if len(x) < 2:
        return np.zeros_like(x)
    half = min(max(1, round(0.5 * window * fps)), max(1, (len(x) - 1) // 2))
    k = np.arange(-half, half + 1)
    # sum k x / sum k^2 over the window; odd reflection carries the slope on beyond the ends
    padded = np.concatenate([2 * x[:1] - x[half:0:-1], x, 2 * x[-1:] - x[-2 : -half - 2 : -1]])
    slope = convolve1d(padded, -k / np.sum(k * k), axis=0)[half : half + len(x)]  # convolution flips the kernel
    return slope * fps


def _treadmill(
    clip: Clip, tracks: Float[Array, "T P 3"], velocities: Float[Array, "T P 3"], size: float
) -> Float[Array, "2"]:
    """The common velocity of the lowest points, where the body goes nowhere; zero for a clip that travels."""
    slow = LAND_SPEED * np.sqrt(size / USUAL_SIZE)
    lowest = tracks[..., 2] < np.quantile(tracks[..., 2], 0.05, axis=0) + LAND_HEIGHT * height_scale(size)  # (T, P)
    level = np.abs(velocities[..., 2]) < slow
    common = np.median(velocities[lowest & level][:, :2], axis=0) if np.any(lowest & level) else np.zeros(2)
    middle = np.mean(clip.positions, axis=1)  # of all joints: in some rigs the root itself never moves
    travel = (middle[-1] - middle[0])[:2] / max(clip.duration, clip.dt)
    in_place = np.linalg.norm(travel) < 0.25 * np.linalg.norm(common)
    return common if in_place and np.linalg.norm(common) > slow else np.zeros(2)


def _low_and_slow(
    heights: Float[Array, "T P"], speeds: Float[Array, "T P"], slow: float, size: float
) -> Bool[Array, "T P"]:
    scale = height_scale(size)
    strict = (heights < LAND_HEIGHT * scale) & (speeds < slow)
    loose = (heights < LEAVE_HEIGHT * scale) & (speeds < LEAVE_SPEED / LAND_SPEED * slow)
    return hysteresis(strict, loose)


def hysteresis(strict: Bool[Array, "T P"], loose: Bool[Array, "T P"]) -> Bool[Array, "T P"]:
    """Runs of `loose` that hold at least one frame of `strict`.

    A contact thus reaches back to where the foot was first loosely down, as well as on to where it last was.
    """
    out = np.zeros_like(strict)
    for p in range(strict.shape[1]):
        for start, stop in runs(loose[:, p]):
            out[start:stop, p] = np.any(strict[start:stop, p])
    return out


def runs(flags: Bool[Array, "T"]) -> list[tuple[int, int]]:
    """The stretches of True, each as (first frame, frame after the last)."""
    edges = np.diff(np.concatenate([[0], flags.astype(np.int8), [0]]))
    return list(zip(np.flatnonzero(edges == 1).tolist(), np.flatnonzero(edges == -1).tolist(), strict=True))


def _without_flicker(down: Bool[Array, "T P"], fps: float) -> Bool[Array, "T P"]:
    """Close breaks and drop contacts that are shorter than SHORTEST; the ends of the clip count as going on."""
    width = round(SHORTEST * fps)
    if width < 2:
        return down
    padded = np.pad(down, ((width, width), (0, 0)), mode="edge")
    brush = np.ones((width, 1), dtype=bool)
    return binary_opening(binary_closing(padded, brush), brush)[width:-width]


def _by_foot(feet: Feet, down: Bool[Array, "T P"]) -> tuple[Bool[Array, "T F"], Bool[Array, "T F"]]:
    heel = np.zeros((len(down), len(feet.names)), dtype=bool)
    toe = heel.copy()
    for p, point in enumerate(feet.points):
        (heel if point.kind == "heel" else toe)[:, point.foot] |= down[:, p]
    only_toe = [all(point.kind != "heel" for point in feet.points if point.foot == f) for f in range(len(feet.names))]
    only_heel = [all(point.kind == "heel" for point in feet.points if point.foot == f) for f in range(len(feet.names))]
    heel[:, only_toe] = toe[:, only_toe]
    toe[:, only_heel] = heel[:, only_heel]
    return heel, toe
