"""Feet that stand stay: take the slide out of planted feet by inverse kinematics, and nothing else.

Whatever bends a motion a little, closing a loop or moving it to another body, makes standing feet slide. While a foot
is planted its point of contact (the ankle when the heel is down, the ball when the toes are, the lower of the two when
both may be) must not move; so the foot as a whole is shifted by d with

    d(t+1) = d(t) - (p(t+1) - p(t)),    p the point that is down

which holds through the roll from heel to toe, since the shift goes on where it was. Its mean over the contact is zero:
the foot stands where it stood on average. Between contacts the shift passes smoothly from one to the next, so
that a swing is bent by a few millimetres at each frame rather than at one. Where a leg cannot reach, the
pelvis comes down a little, smoothly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.ndimage import gaussian_filter1d, maximum_filter1d, uniform_filter1d

from jostle.clips.clip import Clip
from jostle.clips.contacts import Contacts, runs
from jostle.clips.feet import Feet, body_size, find_feet
from jostle.errors import MotionError
from jostle.maths import quat, vec
from jostle.skeleton import Pose, Skeleton, find_roles, find_twins, forward
from jostle.skeleton.ik import FORWARD, pin_limb
from jostle.types import Array, Bool, Float

_REACH = 0.98  # of a leg's length: where it begins to lock
_DROP_TIME = 0.1  # seconds over which the pelvis goes down for a leg that cannot reach
_LEAVING = 0.12  # seconds in which a leg that cannot reach lets its foot go
_EASE = 0.06  # seconds in which a landing foot comes to rest
_RAISED = 0.0015  # of body height: a point this much higher than another of its foot bears a third as much
_BENT = 0.05  # of its upper bone: how far off the line a knee must be on average to tell which way it bends
_NOTHING = 1e-7  # metres: a shift this small is none


@dataclass(frozen=True, eq=False)
class Leg:
    """The joints of a limb that stands: `end` is what is put in its place by turning `upper` and `lower`."""

    upper: int
    lower: int
    end: int
    pole: Float[Array, "3"] | None


def find_leg(skeleton: Skeleton, foot: int) -> Leg | None:
    """The leg above a foot: by role for a person, else by its bones. None where it has fewer than two."""
    roles = find_roles(skeleton)
    for side in ("left", "right"):
        upper, lower = roles.get(f"{side}_thigh"), roles.get(f"{side}_shin")
        if roles.get(f"{side}_foot") == foot and upper is not None and lower in skeleton.chain(foot):
            return Leg(upper, lower, foot, FORWARD)
    chain = skeleton.chain(foot)[1:]
    limb = [j for j in chain[:-1] if _sided(skeleton, j)]
    pairs = list(pairwise(limb if len(limb) > 1 else chain[:-1]))
    if not pairs:
        return None
    at = skeleton.rest_positions

    def room(pair: tuple[int, int]) -> float:
        """A limb of several bones bends where it has most room to: where the shorter of two is longest."""
        return min(float(np.linalg.norm(at[pair[1]] - at[pair[0]])), float(np.linalg.norm(at[foot] - at[pair[1]])))

    best = max(pairs, key=room)
    return Leg(*best, foot, None) if room(best) > 0 else None


def leg_of(clip: Clip, foot: int) -> Leg | None:
    """The leg above a foot, which bends to where it is bent most of the time. Almost straight, it could go anywhere."""
    leg = find_leg(clip.skeleton, foot)
    if leg is None or leg.pole is not None:
        return leg
    hip, knee, ankle = (clip.positions[:, j] for j in (leg.upper, leg.lower, leg.end))
    line = (ankle - hip) / np.maximum(vec.length(ankle - hip), 1e-9)
    off = (knee - hip) - vec.dot(knee - hip, line) * line
    bend = np.mean(quat.inv_apply(clip.globals.wxyz[:, leg.upper], off), axis=0)
    size = float(np.linalg.norm(bend))
    return replace(leg, pole=bend / size) if size > _BENT * float(np.mean(vec.length(knee - hip))) else leg


def _sided(skeleton: Skeleton, joint: int) -> bool:
    """Whether a joint belongs to a limb: whether it has a twin on the other side."""
    try:
        return bool(find_twins(skeleton)[joint] != joint)
    except MotionError:
        return False


def plant_feet(clip: Clip, contacts: Contacts, lift: Float[Array, "T F"] | None = None) -> Clip:
    """The clip with every planted foot at rest; `lift` raises each foot by so many metres in each frame as well."""
    feet = find_feet(clip)
    shifts = np.zeros((clip.frame_count, len(feet.joints), 3))
    if lift is not None:
        shifts[..., 2] = lift
    for foot in range(len(feet.joints)):
        shifts[:, foot, :2] = _shift(clip, feet, foot, contacts, shifts[:, foot, 2])
    return shift_feet(clip, feet.joints, shifts, contacts.planted)


def _shift(clip: Clip, feet: Feet, foot: int, contacts: Contacts, lift: Float[Array, "T"]) -> Float[Array, "T 2"]:
    """The shift on the ground that keeps one foot's point of contact at rest."""
    slide = foot_steps(clip, feet, foot, contacts, lift) - contacts.treadmill * clip.dt
    out = np.zeros((clip.frame_count, 2))
    stances = runs(contacts.planted[:, foot])
    for first, stop in stances:
        held = slide[first : stop - 1] * _hold(first, stop, clip)[:, None]
        path = np.concatenate([np.zeros((1, 2)), -np.cumsum(held, axis=0)])
        out[first:stop] = path - np.mean(path, axis=0)
    return _bridged(out, stances)


