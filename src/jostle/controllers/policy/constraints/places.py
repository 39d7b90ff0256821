"""Hands, and other parts, that have somewhere to be: at a point, on the hips, on a pole, or turned towards a target.

Inverse kinematics is one of them, `Place`; the others are made of the same: where a point is, and how it moves with the
row. Nobody strains for what is out of reach: a part goes as far as its limb does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.controllers.obstacles import Post
from jostle.controllers.policy.constraints.configuration import Configuration
from jostle.controllers.policy.constraints.constraint import Anatomy, Moment
from jostle.controllers.policy.constraints.inference import Rows, equal, stacked
from jostle.errors import CommandError
from jostle.maths import quat
from jostle.types import Array, Float

REACH = 0.98  # of a limb's length
LET_GO = 0.25  # of a limb's length beyond reach: from there on it is not stretched out at all
AIM = 0.6  # radians: as far as a line is turned in one iteration
AHEAD = np.radians(100.0), np.radians(150.0)  # off where the character faces: what is pointed at, and what no longer


@dataclass(frozen=True)
class Limb:
    """A part, and how far it gets."""

    joint: int
    base: int  # its shoulder or hip
    length: float

    @classmethod
    def of(cls, anatomy: Anatomy, part: str) -> Limb:
        joint = anatomy.part(part)
        return cls(joint, *anatomy.limb(joint))

    def reached(self, here: Configuration, goal: Float[Array, "3"]) -> tuple[Float[Array, "3"], float]:
        """The goal, or how far the limb gets towards it; and how much it cares, 0 for what is far away."""
        away = goal - here.positions[self.base]
        far, most = float(np.linalg.norm(away)), REACH * self.length
        cares = 1.0 - smooth((far / self.length - 1.0) / LET_GO)
        return (goal, cares) if far <= most else (here.positions[self.base] + away * (most / far), cares)


@dataclass(frozen=True)
class Place:
    """Inverse kinematics: a part is at a point in the world, or as near as its limb gets. C(y) = F(y) - p = 0.

    Without a point it goes where the user points to, `Command.target`.
    """

    part: str
    point: tuple[float, float, float] | None = None

    def __post_init__(self) -> None:
        _check_numbers("Place", self.point or ())

    def init(self, anatomy: Anatomy) -> Limb:
        return Limb.of(anatomy, self.part)

    def decide(self, moment: Moment, memory: Limb, share: float) -> Limb:
        return memory

    def rows(self, moment: Moment, here: Configuration, memory: Limb, share: float) -> Rows | None:
        point = moment.target if self.point is None else np.array(self.point)
        if point is None:
            return None
        goal, _ = memory.reached(moment.mean, point)
        return pinned(moment, here, memory.joint, goal, share)


@dataclass(frozen=True)
class Hold:
    """A hand is on a pole, from `start` to `end`, as long as that is within reach, and lets go of it beyond.

    Where along the pole is left to the motion: two rows, not three.
    """

    start: tuple[float, float, float]
    end: tuple[float, float, float]
    part: str = "left_hand"

    def __post_init__(self) -> None:
        _check_numbers("Hold", (*self.start, *self.end))
        if np.allclose(self.start, self.end):
            raise CommandError("A pole to hold has two ends; they are the same point.")

    @property
    def pole(self) -> Post:
        """To be seen."""
        return Post(np.array(self.start), np.array(self.end), 0.02)

    def init(self, anatomy: Anatomy) -> Limb:
        return Limb.of(anatomy, self.part)

    def decide(self, moment: Moment, memory: Limb, share: float) -> Limb:
        return memory

    def rows(self, moment: Moment, here: Configuration, memory: Limb, share: float) -> Rows | None:
        start, line = np.array(self.start), np.subtract(self.end, self.start)
        at, base = moment.mean.positions[[memory.joint, memory.base]]
        low, high = _within(base, REACH * memory.length, start, line)
        along = float(np.clip((at - start) @ line / (line @ line), low, high))
        goal, cares = memory.reached(moment.mean, start + along * line)
        rows = pinned(moment, here, memory.joint, goal, share * cares)
        if rows is None or not low < along < high:
            return rows
        across = _across(line)
        return equal(across @ rows.jacobian, across @ rows.gap)


@dataclass(frozen=True)
class HandsOnHips:
    """Both wrists beside the pelvis, elbows out. Metres, as shares of the body's size."""

    aside: float = 0.125  # left and right of the middle
    up: float = 0.045  # above the hips
    back: float = 0.01

    def init(self, anatomy: Anatomy) -> tuple[Limb, Limb]:
        return Limb.of(anatomy, "left_hand"), Limb.of(anatomy, "right_hand")

    def decide(self, moment: Moment, memory: tuple[Limb, Limb], share: float) -> tuple[Limb, Limb]:
        return memory

    def rows(self, moment: Moment, here: Configuration, memory: tuple[Limb, Limb], share: float) -> Rows | None:
        anatomy, found = moment.anatomy, []
        root = anatomy.part("pelvis")
        hips = 0.5 * (anatomy.skeleton.rest_positions[anatomy.part("left_thigh")]
                      + anatomy.skeleton.rest_positions[anatomy.part("right_thigh")])  # fmt: skip
        middle = hips - anatomy.skeleton.rest_positions[root]
        for limb, side in zip(memory, (1.0, -1.0), strict=True):
            place = middle + anatomy.soles.size * np.array([-self.back, side * self.aside, self.up])
            joints = np.array([limb.joint, root])
            at, wanted = (c.points(joints, np.stack([np.zeros(3), place])) for c in (here, moment.mean))
            moves = here.jacobian(joints, at)
            goal = wanted[0] + share * (wanted[1] - wanted[0])
            now = at[0] + share * (wanted[1] - at[1])  # the hip moves as well
            found.append(equal(moves[0] - share * moves[1], goal - now))
        return stacked(found)


