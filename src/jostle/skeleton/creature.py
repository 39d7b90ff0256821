"""An animal in the rough. No table of breadths exists for all of them, so thickness follows from the skeleton.

The midline is what has no side: tail, back, neck, head. Limbs are what hangs from it to the left or the right. Between
the limbs that reach down lies the trunk; its length sets its girth, the neck tapers from it to the head and the tail
to nothing. A limb is as thick as it is long beyond the point in question. Feet that a rig hangs from control bones
instead of the leg are found by where they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from jostle.skeleton.cones import Cone, is_control, part_name
from jostle.skeleton.roles import split_side
from jostle.skeleton.skeleton import Skeleton
from jostle.types import Array, Float

_GIRTH = 0.215  # of the trunk's radius to its length


def creature_cones(skeleton: Skeleton) -> list[Cone]:
    """One cone for every bone of an animal that is drawn."""
    animal = _Animal(skeleton)
    cones = [*_midline_cones(animal), *_limb_cones(animal)]
    return [cone for cone in cones if np.linalg.norm(cone.b - cone.a) > 1e-6 * animal.size]


@dataclass(frozen=True, eq=False)
class _Animal:
    """What is asked of the skeleton again and again."""

    skeleton: Skeleton

    @property
    def at(self) -> Float[Array, "J 3"]:
        return self.skeleton.rest_positions

    @cached_property
    def size(self) -> float:
        body = [j for j in range(self.skeleton.joint_count) if not is_control(self.skeleton, j)]
        return float(np.linalg.norm(np.ptp(self.at[body], axis=0))) or 1.0

    @cached_property
    def middle(self) -> list[int]:
        """Joints without a side, less the root and whatever else carries control bones instead of flesh."""
        names, children = self.skeleton.names, self.skeleton.children

        def is_body(j: int) -> bool:
            carrier = any(is_control(self.skeleton, c) for c in children[j])
            sided = split_side(names[j])[0] or abs(self.at[j][1] - self.at[0][1]) > 0.04 * self.size
            alone = (
                j == 0 and len(children[0]) != 1 and self.at[0][2] < 0.1 * np.ptp(self.at[:, 2]) + self.at[:, 2].min()
            )
            return not (sided or carrier or alone or is_control(self.skeleton, j))

        return [j for j in range(self.skeleton.joint_count) if is_body(j)]

    @cached_property
    def limbs(self) -> list[int]:
        """The first joint of every limb: it has a side and its parent has none."""
        middle = set(self.middle)
        return [
            j
            for j in range(1, self.skeleton.joint_count)
            if j not in middle and not is_control(self.skeleton, j) and int(self.skeleton.parents[j]) in middle
        ]

    @cached_property
    def legs(self) -> list[int]:
        """The limbs that hang down: not ears, not horns."""
        low = {j: float(self.at[self.skeleton.subtree(j)][:, 2].min()) for j in self.limbs}
        return [j for j in self.limbs if self.skeleton.children[j] and low[j] < self.at[j][2] - 0.02 * self.size]

    @cached_property
    def trunk(self) -> list[int]:
        """Midline joints between those that carry legs, the ends included."""
        carriers = sorted({int(self.skeleton.parents[j]) for j in self.legs})
        chains = [self.skeleton.chain(j) for j in carriers]
        if not chains:
            return []
        shared = max(set(chains[0]).intersection(*chains[1:]))
        return sorted({j for chain in chains for j in chain if j >= shared and j in self.middle})

    @cached_property
    def girth(self) -> float:
        """Radius of the trunk: a share of its length, and wide enough to carry its legs where they are."""
        if not self.trunk:
            return 0.05 * self.size
        roots = self.at[[*self.legs, *(int(self.skeleton.parents[j]) for j in self.legs)]]
        length = float(np.ptp(roots[:, [0, 2]], axis=0).max())
        below = [j for leg in self.legs for j in self.skeleton.subtree(leg)]
        wide = float(np.abs(self.at[below][:, 1] - self.at[0][1]).max())
        return max(_GIRTH * length, 0.75 * wide)

    def onward(self, joint: int) -> float:
        """The length of the longest way from a joint outwards, over joints that are drawn."""
        children = [c for c in self.skeleton.children[joint] if not is_control(self.skeleton, c)]
        ways = [float(np.linalg.norm(self.at[c] - self.at[joint])) + self.onward(c) for c in children]
        ways += [float(np.linalg.norm(tip)) for tip in self.skeleton.ends_of(joint)]
        return max(ways, default=0.0)


# --- midline ---------------------------------------------------------------------------------------------------------


def _midline_cones(animal: _Animal) -> list[Cone]:
    cones = []
    middle, trunk = set(animal.middle), set(animal.trunk)
    for joint in animal.middle:
        ahead = [c for c in animal.skeleton.children[joint] if c in middle]
        start = animal.at[joint]
        if len(ahead) > 1:  # where neck and tail part: from the one to the other, wherever the joint itself is
            ahead.sort(key=lambda c: float(animal.at[c][0]))
            start, ahead = animal.at[ahead[0]], ahead[-1:]
        for child in ahead:
            near, far = _thickness(animal, joint, trunk), _thickness(animal, child, trunk)
            cones.append(_cone(animal, joint, start, animal.at[child], near, far))
        if not ahead:
            cones.append(_last(animal, joint, trunk))
    return cones


def _thickness(animal: _Animal, joint: int, trunk: set[int]) -> float:
    """Full in the trunk; towards the head half of it, along the tail in proportion to what is left."""
    if not trunk:
        return 0.10 * animal.size * max(animal.onward(joint) / animal.size, 0.1)
    if joint in trunk:
        return animal.girth
    way = animal.skeleton.chain(joint)
    base = max((j for j in way if j in trunk), default=joint)
    whole = animal.onward(way[way.index(base) + 1]) + 1e-9 if base != joint else 1.0
    left = float(np.clip(animal.onward(joint) / whole, 0.0, 1.0)) if base != joint else 1.0
    if _is_headward(animal, joint):
        return animal.girth * (0.46 + 0.34 * left)
    share = float(np.clip(0.45 * whole / (5.0 * animal.girth), 0.22, 0.8))
    return animal.girth * (0.05 + share * left)


def _is_headward(animal: _Animal, joint: int) -> bool:
    names = [animal.skeleton.names[j].lower() for j in (*animal.skeleton.chain(joint), *animal.skeleton.subtree(joint))]
    if any("tail" in name for name in names):
        return False
    return (
        any("head" in name or "neck" in name for name in names)
        or animal.at[joint][0] > animal.at[animal.trunk][:, 0].mean()
    )


def _last(animal: _Animal, joint: int, trunk: set[int]) -> Cone:
    """A head, a tail's tip, or the end of a back."""
    near = _thickness(animal, joint, trunk)
    tips = animal.skeleton.ends_of(joint)
    tip = max(tips, key=lambda t: float(np.linalg.norm(t)), default=np.zeros(3))
    parent = int(animal.skeleton.parents[joint])
    if np.linalg.norm(tip) < 1e-3 * animal.size:
        before = animal.at[joint] - animal.at[parent] if parent >= 0 else np.array([1.0, 0.0, 0.0])
        tip = 0.7 * before
        if trunk and _is_headward(animal, joint):  # a muzzle points ahead and a little down
            tip = np.array([0.95, 0.0, -0.22]) * 2.1 * animal.girth
    if trunk and _is_headward(animal, joint):
        near = 0.56 * animal.girth
        return _cone(animal, joint, animal.at[joint], animal.at[joint] + tip, near, 0.27 * animal.girth)
    return _cone(animal, joint, animal.at[joint], animal.at[joint] + tip, near, 0.4 * near)