def foot_steps(
    clip: Clip, feet: Feet, foot: int, contacts: Contacts, lift: Float[Array, "T"] | float = 0.0
) -> Float[Array, "n 2"]:
    """How far what bears a foot moves over the ground from each frame to the next."""
    points = [p for p in feet.points if p.foot == foot]
    tracks = np.stack([p.track(clip) for p in points])  # (P, T, 3)
    flags = np.stack([(contacts.heel if p.kind == "heel" else contacts.toe)[:, foot] for p in points])
    bearing = _bearing(tracks[..., 2] + lift, flags, body_size(clip.skeleton))
    return _mean_step(np.diff(tracks[..., :2], axis=1), flags, bearing)


def _bearing(heights: Float[Array, "P T"], flags: Bool[Array, "P T"], size: float) -> Float[Array, "P T"]:
    """How much each point bears: 1 for the one that lies lowest, by where each stands, little for one raised off it.

    A foot that lifts its heel turns about the ball long before the heel counts as gone. An ankle high over the sole
    travels far in that time, and must be let go.
    """
    stands = [
        np.quantile(z[down], 0.25) if np.any(down) else np.quantile(z, 0.05)
        for z, down in zip(heights, flags, strict=True)
    ]
    above = heights - np.array(stands)[:, None]
    return np.exp(-(above - np.min(above, axis=0)) / (_RAISED * size))


def _hold(first: int, stop: int, clip: Clip) -> Float[Array, "n"]:
    """How firmly each step of a contact is held: easing in and out, since a foot lands and leaves with some speed."""
    step, ease = np.arange(stop - first - 1) + 0.5, max(1.0, _EASE * clip.fps)
    since = step if first > 0 else np.full_like(step, np.inf)
    until = stop - first - 1 - step if stop < clip.frame_count else np.full_like(step, np.inf)
    t = np.minimum(np.minimum(since, until) / ease, 1.0)
    return t * t * (3 - 2 * t)


def _mean_step(
    steps: Float[Array, "P n 2"], flags: Bool[Array, "P T"], bearing: Float[Array, "P T"]
) -> Float[Array, "n 2"]:
    """How the points that are down move from each frame to the next: those down in both, or else in either."""
    both, either = flags[:, :-1] & flags[:, 1:], flags[:, :-1] | flags[:, 1:]
    down = np.where(np.any(both, axis=0), both, either)
    down = np.where(np.any(down, axis=0), down, True)
    weights = down * (bearing[:, :-1] + bearing[:, 1:] + 1e-12)
    return np.einsum("pt,ptc->tc", weights / weights.sum(axis=0), steps)


