"""Pushes that somebody who stands got in a take: when each began, was at its worst and was over. No force is recorded.

Who steps back to place, or sets off, speeds up as fast as who is pushed gently. What tells them apart is that they do
it by their own feet. Two measures, from the moment a quiet stand ends until the first foot is lifted:

- **Speed that the feet cannot have given.** The centre of pressure that the motion asks for (the ZMP, `clips.balance`)
  may lie anywhere under the feet; as far as it lies beyond them by e, somebody else accelerates the body by g e / h,
  h the height of the centre of mass. Summed over time this is a speed. Gentle pushes have 0.05 m/s of it, strong ones
  0.7; most return steps have less than 0.03, but a strutting walk that sets off has 0.15.
- **Acceleration of the centre of mass** while both feet stand. To set off one leans first, which takes time: walks
  have up to 2.2 m/s2, hurried steps back 3.5, pushes 2.3 to 6.

A push has both; each alone takes many steps for pushes. A push that somebody gets who is walking has no quiet stand
before it and is not seen here; `controllers.dynamic.estimate` asks another question of those.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.clips.balance import WINDOW, Balance, beyond_feet, measure_balance
from jostle.clips.clip import Clip
from jostle.clips.flight import GRAVITY, derivative
from jostle.skeleton import find_roles
from jostle.types import Array, Bool, Float

GIVEN = 0.04  # metres a second that the feet cannot have given
SUDDEN = 2.2  # metres a second squared
QUIET = 0.27  # seconds of standing before a push, and after it
SLOW = 0.25  # metres a second: as fast as the centre of mass of one who stands may be
WHOLE = 0.043  # metres within the soles' edge from which on the pressure counts as beyond: soles are narrow here
LONGEST = 0.8  # seconds until the first foot is lifted
_BEFORE = 0.067  # seconds before a stand ends in which a push may have begun
_WORST = 0.5  # seconds within which the centre of mass is fastest
_FAR = 0.3  # metres beyond the feet, at most, that are believed
_FIRST = 0.1  # seconds in which the pushed part goes ahead of the others
_CLEARLY = 1.25  # times as far as any part of the trunk: what a shoulder goes ahead that was pushed itself
_TRUNK, _SHOULDERS = ("pelvis", "spine", "chest"), ("left_upper_arm", "right_upper_arm")


@dataclass(frozen=True, eq=False)
class Seen:
    """A push, in frames of its take."""

    onset: int
    peak: int  # when the centre of mass is fastest
    settle: int  # the first frame of the quiet stand after it, or the last of the take
    speed: Float[Array, "2"]  # metres a second that the centre of mass gains until the peak, over the ground
    joint: int  # that goes ahead of the others: the guess of what was pushed


def find_pushes(clip: Clip) -> tuple[Seen, ...]:
    """All pushes of a take of a person who stands before each."""
    if clip.duration < 2.0 * QUIET:
        return ()
    balance = measure_balance(clip)
    sight = _sight(balance)
    found, t = [], sight.wait
    while t < clip.frame_count - 1:
        if np.all(sight.quiet[t - sight.wait : t]) and not sight.quiet[t]:
            lift = _lift(sight, t)
            if _pushed(sight, t, lift):
                found.append(_event(clip, sight, t))
            t = lift
        t += 1
    return tuple(found)


@dataclass(frozen=True, eq=False)
class _Sight:
    """What is seen of the centre of mass and of the feet, frame by frame."""

    beyond: Float[Array, "T"]
    both: Bool[Array, "T"]  # feet stand
    quiet: Bool[Array, "T"]
    velocity: Float[Array, "T 2"]
    acceleration: Float[Array, "T 2"]
    height: float
    fps: float

    @property
    def wait(self) -> int:
        return max(2, round(QUIET * self.fps))


def _sight(balance: Balance) -> _Sight:
    com, fps = np.einsum("s,tsk->tk", balance.shares, balance.positions), balance.fps
    velocity, acceleration = (derivative(com[:, :2], fps, order, WINDOW) for order in (1, 2))
    down, beyond = np.any(balance.planted, axis=1), np.zeros(len(com))
    beyond[down] = beyond_feet(balance, np.flatnonzero(down))
    both = np.all(balance.planted, axis=1)
    quiet = both & (beyond < 0.0) & (np.linalg.norm(velocity, axis=1) < SLOW)
    return _Sight(beyond, both, quiet, velocity, acceleration, float(np.mean(com[:, 2])), fps)


def _lift(sight: _Sight, begins: int) -> int:
    """The frame in which the first foot leaves, or in which we no longer wait for it."""
    last = min(len(sight.both) - 1, begins + round(LONGEST * sight.fps))
    gone = np.flatnonzero(~sight.both[begins:last])
    return begins + int(gone[0]) if len(gone) else last


def _pushed(sight: _Sight, begins: int, lift: int) -> bool:
    span = slice(max(0, begins - round(_BEFORE * sight.fps)), max(lift, begins + 1))
    outside = np.clip(sight.beyond[span] + WHOLE, 0.0, _FAR)
    given = GRAVITY / sight.height * float(np.sum(outside)) / sight.fps
    sudden = float(np.max(np.linalg.norm(sight.acceleration[span], axis=1)))
    return given >= GIVEN and sudden >= SUDDEN


def _event(clip: Clip, sight: _Sight, onset: int) -> Seen:
    last = clip.frame_count - 1
    soon = slice(onset, min(last, onset + round(_WORST * sight.fps)) + 1)
    gained = sight.velocity - sight.velocity[onset]
    peak = onset + int(np.argmax(np.linalg.norm(gained[soon], axis=1)))
    calm = np.convolve(sight.quiet[peak:], np.ones(sight.wait), "valid") >= sight.wait
    settle = peak + int(np.argmax(calm)) if np.any(calm) else last
    return Seen(onset, peak, settle, gained[peak].copy(), _ahead(clip, onset, gained[peak]))


def _ahead(clip: Clip, onset: int, way: Float[Array, "2"]) -> int:
    """The part of the trunk that is first on its way, or a shoulder that goes clearly ahead of all of them."""
    roles = find_roles(clip.skeleton)
    then = min(clip.frame_count - 1, onset + max(1, round(_FIRST * clip.fps)))
    moved = (clip.positions[then] - clip.positions[onset])[:, :2] @ way
    trunk = max((roles[role] for role in _TRUNK if role in roles), key=lambda j: moved[j], default=0)
    first = max((roles[role] for role in _SHOULDERS if role in roles), key=lambda j: moved[j], default=trunk)
    return first if moved[first] > _CLEARLY * max(moved[trunk], 0.0) else trunk