@dataclass(frozen=True)
class PointAt:
    """The line from one part to another, a forearm or a weapon, points at a target in the world.

    What is behind it is not pointed at. Where the user names a target of his own, it is that one.
    """

    target: tuple[float, float, float] = (4.0, 1.0, 1.3)
    start: str = "right_forearm"
    end: str = "right_hand"

    def __post_init__(self) -> None:
        _check_numbers("PointAt", self.target)

    def init(self, anatomy: Anatomy) -> tuple[int, int]:
        return anatomy.part(self.start), anatomy.part(self.end)

    def decide(self, moment: Moment, memory: tuple[int, int], share: float) -> tuple[int, int]:
        return memory

    def rows(self, moment: Moment, here: Configuration, memory: tuple[int, int], share: float) -> Rows | None:
        target, joints = np.array(self.target) if moment.target is None else moment.target, np.array(memory)
        share = share * self._cares(moment.mean, target)
        if share <= 0.0:
            return None
        line, way = (target - here.positions[joints[0]], here.positions[joints[1]] - here.positions[joints[0]])
        far, long = float(np.linalg.norm(line)), float(np.linalg.norm(way))
        line, way = line / far, way / long
        meant = moment.mean.positions[joints[1]] - moment.mean.positions[joints[0]]
        goal = _between(meant / np.linalg.norm(meant), line, share)
        goal = _between(way, goal, min(1.0, AIM / max(_angle(way, goal), 1e-9)))
        start, end = here.jacobian(joints, here.positions[joints])
        across = _across(goal)
        moves = (end - start) / long + share * start / far  # the line to the target moves with the elbow
        return equal(across @ moves, across @ (goal - way))

    def _cares(self, mean: Configuration, target: Float[Array, "3"]) -> float:
        off = target - mean.positions[0]
        angle = abs(float(np.arctan2(off[1], off[0])) - float(quat.yaw(mean.local[0])))
        angle = abs((angle + np.pi) % (2.0 * np.pi) - np.pi)
        return 1.0 - smooth((angle - AHEAD[0]) / (AHEAD[1] - AHEAD[0]))


def pinned(moment: Moment, here: Configuration, joint: int, goal: Float[Array, "3"], share: float) -> Rows | None:
    """A joint at a goal, or a share of the way from the mean to it."""
    if share <= 0.0:
        return None
    at, wanted = here.positions[[joint]], moment.mean.positions[joint]
    return equal(here.jacobian(np.array([joint]), at)[0], wanted + share * (goal - wanted) - at[0])


def _within(
    base: Float[Array, "3"], most: float, start: Float[Array, "3"], line: Float[Array, "3"]
) -> tuple[float, float]:
    """Which stretch of a line lies in a ball, as shares of it; where none does, the nearest point twice."""
    square = float(line @ line)
    nearest = float((base - start) @ line) / square
    room = most**2 - float(np.sum((start + nearest * line - base) ** 2))
    half = np.sqrt(max(room, 0.0) / square)
    low, high = np.clip([nearest - half, nearest + half], 0.0, 1.0)
    return float(low), float(high)


def _across(line: Float[Array, "3"]) -> Float[Array, "2 3"]:
    """Two unit vectors at right angles to it and to each other."""
    line = line / np.linalg.norm(line)
    first = np.eye(3)[int(np.argmin(np.abs(line)))]
    first = first - (first @ line) * line
    first = first / np.linalg.norm(first)
    x, y, z = line
    return np.stack([first, [y * first[2] - z * first[1], z * first[0] - x * first[2], x * first[1] - y * first[0]]])


def _angle(a: Float[Array, "3"], b: Float[Array, "3"]) -> float:
    return float(np.arccos(np.clip(a @ b, -1.0, 1.0)))


def _between(a: Float[Array, "3"], b: Float[Array, "3"], share: float) -> Float[Array, "3"]:
    """On the arc from one direction to another."""
    return quat.apply(quat.slerp(quat.IDENTITY, quat.between(a, b), share), a)


def smooth(x: float) -> float:
    x = min(max(x, 0.0), 1.0)
    return x * x * (3.0 - 2.0 * x)


def _check_numbers(what: str, numbers: object) -> None:
    if not np.all(np.isfinite(np.asarray(numbers, dtype=float))):
        raise CommandError(f"{what} needs finite numbers, not {numbers}.")
