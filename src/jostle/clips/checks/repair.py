"""The repairs themselves, one function each: what `check` looks through and `fix` applies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from jostle.clips.checks.finding import Finding
from jostle.clips.clip import Clip
from jostle.maths import quat
from jostle.types import Array, Bool, Float, Int


def cut_ends(clip: Clip, bad: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """The frames that are left when bad stretches that touch the clip's ends are cut away."""
    good = np.ones(clip.frame_count, dtype=bool)
    for start, stop in bad:
        good[start:stop] = False
    left = np.flatnonzero(good)
    return (int(left[0]), int(left[-1]) + 1) if len(left) else (0, clip.frame_count)


def fill_frames(clip: Clip, bad: Iterable[tuple[int, int]]) -> Clip:
    """Interpolate all joints and the root across stretches of frames; at the ends the nearest good frame stands in."""
    missing = np.zeros((clip.frame_count, clip.skeleton.joint_count), dtype=bool)
    for start, stop in bad:
        missing[start:stop] = True
    return fill(clip, missing)


def fill_nan(clip: Clip) -> Clip:
    """Interpolate each joint across the frames in which it has no finite numbers."""
    missing = ~np.all(np.isfinite(clip.wxyz), axis=-1)
    missing[:, 0] |= ~np.all(np.isfinite(clip.root), axis=-1)
    if clip.offsets is not None:
        missing |= ~np.all(np.isfinite(clip.offsets), axis=-1)
    return fill(clip, missing)


def fill_joints(clip: Clip, spans: Iterable[tuple[int, int, int]]) -> Clip:
    """Interpolate single joints: (joint, first frame, frame after the last)."""
    missing = np.zeros((clip.frame_count, clip.skeleton.joint_count), dtype=bool)
    for joint, start, stop in spans:
        missing[start:stop, joint] = True
    return fill(clip, missing)


def fill(clip: Clip, missing: Bool[Array, "T J"]) -> Clip:
    """The clip with what is missing led across from the last good frame to the next, at constant speed."""
    if not np.any(missing):
        return clip
    root, wxyz = clip.root.copy(), clip.wxyz.copy()
    offsets = None if clip.offsets is None else clip.offsets.copy()
    for joint in np.flatnonzero(np.any(missing, axis=0)):
        gone, before, after, part = _neighbours(missing[:, joint])
        if before is None or after is None:
            wxyz[:, joint], neutral = quat.IDENTITY, clip.skeleton.offsets[joint]
            values = (neutral, neutral)
        else:
            wxyz[gone, joint] = quat.slerp(clip.wxyz[before, joint], clip.wxyz[after, joint], part)
            source = clip.root if joint == 0 else None if clip.offsets is None else clip.offsets[:, joint]
            values = None if source is None else (source[before], source[after])
        if values is None:
            continue
        target = root if joint == 0 else None if offsets is None else offsets[:, joint]
        if target is not None:
            target[gone] = values[0] * (1 - part[:, None]) + values[1] * part[:, None]
    return replace(clip, root=root, wxyz=wxyz, offsets=offsets)


def _neighbours(
    missing: Bool[Array, "T"],
) -> tuple[Int[Array, "n"], Int[Array, "n"] | None, Int[Array, "n"] | None, Float[Array, "n"]]:
    """For each missing frame the good ones around it, and how far it lies from the first to the second."""
    gone, good = np.flatnonzero(missing), np.flatnonzero(~missing)
    if len(good) == 0:
        return gone, None, None, np.zeros(len(gone))
    place = np.searchsorted(good, gone)
    before, after = good[np.maximum(place - 1, 0)], good[np.minimum(place, len(good) - 1)]
    before, after = np.minimum(before, after), np.maximum(before, after)
    outside = (gone < before) | (gone > after)
    part = np.where(outside, 0.0, (gone - before) / np.maximum(after - before, 1))
    return gone, before, after, part


def restore_rate(clip: Clip, findings: Sequence[Finding]) -> Clip:
    """The clip at the rate that a finding other than a note names."""
    for finding in findings:
        if finding.kind == "rate" and finding.severity != "note" and finding.value is not None:
            return replace(clip, fps=finding.value)
    return clip


def rescale(clip: Clip, factor: float) -> Clip:
    """The clip with all lengths multiplied, and a unit of the file that is so much longer."""
    offsets = None if clip.offsets is None else clip.offsets * factor
    skeleton = clip.skeleton.scaled(factor)
    return replace(clip, skeleton=skeleton, root=clip.root * factor, offsets=offsets, unit=clip.unit * factor)
