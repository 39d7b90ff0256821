"""How much feet slide: the de-facto foot-skate ratio, and centimetres per step. Each is defined here and only here."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import uniform_filter1d

from jostle.clips.clip import Clip
from jostle.clips.contacts import (
    USUAL_SIZE,
    WINDOW,
    Contacts,
    find_contacts,
    foot_tracks,
    levelled,
    runs,
    slow_speed,
    smooth_velocity,
)
from jostle.clips.feet import CLEARANCE, Feet, FootPoint, body_size, find_feet, standing_heights
from jostle.skeleton import is_humanoid
from jostle.types import Array, Float

SKATE_FPS = 20.0
SKATE_HEIGHT = 0.05  # metres above the floor
SKATE_SPEED = 0.5  # metres a second over the ground
SKATE_WINDOW = 5  # intervals


def foot_skate(clip: Clip) -> float:
    """The share of frames in which a foot skates: the de-facto measure of motion synthesis, from 0 to 1.

    At 20 frames a second, a foot skates between two frames if its ball is less than 5 cm up in both and moves over the
    ground faster than 0.5 m/s, both now and on the mean of the five intervals around. (Intervals beyond the ends count
    as still.) The ratio counts intervals in which any foot skates. The ball of the foot is the toe joint, or the ankle
    where there is none. Its height is that above the floor under the sole: what it is above where the ball itself
    stands, plus a joint's usual height above the sole (`feet.CLEARANCE`: 3.4 cm for the ball of a person of 1.7 m), so
    that a foot that swings clear of the ground does not count, and skeletons with thick soles compare with others.
    The measure comes from data in which everybody has one skeleton: people are brought to 1.7 m, so that one motion
    has one score on every body. Animals are measured as they are.
    """
    feet, size = find_feet(clip), body_size(clip.skeleton)
    points = _skate_points(feet)
    tracks = foot_tracks(clip, Feet(feet.names, feet.joints, points))
    speeds = np.linalg.norm(smooth_velocity(tracks, clip.fps), axis=-1)
    slow = slow_speed(speeds, size)
    level = levelled(points, tracks, speeds, slow, size)
    standing = standing_heights(points, level, speeds, slow, size)
    level[..., 2] += np.array([CLEARANCE[point.kind] * size for point in points]) - standing
    scale = USUAL_SIZE / size if is_humanoid(clip.skeleton) else 1.0
    return skate_ratio(at_rate(scale * level, clip.fps, SKATE_FPS))


def skate_ratio(tracks: Float[Array, "T F 3"]) -> float:
    """`foot_skate` of feet sampled at 20 frames a second, whose heights count from the ground."""
    if len(tracks) < 2:
        return 0.0
    speed = np.linalg.norm(np.diff(tracks[..., :2], axis=0), axis=-1) * SKATE_FPS  # (T-1, F)
    mean = uniform_filter1d(speed, SKATE_WINDOW, axis=0, mode="constant")
    low = (tracks[:-1, :, 2] < SKATE_HEIGHT) & (tracks[1:, :, 2] < SKATE_HEIGHT)
    return float(np.mean(np.any(low & (speed > SKATE_SPEED) & (mean > SKATE_SPEED), axis=1)))


def at_rate(x: Float[Array, "T *b"], fps: float, new_fps: float) -> Float[Array, "S *b"]:
    """Positions at another rate, by straight lines between frames."""
    count = int(np.floor((len(x) - 1) / fps * new_fps + 1e-9)) + 1
    at = np.arange(count) * fps / new_fps
    low = np.minimum(at.astype(int), max(len(x) - 2, 0))
    part = (at - low).reshape(-1, *(1,) * (x.ndim - 1))
    return x[low] * (1 - part) + x[np.minimum(low + 1, len(x) - 1)] * part


def _skate_points(feet: Feet) -> tuple[FootPoint, ...]:
    chosen = []
    for foot in range(len(feet.names)):
        own = {point.kind: point for point in feet.points if point.foot == foot}
        chosen.append(own.get("ball") or own.get("heel") or own["tip"])
    return tuple(chosen)


def slide_cm(clip: Clip, contacts: Contacts | None = None) -> float:
    """How far a planted foot slides over the ground, in centimetres per contact, on average; 0 where none is planted.

    The point that slides least counts in each frame, because a foot that rolls from heel to toe does not slide; and the
    first and last 0.08 s of a contact are landing and leaving. Standing for longer than a second counts by the second,
    or the noise of a minute at rest would pass for a long slide.
    """
    contacts = find_contacts(clip) if contacts is None else contacts
    feet = find_feet(clip)
    velocities = smooth_velocity(foot_tracks(clip, feet), clip.fps)[..., :2] - contacts.treadmill
    speeds = np.linalg.norm(velocities, axis=-1)  # (T, P)
    edge, last = round(WINDOW * clip.fps), clip.frame_count
    slides = []
    for foot, planted in enumerate(contacts.planted.T):
        least = np.min(speeds[:, [p for p, point in enumerate(feet.points) if point.foot == foot]], axis=1)
        for start, stop in runs(planted):
            stays = least[start + edge * (start > 0) : max(stop - edge * (stop < last), 0)]
            seconds = max(len(stays) / clip.fps, 1.0)
            slides += [100.0 * float(np.sum(stays)) / clip.fps / seconds] if len(stays) else []
    return float(np.mean(slides)) if slides else 0.0
