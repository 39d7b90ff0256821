"""A straight gait is bent into a turn, and feet that stand stay where they stand.

Think of the walk as drawn on the ground, and of the ground as bent within its plane: what was a straight line becomes
an arc. A point s along the line and y beside it goes to

    p(s) + y n(s),    p' = (cos h, sin h),    n = (-sin h, cos h),    h(s) the heading there

which says nothing of time. A foot at rest on the straight ground is at rest on the bent one, whatever the gait and
however many feet it has; steps on the inside become shorter, those on the outside longer. Each part of the body is
turned by the heading where it is, so that a spine follows the arc and the head looks into the turn. Bones keep their
lengths: the root goes where the map sends it, limbs turn along, and legs are solved for where the map has the feet.
Who goes round a curve leans inwards, at speed v by the angle whose tangent is v^2 h' / g.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from jostle.clips.clip import Clip
from jostle.clips.contacts import find_contacts
from jostle.clips.edit import move, turn
from jostle.clips.feet import body_size, find_feet
from jostle.clips.loop import is_cyclic, over_rounds
from jostle.clips.plant import leg_of, plant_feet
from jostle.clips.rig import plain
from jostle.errors import MotionError
from jostle.maths import quat
from jostle.maths.angles import wrapped
from jostle.skeleton import locals_of
from jostle.skeleton.ik import pin_limb
from jostle.types import Array, Float

GRAVITY = 9.81
Curve = Callable[[Array], Array]  # of lengths along the line: how much it bends there

STRAIGHT = np.radians(20.0)  # a gait that turns more than this by itself is no straight one
_SOFT = 0.25  # of a turn between two times: how long it takes to come and to go
_MOST_BEND = np.radians(55.0)  # of a trunk, between the legs at its ends
_WIDEST = np.radians(110.0)  # between the foremost foot and the hindmost
_NEAR = 0.7  # of the radius: a foot farther out on the inside would step on its spot, or backwards
_SOMEWHERE = 0.3  # of the size of the body: who goes less far goes nowhere
_FINE = 4000  # points of the arc


@dataclass(frozen=True, eq=False)
class Arc:
    """The bent line: at lengths `s`, evenly spaced, where it is, its heading and its curvature."""

    s: Float[Array, "n"]
    place: Float[Array, "n 2"]
    heading: Float[Array, "n"]
    curvature: Float[Array, "n"]

    @classmethod
    def of(cls, s: Float[Array, "n"], curve: Curve) -> Arc:
        """It goes through the origin, along X there, where s is 0."""
        step, curvature = np.diff(s)[:, None], curve(s)
        heading = _summed(curvature[:, None], step, s)[:, 0]
        ahead = np.stack([np.cos(heading), np.sin(heading)], axis=1)
        return cls(s, _summed(ahead, step, s), heading, curvature)

    def turned(self, s: Float[Array, "*b"]) -> Float[Array, "*b"]:
        return np.interp(s, self.s, self.heading)

    def moved(self, at: Float[Array, "*b 3"]) -> Float[Array, "*b 3"]:
        """Where the ground takes a point; its height stays."""
        s, y, h = at[..., 0], at[..., 1], self.turned(at[..., 0])
        px, py = (np.interp(s, self.s, self.place[:, axis]) for axis in (0, 1))
        return np.stack([px - y * np.sin(h), py + y * np.cos(h), at[..., 2]], axis=-1)


def _summed(slope: Float[Array, "n c"], step: Float[Array, "m 1"], s: Float[Array, "n"]) -> Float[Array, "n c"]:
    """The integral along s, 0 at the origin."""
    rise = 0.5 * (slope[1:] + slope[:-1]) * step
    total = np.concatenate([np.zeros((1, slope.shape[1])), np.cumsum(rise, axis=0)])
    return total - np.stack([np.interp(0.0, s, column) for column in total.T])


def turn_gait(clip: Clip, degrees: float, start: float | None = None, end: float | None = None) -> Clip:
    """A straight gait bent to the left by so many degrees (to the right where negative), evenly over its whole length.

    With `start` or `end`, in seconds, it turns between these times only, softly at either end. A rig becomes a plain
    body.
    """
    clip = plain(clip)
    begin, heading = _line(clip)
    straight = turn(move(clip, -begin), -heading)
    curve = _curve(straight, np.radians(degrees), start, end)
    _check_tightness(straight, curve, degrees)
    if start is None and end is None and is_cyclic(straight):
        bent = over_rounds(straight, lambda rounds: _bent(rounds, curve))
    else:
        bent = _bent(straight, curve)
    return move(turn(bent, heading), begin)


def _line(clip: Clip) -> tuple[Float[Array, "3"], float]:
    """Where on the ground the gait begins and which way it goes, or a sentence why it is no straight one."""
    way = clip.root[-1, :2] - clip.root[0, :2]
    if np.linalg.norm(way) < _SOMEWHERE * body_size(clip.skeleton):
        raise MotionError(
            f"Clip '{clip.name}' goes nowhere, so there is nothing to bend; `jostle clips travel` sends a gait "
            "made in place on its way."
        )
    turned = float(wrapped(quat.yaw(clip.wxyz[-1, 0]) - quat.yaw(clip.wxyz[0, 0])))
    if abs(turned) > STRAIGHT:
        raise MotionError(
            f"Clip '{clip.name}' turns by {np.degrees(turned):.0f} degrees already; give a straight gait, or trim it."
        )
    return clip.root[0] * np.array([1.0, 1.0, 0.0]), float(np.arctan2(way[1], way[0]))


def _curve(clip: Clip, radians: float, start: float | None, end: float | None) -> Curve:
    """How much the ground bends at each length: evenly, or with a soft beginning and end between two times."""
    if start is None and end is None:
        even = radians / float(clip.root[-1, 0])
        return lambda s: np.full_like(s, even)
    first, last = start or 0.0, clip.duration if end is None else end
    if not 0.0 <= first < last <= clip.duration + 0.5 * clip.dt:
        raise MotionError(
            f"Clip '{clip.name}' lasts {clip.duration:.2f} s and cannot turn from {first:g} s to {last:g} s; "
            "give 0 <= start < end within it."
        )
    a, b = np.interp([first, last], np.arange(clip.frame_count) * clip.dt, clip.root[:, 0])

    def bump(s: Float[Array, "n"]) -> Float[Array, "n"]:
        u = np.clip((s - a) / (b - a), 0.0, 1.0)
        ramp = np.clip(np.minimum(u, 1.0 - u) / _SOFT, 0.0, 1.0)
        return radians / ((b - a) * (1.0 - _SOFT)) * ramp * ramp * (3.0 - 2.0 * ramp)

    return bump


def _bent(clip: Clip, curve: Curve) -> Clip:
    """A gait along X on bent ground."""
    contacts, feet = find_contacts(clip), find_feet(clip)
    at, skeleton = clip.positions, clip.skeleton
    arc = Arc.of(np.linspace(at[..., 0].min() - 1.0, at[..., 0].max() + 1.0, _FINE), curve)
    legs = [leg for leg in (leg_of(clip, foot) for foot in feet.joints) if leg is not None]
    planting = {j for leg in legs for j in skeleton.subtree(leg.end)}

    lean = _lean(clip, arc)
    root = arc.moved(clip.root)
    aside, tall = quat.apply(quat.from_yaw(arc.turned(clip.root[:, 0])), np.array([0.0, 1.0, 0.0])), clip.root[:, 2:]
    root = (
        root + aside * tall * np.sin(lean)[:, None] - np.array([0.0, 0.0, 1.0]) * tall * (1.0 - np.cos(lean)[:, None])
    )
    tilt = quat.exp(np.array([-1.0, 0.0, 0.0]) * lean[:, None])  # (T, 4)
    world = clip.globals.wxyz.copy()
    for joint in range(skeleton.joint_count):
        if joint not in planting:
            world[:, joint] = quat.mul(tilt, world[:, joint])
        world[:, joint] = quat.mul(quat.from_yaw(arc.turned(at[:, joint, 0])), world[:, joint])
    pose = locals_of(skeleton, np.broadcast_to(root[:, None], at.shape), world)
    for leg in legs:
        pose = pin_limb(
            skeleton, pose, leg.upper, leg.lower, leg.end, arc.moved(at[:, leg.end]), pole=leg.pole
        )  # fmt: skip
    return plant_feet(clip.with_poses(pose), contacts)


def _lean(clip: Clip, arc: Arc) -> Float[Array, "T"]:
    """The angle to the left at which weight and the push outwards go through the feet."""
    speed = float(np.linalg.norm(clip.root[-1, :2] - clip.root[0, :2])) / clip.duration
    return np.arctan(speed**2 * np.interp(clip.root[:, 0], arc.s, arc.curvature) / GRAVITY)


def _check_tightness(clip: Clip, curve: Curve, degrees: float) -> None:
    """A sentence where inner feet would step on the spot, or a long trunk would have to fold."""
    feet, at = find_feet(clip).joints, clip.positions
    hips = [leg.upper for leg in (leg_of(clip, foot) for foot in feet) if leg is not None]
    inwards = curve(at[:, list(feet), 0].ravel()) * at[:, list(feet), 1].ravel()
    trunk = np.ptp(at[:, hips, 0], axis=1) if hips else np.zeros(clip.frame_count)
    stride, sharp = np.ptp(at[:, list(feet), 0], axis=1), np.abs(curve(clip.root[:, 0]))
    folds = max(float(np.max(sharp * trunk)) / _MOST_BEND, float(np.max(sharp * stride)) / _WIDEST)
    too_much = max(float(np.max(inwards)) / _NEAR, folds)
    if too_much > 1.0:
        raise MotionError(
            f"Clip '{clip.name}' goes {clip.root[-1, 0]:.1f} m, in which its body can turn by about "
            f"{abs(degrees) / too_much:.0f} degrees, not by {abs(degrees):g}; give fewer, or more cycles."
        )
