"""A person in the rough: one rounded cone for every bone worth drawing, with radii a body could have.

The radii come from the stature and the role of the bone (mean breadths of adults, slimmed a little as a wooden
mannequin is). Bones that only steer a rig (IK targets, poles, slots) are not drawn.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from jostle.skeleton.roles import find_roles, split_side
from jostle.skeleton.skeleton import Skeleton
from jostle.types import Array, Float

_CONTROL = re.compile(r"ik(?![a-z])|^ik|pole|control|target|slot|dummy|helper|nub|ctrl|roll|twist", re.IGNORECASE)
SOLE = 0.0155  # how far the ball of the foot's joint is above the ground, as a share of stature

# Radii at the near and the far end of each bone, as shares of stature.
_RADII = {
    "thigh": (0.0435, 0.0285),
    "shin": (0.0290, 0.0190),
    "foot": (0.0230, 0.0165),
    "toe": (0.0160, 0.0120),
    "clavicle": (0.0270, 0.0290),
    "upper_arm": (0.0265, 0.0205),
    "forearm": (0.0210, 0.0145),
    "hand": (0.0160, 0.0130),
}
_ENDS = {
    "thigh": "shin",
    "shin": "foot",
    "foot": "toe",
    "clavicle": "upper_arm",
    "upper_arm": "forearm",
    "forearm": "hand",
}


@dataclass(frozen=True, eq=False)
class Cone:
    """A ball rolled from `a` to `b` while its radius changes: in the joint's frame, metres."""

    joint: int
    name: str
    a: Float[Array, "3"]
    b: Float[Array, "3"]
    radius_a: float
    radius_b: float


def part_name(skeleton: Skeleton, joint: int) -> str:
    """The joint's role where it has one, else its own name."""
    return next((role for role, j in find_roles(skeleton).items() if j == joint), skeleton.names[joint])


def stature(skeleton: Skeleton) -> float:
    """How tall the person is who has these bones: legs and trunk make 82 % of it, whatever the rest pose."""
    roles, at = find_roles(skeleton), skeleton.rest_positions
    hips = 0.5 * (at[roles["left_thigh"]] + at[roles["right_thigh"]])
    shoulders = 0.5 * (at[roles["left_upper_arm"]] + at[roles["right_upper_arm"]])
    legs = [_length(at, [roles[f"{s}_{limb}"] for limb in ("thigh", "shin", "foot")]) for s in ("left", "right")]
    return float((np.mean(legs) + np.linalg.norm(shoulders - hips)) / (0.818 - 0.039))


def plumpness(skeleton: Skeleton) -> float:
    """1 for people, whose legs are 1.5 to 2 times as long as their trunks; up to 1.6 for toys."""
    roles, at = find_roles(skeleton), skeleton.rest_positions
    hips = 0.5 * (at[roles["left_thigh"]] + at[roles["right_thigh"]])
    shoulders = 0.5 * (at[roles["left_upper_arm"]] + at[roles["right_upper_arm"]])
    trunk = float(np.linalg.norm(shoulders - hips))
    legs = 0.779 * stature(skeleton) - trunk
    return float(np.clip(1.35 * trunk / max(legs, 1e-9), 1.0, 1.6))


def _length(at: Array, joints: list[int]) -> float:
    return float(np.sum(np.linalg.norm(np.diff(at[joints], axis=0), axis=1)))


def person_cones(skeleton: Skeleton) -> list[Cone]:
    """Limbs from joint to joint by role; the trunk as pelvis, chest and head."""
    roles, tall = find_roles(skeleton), stature(skeleton)
    cones = []
    for role, joint in roles.items():
        side, _, limb = role.partition("_")
        if side in ("left", "right"):
            reach = limb_reach(skeleton, side, limb, tall)
            near, far = (share * tall * plumpness(skeleton) ** 0.6 for share in _RADII[limb])
            limit = 0.62 * max(float(np.linalg.norm(reach)), 0.02 * tall)  # short limbs stay slim
            cones.append(Cone(joint, role, np.zeros(3), reach, min(near, limit), min(far, limit)))
    at = skeleton.rest_positions
    for role, thick in (("pelvis", 0.075), ("chest", 0.082), ("head", 0.052)):
        joint = roles[role]
        a, b = _trunk_line(skeleton, role, tall)
        cones.append(Cone(joint, role, a - at[joint], b - at[joint], thick * tall, thick * tall))
    return cones


