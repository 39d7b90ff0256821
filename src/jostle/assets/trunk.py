"""The upper body of a gait: a chest that turns against the pelvis, arms that swing against the legs, a steady head.

At natural speed the shoulder girdle turns about 7 degrees in all, against the pelvis (Murray 1967); the head is held to
within a degree or two, nodding against the bounce so that the eyes stay on a point ahead (Pozzo, Berthoz & Lefort
1990). In a turn the chest and then the head lead: people look into a curve a third of a second before they walk it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from jostle.assets.curves import Curves
from jostle.assets.pelvis import Pelvis, wave
from jostle.maths import quat
from jostle.types import Array, Float

X, Y, Z = np.eye(3)
_SPINE = (0.25, 0.6, 1.0)  # how much of the way from pelvis to chest each of three joints has gone
_FLIP = np.array([1.0, -1.0, 1.0, -1.0])  # the mirror image of a rotation


@dataclass(frozen=True)
class Trunk:
    """Degrees, and where two numbers stand, how much and when (cycles after the left heel strike)."""

    turn: tuple[float, float]  # of the chest, left shoulder back
    sway: tuple[float, float]  # of the chest over the standing foot, left side up
    nod: tuple[float, float]  # of the chest, twice a cycle
    lean: float
    head_nod: tuple[float, float]
    arm_out: float
    arm_in: float  # turning of the upper arm towards the chest
    hunch: float  # swing of the shoulder girdle, as a share of the arm's
    leads: tuple[float, float] = (0.1, 0.35)  # seconds by which chest and head lead a turn


def pose_upper_body(
    trunk: Trunk, curves: Curves, arm_swing: float, pelvis: Pelvis, t: Float[Array, "n"]
) -> Mapping[str, Float[Array, "n 4"]]:
    """Local rotations by joint name."""
    phase = t / pelvis.cycle
    below = pelvis.at(t)[1]
    chest = _facing(
        pelvis,
        t,
        trunk.leads[0],
        wave(trunk.turn, phase),
        wave(trunk.sway, phase),
        trunk.lean + wave(trunk.nod, phase, 2),
        0.9,
    )
    head = _facing(
        pelvis,
        t,
        trunk.leads[1],
        0.1 * wave(trunk.turn, phase),
        0.3 * wave(trunk.sway, phase),
        wave(trunk.head_nod, phase, 2),
        0.4,
    )
    bend = quat.log(quat.inv_mul(below, chest))
    steps = np.diff(_SPINE, prepend=0.0)
    pose = {name: quat.exp(share * bend) for name, share in zip(("Spine", "Spine1", "Chest"), steps, strict=True)}
    nod = quat.log(quat.inv_mul(chest, head))
    pose["Neck"], pose["Head"] = quat.exp(0.5 * nod), quat.exp(0.5 * nod)
    for side, late in (("Left", 0.0), ("Right", 0.5)):
        for name, q in _arm(trunk, curves, arm_swing, np.mod(phase - late, 1.0)).items():
            pose[side + name] = q if side == "Left" else q * _FLIP
    return pose


def _facing(pelvis: Pelvis, t: Array, lead: float, turn: Array, side: Array, lean: Array, banked: float) -> Array:
    """An orientation in the world that leads the path by `lead` seconds and takes a share of its bank."""
    bank = quat.from_axis_angle(X, banked * pelvis.bank(t))
    frame = quat.mul(quat.from_yaw(pelvis.path.heading(t + lead)), bank)
    angles = np.stack(np.broadcast_arrays(turn, side, lean), axis=-1)
    return quat.mul(frame, quat.from_euler(np.radians(angles), "ZXY"))


def _arm(trunk: Trunk, curves: Curves, arm_swing: float, phase: Array) -> dict[str, Array]:
    """The left arm: from the T pose down to the side, then swung; the girdle goes along a little."""
    middle = np.mean(curves.shoulder(np.linspace(0.0, 1.0, 100, endpoint=False)))
    swing = middle + arm_swing * (curves.shoulder(phase) - middle)
    bent = np.mean(curves.elbow(np.linspace(0.0, 1.0, 100, endpoint=False)))
    elbow = bent + arm_swing * (curves.elbow(phase) - bent)
    forward = swing - middle
    girdle = quat.mul(
        quat.from_axis_angle(Z, -trunk.hunch * forward), quat.from_axis_angle(X, np.full(len(phase), -np.radians(3.0)))
    )
    down = quat.from_axis_angle(X, np.full(len(phase), -np.radians(87.0 - trunk.arm_out)))
    inward = quat.from_axis_angle(Y, np.radians(trunk.arm_in) + 0.35 * forward)
    upper = quat.mul(quat.from_axis_angle(Y, -swing), quat.mul(down, inward))
    hand = quat.from_axis_angle(Z, -np.radians(8.0) - 0.15 * forward)
    return {"Shoulder": girdle, "Arm": upper, "ForeArm": quat.from_axis_angle(Z, -elbow), "Hand": hand}
