"""How much higher each foot of a new body must be: on the ground while planted, else as clear of it as its source.

Heights count from where a foot's own ankle, ball and tip stand, on either body, so thick soles and long toes make no
difference. A contact found in the source begins and ends with the foot a little off the ground, and so it does here:
within the contact the foot lies on the floor exactly, at its ends it comes down and leaves as the source's does.
"""

from __future__ import annotations

from collections.abc import Container
from functools import partial

import numpy as np
from scipy.ndimage import distance_transform_edt, gaussian_filter1d, maximum_filter1d

from jostle.clips.clip import Clip
from jostle.clips.contacts import Contacts
from jostle.clips.feet import Feet, body_size, find_feet, ground_height, rest_place
from jostle.skeleton import Skeleton, rest_pose
from jostle.types import Array, Bool, Float

_STEP = 0.15  # seconds: half-width of the smoothing of the floor, so that hips do not jolt
_SMOOTH = 0.02  # seconds: half-width of the smoothing of a foot's lift
_EASE = 0.08  # seconds at either end of a contact in which a foot comes down to the ground and leaves it


def find_lift(clip: Clip, moved: Clip, contacts: Contacts, scale: float) -> Float[Array, "T F"]:
    """How much higher each foot of the target must be: on the ground if planted, else as clear of it as its source."""
    theirs, ours = find_feet(clip), find_feet(moved)
    shared = {p.kind for p in theirs.points} & {p.kind for p in ours.points}
    ground = scale * contacts.ground - rest_ground(moved.skeleton)
    standing = np.array([rest_place(moved.skeleton, p)[2] for p in ours.points]) + ground
    stood = _standing(clip, theirs, contacts)
    wave = floor_under(_clearance(clip, theirs, stood, shared), contacts.planted, clip.fps)[
        :, None
    ]  # floors lean and wave
    down = -_clearance(moved, ours, standing)
    swing = down
    for kinds in (shared, shared & {"ball"}):  # the foot as a whole, and its ball by itself: toes differ in length
        if kinds:
            source = np.maximum(_clearance(clip, theirs, stood, kinds) - wave, 0.0)
            swing = np.maximum(swing, scale * source - _clearance(moved, ours, standing, kinds))
    weight = _firmness(contacts.planted, clip.fps)
    return _smoothed(weight * down + (1.0 - weight) * swing, down, clip.fps)


def _smoothed(lift: Float[Array, "T F"], least: Float[Array, "T F"], fps: float) -> Float[Array, "T F"]:
    """Without the kinks where heel and toe take turns, and nowhere less than `least`: a foot must not sink."""
    width, blur = (
        max(1, round(2 * _SMOOTH * fps)),
        partial(gaussian_filter1d, sigma=_SMOOTH * fps, axis=0, mode="nearest"),
    )
    smooth = blur(lift)
    lacking = np.maximum(least - smooth, 0.0)
    return smooth + blur(maximum_filter1d(lacking, 2 * width + 1, axis=0, mode="nearest"))


def floor_under(heights: Float[Array, "T F"], planted: Bool[Array, "T F"], fps: float) -> Float[Array, "T"]:
    """The mean height of the planted feet, smoothed over about a step; where none is planted, the nearest."""
    if not np.any(planted):
        return np.zeros(len(heights))
    weight = planted.astype(float)
    level = float(np.median(heights[planted]))
    sums = [np.sum(weight * (heights - level), axis=1), np.sum(weight, axis=1)]
    total, count = (gaussian_filter1d(x, _STEP * fps, mode="nearest") for x in sums)
    return level + total / (count + 0.02)


def _standing(clip: Clip, feet: Feet, contacts: Contacts) -> Float[Array, "P"]:
    """The height at which each point of the source's feet stands, by the frames in which it does."""
    heights = []
    for point in feet.points:
        z = point.track(clip)[:, 2]
        flags = (contacts.heel if point.kind == "heel" else contacts.toe)[:, point.foot]
        heights.append(float(np.median(z[flags])) if np.any(flags) else float(np.quantile(z, 0.05)))
    return np.array(heights)


def _clearance(
    clip: Clip, feet: Feet, standing: Float[Array, "P"], kinds: Container[str] | None = None
) -> Float[Array, "T F"]:
    """How far the lowest point of each foot (of these kinds) is above where it stands."""
    out = np.full((clip.frame_count, len(feet.names)), np.inf)
    for point, height in zip(feet.points, standing, strict=True):
        if kinds is None or point.kind in kinds:
            out[:, point.foot] = np.minimum(out[:, point.foot], point.track(clip)[:, 2] - height)
    return out


def _firmness(planted: Bool[Array, "T F"], fps: float) -> Float[Array, "T F"]:
    """1 within a contact, falling smoothly to 0 at its ends, where the source's own foot comes down or leaves."""
    width = max(1, round(_EASE * fps))
    padded = np.pad(planted, ((width, width), (0, 0)), mode="edge")
    inside = np.stack([np.asarray(distance_transform_edt(column)) for column in padded.T], axis=1)[
        width:-width
    ]  # frames
    t = np.clip((inside - 0.5) / width, 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


def rest_ground(skeleton: Skeleton) -> float:
    """The floor under the soles in the rest pose."""
    pose = rest_pose(skeleton)
    points = find_feet(Clip(skeleton, 1.0, pose.root[None], pose.wxyz[None])).points
    standing = np.array([rest_place(skeleton, point)[2] for point in points])
    return ground_height(skeleton, points, standing, body_size(skeleton))
