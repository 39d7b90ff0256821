"""By which points a body stands, how high each is when it does, and how slow: seen in a model's training frames.

The points, their heights and the speed are those of `clips.contacts`, so that a foot is planted for a policy when it is
for the rest of jostle, and a dog or a dinosaur stands by what its clips stand on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.clips.contacts import LAND_HEIGHT, foot_tracks, ground_speeds, height_scale, slow_speed, smooth_velocity
from jostle.clips.feet import body_size, find_feet, standing_heights
from jostle.models.connected_model import Connected
from jostle.models.sequences import slices
from jostle.skeleton import Pose
from jostle.types import Array, Bool, Float, Int

_STILL = np.zeros(2)


@dataclass(frozen=True, eq=False)
class Soles:
    """P points that may touch the ground."""

    names: tuple[str, ...]  # of the feet
    foot: Int[Array, "P"]
    joints: Int[Array, "P"]
    places: Float[Array, "P 3"]  # in the frame of the joint
    standing: Float[Array, "P"]  # metres
    bears: Bool[Array, "P"]  # heels and balls of people, all points of animals: those that may be locked
    low: float  # metres above where it stands: lower is near the ground
    slow: float  # metres a second
    size: float  # of the body, metres


def find_soles(model: Connected) -> Soles:
    features = model.features
    clips = [features.decode(model.rows[rows]) for rows in slices(model.lengths)]
    poses = [clip.poses for clip in clips]
    whole = clips[0].with_poses(
        Pose(
            np.concatenate([own.root for own in poses]),
            np.concatenate([own.wxyz for own in poses]),
            np.concatenate([own.offsets for own in poses if own.offsets is not None]) if features.bones.size else None,
        )
    )
    feet, size = find_feet(whole), body_size(features.skeleton)
    tracks = [foot_tracks(clip, feet) for clip in clips]
    moving = [smooth_velocity(track, features.fps) for track in tracks]
    speeds = ground_speeds(np.concatenate(moving), _STILL)
    slow = slow_speed(speeds, size)
    standing = standing_heights(feet.points, np.concatenate(tracks), speeds, slow, size)
    alone = [all(other.kind == "tip" for other in feet.points if other.foot == point.foot) for point in feet.points]
    ends = features.skeleton.end_offsets
    return Soles(
        names=feet.names,
        foot=np.array([point.foot for point in feet.points], dtype=int),
        joints=np.array([point.joint for point in feet.points], dtype=int),
        places=np.array([np.zeros(3) if point.end is None else ends[point.end] for point in feet.points]).reshape(
            -1, 3
        ),
        standing=standing,
        bears=np.array([point.kind != "tip" or only for point, only in zip(feet.points, alone, strict=True)]),
        low=LAND_HEIGHT * height_scale(size),
        slow=slow,
        size=size,
    )
