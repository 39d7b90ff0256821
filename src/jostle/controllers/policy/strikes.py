"""Punches and kicks in a clip, found without annotation.

Takes of strikes are mostly standing about. A strike of a joint is where it goes far out from the root, over the
ground, and comes back; and fast, as fast strikes of these clips go. What is learnt from are windows around them, from
guard to guard; where a window touches the next, they are one piece. A
kick that ends with the other foot in front does not lead back to where the next one begins: what lies between the two
is learnt as well.

A strike *hits* at the last moment before its farthest point at which the joint is still at speed, half of its fastest:
at the farthest point itself it stands. The speed that counts is that away from the body, over the ground.
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
UNLIKE = 0.1  # metres, rms over joints: who ends so far from how he began has not come back to guard
_LEADS = 3.0  # seconds in which something leads him to his next strike
_AROUND = 0.6  # seconds on either side in which guard is looked for
_MARGIN = 0.35  # seconds more: guard is where the next one begins


@dataclass(frozen=True)
class Strike:
    """Frames of a clip; where it hits, from where the character is and faces at the hit, and how fast it goes out."""

    begin: int
    hit: int
    end: int
    place: tuple[float, float, float]
    fastest: float


def strikes_in(clips: Sequence[Clip], joint: str) -> list[tuple[Clip, Strike]]:
    """The strikes of a joint, `right_hand` or by its own name, at the height at which most of them hit."""
    found = [(clip, strike) for clip in clips for strike in swings_of(clip, joint)]
    if not found:
        return []
    far = np.array([np.hypot(*strike.place[:2]) for _, strike in found])
    fast = np.array([strike.fastest for _, strike in found])
    distant = far >= FAR * np.max(far)
    struck = [found[i] for i in np.flatnonzero(distant & (fast >= FAST * np.max(fast[distant])))]
    low, high = level_of([strike for _, strike in struck])
    return [(clip, strike) for clip, strike in struck if low <= strike.place[2] <= high]


def swings_of(clip: Clip, joint: str) -> list[Strike]:
    """Wherever a joint goes out and comes back, strikes and others."""
    which = resolve(known_parts(clip.skeleton, 0), joint)
    at = forward(clip.skeleton, clip.poses).positions[:, which]
    own = _seen(clip, at)
    reach = np.hypot(own[:, 0], own[:, 1])
    v = np.diff(at, axis=0, prepend=at[:1]) * clip.fps
    way = (at - clip.root)[:, :2] / np.maximum(reach, 1e-6)[:, None]
    pace, speed = np.linalg.norm(v, axis=1), np.sum(v[:, :2] * way, axis=1)
    peaks, _ = find_peaks(reach, prominence=OUT * (np.max(reach) - np.min(reach)) + 1e-9)
    around, margin = round(_AROUND * clip.fps), round(_MARGIN * clip.fps)
    found = []
    for peak in peaks.tolist():
        begin, end = _guard(reach, peak, -around), _guard(reach, peak, around)
        fastest = float(np.max(speed[begin + 1 : peak + 1]))
        hit = begin + 1 + int(np.flatnonzero(speed[begin + 1 : peak + 1] >= AT_SPEED * fastest)[-1])
        begin, end = _rest(pace, begin, fastest, -around), _rest(pace, end, fastest, around)
        ends = max(begin - margin, 0), min(end + margin, clip.frame_count - 1)
        if found and found[-1].hit == hit:
            continue
        found.append(
            Strike(ends[0], hit, ends[1], (float(own[hit, 0]), float(own[hit, 1]), float(own[hit, 2])), fastest)
        )
    return found


def _guard(reach: Float[Array, "T"], peak: int, around: int) -> int:
    """Where the joint is nearest, before or after a peak."""
    if around < 0:
        first = max(peak + around, 0)
        return first + int(np.argmin(reach[first:peak]))
    return peak + int(np.argmin(reach[peak : peak + around + 1]))


def _rest(pace: Float[Array, "T"], frame: int, fastest: float, around: int) -> int:
    """From guard onwards until the joint is at rest: a foot is raised before it kicks."""
    way = 1 if around > 0 else -1
    for _ in range(abs(around)):
        if not 0 < frame < len(pace) - 1 or pace[frame] < STILL * fastest:
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
    """What is to be learnt from: strikes from guard to guard. And these strikes."""
    found = strikes_in(clips, joint)
    if not found:
        names = ", ".join(f"'{clip.name}'" for clip in clips)
        raise MotionError(f"No strike of '{joint}' in {names}: it is to go out fast and come back; name another joint.")
    pieces = []
    for clip in clips:
        own = [strike for c, strike in found if c is clip]
        for first, last in _joined(clip, own):
            pieces.append(trim_frames(clip, first, last + 1).renamed(f"{clip.name} {first}-{last}"))
    return pieces, [strike for _, strike in found]


def _joined(clip: Clip, strikes: Sequence[Strike]) -> list[tuple[int, int]]:
    """Windows, made one where they nearly touch; and, with what lies between, where a strike does not lead back."""
    at = _seen(clip, forward(clip.skeleton, clip.poses).positions)
    windows: list[tuple[int, int]] = []
    for strike in strikes:
        if windows:
            first, last = windows[-1]
            unlike = np.sqrt(np.mean(np.sum((at[first] - at[last]) ** 2, axis=-1)))
            gap = _LEADS if unlike > UNLIKE else 0.5 * _AROUND
            if strike.begin - last <= gap * clip.fps:
                windows[-1] = (first, max(last, strike.end))
                continue
        windows.append((strike.begin, strike.end))
    return windows


def _seen(clip: Clip, at: Float[Array, "T *b 3"]) -> Float[Array, "T *b 3"]:
    """Points from where the character is, and as it faces."""
    lead = (slice(None), *[None] * (at.ndim - 2))
    return quat.apply(quat.from_yaw(-quat.yaw(clip.wxyz[:, 0]))[lead], at - (clip.root * [1.0, 1.0, 0.0])[lead])
