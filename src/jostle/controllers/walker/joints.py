"""The thirty angles of a walker (Wang 2010, figure 2.1), their names, and how a mirror changes them.

At zero everywhere the person stands upright, arms hanging. X looks forward, Y left, Z up, so about Y: the trunk leans
forward, a leg swings back, a knee flexes and a foot points its toes down as the angle grows; hips and elbows flex with
negative angles. Every angle follows the right-hand rule, so a mirror image turns the other way about X and Z.
"""

from __future__ import annotations

import numpy as np

# joint of the skeleton, name in the thesis, axes, limits in radians about each
_TRUNK = (
    ("Spine", "back", "xyz", ((-0.5, 0.5), (-0.6, 1.0), (-0.8, 0.8))),
    ("Neck", "neck", "xyz", ((-0.7, 0.7), (-0.8, 0.8), (-1.2, 1.2))),
)
_ARM = (
    ("Arm", "arm", "xyz", ((-2.5, 2.5), (-2.5, 1.5), (-1.5, 1.5))),
    ("ForeArm", "elbow", "yz", ((-2.6, 0.02), (-1.5, 1.5))),
)
_LEG = (
    ("UpLeg", "hip", "xyz", ((-0.9, 0.9), (-2.2, 1.0), (-0.9, 0.9))),
    ("Leg", "knee", "y", ((-0.02, 2.6),)),
    ("Foot", "ankle", "xy", ((-0.5, 0.5), (-0.7, 1.1))),
    ("Toe", "toe", "y", ((-1.0, 0.3),)),
)
# joint -> (prefix of its angles, axes, limits); in the order in which the angles stand in qpos
JOINTS = {joint: (name, axes, limits) for joint, name, axes, limits in _TRUNK}
JOINTS |= {side + j: (side[0].lower() + n, axes, lim) for side in ("Left", "Right") for j, n, axes, lim in _ARM}
JOINTS |= {side + j: (side[0].lower() + n, axes, lim) for side in ("Left", "Right") for j, n, axes, lim in _LEG}
WELDS = ("Head", "LeftHand", "RightHand")

ANGLES = tuple(f"{name}_{axis}" for name, axes, _ in JOINTS.values() for axis in axes)
INDEX = {name: i for i, name in enumerate(ANGLES)}


def mirrored(name: str) -> str:
    """`lknee_y` for `rknee_y`; the trunk's own name for the trunk."""
    if name.startswith(("back", "neck")):
        return name
    return ("r" if name[0] == "l" else "l") + name[1:]


def columns(*names: str) -> np.ndarray:
    """Where these angles stand among the thirty; `columns("lhip")` are its three."""
    return np.array([i for name in names for i, angle in enumerate(ANGLES) if angle.rsplit("_", 1)[0] == name])


MIRROR = np.array([INDEX[mirrored(name)] for name in ANGLES])  # angle i of the mirror image is SIGN[i] * q[MIRROR[i]]
SIGN = np.array([1.0 if name.endswith("_y") else -1.0 for name in ANGLES])
HIPS, KNEES, ANKLES = columns("lhip", "rhip"), columns("lknee", "rknee"), columns("lankle", "rankle")