def _cone(animal: _Animal, joint: int, a: Array, b: Array, near: float, far: float) -> Cone:
    here = animal.at[joint]
    return Cone(joint, part_name(animal.skeleton, joint), a - here, b - here, near, far)


# --- limbs -----------------------------------------------------------------------------------------------------------


def _limb_cones(animal: _Animal) -> list[Cone]:
    cones = []
    for limb in animal.limbs:
        whole = animal.onward(limb)
        for joint in animal.skeleton.subtree(limb):
            if not is_control(animal.skeleton, joint):
                cones += _limb_bones(animal, joint, whole)
    return [*cones, *_loose_feet(animal)]


def _limb_bones(animal: _Animal, joint: int, whole: float) -> list[Cone]:
    skeleton, at = animal.skeleton, animal.at
    ends = [(at[c], animal.onward(c)) for c in skeleton.children[joint] if not is_control(skeleton, c)]
    ends += [(at[joint] + tip, 0.0) for tip in skeleton.ends_of(joint)]
    if not ends:
        ends = [_beyond(animal, joint)]
    full = max(whole, 1e-9)

    def thick(left: float) -> float:
        return full * (0.028 + 0.085 * min(left / full, 1.0) ** 1.3)

    own = animal.onward(joint)
    return [_cone(animal, joint, at[joint], end, thick(own), thick(left)) for end, left in ends]


def _beyond(animal: _Animal, joint: int) -> tuple[Array, float]:
    """Where a leg's last bone ends: at a foot that hangs elsewhere in the rig, else a little further on."""
    skeleton, at = animal.skeleton, animal.at
    before = at[joint] - at[skeleton.parents[joint]]
    side = split_side(skeleton.names[joint])[0]
    loose = [
        j
        for j in range(1, skeleton.joint_count)
        if split_side(skeleton.names[j])[0] == side and skeleton.parents[j] == 0 and at[j][2] < at[joint][2]
    ]
    foot = min(loose, key=lambda j: float(np.linalg.norm(at[j] - at[joint])), default=None)
    if side and foot is not None and np.linalg.norm(at[foot] - at[joint]) < 2.5 * np.linalg.norm(before):
        return at[foot], 0.0
    return at[joint] + 0.45 * before, 0.0


def _loose_feet(animal: _Animal) -> list[Cone]:
    """Feet that hang from the root or from a control bone: from the ankle to the toes, flat on the ground."""
    skeleton, at = animal.skeleton, animal.at
    limbs = {j for limb in animal.limbs for j in skeleton.subtree(limb)}
    cones = []
    for joint in range(1, skeleton.joint_count):
        parent = int(skeleton.parents[joint])
        outside = joint not in limbs and joint not in animal.middle and not is_control(skeleton, joint)
        if not outside or not split_side(skeleton.names[joint])[0]:
            continue
        ankle = at[parent] if parent != 0 and is_control(skeleton, parent) else at[joint]
        length = max(2.0 * float(np.linalg.norm(at[joint] - ankle)), 0.55 * animal.girth)
        toes = ankle + np.array([length, 0.0, 0.0])
        toes[2] = ankle[2] * 0.6 + at[:, 2].min() * 0.4
        cones.append(_cone(animal, joint, ankle, toes, 0.26 * animal.girth, 0.17 * animal.girth))
    return cones
