"""Whether a walker that was pushed walks as it did before.

Legs are compared with those of the undisturbed walk, to the nearest frame of which they have a distance: the root mean
square, over knees, ankles and balls of the feet, of the difference in place around the pelvis and, times 0.1 s, in
velocity, seen along the course. A stretch of undisturbed walk that was kept apart tells which distances are usual: 99
in 100 of its frames are nearer than that. Who stays so near for a whole cycle has recovered.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree

from jostle.clips import Clip
from jostle.clips.contacts import smooth_velocity
from jostle.skeleton import find_roles
from jostle.types import Array, Float

_VELOCITY_SHARE = 0.1  # seconds by which velocities are multiplied to stand beside places, as in `clips.cycle`
_SHARE = 0.99
_JOINTS = tuple(f"{side}_{part}" for side in ("left", "right") for part in ("shin", "foot", "toe"))


@dataclass(frozen=True, eq=False)
class Habit:
    """How a walker's legs move when nobody disturbs it."""

    shapes: KDTree
    usual: float  # metres

    def distance(self, clip: Clip) -> Float[Array, "T"]:
        """Of each frame to the nearest one of the undisturbed walk, in metres."""
        return np.asarray(self.shapes.query(leg_shape(clip))[0])

    def recovered(self, clip: Clip, start: int, cycle: int) -> int | None:
        """The first frame from `start` on that begins a cycle with nothing unusual in it; None where there is none."""
        usual = self.distance(clip) <= self.usual
        begins = range(start, clip.frame_count - cycle)
        return next((frame for frame in begins if usual[frame : frame + cycle + 1].all()), None)


def learn_habit(walk: Clip, known: int, finest: float) -> Habit:
    """From the first `known` frames of an undisturbed walk; the others tell what is usual, but not below `finest`."""
    shape = leg_shape(walk)
    shapes = KDTree(shape[:known])
    return Habit(shapes, max(finest, float(np.quantile(shapes.query(shape[known:])[0], _SHARE))))


def leg_shape(clip: Clip) -> Float[Array, "T 36"]:
    """Places and velocities of the legs' joints around the pelvis; the distance of two is a root mean square."""
    roles = find_roles(clip.skeleton)
    at = clip.positions[:, [roles[name] for name in _JOINTS]] - clip.positions[:, [roles["pelvis"]]]
    both = np.concatenate([at, _VELOCITY_SHARE * smooth_velocity(at, clip.fps)], axis=-1)  # (T, 6, 6)
    return both.reshape(clip.frame_count, -1) / np.sqrt(len(_JOINTS))