def _bridged(shift: Float[Array, "T 2"], stances: list[tuple[int, int]]) -> Float[Array, "T 2"]:
    """Between contacts, from the shift at the end of one to that at the start of the next; held at the ends."""
    if not stances:
        return shift
    out = shift.copy()
    out[: stances[0][0]], out[stances[-1][1] :] = shift[stances[0][0]], shift[stances[-1][1] - 1]
    for (_, stop), (start, _) in pairwise(stances):
        t = np.arange(1, start - stop + 1)[:, None] / (start - stop + 1)
        ease = t**3 * (10 - 15 * t + 6 * t * t)
        out[stop:start] = (1 - ease) * shift[stop - 1] + ease * shift[start]
    return out


def shift_feet(clip: Clip, feet: tuple[int, ...], shifts: Float[Array, "T F 3"], planted: Bool[Array, "T F"]) -> Clip:
    """Move each foot by its shift, turning only its leg, and lower the pelvis where a planted foot is out of reach."""
    if np.max(np.abs(shifts), initial=0.0) < _NOTHING:
        return clip
    legs = [leg_of(clip, foot) for foot in feet]
    targets = clip.positions[:, list(feet)] + shifts
    drop = _drop(clip, legs, targets, planted)
    poses = Pose(clip.root - drop[:, None] * np.array([0.0, 0.0, 1.0]), clip.wxyz, clip.offsets)
    for i, leg in enumerate(legs):
        if leg is not None:
            moved = (np.max(np.abs(shifts[:, i]), axis=-1) > _NOTHING) | (drop > _NOTHING)
            poses = pin_limb(
                clip.skeleton, poses, leg.upper, leg.lower, leg.end, targets[:, i], moved.astype(float), pole=leg.pole
            )
    return clip.with_poses(poses)


def _drop(clip: Clip, legs: list[Leg | None], targets: Array, planted: Array) -> Float[Array, "T"]:
    """How far the pelvis must come down for the planted feet to be within reach, smoothed over time."""
    at = forward(clip.skeleton, clip.poses).positions
    need, firm = np.zeros(clip.frame_count), _firm(planted, clip.fps)
    for i, leg in enumerate(legs):
        if leg is None:
            continue
        hip, knee, ankle = at[:, leg.upper], at[:, leg.lower], at[:, leg.end]
        length = np.linalg.norm(knee - hip, axis=-1) + np.linalg.norm(ankle - knee, axis=-1)
        reach = np.maximum(_REACH * length, np.linalg.norm(ankle - hip, axis=-1))
        away = targets[:, i] - hip
        upright = np.sqrt(np.maximum(reach**2 - np.sum(away[:, :2] ** 2, axis=-1), (0.5 * length) ** 2))
        need = np.maximum(need, firm[:, i] * (-away[:, 2] - upright))
    if np.max(need) < _NOTHING:
        return np.zeros(clip.frame_count)
    width = max(1, round(_DROP_TIME * clip.fps))
    return gaussian_filter1d(maximum_filter1d(need, 2 * width + 1, mode="nearest"), 0.5 * width, mode="nearest")


def _firm(planted: Bool[Array, "T F"], fps: float) -> Float[Array, "T F"]:
    """1 within a contact, falling to 0 at its ends: a foot about to leave may leave a little early instead."""
    width = max(1, round(_LEAVING * fps))
    padded = np.pad(planted, ((width, width), (0, 0)), mode="edge").astype(float)
    share = uniform_filter1d(padded, 2 * width + 1, axis=0)[width:-width]  # a half at the ends, 1 within
    return np.clip(2.0 * share - 1.0, 0.0, 1.0) * planted
