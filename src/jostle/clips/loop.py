"""Make a walk go round: one cycle, or several, whose last frame is the first of the next round.

A cut from a walk never ends exactly as it began. What differs between its ends, in pose and in velocity, is taken
out by an offset that decays from both ends into the cycle. With D and V the gaps in pose and velocity, T the length,
and a(t), b(t) the critically damped decays of a unit offset and of a unit velocity, the offset

    c(t) = A (a(t) - a(T - t)) + B (b(t) + b(T - t)),   2 A (1 - a(T)) = D,   2 B (1 - b'(T)) = V

has exactly c(0) - c(T) = D and c'(0) - c'(T) = V: half of the gap is mended on either side of the seam. Rounds follow
each other by a turn and a shift on the ground, so travel and turning go on. Feet that stood would slide by what was
mended; they are planted again over three rounds, of which the middle one is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from jostle.clips.clip import Clip
from jostle.clips.contacts import Contacts, find_contacts
from jostle.clips.cycle import Cycle, find_cycle
from jostle.clips.edit import stacked, trim_frames
from jostle.clips.joints import simplify
from jostle.clips.plant import plant_feet
from jostle.clips.seam import added, difference, velocity
from jostle.errors import MotionError
from jostle.maths import quat, spring
from jostle.maths.angles import wrapped
from jostle.skeleton import Pose, find_roles, is_humanoid
from jostle.types import Array, Float

STRAIGHT = np.radians(8.0)  # a walk that turns less than this in a cycle was meant to go straight
_HALFLIFE_SHARE = 1 / 7  # of the length of a cycle
_CLOSED = 1e-3  # metres: ends that agree to this were made to agree


def loop(clip: Clip, cycles: int | None = 1, straight: bool | None = None) -> Clip:
    """A cyclic clip from a walk: `cycles` of it, or with None as many as are steady. Root motion is kept.

    `straight` takes out the turning over a round; unless told, it does so where that is below 8 degrees a cycle.
    """
    if cycles is not None and cycles < 1:
        raise MotionError(f"A loop needs at least one cycle, not {cycles}.")
    clip = _with_moving_root(clip)
    cycle = find_cycle(clip, cycles)
    cut = trim_frames(clip, cycle.start, cycle.end + 1)
    if cycle.mismatch < _CLOSED and cycle.end - cycle.start == clip.frame_count - 1:
        return repeat(_with_equal_ends(cut), cycles or 1)
    turned = _turned(cut)
    if straight or (straight is None and abs(turned) < STRAIGHT * cycle.count):
        cut = _straightened(cut, turned)
    closed = _closed(cut, _velocity_gap(clip, cycle, cut), cycle.count)
    return _planted(_with_equal_ends(closed), find_contacts(clip), cycle)


def repeat(clip: Clip, rounds: int) -> Clip:
    """A cyclic clip `rounds` times, each where the last one ended; the shared frames are shown once."""
    if rounds < 1:
        raise MotionError(f"A clip can be repeated once or more, not {rounds} times.")
    body = trim_frames(clip, 0, -1) if clip.frame_count > 1 else clip
    stacks = [_next_round(clip, body.poses, k) for k in range(rounds)]
    if clip.frame_count > 1:
        stacks.append(_next_round(clip, trim_frames(clip, -1).poses, rounds - 1))
    return clip.with_poses(stacked(stacks))


def is_cyclic(clip: Clip) -> bool:
    """Whether the last frame is the first one in another place and heading, to a tenth of a millimetre."""
    if clip.frame_count < 4:
        return False
    ends = _with_equal_ends(clip)
    apart = np.linalg.norm(ends.positions[-1] - clip.positions[-1], axis=-1)
    moves = np.max(np.abs(clip.wxyz - clip.wxyz[:1])) > 1e-4
    return bool(moves and np.max(apart) < 1e-4)


def over_rounds(clip: Clip, edit: Callable[[Clip], Clip]) -> Clip:
    """A cyclic clip after an edit that looks at neighbouring frames: made over three rounds, the middle one kept."""
    length = clip.frame_count - 1
    three = edit(repeat(clip, 3))
    first, middle = trim_frames(three, 0, length + 1), trim_frames(three, length, 2 * length + 1)
    turn, ground = quat.from_yaw(-_turned(first)), np.array([1.0, 1.0, 0.0])
    wxyz = middle.wxyz.copy()
    wxyz[:, 0] = quat.mul(turn, wxyz[:, 0])
    root = quat.apply(turn, middle.root - first.root[-1] * ground) + first.root[0] * ground
    return _with_equal_ends(middle.with_poses(Pose(root, wxyz, middle.offsets)))


def _with_moving_root(clip: Clip) -> Clip:
    """A person whose root stands still on the ground while the pelvis goes, as a plain person."""
    pelvis = find_roles(clip.skeleton).get("pelvis", 0)
    if pelvis == 0 or not is_humanoid(clip.skeleton):
        return clip
    travelled = np.ptp(clip.positions[:, pelvis, :2] - clip.root[:, :2], axis=0)
    return simplify(clip) if np.max(travelled) > 0.3 * clip.skeleton.height else clip


def _turned(clip: Clip) -> float:
    """By how much the root turns from the first frame to the last: radians, between -pi and pi."""
    turn = quat.yaw(clip.wxyz[-1, 0]) - quat.yaw(clip.wxyz[0, 0])
    return float(wrapped(turn))


def _next_round(clip: Clip, poses: Pose, rounds: int) -> Pose:
    """Poses of a cyclic clip as they are some rounds later: turned and moved by what one round turns and moves."""
    turn, root, wxyz = quat.from_yaw(_turned(clip)), poses.root, poses.wxyz.copy()
    ground = np.array([1.0, 1.0, 0.0])
    for _ in range(rounds):
        root = quat.apply(turn, root - clip.root[0] * ground) + clip.root[-1] * ground
        wxyz[:, 0] = quat.mul(turn, wxyz[:, 0])
    return Pose(root, wxyz, poses.offsets)


def _straightened(clip: Clip, turned: float) -> Clip:
    """The clip with its turning taken out evenly; every step of the root turns along."""
    back = quat.from_yaw(-turned * np.linspace(0.0, 1.0, clip.frame_count))
    middle = quat.slerp(back[:-1], back[1:], 0.5)
    steps = quat.apply(middle, np.diff(clip.root, axis=0))
    root = clip.root[0] + np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])
    wxyz = clip.wxyz.copy()
    wxyz[:, 0] = quat.mul(back, wxyz[:, 0])
    return clip.with_poses(Pose(root, wxyz, clip.offsets))


def _velocity_gap(clip: Clip, cycle: Cycle, cut: Clip) -> Float[Array, "D"]:
    """How much faster the pose changes at the end of the cycle than at its start, seen in the heading of the start."""
    back = quat.from_yaw(-_turned(trim_frames(clip, cycle.start, cycle.end + 1)))
    return _with_turned_root(velocity(clip, cycle.end), back) - velocity(clip, cycle.start)


def _with_turned_root(d: Float[Array, "*t D"], turn: Float[Array, "*t 4"]) -> Float[Array, "*t D"]:
    """A difference of poses whose root part (displacement and turn, both in the world) is turned."""
    return np.concatenate([quat.apply(turn, d[..., :3]), quat.apply(turn, d[..., 3:6]), d[..., 6:]], axis=-1)


def _closed(clip: Clip, rush: Float[Array, "D"], count: int) -> Clip:
    """Add the decaying offset that makes the ends meet."""
    turned, length = _turned(clip), clip.duration
    last = trim_frames(clip, -1).poses
    ground = np.array([1.0, 1.0, 0.0])
    wxyz = last.wxyz[0].copy()
    wxyz[0] = quat.mul(quat.from_yaw(-turned), wxyz[0])
    offsets = None if last.offsets is None else last.offsets[0]
    root = quat.apply(quat.from_yaw(-turned), (last.root[0] - clip.root[-1] * ground)) + clip.root[0] * ground
    gap = difference(Pose(root, wxyz, offsets), clip.pose(0))
    mend = _mend(gap, rush, _HALFLIFE_SHARE * length / count, np.arange(clip.frame_count) * clip.dt)
    along = quat.from_yaw(turned * np.linspace(0.0, 1.0, clip.frame_count))
    return clip.with_poses(added(clip.poses, _with_turned_root(mend, along)))


def _mend(
    gap: Float[Array, "D"], rush: Float[Array, "D"], halflife: float, t: Float[Array, "T"]
) -> Float[Array, "T D"]:
    """c(t) of the essay above."""
    one, none = np.ones(1), np.zeros(1)
    a, b = spring.decay(one, none, halflife, t), spring.decay(none, one, halflife, t)  # (T, 1)
    y = 2.0 * spring.HALF / halflife
    slope = np.exp(-y * t[-1]) * (1.0 - y * t[-1])  # b'(T), since b(t) = t exp(-y t)
    offset = gap / (2.0 * (1.0 - a[-1]))
    speed = rush / (2.0 * (1.0 - slope))
    return offset * (a - a[::-1]) + speed * (b + b[::-1])


def _planted(clip: Clip, contacts: Contacts, cycle: Cycle) -> Clip:
    """The loop with standing feet at rest, also across the seam."""
    if clip.offsets is not None:  # bones that move belong to a rig whose feet are held by handles
        return clip
    rounds = [_rounds(flags[cycle.start : cycle.end]) for flags in (contacts.planted, contacts.heel, contacts.toe)]
    three = replace(contacts, planted=rounds[0], heel=rounds[1], toe=rounds[2])
    return over_rounds(clip, lambda unrolled: plant_feet(unrolled, three))


def _rounds(flags: Array) -> Array:
    return np.concatenate([flags, flags, flags, flags[:1]])


def _with_equal_ends(clip: Clip) -> Clip:
    """The last frame as exactly the first of the next round, against rounding."""
    last = _next_round(clip, trim_frames(clip, 0, 1).poses, 1)
    return clip.with_poses(stacked([trim_frames(clip, 0, -1).poses, last]))
