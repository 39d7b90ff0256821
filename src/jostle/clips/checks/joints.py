"""Joints that do what no joint does: turn half round between two frames, or never move while their twin does."""

from __future__ import annotations

import re

import numpy as np

from jostle.clips.checks.finding import Finding, Severity, spell_frames, spell_names
from jostle.clips.clip import Clip
from jostle.clips.contacts import runs
from jostle.errors import MotionError
from jostle.maths import quat
from jostle.skeleton import find_roles, find_twins, is_humanoid
from jostle.types import Array, Float

FLIP = np.radians(100.0)  # between two frames, whatever the rate: nobody turns a joint so far in 1/24 s
SNAP, SNAP_SPEED = np.radians(40.0), np.radians(5000.0)  # or this far, if at a speed that no limb reaches (rad/s)
_STANDS_OUT = 4.0  # times the usual step of the frames around
_LONGEST = 0.1  # seconds: a joint that is back by then was elsewhere by mistake, and can be led across
_CARRIERS = ("thigh", "shin", "foot", "upper_arm", "forearm")
_ENOUGH = 60  # frames: in fewer, an arm may well be held still
_HANDLES = re.compile(r"(?<![A-Za-z])(IK|Ik|ik(?![a-z]))|(?i:ik(?![a-z])|control|pole|target|roll|(?<![a-z])ear|tail)")
_SMALL = re.compile(r"thumb|finger|index|middle|ring|pinky|toe|hand|wrist", re.IGNORECASE)


def check_flips(clip: Clip, first: int = 0) -> list[Finding]:
    """Joints that jump in rotation between two frames. A quaternion and its negative are one rotation, and no flip.

    `first` is the number of the clip's first frame, where frames before it were cut away.
    """
    steps = quat.angle(quat.inv_mul(clip.wxyz[:-1], clip.wxyz[1:]))  # (T-1, J)
    jumps = (steps > FLIP) | ((steps > SNAP) & (steps * clip.fps > SNAP_SPEED) & _stands_out(steps))
    found: list[Finding] = []
    kinds: tuple[tuple[Severity, np.ndarray], ...] = (("warning", _limbs(clip)), ("note", ~_limbs(clip)))
    for severity, chosen in kinds:
        joints = np.flatnonzero(np.any(jumps, axis=0) & chosen)
        if len(joints) == 0:
            continue
        spans = [(int(j), *span) for j in joints for span in _excursions(clip, jumps[:, j], steps[:, j], int(j))]
        repairs = tuple((j, a + first, b + first) for j, a, b in spans)
        frames = tuple((a + first + 1, b + first + 1) for a, b in runs(np.any(jumps[:, joints], axis=1)))
        names = tuple(clip.skeleton.names[j] for j in joints)
        turn = np.degrees(np.max(steps[:, joints]))
        verb = "snaps" if len(names) == 1 else "snap"
        where = f"from one frame to the next, at {spell_frames(frames)}"
        sentence = f"{spell_names(names)} {verb} by up to {turn:.0f} degrees {where}."
        remedy = "Interpolate across snaps that are back within 0.1 s, and look at the others."
        found.append(Finding("flip", severity, sentence, remedy, frames, names, None, repairs))
    return found


def _limbs(clip: Clip) -> np.ndarray:
    """Joints that carry something; a thumb that flips is seldom seen."""
    return np.array([not _SMALL.search(name) for name in clip.skeleton.names])


def _stands_out(steps: Float[Array, "n J"]) -> np.ndarray:
    """Larger than the usual step around by far: fast motion is fast for several frames."""
    out = np.zeros(steps.shape, dtype=bool)
    for i, j in zip(*np.nonzero(steps > SNAP), strict=True):
        around = np.concatenate([steps[max(0, i - 6) : i, j], steps[i + 1 : i + 7, j]])
        out[i, j] = len(around) > 0 and steps[i, j] > _STANDS_OUT * np.median(around)
    return out


def _excursions(clip: Clip, jumps: np.ndarray, steps: Float[Array, "n"], joint: int) -> list[tuple[int, int]]:
    """Frames between a jump away and a jump back within 0.1 s, to where the joint would have gone anyway."""
    at = np.flatnonzero(jumps)
    most = max(2, round(_LONGEST * clip.fps))
    spans, last = [], -1
    for i in at:
        if i <= last:
            continue
        for stop in range(i + 1, min(i + most, clip.frame_count - 1) + 1):
            back = quat.angle(quat.inv_mul(clip.wxyz[i, joint], clip.wxyz[stop, joint]))
            settled = steps[stop - 1 : stop + 3].min() < SNAP
            if back < 0.35 * steps[i] and settled:
                spans.append((int(i) + 1, int(stop)))
                last = stop
                break
    return [(a, b) for a, b in spans if b > a]


def check_frozen(clip: Clip) -> list[Finding]:
    """Joints that never turn although their twin on the other side does: a channel may have got lost.

    Toes, fingers and the handles of a rig may keep still, and so may any joint of a short clip. What is no limb of a
    person is only noted.
    """
    spread = np.max(quat.angle(quat.inv_mul(clip.wxyz[:1], clip.wxyz)), axis=0)  # (J,) from the first frame
    try:
        twins = find_twins(clip.skeleton)
    except MotionError:  # a lopsided skeleton has no twins to compare
        return []
    still = (spread < np.radians(0.01)) & (spread[twins] > np.radians(10.0)) & _limbs(clip)
    still &= np.array([not _HANDLES.search(name) for name in clip.skeleton.names])
    if not np.any(still) or clip.frame_count < _ENOUGH:
        return []
    names = tuple(clip.skeleton.names[j] for j in np.flatnonzero(still))
    others = tuple(clip.skeleton.names[twins[j]] for j in np.flatnonzero(still))
    verb, does = ("moves", "does") if len(names) == 1 else ("move", "do")
    sentence = f"{spell_names(names)} never {verb}, while {spell_names(others)} on the other side {does}."
    limbs = {clip.skeleton.names[j] for role, j in find_roles(clip.skeleton).items() if role.endswith(_CARRIERS)}
    sure = is_humanoid(clip.skeleton) and bool(limbs & set(names))
    remedy = "Unless that is meant, export the file again; nothing can bring the motion back."
    return [Finding("frozen", "warning" if sure else "note", sentence, remedy, (), names)]
