"""`check`: what is wrong with a clip, found before it costs an afternoon.

Each check looks at the clip as the checks before it would leave it: a NaN is interpolated and a T-pose cut away before
anything is measured, or one bad frame would be reported six times.
"""

from __future__ import annotations

from collections.abc import Sequence

from jostle.clips.checks.finding import KINDS, Finding, Severity
from jostle.clips.checks.frames import check_dropped_root, check_gaps, check_nan, check_t_pose
from jostle.clips.checks.joints import check_flips, check_frozen
from jostle.clips.checks.place import check_ground, check_skate, check_unit
from jostle.clips.checks.rate import check_rate, rate_is_proved
from jostle.clips.checks.repair import cut_ends, fill_frames, fill_nan, restore_rate
from jostle.clips.clip import Clip
from jostle.clips.contacts import find_contacts

__all__ = ["KINDS", "Finding", "Severity", "check", "check_together"]


def check(clip: Clip) -> list[Finding]:
    """Everything that is wrong, odd or worth knowing about a clip, in the order in which to mend it."""
    found = check_nan(clip)
    clip = fill_nan(clip)
    found += check_t_pose(clip)
    found += check_dropped_root(clip)
    clip, start = _without_bad_frames(clip, found)
    found += check_gaps(clip, start) + check_flips(clip, start) + check_frozen(clip)
    return found + _check_physics(clip)


def _check_physics(clip: Clip) -> list[Finding]:
    """What is measured in metres and seconds: each with the ones before it put right."""
    found = check_unit(clip)
    if any(finding.severity == "error" for finding in found):
        return found  # lengths mean nothing
    rate = check_rate(clip)
    clip = restore_rate(clip, rate)
    contacts = find_contacts(clip)
    return found + rate + check_ground(clip, contacts) + check_skate(clip, contacts)


def _without_bad_frames(clip: Clip, found: Sequence[Finding]) -> tuple[Clip, int]:
    """The clip less its bad ends and across its bad middles, and how many frames went at the front."""
    bad = [stretch for finding in found if finding.kind in ("t-pose", "dropped-root") for stretch in finding.frames]
    start, stop = cut_ends(clip, bad)
    filled = fill_frames(clip, bad)
    return filled.with_poses(filled.poses.rows(slice(start, stop))), start


def check_together(clips: Sequence[Clip]) -> list[list[Finding]]:
    """`check` for each clip, where clips of one actor (the same skeleton to a micrometre) share proofs of the rate.

    A session is recorded at one rate: where one take of an actor proves it, takes that prove nothing have it too.
    """
    findings = [check(clip) for clip in clips]
    proofs = [
        (other, finding) for other, found in zip(clips, findings, strict=True) for finding in found if _proof(finding)
    ]
    return [_with_shared_rate(clip, found, proofs) for clip, found in zip(clips, findings, strict=True)]


def _proof(finding: Finding) -> bool:
    return finding.kind == "rate" and finding.severity == "error"


def _with_shared_rate(clip: Clip, found: list[Finding], proofs: Sequence[tuple[Clip, Finding]]) -> list[Finding]:
    """The findings of a clip, and what other takes of its actor prove, where it proves nothing itself."""
    if any(finding.kind == "rate" and finding.severity != "note" for finding in found):
        return found
    for other, proof in proofs:
        if other.fps != clip.fps or not other.skeleton.same_as(clip.skeleton):
            continue
        if rate_is_proved(_without_bad_frames(fill_nan(clip), found)[0]):
            return found
        sentence = (
            f"This is probably motion at {proof.value:g} frames a second, not {clip.fps:g}: "
            f"'{other.name}' shows the same actor, and is."
        )
        shared = Finding("rate", "warning", sentence, proof.remedy, value=proof.value)
        return [*(finding for finding in found if finding.kind != "rate"), shared]
    return found
