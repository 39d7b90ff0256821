"""`fix`: a clip without what `check` found, as far as it can be mended, and sentences that say what was done.

The order matters: numbers before frames, frames before joints, the unit before the rate, and the floor last. What an
earlier step may have changed is measured anew. Each step leaves nothing for itself to do again, so that fixing twice
changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from jostle.clips.checks import Finding, check
from jostle.clips.checks.finding import spell_frames
from jostle.clips.checks.frames import check_gaps
from jostle.clips.checks.joints import check_flips
from jostle.clips.checks.place import check_ground
from jostle.clips.checks.repair import cut_ends, fill_frames, fill_joints, fill_nan, rescale, restore_rate
from jostle.clips.clip import Clip

LONGEST_GAP = 0.5  # seconds: across more than this a straight line is no motion
_ROUNDS = 10  # a joint led across one snap may snap again where it comes back


def fix(clip: Clip, findings: Sequence[Finding] | None = None) -> tuple[Clip, list[str]]:
    """A mended copy, and what was mended and what was left alone, in sentences; `findings` default to `check(clip)`.

    Frames in the sentences are counted as in the clip that was given.
    """
    findings = check(clip) if findings is None else findings
    told: list[str] = []
    clip = _fix_nan(clip, findings, told)
    clip, first = _fix_frames(clip, findings, told)
    clip = _fix_gaps(clip, findings, told, first)
    clip = _fix_flips(clip, findings, told, first)
    clip = _fix_unit(clip, findings, told)
    clip = _fix_rate(clip, findings, told)
    clip = _fix_ground(clip, findings, told)
    left = [finding for finding in findings if finding.kind in ("frozen", "skate")]
    return clip, told + [f"Left alone: {finding.sentence}" for finding in left]


def _of(findings: Sequence[Finding], *kinds: str) -> list[Finding]:
    return [finding for finding in findings if finding.kind in kinds]


def _fix_nan(clip: Clip, findings: Sequence[Finding], told: list[str]) -> Clip:
    for finding in _of(findings, "nan"):
        told.append(f"Interpolated what was missing in {spell_frames(finding.frames)}.")
    return fill_nan(clip) if _of(findings, "nan") else clip


def _fix_frames(clip: Clip, findings: Sequence[Finding], told: list[str]) -> tuple[Clip, int]:
    """The clip without frames that are no motion, and how many went at the front."""
    bad = [stretch for finding in _of(findings, "t-pose", "dropped-root") for stretch in finding.frames]
    if not bad:
        return clip, 0
    start, stop = cut_ends(clip, bad)
    ends = [stretch for stretch in ((0, start), (stop, clip.frame_count)) if stretch[1] > stretch[0]]
    inside = sorted({(a, b) for a, b in bad if a >= start and b <= stop})
    if ends:
        told.append(f"Left out {spell_frames(ends)}.")
    if inside:
        told.append(f"Interpolated across {spell_frames(inside)}.")
    filled = fill_frames(clip, inside)
    return filled.with_poses(filled.poses.rows(slice(start, stop))), start


def _fix_gaps(clip: Clip, findings: Sequence[Finding], told: list[str], first: int) -> Clip:
    if not _of(findings, "gap"):
        return clip
    for finding in check_gaps(clip):
        if finding.value is not None:
            every = int(finding.value)
            told.append(f"Kept one frame of each {every}, at {clip.fps / every:g} frames a second.")
            return clip.with_poses(clip.poses.rows(slice(None, None, every)), fps=clip.fps / every)
        short = [(a, b) for a, b in finding.frames if b - a <= LONGEST_GAP * clip.fps]
        long = [(a + first, b + first) for a, b in finding.frames if b - a > LONGEST_GAP * clip.fps]
        clip = fill_frames(clip, short)
        if short:
            told.append(f"Interpolated across the gap at {spell_frames([(a + first, b + first) for a, b in short])}.")
        if long:
            told.append(f"Left alone: the gap at {spell_frames(long)}, too long to interpolate across; cut there.")
    return clip


def _fix_flips(clip: Clip, findings: Sequence[Finding], told: list[str], first: int) -> Clip:
    if not _of(findings, "flip"):
        return clip
    led: set[tuple[int, int, int]] = set()
    found = check_flips(clip)
    for _ in range(_ROUNDS):
        spans = {span for finding in found for span in finding.repairs}
        if not spans:
            break
        led |= spans
        clip = fill_joints(clip, spans)
        found = check_flips(clip)
    if led:
        names = ", ".join(sorted({clip.skeleton.names[joint] for joint, _, _ in led}))
        told.append(f"Led {names} across {spell_frames(sorted({(a + first, b + first) for _, a, b in led}))}.")
    if stay := sorted({name for finding in found for name in finding.joints}):
        told.append(f"Left alone: snaps of {', '.join(stay)} that do not go back, so that either side may be right.")
    return clip


def _fix_unit(clip: Clip, findings: Sequence[Finding], told: list[str]) -> Clip:
    for finding in _of(findings, "unit"):
        if finding.severity == "note" or finding.value is None:
            continue
        clip = rescale(clip, finding.value)
        told.append(f"Scaled all lengths by {finding.value:.6g}: one unit of the file is {clip.unit:.6g} m.")
    return clip


def _fix_rate(clip: Clip, findings: Sequence[Finding], told: list[str]) -> Clip:
    mended = restore_rate(clip, findings)
    if mended.fps != clip.fps:
        told.append(f"Set the rate to {mended.fps:g} frames a second; it was {clip.fps:g}.")
    elif notes := _of(findings, "rate"):
        told.append(f"Left alone: {notes[0].sentence}")
    return mended


def _fix_ground(clip: Clip, findings: Sequence[Finding], told: list[str]) -> Clip:
    """Measured anew on the mended clip, whose lengths may be others now; a wrong unit hid the floor from `check`."""
    hidden = [finding for finding in _of(findings, "unit") if finding.severity == "error"]
    again = check_ground(clip) if hidden or _of(findings, "ground") else []
    if not again or again[0].value is None:
        return clip
    told.append(f"Moved the clip by {-100 * again[0].value:+.1f} cm, onto the floor.")
    return replace(clip, root=clip.root - np.array([0.0, 0.0, again[0].value]))
