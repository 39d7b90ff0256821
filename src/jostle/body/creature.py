"""Bodies for skeletons that are no person: mass by the volume of flesh around the bones.

How thick is a bone's flesh? What it carries decides: as branches of a tree do, a limb's cross-section goes with the
length of everything beyond it (Leonardo's rule), r^2 = c h d, with h the animal's height and d the length of bone from
there on outwards. The constant is ours; with it the shins of a dog of 0.6 m are 2 cm thick and its trunk 10 cm.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.body.anthropometry import DENSITY
from jostle.body.lumps import Lump
from jostle.body.shapes import Capsule
from jostle.skeleton import Skeleton
from jostle.types import Array, Float

_THICKNESS = 0.005  # c above
_WIDEST = 0.2  # radius, as a share of the height
_THINNEST = 0.005
_FAR = 0.45  # a bone longer than this share of the skeleton's extent leads to a control, not to flesh


@dataclass(frozen=True, eq=False)
class Bone:
    joint: int
    start: Float[Array, "3"]  # world frame of the rest pose
    end: Float[Array, "3"]
    radius: float

    @property
    def volume(self) -> float:
        """Of the cylinder, and of half a ball for a joint that ends there."""
        return float(np.pi * self.radius**2 * (np.linalg.norm(self.end - self.start) + 2.0 / 3.0 * self.radius))


def find_bones(skeleton: Skeleton) -> list[Bone]:
    """A bone from every joint to each of its children and tips, as thick as what it carries asks for."""
    at, size = skeleton.rest_positions, _size(skeleton)
    beyond = _lengths_beyond(skeleton)
    bones = []
    for joint in range(1 if _is_on_floor(skeleton) else 0, skeleton.joint_count):
        targets = [(at[c], beyond[c]) for c in skeleton.children[joint]]
        targets += [(at[joint] + tip, 0.0) for tip in skeleton.ends_of(joint)]
        for end, further in targets:
            length = float(np.linalg.norm(end - at[joint]))
            if 1e-3 * size < length < _FAR * _extent(skeleton):
                radius = np.sqrt(_THICKNESS * size * (length + further))
                bones.append(Bone(joint, at[joint], end, float(np.clip(radius, _THINNEST * size, _WIDEST * size))))
    return bones


def _size(skeleton: Skeleton) -> float:
    return max(skeleton.height, 0.3 * _extent(skeleton), 1e-3)


def _is_on_floor(skeleton: Skeleton) -> bool:
    """Is the root a handle between the feet, as rigs for games have it? Then no flesh hangs from it."""
    lowest = min(skeleton.rest_positions[:, 2].min(), skeleton.rest_ends[:, 2].min(initial=np.inf))
    return skeleton.joint_count > 1 and bool(skeleton.rest_positions[0, 2] < lowest + 0.1 * skeleton.height)


def _extent(skeleton: Skeleton) -> float:
    """The longest side of the rest pose's bounding box."""
    points = np.concatenate([skeleton.rest_positions, skeleton.rest_ends])
    return float(np.max(np.ptp(points, axis=0)))


def _lengths_beyond(skeleton: Skeleton) -> Float[Array, "J"]:
    """The length of all bones outwards from each joint; those that lead to controls do not count."""
    far = _FAR * _extent(skeleton)
    total = np.zeros(skeleton.joint_count)
    for joint in range(skeleton.joint_count - 1, -1, -1):
        total[joint] += sum(float(np.linalg.norm(tip)) for tip in skeleton.ends_of(joint))
        length = float(np.linalg.norm(skeleton.offsets[joint]))
        if joint > 0 and length < far:
            total[skeleton.parents[joint]] += total[joint] + length
    return total


def creature_lumps(skeleton: Skeleton, bones: list[Bone]) -> list[Lump]:
    """Kilograms at the density of water; a joint without a bone gets a pebble."""
    lumps = []
    for bone in bones:
        across = bone.radius**2 / 4.0
        line = bone.end - bone.start
        spread = np.outer(line, line) / 12.0 + across * np.eye(3)
        lumps.append(Lump(bone.joint, DENSITY * bone.volume, 0.5 * (bone.start + bone.end), spread))
    size = _size(skeleton)
    pebble = DENSITY * (0.02 * size) ** 3
    boned = {bone.joint for bone in bones}
    for joint in set(range(skeleton.joint_count)) - boned:
        lumps.append(Lump(joint, pebble, skeleton.rest_positions[joint], (0.02 * size) ** 2 * np.eye(3)))
    return lumps


def creature_shapes(skeleton: Skeleton, bones: list[Bone]) -> list[Capsule]:
    at = skeleton.rest_positions
    return [Capsule(b.joint, b.start - at[b.joint], b.end - at[b.joint], b.radius) for b in bones]