def limb_reach(skeleton: Skeleton, side: str, limb: str, tall: float) -> Float[Array, "3"]:
    """From a limb's joint to where its bone ends, at rest: the next role, else a tip, else as long as people's are."""
    roles, at = find_roles(skeleton), skeleton.rest_positions
    joint = roles[f"{side}_{limb}"]
    following = roles.get(f"{side}_{_ENDS.get(limb, '')}")
    if following is not None:
        return at[following] - at[joint]
    if limb == "hand":
        return _hand_reach(skeleton, side, tall)
    if limb == "foot":
        return np.array([0.075, 0.0, SOLE - 0.039]) * tall
    if limb == "toe":
        tips = skeleton.ends_of(joint)
        ahead = at[joint] - at[roles[f"{side}_foot"]]
        length = max([float(np.linalg.norm(tip)) for tip in tips], default=0.0)
        ahead[2] = 0.0
        return ahead / max(float(np.linalg.norm(ahead)), 1e-9) * np.clip(length, 0.03 * tall, 0.055 * tall)
    return _onward(skeleton, side, limb, tall)


def _onward(skeleton: Skeleton, side: str, limb: str, tall: float) -> Float[Array, "3"]:
    """A forearm without a hand: to its tip, else along the upper arm; a clavicle without an arm: to the side."""
    roles, at = find_roles(skeleton), skeleton.rest_positions
    tips = skeleton.ends_of(roles[f"{side}_{limb}"])
    if len(tips) and float(np.linalg.norm(tips[0])) > 0.03 * tall:
        return tips[0]
    along = at[roles[f"{side}_forearm"]] - at[roles[f"{side}_upper_arm"]]
    return along / max(float(np.linalg.norm(along)), 1e-9) * 0.145 * tall


def _hand_reach(skeleton: Skeleton, side: str, tall: float) -> Float[Array, "3"]:
    """Along the forearm, as far as the fingertips that the skeleton knows of, within what hands measure."""
    roles, at = find_roles(skeleton), skeleton.rest_positions
    hand = roles[f"{side}_hand"]
    along = at[hand] - at[roles[f"{side}_forearm"]]
    fingers = [at[j] for j in skeleton.subtree(hand) if not is_control(skeleton, j)]
    fingers += [at[j] + tip for j in skeleton.subtree(hand) for tip in skeleton.ends_of(j)]
    far = max(fingers, key=lambda p: float(np.linalg.norm(p - at[hand])))
    length = float(np.linalg.norm(far - at[hand]))
    if length > 0.03 * tall:
        along = far - at[hand]
    return along / max(float(np.linalg.norm(along)), 1e-9) * np.clip(length, 0.085 * tall, 0.105 * tall)


def _trunk_line(skeleton: Skeleton, role: str, tall: float) -> tuple[Array, Array]:
    roles, at = find_roles(skeleton), skeleton.rest_positions
    hips = 0.5 * (at[roles["left_thigh"]] + at[roles["right_thigh"]])
    shoulders = 0.5 * (at[roles["left_upper_arm"]] + at[roles["right_upper_arm"]])
    if role == "head":
        return at[roles["head"]] + [0, 0, 0.04 * tall], at[roles["head"]] + [0, 0, 0.07 * tall]
    low, high = (-0.05, 0.2) if role == "pelvis" else (0.5, 0.85)
    return hips + low * (shoulders - hips), hips + high * (shoulders - hips)


def is_control(skeleton: Skeleton, joint: int) -> bool:
    """Does this joint only steer the rig? IK targets, poles and slots move, but nothing of the body hangs from them.

    A handle that hangs from a limb and carries its foot is an ankle, whatever it is called.
    """
    names, parent = skeleton.names, int(skeleton.parents[joint])
    if not _CONTROL.search(names[joint]):
        return False
    carries = [c for c in skeleton.children[joint] if not _CONTROL.search(names[c])]
    limb = parent > 0 and split_side(names[parent])[0] is not None and not _CONTROL.search(names[parent])
    return not (carries and limb)
