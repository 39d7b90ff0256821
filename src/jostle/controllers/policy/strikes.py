"""Punches and kicks in a clip, found without annotation.

Takes of strikes are mostly standing about. A strike of a joint is where it goes far out from the root, over the
ground, and comes back; and fast, as fast strikes of these clips go. What is learnt from are windows around them, from
guard to guard; where a window touches the next, they are one piece.

A strike *hits* at the last moment before its farthest point at which the joint is still at speed, half of its fastest:
at the farthest point itself it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.signal import find_peaks

from jostle.body.parts import known_parts, resolve
from jostle.clips import Clip
from jostle.clips.edit import trim_frames
from jostle.errors import MotionError
from jostle.maths import quat
from jostle.skeleton import forward
from jostle.types import Array, Float

OUT = 0.3  # how far the joint goes out, of all the way that it goes
FAR, FAST = 0.7, 0.5  # of the farthest and the fastest strike
AT_SPEED = 0.5  # of a strike's fastest
STILL = 0.15  # of it: at rest
LEVEL = 0.15  # metres above and below: strikes at one height
_AROUND = 0.6  # seconds on either side in which guard is looked for
_MARGIN = 0.1  # seconds more


@dataclass(frozen=True)
class Strike:
    """Frames of a clip; where it hits, from where the character is and faces at the hit; metres, seconds."""

    begin: int
    hit: int
    end: int
    place: tuple[float, float, float]
    fastest: float


def strikes_of(clip: Clip, joint: str) -> list[Strike]:
    """Every strike of a joint: `right_hand`, `left_foot`, a joint's own name."""
    which = resolve(known_parts(clip.skeleton, 0), joint)
    at = forward(clip.skeleton, clip.poses).positions[:, which]
    own = quat.apply(quat.from_yaw(-quat.yaw(clip.wxyz[:, 0])), at - clip.root * [1.0, 1.0, 0.0])
    reach = np.hypot(own[:, 0], own[:, 1])
    speed = np.linalg.norm(np.diff(at, axis=0, prepend=at[:1]), axis=1) * clip.fps
    peaks, _ = find_peaks(reach, prominence=OUT * (np.max(reach) - np.min(reach)) + 1e-9)
    around, margin = round(_AROUND * clip.fps), round(_MARGIN * clip.fps)
    found = []
    for peak in peaks.tolist():
        begin, end = _guard(reach, peak, -around), _guard(reach, peak, around)
        fastest = float(np.max(speed[begin + 1 : peak + 1]))
        hit = begin + 1 + int(np.flatnonzero(speed[begin + 1 : peak + 1] >= AT_SPEED * fastest)[-1])
        begin, end = _rest(speed, begin, fastest, -around), _rest(speed, end, fastest, around)
        ends = max(begin - margin, 0), min(end + margin, clip.frame_count - 1)
        if found and found[-1].hit == hit:
            continue
        found.append(
            Strike(ends[0], hit, ends[1], (float(own[hit, 0]), float(own[hit, 1]), float(own[hit, 2])), fastest)
        )
    if not found:
        return []
    far = [float(np.hypot(*s.place[:2])) for s in found]
    most = max(s.fastest for s, d in zip(found, far, strict=True) if d >= FAR * max(far))
    return [s for s, d in zip(found, far, strict=True) if d >= FAR * max(far) and s.fastest >= FAST * most]


def _guard(reach: Float[Array, "T"], peak: int, around: int) -> int:
    """Where the joint is nearest, before or after a peak."""
    if around < 0:
        first = max(peak + around, 0)
        return first + int(np.argmin(reach[first:peak]))
    return peak + int(np.argmin(reach[peak : peak + around + 1]))


def _rest(speed: Float[Array, "T"], frame: int, fastest: float, around: int) -> int:
    """From guard onwards until the joint is at rest: a foot is raised before it kicks."""
    way = 1 if around > 0 else -1
    for _ in range(abs(around)):
        if not 0 < frame < len(speed) - 1 or speed[frame] < STILL * fastest:
            break
        frame += way
    return frame


def level_of(strikes: Sequence[Strike]) -> tuple[float, float]:
    """The heights between which most of them hit: a target has a place on the ground, not one height of many."""
    heights = np.array([s.place[2] for s in strikes])
    near = np.abs(heights[:, None] - heights[None]) <= LEVEL
    best = np.mean(heights[near[np.argmax(np.sum(near, axis=1))]])
    return float(best - LEVEL), float(best + LEVEL)


def strike_windows(clips: Sequence[Clip], joint: str) -> tuple[list[Clip], list[Strike]]:
    """What is to be learnt from: strikes at the height at which most are, from guard to guard. And these strikes."""
    found = [(clip, strike) for clip in clips for strike in strikes_of(clip, joint)]
    if not found:
        names = ", ".join(f"'{clip.name}'" for clip in clips)
        raise MotionError(f"No strike of '{joint}' in {names}: it is to go out fast and come back; name another joint.")
    low, high = level_of([strike for _, strike in found])
    pieces, chosen = [], []
    for clip in clips:
        own = [s for c, s in found if c is clip and low <= s.place[2] <= high]
        chosen += own
        for first, last in _joined(own, round(_AROUND * clip.fps / 2)):
            pieces.append(trim_frames(clip, first, last + 1).renamed(f"{clip.name} {first}-{last}"))
    return pieces, chosen


def _joined(strikes: Sequence[Strike], gap: int) -> list[tuple[int, int]]:
    """Windows, those that nearly touch made one."""
    windows: list[tuple[int, int]] = []
    for strike in strikes:
        if windows and strike.begin - windows[-1][1] <= gap:
            windows[-1] = (windows[-1][0], max(windows[-1][1], strike.end))
        else:
            windows.append((strike.begin, strike.end))
    return windows
