"""A body: a skeleton whose joints carry mass, and shapes to touch the world with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from jostle.body import creature, feet, person
from jostle.body.anthropometry import DENSITY, Sex
from jostle.body.lumps import Lump, combine, inertia_of
from jostle.body.parts import known_parts, resolve
from jostle.body.shapes import Box, Capsule, Shape, Sole, radius_for
from jostle.clips.feet import body_size
from jostle.errors import BodyError
from jostle.maths import quat
from jostle.skeleton import Pose, Skeleton, find_roles, forward, is_humanoid
from jostle.types import Array, Float

PERSON_MASS = 70.0  # kg
GRAVITY = 9.81  # m/s2
_SLIVER = 0.002  # of the height: a slice of the trunk thinner than this has mass but no shape


@dataclass(frozen=True, eq=False)
class Body:
    """What each joint carries, in its own frame. Mass moves with the joint at its near end: a thigh's with the hip."""

    skeleton: Skeleton
    mass: Float[Array, "J"]  # kg, all positive
    com: Float[Array, "J 3"]  # metres, in the joint's frame
    inertia: Float[Array, "J 3 3"]  # kg m2 about the centre of mass, along the joint's axes
    shapes: tuple[Shape, ...]
    soles: tuple[Sole, ...]  # what it stands on; empty for an animal without feet that are known
    height: float

    @property
    def total_mass(self) -> float:
        return float(np.sum(self.mass))

    @property
    def weight(self) -> float:
        """Newtons."""
        return GRAVITY * self.total_mass

    @cached_property
    def parts(self) -> dict[str, int]:
        """Every name that a push may use, and the joint that it means."""
        return dict(known_parts(self.skeleton, int(np.argmax(self.mass))))

    def part(self, name: str) -> int:
        """The joint that a role, a joint's own name or a plain word ("torso", "left_arm") means."""
        return resolve(self.parts, name)

    def coms(self, pose: Pose) -> Float[Array, "*t J 3"]:
        """Where the centre of mass of every joint's part is in the world."""
        world = forward(self.skeleton, pose)
        return world.positions + quat.apply(world.wxyz, self.com)

    def total_com(self, pose: Pose) -> Float[Array, "*t 3"]:
        """Where the centre of mass of the whole body is in the world."""
        return np.einsum("j,...jk->...k", self.mass, self.coms(pose)) / self.total_mass


def build_body(
    skeleton: Skeleton, mass: float | None = None, height: float | None = None, sex: Sex | None = None
) -> Body:
    """Mass, inertia and shapes for a skeleton: a person's by published fractions, any other by the volume of its bones.

    `mass` is 70 kg for a person and an animal's volume at the density of water, unless given. `height` (the skeleton's
    own, unless given) sizes feet, hands and head where the skeleton does not show them; it does not scale the skeleton.
    """
    if mass is not None and not (np.isfinite(mass) and mass > 0):
        raise BodyError(f"A body's mass must be a positive number of kilograms, not {mass}.")
    if height is not None and not (np.isfinite(height) and height > 0):
        raise BodyError(f"A body's height must be a positive number of metres, not {height}.")
    tall = height if height is not None else body_size(skeleton)
    if not tall > 0.01:
        raise BodyError("The skeleton has no height; check the unit it was read with, or pass the height.")
    if is_humanoid(skeleton):
        return _build_person(skeleton, PERSON_MASS if mass is None else mass, tall, sex)
    return _build_creature(skeleton, mass, tall)


def _build_person(skeleton: Skeleton, mass: float, height: float, sex: Sex | None) -> Body:
    roles = find_roles(skeleton)
    pieces, both_feet = person.person_pieces(skeleton, roles, height, sex)
    lumps = person.lend(skeleton, roles, [piece.lump for piece in pieces], height)
    shapes: list[Shape] = [shape for piece in pieces for shape in _piece_shapes(skeleton, piece, mass)]
    for foot in both_feet:
        shapes += feet.boxes_of(skeleton, foot)
    soles = tuple(feet.sole_of(skeleton, foot) for foot in both_feet)
    return _assemble(skeleton, lumps, mass, tuple(shapes), soles, height)


def _build_creature(skeleton: Skeleton, mass: float | None, height: float) -> Body:
    bones = creature.find_bones(skeleton)
    lumps = creature.creature_lumps(skeleton, bones)
    total = sum(lump.mass for lump in lumps) if mass is None else mass
    return _assemble(skeleton, lumps, total, tuple(creature.creature_shapes(skeleton, bones)), (), height)


def _assemble(
    skeleton: Skeleton,
    lumps: Iterable[Lump],
    mass: float,
    shapes: tuple[Shape, ...],
    soles: tuple[Sole, ...],
    height: float,
) -> Body:
    """Add up each joint's lumps and scale to the mass asked for."""
    of_joint: dict[int, list[Lump]] = defaultdict(list)
    for lump in lumps:
        of_joint[lump.joint].append(lump)
    whole = [combine(of_joint[joint]) for joint in range(skeleton.joint_count)]
    shares = np.array([lump.mass for lump in whole])
    masses = shares * (mass / shares.sum())
    return Body(
        skeleton,
        masses,
        np.array([lump.centre for lump in whole]) - skeleton.rest_positions,
        np.array([inertia_of(m, lump.spread) for m, lump in zip(masses, whole, strict=True)]),
        shapes,
        soles,
        height,
    )


def _piece_shapes(skeleton: Skeleton, piece: person.Piece, mass: float) -> list[Shape]:
    """A box for a slice of the trunk, a capsule of its volume for any other; feet have boxes of their own."""
    lump, at = piece.lump, skeleton.rest_positions[piece.lump.joint]
    if piece.name.endswith("foot"):
        return []
    start, end = piece.start - at, piece.end - at
    length = float(np.linalg.norm(end - start))
    if piece.name.endswith("trunk"):
        if length < _SLIVER * skeleton.height:  # the joint lies at the very cut between two parts of the trunk
            return []
        breadth, depth = (np.sqrt(3.0 * lump.spread[axis, axis]) for axis in (1, 0))  # a box's variance is half^2 / 3
        half = np.array([0.9 * depth, 0.9 * breadth, 0.5 * length])
        return [Box(lump.joint, 0.5 * (start + end), half, quat.between(np.array([0.0, 0.0, 1.0]), end - start))]
    radius = radius_for(lump.mass * mass / DENSITY, length)
    if piece.name == "head":  # the caps lie within the head, not beyond it
        inset = min(radius, 0.45 * length) * (end - start) / length
        start, end = start + inset, end - inset
    return [Capsule(lump.joint, start, end, radius)]
