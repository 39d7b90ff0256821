"""Frames that are no motion: NaN, a T-pose put in front, a root dropped to the origin, gaps filled by repetition."""

from __future__ import annotations

import numpy as np

from jostle.clips.checks.finding import Finding, spell_frames, spell_names
from jostle.clips.clip import Clip
from jostle.clips.contacts import runs
from jostle.clips.feet import body_size
from jostle.maths import quat
from jostle.skeleton import find_roles, is_humanoid
from jostle.types import Array, Bool, Float

_MAX_LEAD = 2.0  # seconds: a longer T-pose is somebody standing so
_SAME = 1e-9  # metres and quaternion parts: frames that differ by less are copies


def check_nan(clip: Clip) -> list[Finding]:
    """Numbers that are missing."""
    bad = bad_numbers(clip)  # (T, J)
    if not np.any(bad):
        return []
    frames = tuple(runs(np.any(bad, axis=1)))
    joints = tuple(clip.skeleton.names[j] for j in np.flatnonzero(np.any(bad, axis=0)))
    return [
        Finding(
            "nan",
            "error",
            f"There are no numbers in {spell_frames(frames)} for {spell_names(joints)}.",
            "Interpolate across them.",
            frames,
            joints,
        )
    ]


def bad_numbers(clip: Clip) -> Bool[Array, "T J"]:
    """Where a joint's rotation or place is not a finite number."""
    bad = ~np.all(np.isfinite(clip.wxyz), axis=-1)
    bad[:, 0] |= ~np.all(np.isfinite(clip.root), axis=-1)
    if clip.offsets is not None:
        bad[:, 1:] |= ~np.all(np.isfinite(clip.offsets[:, 1:]), axis=-1)
    return bad


def check_t_pose(clip: Clip) -> list[Finding]:
    """A T-pose, or the rest pose, that a converter put before the motion: the next frame jumps away from it."""
    body = clip.positions - clip.positions[:, :1]
    steps = np.mean(np.linalg.norm(np.diff(body, axis=0), axis=-1), axis=1)  # (T-1,) metres a frame
    size, lead = body_size(clip.skeleton), 1
    while lead < len(steps) and steps[lead - 1] < 0.003 * size and lead < _MAX_LEAD * clip.fps:
        lead += 1
    jump = steps[lead - 1] if lead <= len(steps) else 0.0
    usual = float(np.quantile(steps[lead:], 0.9)) if len(steps) > lead else 0.0
    if jump < max(0.02 * size, 4 * usual) or not _is_t_pose(clip, 0):
        return []
    frames = ((0, lead),)
    return [
        Finding(
            "t-pose",
            "warning",
            f"A T-pose that is no part of the motion stands in {spell_frames(frames)}.",
            f"Leave out {spell_frames(frames)}.",
            frames,
        )
    ]


def _is_t_pose(clip: Clip, frame: int) -> bool:
    """Arms out straight and level with legs straight down, or every joint at rest."""
    if np.max(quat.angle(clip.wxyz[frame, 1:]), initial=0.0) < np.radians(3.0):
        return True
    if not is_humanoid(clip.skeleton):
        return False
    at = {role: clip.positions[frame, joint] for role, joint in find_roles(clip.skeleton).items()}
    left, right = (_direction(at[f"{s}_upper_arm"], at[f"{s}_forearm"]) for s in ("left", "right"))
    legs = [_direction(at[f"{s}_thigh"], at[f"{s}_foot"])[2] for s in ("left", "right")]
    return bool(max(abs(left[2]), abs(right[2])) < 0.4 and left @ right < -0.8 and max(legs) < -0.9)


def _direction(a: Float[Array, "3"], b: Float[Array, "3"]) -> Float[Array, "3"]:
    return (b - a) / max(float(np.linalg.norm(b - a)), 1e-9)


def check_dropped_root(clip: Clip) -> list[Finding]:
    """Frames whose root lies at the origin while the body is elsewhere: tracking was lost, and zeros were written."""
    size = body_size(clip.skeleton)
    at_origin = np.linalg.norm(clip.root, axis=1) < 1e-3 * size
    if not np.any(at_origin) or np.all(at_origin):
        return []
    frames = []
    for start, stop in runs(at_origin):
        beside = [f for f in (start - 1, stop) if 0 <= f < clip.frame_count]
        if min(np.linalg.norm(clip.root[f]) for f in beside) > 0.2 * size:
            frames.append((start, stop))
    if not frames:
        return []
    return [
        Finding(
            "dropped-root",
            "error",
            f"The root drops to the origin in {spell_frames(frames)}.",
            "Leave them out at the ends of the clip and interpolate across them inside it.",
            tuple(frames),
        )
    ]


def check_gaps(clip: Clip, first: int = 0) -> list[Finding]:
    """Exact copies of a frame amid motion: the recording stood still while the person did not.

    `first` is the number of the clip's first frame, where frames before it were cut away.
    """
    if clip.frame_count < 4:
        return []
    copies = _copies(clip)  # (T-1,) frame i+1 is frame i
    steps = np.mean(np.linalg.norm(np.diff(clip.positions, axis=0), axis=-1), axis=1)
    if (every := _every(copies, steps)) > 1:
        return [_repetition(clip, every, first)]
    least = max(2, round(0.03 * clip.fps))
    found = [(a + 1, b + 1) for a, b in runs(copies) if b - a >= least and _amid_motion(clip, steps, a, b)]
    frames = tuple((a + first, b + first) for a, b in found)
    if not frames:
        return []
    return [
        Finding(
            "gap",
            "warning",
            f"The motion stands still in {spell_frames(frames)} and then jumps: lost frames were filled with copies.",
            "Interpolate across short gaps and cut the clip at long ones.",
            frames,
        )
    ]


def _copies(clip: Clip) -> Bool[Array, "n"]:
    changes = np.max(np.abs(np.diff(clip.wxyz, axis=0)), axis=(1, 2))
    changes = np.maximum(changes, np.max(np.abs(np.diff(clip.root, axis=0)), axis=1))
    if clip.offsets is not None:
        changes = np.maximum(changes, np.max(np.abs(np.diff(clip.offsets[:, 1:], axis=0)), axis=(1, 2), initial=0.0))
    return changes < _SAME


def _amid_motion(clip: Clip, steps: Float[Array, "n"], start: int, stop: int) -> bool:
    """The step out of the copies makes up for the time lost: it is much longer than the steps after it, or before."""
    before, after = steps[max(0, start - 5) : start], steps[stop + 1 : stop + 6]
    jump = steps[stop] if stop < len(steps) else 0.0
    around = [float(np.median(side)) for side in (before, after) if len(side)]
    least = 0.001 * body_size(clip.skeleton)
    return bool(around and min(around) > 0.1 * least and jump > max(least, 2.0 * max(around)))


def _every(copies: Bool[Array, "n"], steps: Float[Array, "n"]) -> int:
    """k where each frame comes k times in a row, in step, over at least a dozen frames that move; 1 otherwise."""
    moved = np.flatnonzero(~copies & (steps > 0))
    if len(moved) < 12:
        return 1
    spacing = np.diff(moved)
    usual = int(np.median(spacing))
    return usual if usual > 1 and np.mean(spacing == usual) > 0.8 else 1


def _repetition(clip: Clip, every: int, first: int) -> Finding:
    rate = clip.fps / every
    return Finding(
        "gap",
        "warning",
        f"Every frame comes {every} times over: this is motion at {rate:g} frames a second, shown at {clip.fps:g}.",
        f"Keep one frame of each {every}, at {rate:g} frames a second.",
        ((first, first + clip.frame_count),),
        value=float(every),
    )
