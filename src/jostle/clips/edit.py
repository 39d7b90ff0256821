"""Edits that return a new clip: cut, resample, mirror, move, join, smooth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jostle.clips.clip import Clip
from jostle.clips.seam import added, difference, velocity
from jostle.errors import MotionError
from jostle.maths import filters, quat, spring
from jostle.skeleton import Pose, find_roles, mirror_pose, mirror_skeleton
from jostle.types import Array, Float

_SEAM_HALFLIFE = 0.15  # seconds: quick enough to be over within a step, slow enough not to snap
_MOST_ROTATIONS = 20_000_000  # of a resampled clip: a few hundred megabytes


def trim(clip: Clip, start: float = 0.0, end: float | None = None) -> Clip:
    """The frames from `start` to `end` (seconds; the end of the clip unless given), both included."""
    stop = clip.duration if end is None else end
    within = -1e-9 <= start <= stop <= clip.duration + 0.5 * clip.dt
    if not within:
        raise MotionError(
            f"Clip '{clip.name}' lasts {clip.duration:.3f} s and cannot be cut from {start:g} s to {stop:g} s; "
            "give 0 <= start <= end within it."
        )
    return trim_frames(clip, round(start * clip.fps), round(stop * clip.fps) + 1)


def trim_frames(clip: Clip, first: int, stop: int | None = None) -> Clip:
    """The frames from `first` up to but without `stop`; negative numbers count from the end, as in a slice."""
    chosen = range(clip.frame_count)[first:stop]
    if not chosen:
        raise MotionError(
            f"Clip '{clip.name}' has {clip.frame_count} frames and none from {first} up to {stop}; widen the range."
        )
    return clip.with_poses(clip.poses.rows(slice(chosen.start, chosen.stop)))


def resample(clip: Clip, fps: float) -> Clip:
    """The clip at another rate: rotations by slerp, roots on straight lines, exact at the times that both share."""
    if not (np.isfinite(fps) and fps > 0):
        raise MotionError(f"A clip cannot have {fps} frames a second; give a positive rate.")
    if clip.duration * fps * clip.skeleton.joint_count > _MOST_ROTATIONS:
        raise MotionError(
            f"{clip.duration:.1f} s at {fps:g} frames a second are too many; ask for fewer, or cut the clip."
        )
    count = int(np.floor(clip.duration * fps + 1e-6)) + 1
    at = np.arange(count) * (clip.fps / fps)  # in frames of the clip
    at = np.where(np.abs(at - np.round(at)) < 1e-6, np.round(at), at)
    return clip.with_poses(sample(clip, at), fps=float(fps))


def sample(clip: Clip, frames: Float[Array, "n"]) -> Pose:
    """The poses at fractional frame numbers; outside the clip its ends are held."""
    at = np.clip(frames, 0.0, clip.frame_count - 1.0)
    low = np.minimum(at.astype(np.int64), max(clip.frame_count - 2, 0))
    high = np.minimum(low + 1, clip.frame_count - 1)
    t = at - low
    a, b = clip.poses.rows(low), clip.poses.rows(high)
    wxyz = quat.slerp(a.wxyz, b.wxyz, t[:, None])
    wxyz[t == 0.0] = a.wxyz[t == 0.0]
    wxyz[t == 1.0] = b.wxyz[t == 1.0]
    column = t[:, None]
    root = (1 - column) * a.root + column * b.root
    if a.offsets is None or b.offsets is None:
        return Pose(root, wxyz)
    return Pose(root, wxyz, (1 - column[..., None]) * a.offsets + column[..., None] * b.offsets)


def mirror(clip: Clip, keep_skeleton: bool = True) -> Clip:
    """Left becomes right, in the mirror of the X-Z plane.

    On the same skeleton, unless `keep_skeleton` is False: then an uneven body becomes its own mirror image as well,
    and every joint comes exactly where the mirror shows it.
    """
    skeleton = clip.skeleton if keep_skeleton else mirror_skeleton(clip.skeleton)
    return clip.with_poses(mirror_pose(clip.skeleton, clip.poses), skeleton=skeleton)


def move(clip: Clip, by: Float[Array, "3"]) -> Clip:
    """The clip shifted by metres."""
    return clip.with_poses(Pose(clip.root + by, clip.wxyz, clip.offsets))


def turn(clip: Clip, radians: float, about: Float[Array, "2"] | None = None) -> Clip:
    """The clip turned about the vertical through `about` (the origin of the ground, unless given)."""
    q = quat.from_yaw(radians)
    centre = np.zeros(3) if about is None else np.array([about[0], about[1], 0.0])
    wxyz = clip.wxyz.copy()
    wxyz[:, 0] = quat.mul(q, wxyz[:, 0])
    return clip.with_poses(Pose(quat.apply(q, clip.root - centre) + centre, wxyz, clip.offsets))


def place(clip: Clip, position: tuple[float, float] = (0.0, 0.0), heading: float = 0.0) -> Clip:
    """The clip moved and turned on the ground so that its first frame stands at `position` and faces `heading`."""
    here, facing = ground_place(clip, 0)
    turned = turn(clip, heading - facing, about=here)
    return move(turned, np.array([position[0] - here[0], position[1] - here[1], 0.0]))


def ground_place(clip: Clip, frame: int) -> tuple[Float[Array, "2"], float]:
    """Where a frame stands on the ground, and its heading in radians: those of the pelvis, or else of the root."""
    pelvis = find_roles(clip.skeleton).get("pelvis", 0)
    return clip.positions[frame, pelvis, :2], float(quat.yaw(clip.globals.wxyz[frame, pelvis]))


def concatenate(first: Clip, *others: Clip, halflife: float = _SEAM_HALFLIFE) -> Clip:
    """One clip after the other: each goes on where, and in the direction in which, the one before ended.

    The first frame of a clip takes the place of the last frame before it; what differs between the two, in
    pose and in velocity, decays with `halflife` seconds into the new clip.
    """
    joined = first
    for other in others:
        if not joined.skeleton.same_as(other.skeleton):
            raise MotionError(
                f"Clips '{first.name}' and '{other.name}' have different skeletons; retarget one onto the other first."
            )
        following = other if other.fps == first.fps else resample(other, first.fps)
        joined = _joined(joined, following, halflife)
    return joined


def _joined(a: Clip, b: Clip, halflife: float) -> Clip:
    here, heading = ground_place(a, a.frame_count - 1)
    b = place(b, (float(here[0]), float(here[1])), heading)
    if (a.offsets is None) != (b.offsets is None):
        a, b = _with_offsets(a), _with_offsets(b)
    gap = difference(a.pose(-1), b.pose(0))
    rush = velocity(a, a.frame_count - 1) - velocity(b, 0)
    time = np.arange(1, b.frame_count) * b.dt
    tail = added(b.poses.rows(slice(1, None)), spring.decay(gap, rush, halflife, time))
    return a.with_poses(stacked([a.poses, tail]))


def stacked(poses: Sequence[Pose]) -> Pose:
    """Stacks of poses one after the other; either all have offsets or none has."""
    offsets = [p.offsets for p in poses if p.offsets is not None]
    return Pose(
        np.concatenate([p.root for p in poses]),
        np.concatenate([p.wxyz for p in poses]),
        np.concatenate(offsets) if offsets else None,
    )


def _with_offsets(clip: Clip) -> Clip:
    """The clip with the skeleton's own offsets written out in every frame, if it has none of its own."""
    if clip.offsets is not None:
        return clip
    offsets = np.broadcast_to(clip.skeleton.offsets, (clip.frame_count, clip.skeleton.joint_count, 3)).copy()
    return clip.with_poses(Pose(clip.root, clip.wxyz, offsets))


def lowpass(clip: Clip, hertz: float) -> Clip:
    """The clip without what is faster than `hertz`: a second-order Butterworth filter run forwards and backwards.

    Running it both ways delays nothing. Rotations are filtered as quaternions of one sign and normalised.
    """
    if not 0 < hertz < 0.5 * clip.fps:
        raise MotionError(
            f"Clip '{clip.name}' has {clip.fps:g} frames a second, so a filter must lie between 0 and "
            f"{0.5 * clip.fps:g} Hz, not at {hertz:g}."
        )

    def smooth(x: Array) -> Array:
        return filters.low_pass(x, clip.fps, hertz, pad=round(3 * clip.fps / hertz))

    wxyz = quat.normalise(smooth(quat.continuous(clip.wxyz)))
    return clip.with_poses(Pose(smooth(clip.root), wxyz, None if clip.offsets is None else smooth(clip.offsets)))
