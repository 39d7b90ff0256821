"""A person who stands, breathes, sways, and shifts their weight now and then. The feet do not move at all."""

from __future__ import annotations

import numpy as np

from jostle.assets.curves import smooth
from jostle.assets.figure import ANKLE_UP, HIP_APART, HIP_DOWN, SHIN, THIGH, build_figure
from jostle.assets.legs import leg_between
from jostle.clips import Clip
from jostle.maths import quat
from jostle.types import Array, Float

X, Y, Z = np.eye(3)
_BREATH = 4.0  # seconds; 15 breaths a minute
_SWAY = (
    (2, 0.003, 0.4),
    (3, 0.0025, 2.1),
    (5, 0.0015, 4.0),
)  # turns a clip, metres, phase: a few mm, as on force plates
_FEET = 0.24  # metres between the ankles
_TOE_OUT = np.radians(10.0)
_FLIP = np.array([1.0, -1.0, 1.0, -1.0])  # the mirror image of a rotation


def make_stand(seconds: float = 8.0, fps: float = 60.0, name: str = "stand") -> Clip:
    """Standing for a whole number of breaths; the last frame is the first again."""
    seconds = _BREATH * max(1, round(seconds / _BREATH))
    t = np.arange(round(seconds * fps) + 1) / fps
    skeleton = build_figure()
    wxyz = quat.identity((len(t), skeleton.joint_count))
    breath = 0.5 - 0.5 * np.cos(2.0 * np.pi * t / _BREATH)  # 0 out, 1 in
    shift = _shift(t / seconds)  # -1 on the right leg, 1 on the left
    root = np.stack([_waves(t / seconds, 0.0), 0.035 * shift + _waves(t / seconds, 1.3), _height(shift)], axis=-1)
    wxyz[:, 0] = _about(np.degrees(0.02 * shift), 2.0 * shift, 1.0 + 0.0 * t)
    for joint, q in _trunk(breath, shift).items():
        wxyz[:, skeleton.index(joint)] = q
    for side, word in ((1, "Left"), (-1, "Right")):
        for joint, q in _arm(breath, side * shift).items():
            wxyz[:, skeleton.index(word + joint)] = q if side > 0 else q * _FLIP
        for joint, q in _leg(side, root, wxyz[:, 0]).items():
            wxyz[:, skeleton.index(word + joint)] = q
    return Clip(skeleton, fps, root, wxyz, name=name)


def _shift(u: Array) -> Array:
    """To the left leg, and later to the right, each over about a second, and back."""
    edges = ((0.12, 0.7), (0.42, -1.3), (0.78, 0.6))
    return np.sum([size * smooth((u - at) / 0.16) for at, size in edges], axis=0)


def _waves(u: Array, late: float) -> Array:
    return np.sum([size * np.sin(2.0 * np.pi * turns * u + phase + late) for turns, size, phase in _SWAY], axis=0)


def _height(shift: Array) -> Array:
    """Just low enough for the leg that bears less to have its knee unlocked."""
    return ANKLE_UP + HIP_DOWN + THIGH + SHIN - 0.004 - 0.006 * shift**2


def _about(turn: Array, side: Array, lean: Array) -> Array:
    angles = np.stack(np.broadcast_arrays(turn, side, lean), axis=-1)
    return quat.from_euler(np.radians(angles), "ZXY")


def _trunk(breath: Array, shift: Array) -> dict[str, Array]:
    """The spine straightens with each breath and bends back over the bearing leg; the head stays level."""
    none = np.zeros_like(breath)
    return {
        "Spine": _about(none, -0.8 * shift, 1.0 - 0.3 * breath),
        "Spine1": _about(-0.5 * shift, -0.8 * shift, 1.0 - 0.7 * breath),
        "Chest": _about(-0.5 * shift, -0.5 * shift, -0.5 - 1.2 * breath),
        "Neck": _about(2.0 * shift, none, 2.0 + 0.8 * breath),
        "Head": _about(3.0 * shift, 0.1 * shift, -4.0 + 0.9 * breath),
    }


def _arm(breath: Array, bears: Array) -> dict[str, Array]:
    """The left arm hangs; the girdle rises with the breath."""
    swing = np.radians(2.0 + 0.8 * breath + 0.6 * bears)
    down = quat.from_axis_angle(X, -np.radians(86.0 - 8.0 + 0.8 * breath - 1.0 * bears))
    inward = quat.from_axis_angle(Y, np.full_like(breath, np.radians(14.0)))
    return {
        "Shoulder": quat.from_axis_angle(X, np.radians(-4.0 + 1.6 * breath)),
        "Arm": quat.mul(quat.from_axis_angle(Y, -swing), quat.mul(down, inward)),
        "ForeArm": quat.from_axis_angle(Z, -np.radians(16.0 + 1.0 * breath)),
        "Hand": quat.from_axis_angle(Z, np.full_like(breath, -np.radians(8.0))),
    }


def _leg(side: int, root: Float[Array, "n 3"], pelvis: Float[Array, "n 4"]) -> dict[str, Array]:
    hip = root + quat.apply(pelvis, np.array([0.0, side * HIP_APART, -HIP_DOWN]))
    ankle = np.array([0.0, side * 0.5 * _FEET, ANKLE_UP])
    foot = quat.from_yaw(np.full(len(root), side * _TOE_OUT))
    facing = quat.from_yaw(np.full(len(root), side * 0.6 * _TOE_OUT))
    thigh, shin = leg_between(hip, ankle, facing)
    return {
        "UpLeg": quat.inv_mul(pelvis, thigh),
        "Leg": quat.inv_mul(thigh, shin),
        "Foot": quat.inv_mul(shin, foot),
    }
