"""Two-bone inverse kinematics in closed form: put an ankle or a wrist where it should be.

A leg is a triangle: thigh a, shin b, and the distance d from hip to target. The law of cosines gives the bend;
three decisions make it fit for animation, where the answer must move smoothly from frame to frame:

1. *Reach.* At d = a + b the knee angle changes infinitely fast with d (the "pop"). Beyond a soft limit the distance
   is bent over, d' = s + (L - s) (1 - exp(-(d - s) / (L - s))), so the leg nears straight and never snaps. The limit
   s is 98 % of the length or where the leg is already, whichever is more: a limb that is on its target stays as it is.
2. *Plane.* The leg turns as a whole by the smallest rotation that aims it at the target, and then bends in its own
   plane, so thigh and shin keep their twist and the knee remains a hinge.
3. *Side.* A straight leg has no plane, and a noisy one may bend backwards by a degree. `pole` says where the knee must
   point: forward in the thigh's frame for a leg. It takes over smoothly as the limb straightens.

For chains of more than two bones and several targets see `skeleton.reach`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.errors import MotionError
from jostle.maths import quat, vec
from jostle.skeleton.pose import Pose, forward
from jostle.skeleton.skeleton import Skeleton
from jostle.types import Array, Float

FORWARD = np.array([1.0, 0.0, 0.0])  # where knees point, in the frame of the thigh
BACKWARD = np.array([-1.0, 0.0, 0.0])  # where elbows point, in the frame of the upper arm

_SOFT = 0.02  # the last 2 % of the length are soft
_LEAST_SOFT = 0.005  # and however straight the limb is already, the last half per cent
_STRAIGHT = 0.02  # a knee this far (in limb lengths) off the line from hip to ankle still shows where it points
_TIGHT = np.radians(15.0)  # the smallest angle between the two bones


@dataclass(frozen=True, eq=False)
class TwoBone:
    """What `two_bone` found. The turns are in the world frame: `quat.mul(upper_turn, world_wxyz)`."""

    middle: Float[Array, "*t 3"]  # where the knee or elbow now is
    end: Float[Array, "*t 3"]  # where the ankle or wrist now is: the target, if it could be reached
    upper_turn: Float[Array, "*t 4"]
    lower_turn: Float[Array, "*t 4"]


def two_bone(
    start: Float[Array, "*#t 3"],
    middle: Float[Array, "*#t 3"],
    end: Float[Array, "*#t 3"],
    target: Float[Array, "*#t 3"],
    pole: Float[Array, "*#t 3"] | None = None,
) -> TwoBone:
    """Turn two bones so that `end` comes to `target` (hip, knee, ankle, all in the world), bending towards `pole`.

    Without a pole the limb bends where it is bent already, and a straight one wherever it may.
    """
    start, middle, end, target = np.broadcast_arrays(start, middle, end, target)
    upper, lower = middle - start, end - middle
    a, b = vec.length(upper), vec.length(lower)
    line, now = _unit_and_length(end - start, upper)
    aim, wanted = _unit_and_length(target - start, line)
    d = _limited(wanted, now, a, b)  # (*t, 1)

    swing = quat.between(line, aim)
    bend = quat.apply(swing, _bend_direction(upper, line, a + b, pole))  # a unit vector across `aim`
    along = (a * a + d * d - b * b) / (2.0 * d)  # law of cosines: the knee's foot on the line
    knee = along * aim + np.sqrt(np.maximum(a * a - along * along, 0.0)) * bend
    shin = d * aim - knee
    return TwoBone(
        start + knee,
        start + d * aim,
        quat.mul(quat.between(quat.apply(swing, upper), knee), swing),
        quat.mul(quat.between(quat.apply(swing, lower), shin), swing),
    )


def _limited(wanted: Array, now: Array, a: Array, b: Array) -> Array:
    """The distance that the limb takes for the one that is wanted, softly below its length; `now` is left as it is."""
    length = a + b
    soft = np.maximum((1.0 - _SOFT) * length, np.minimum(now, (1.0 - _LEAST_SOFT) * length))
    room = length - soft
    bent_over = soft + room * -np.expm1(-np.maximum(wanted - soft, 0.0) / room)
    folded = np.sqrt(a * a + b * b - 2.0 * a * b * np.cos(_TIGHT))
    nearest = np.maximum(np.minimum(folded, now), np.abs(a - b) + 1e-9 * length)
    return np.maximum(np.where(wanted > soft, bent_over, wanted), nearest)


def _bend_direction(upper: Array, line: Array, length: Array, pole: Array | None) -> Array:
    """The unit vector across `line` towards which the knee points, or should."""
    off = upper - vec.dot(upper, line) * line
    if pole is None:
        least = np.eye(3)[np.argmin(np.abs(line), axis=-1)]
        return _unit_and_length(off, _across(least, line))[0]
    ahead = _across(np.broadcast_to(pole, line.shape), line)
    aside = vec.cross(line, ahead)
    soft = _STRAIGHT * length
    p, s = vec.dot(off, ahead), vec.dot(off, aside)
    # p as it is from `soft` on, levelling out at soft / 2: a knee that points backwards, or nowhere, points ahead.
    p = np.where(p > soft, p, 0.5 * soft + np.maximum(p, 0.0) ** 2 / (2.0 * soft))
    return _unit_and_length(p * ahead + s * aside, ahead)[0]


def _across(v: Array, line: Array) -> Array:
    """The part of v at right angles to the unit vector `line`, as a unit vector."""
    off = v - vec.dot(v, line) * line
    turned = np.roll(line, 1, axis=-1) * np.array([1.0, 1.0, -1.0])  # not parallel to line, whatever it is
    spare = turned - vec.dot(turned, line) * line
    return _unit_and_length(off, spare / np.maximum(vec.length(spare), 1e-12))[0]


def _unit_and_length(v: Array, instead: Array) -> tuple[Array, Array]:
    """v as direction and length; where it has no direction, that of `instead`."""
    length = vec.length(v)
    none = length < 1e-9
    other = instead / np.maximum(vec.length(instead), 1e-12)
    return np.where(none, other, v / np.where(none, 1.0, length)), length


def pin_limb(
    skeleton: Skeleton,
    pose: Pose,
    upper: int,
    lower: int,
    end: int,
    targets: Float[Array, "*#t 3"],
    weight: Float[Array, "*#t"] | float = 1.0,
    keep_end: bool = True,
    pole: Float[Array, "3"] | None = FORWARD,
) -> Pose:
    """The pose with joint `end` at `targets` (in the world) by turning `upper` and `lower` only.

    `weight` in 0..1 goes from where the joint is to the target; at 0 nothing changes. `keep_end` keeps the world
    orientation of the foot or hand. `pole` is in the frame of `upper`: FORWARD for legs, BACKWARD for arms.
    """
    if upper not in skeleton.chain(lower)[:-1] or lower not in skeleton.chain(end)[:-1]:
        raise MotionError(
            f"'{skeleton.names[upper]}', '{skeleton.names[lower]}' and '{skeleton.names[end]}' are no limb; "
            "each must hang from the one before."
        )
    world = forward(skeleton, pose)
    at = world.positions
    share = np.asarray(weight, dtype=float)[..., None]
    goal = at[..., end, :] + share * (targets - at[..., end, :])
    towards = None if pole is None else quat.apply(world.wxyz[..., upper, :], pole)
    found = two_bone(at[..., upper, :], at[..., lower, :], at[..., end, :], goal, towards)
    still = np.broadcast_to(share == 0.0, (*pose.root.shape[:-1], 1))
    upper_turn = np.where(still, quat.IDENTITY, found.upper_turn)
    lower_turn = np.where(still, quat.IDENTITY, found.lower_turn)

    wxyz = pose.wxyz.copy()
    changes = [(upper, None, upper_turn), (lower, upper_turn, lower_turn)]
    changes.append((end, lower_turn, None if keep_end else lower_turn))
    for joint, above, turn in changes:
        wxyz[..., joint, :] = _local_after(skeleton, world.wxyz, joint, above, turn)
    return Pose(pose.root, wxyz, pose.offsets)


def _local_after(skeleton: Skeleton, world: Array, joint: int, above: Array | None, turn: Array | None) -> Array:
    """A joint's local rotation after it was turned in the world by `turn`, and all that it hangs from by `above`."""
    parent = skeleton.parents[joint]
    held = quat.identity() if parent < 0 else world[..., parent, :]
    held = held if above is None else quat.mul(above, held)
    own = world[..., joint, :] if turn is None else quat.mul(turn, world[..., joint, :])
    return quat.inv_mul(held, own)
