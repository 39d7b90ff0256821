"""The figure that walks: a person of 1.75 m, by published fractions of body height.

Heights of the joints above the floor and lengths of the limbs are those of Drillis & Contini (1966), as drawn in
Winter, *Biomechanics and Motor Control of Human Movement* (2009), figure 4.1; masses and centres are those of
Dempster in table 4.1 there. The rest pose is a T pose: arms out to the sides, palms down, so that an elbow
bends about Z, a knee about Y, and a hanging arm has its palm to the thigh.
"""

from __future__ import annotations

import numpy as np

from jostle.skeleton import Globals, Skeleton, build_skeleton
from jostle.types import Array, Float

HEIGHT = 1.75
THIGH, SHIN = 0.245 * HEIGHT, 0.246 * HEIGHT
HIP_APART, HIP_DOWN = 0.050 * HEIGHT, 0.019 * HEIGHT  # the centre of the left hip joint from the root
ANKLE_UP, BALL_UP, TIP_UP = 0.045 * HEIGHT, 0.018 * HEIGHT, 0.008 * HEIGHT  # above the sole of a shod foot
HEEL_BACK, BALL_AHEAD, TOES = 0.030 * HEIGHT, 0.082 * HEIGHT, 0.040 * HEIGHT  # 0.152 H in all: the foot's length

# name, parent, (forward, left, up) from the parent as a fraction of height
_TRUNK = (
    ("Hips", None, (0.0, 0.0, 0.555)),
    ("Spine", "Hips", (0.0, 0.0, 0.050)),
    ("Spine1", "Spine", (-0.004, 0.0, 0.060)),
    ("Chest", "Spine1", (0.0, 0.0, 0.065)),
    ("Neck", "Chest", (0.002, 0.0, 0.105)),
    ("Head", "Neck", (0.008, 0.0, 0.050)),
)
_LEFT_ARM = (
    ("Shoulder", "Chest", (0.006, 0.020, 0.078)),
    ("Arm", "LeftShoulder", (-0.004, 0.088, 0.0)),
    ("ForeArm", "LeftArm", (0.0, 0.186, 0.0)),
    ("Hand", "LeftForeArm", (0.0, 0.146, 0.0)),
)
_LEFT_LEG = (
    ("UpLeg", "Hips", (0.0, 0.050, -0.019)),
    ("Leg", "LeftUpLeg", (0.0, 0.0, -0.245)),
    ("Foot", "LeftLeg", (0.0, 0.0, -0.246)),
    ("Toe", "LeftFoot", (0.082, 0.0, -0.027)),
)
_ENDS = {"Head": (0.0, 0.0, 0.115), "LeftHand": (0.0, 0.108, 0.0), "LeftToe": (0.040, 0.0, -0.010)}

# near joint, far joint (or an end), share of body mass, centre from the near end: Winter 2009, table 4.1
_SEGMENTS = (
    ("Hips", "Spine1", 0.142 + 0.139, 0.45),
    ("Spine1", "Neck", 0.216, 0.55),
    ("Neck", "Head.end", 0.081, 0.55),
    *(
        (side + near, side + far, mass, centre)
        for side in ("Left", "Right")
        for near, far, mass, centre in (
            ("Arm", "ForeArm", 0.028, 0.436),
            ("ForeArm", "Hand", 0.016, 0.430),
            ("Hand", "Hand.end", 0.006, 0.506),
            ("UpLeg", "Leg", 0.100, 0.433),
            ("Leg", "Foot", 0.0465, 0.433),
            ("Foot", "Toe.end", 0.0145, 0.50),
        )
    ),
)


def build_figure() -> Skeleton:
    """The skeleton of the shipped clips: 22 joints, with tips for head, fingers and toes."""
    rows = list(_TRUNK)
    for limb in (_LEFT_ARM, _LEFT_LEG):  # left and right in turn: the order in which BVH lists a tree
        for side, sign in (("Left", 1.0), ("Right", -1.0)):
            rows += [(side + n, p.replace("Left", side), (x, sign * y, z)) for n, p, (x, y, z) in limb]
    names = [name for name, _, _ in rows]
    parents = [-1 if parent is None else names.index(parent) for _, parent, _ in rows]
    offsets = HEIGHT * np.array([offset for _, _, offset in rows])
    ends = []
    for name, (x, y, z) in _ENDS.items():
        for side, sign in (("Left", 1.0), ("Right", -1.0)) if "Left" in name else (("", 1.0),):
            ends.append((names.index(name.replace("Left", side)), HEIGHT * np.array([x, sign * y, z])))
    order = np.argsort([joint for joint, _ in ends])
    return build_skeleton(names, parents, offsets, [ends[i] for i in order])


def centre_of_mass(skeleton: Skeleton, world: Globals) -> Float[Array, "*t 3"]:
    """The body's centre of mass, from the segments of the table above."""
    total = np.zeros((*world.positions.shape[:-2], 3))
    for near, far, mass, centre in _SEGMENTS:
        a = world.positions[..., skeleton.index(near), :]
        total += mass * ((1.0 - centre) * a + centre * _point(skeleton, world, far))
    return total / sum(mass for _, _, mass, _ in _SEGMENTS)


def _point(skeleton: Skeleton, world: Globals, name: str) -> Float[Array, "*t 3"]:
    if not name.endswith(".end"):
        return world.positions[..., skeleton.index(name), :]
    joint = skeleton.index(name.removesuffix(".end"))
    return world.ends[..., int(np.flatnonzero(skeleton.end_parents == joint)[0]), :]
