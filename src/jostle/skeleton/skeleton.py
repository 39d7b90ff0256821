"""A skeleton: joints in a tree, and where each sits in its parent's frame.

The invariant everything leans on: **the identity pose is the rest pose**. With every rotation at identity the
figure stands upright, Z up, facing X, and every joint's frame is aligned with the world. Readers establish it at the
door (`aligned_to_rest`), so a bend of the knee is a turn about Y for every skeleton there is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from jostle.errors import MotionError, unknown_name
from jostle.maths import quat
from jostle.types import Array, Float, Int


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Joints before their children; joint 0 is the root, whose parent is -1.

    End sites are the tips of the outermost bones (fingertips, toes, the top of the head). They do not turn.
    """

    names: tuple[str, ...]
    parents: Int[Array, "J"]
    offsets: Float[Array, "J 3"]  # metres, in the parent's frame; the root's is its rest position
    end_parents: Int[Array, "E"]
    end_offsets: Float[Array, "E 3"]  # metres, in the frame of the joint that carries the tip

    def __post_init__(self) -> None:
        count, ends = len(self.names), len(self.end_parents)
        if not count:
            raise MotionError("A skeleton needs at least one joint.")
        shapes = [a.shape for a in (self.parents, self.offsets, self.end_parents, self.end_offsets)]
        if shapes != [(count,), (count, 3), (ends,), (ends, 3)]:
            raise MotionError(f"A skeleton of {count} joints has arrays of other sizes: {', '.join(map(str, shapes))}.")
        if self.parents.dtype.kind != "i" or self.end_parents.dtype.kind != "i":
            raise MotionError("A skeleton's parents are whole numbers.")
        if len(set(self.names)) != len(self.names):
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise MotionError(f"Two joints are called '{twice}'; joint names must differ.")
        if self.parents[0] != -1 or np.any(self.parents[1:] < 0):
            raise MotionError("A skeleton has one root, and it is the first joint.")
        if np.any(self.parents[1:] >= np.arange(1, len(self.names))):
            raise MotionError("Every joint must come after its parent.")
        if np.any((self.end_parents < 0) | (self.end_parents >= count)):
            raise MotionError("Every end must hang from a joint of the skeleton.")
        if not (np.all(np.isfinite(self.offsets)) and np.all(np.isfinite(self.end_offsets))):
            raise MotionError("A skeleton's offsets must be finite numbers.")

    @property
    def joint_count(self) -> int:
        return len(self.names)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The joints that hang from each joint."""
        found: list[list[int]] = [[] for _ in self.names]
        for joint, parent in enumerate(self.parents[1:], start=1):
            found[parent].append(joint)
        return tuple(tuple(joints) for joints in found)

    @cached_property
    def rest_positions(self) -> Float[Array, "J 3"]:
        """Where each joint is in the rest pose."""
        at = self.offsets.copy()
        for joint in range(1, self.joint_count):
            at[joint] += at[self.parents[joint]]
        return at

    @cached_property
    def rest_ends(self) -> Float[Array, "E 3"]:
        return self.rest_positions[self.end_parents] + self.end_offsets

    @cached_property
    def height(self) -> float:
        """From the lowest to the highest point of the rest pose, in metres."""
        z = np.concatenate([self.rest_positions[:, 2], self.rest_ends[:, 2]])
        return float(np.ptp(z))

    def index(self, name: str) -> int:
        try:
            return self.names.index(name)
        except ValueError:
            raise MotionError(unknown_name("joint", name, self.names)) from None

    def ends_of(self, joint: int) -> Float[Array, "e 3"]:
        """The tips that this joint carries, in its frame."""
        return self.end_offsets[self.end_parents == joint]

    def chain(self, joint: int) -> list[int]:
        """The joints from the root down to `joint`, both included."""
        path = [joint]
        while path[-1] != 0:
            path.append(int(self.parents[path[-1]]))
        return path[::-1]

    def subtree(self, joint: int) -> list[int]:
        """`joint` and everything that hangs from it."""
        found = {joint}
        for below in range(joint + 1, self.joint_count):  # parents come first
            if int(self.parents[below]) in found:
                found.add(below)
        return sorted(found)

    def same_as(self, other: Skeleton) -> bool:
        """Equal names, tree and offsets (to a micrometre)."""
        return (
            self.names == other.names
            and np.array_equal(self.parents, other.parents)
            and np.allclose(self.offsets[1:], other.offsets[1:], atol=1e-6)
        )

    def scaled(self, factor: float) -> Skeleton:
        return Skeleton(self.names, self.parents, self.offsets * factor, self.end_parents, self.end_offsets * factor)


def build_skeleton(
    names: Sequence[str],
    parents: Sequence[int] | Int[Array, "J"],
    offsets: Sequence[Sequence[float | int]] | Float[Array, "J 3"],
    ends: Sequence[tuple[int, Sequence[float | int] | Float[Array, "3"]]] = (),
) -> Skeleton:
    """A Skeleton from plain lists; `ends` pairs a joint with the offset of a tip that it carries."""
    return Skeleton(
        tuple(names),
        np.asarray(parents, dtype=np.int64),
        np.asarray(offsets, dtype=float).reshape(-1, 3),
        np.array([joint for joint, _ in ends], dtype=np.int64),
        np.array([offset for _, offset in ends], dtype=float).reshape(-1, 3),
    )


def aligned_to_rest(
    skeleton: Skeleton,
    rest: Float[Array, "J 4"],
    wxyz: Float[Array, "*t J 4"],
    offsets: Float[Array, "*t J 3"] | None = None,
) -> tuple[Skeleton, Float[Array, "*t J 4"], Float[Array, "*t J 3"] | None]:
    """Re-express a skeleton whose rest pose has rotations `rest` so that its rest pose is the identity.

    With G the joints' world rotations at rest and p the parent: R' = G_p R G^-1, o' = G_p o. Positions do not change.
    """
    world = rest.copy()  # G
    for joint in range(1, skeleton.joint_count):
        world[joint] = quat.mul(world[skeleton.parents[joint]], rest[joint])
    above = np.concatenate([quat.identity((1,)), world[skeleton.parents[1:]]])  # G_p
    turned = Skeleton(
        skeleton.names,
        skeleton.parents,
        quat.apply(above, skeleton.offsets),
        skeleton.end_parents,
        quat.apply(world[skeleton.end_parents], skeleton.end_offsets),
    )
    rotations = quat.mul(quat.mul(above, wxyz), quat.inv(world))
    return turned, rotations, None if offsets is None else quat.apply(above, offsets)
