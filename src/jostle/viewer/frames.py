"""Between whatever moves and whatever shows it: a figure is told once, a frame of it sixty times a second.

Nothing here knows viser. Another page needs only these four nouns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from jostle.clips import Clip
from jostle.clips.contacts import find_contacts
from jostle.clips.skin import Skin
from jostle.controllers import LEVEL, Floor
from jostle.errors import MotionError
from jostle.maths import quat
from jostle.skeleton import Globals, Skeleton, find_roles
from jostle.skeleton.mannequin import Part, build_mannequin
from jostle.types import Array, Bool, Float
from jostle.viewer.layout import Placement

TRAILED = ("pelvis", "left_hand", "right_hand", "left_foot", "right_foot")


@dataclass(frozen=True, eq=False)
class Figure:
    """What a page is told once: who this is and what it is made of."""

    name: str
    skeleton: Skeleton
    parts: tuple[Part, ...]
    skin: Skin | None = None
    feet: int = 2  # how many places may be marked as touching the ground

    @cached_property
    def surface(self) -> Float[Array, "n 3"]:
        """Every vertex in the rest pose."""
        if self.skin is not None:
            return np.concatenate([mesh.vertices for mesh in self.skin.meshes])
        rest = self.skeleton.rest_positions
        placed = [part.vertices + rest[part.joint] for part in self.parts]
        return np.concatenate(placed) if placed else rest

    @cached_property
    def beyond(self) -> Float[Array, "3"]:
        """How far the surface reaches beyond the joints: to any side, to any side, and up."""
        rest = self.skeleton.rest_positions
        over, under = self.surface.max(axis=0) - rest.max(axis=0), rest.min(axis=0) - self.surface.min(axis=0)
        side = 0.6 * max(0.0, *over[:2].tolist(), *under[:2].tolist())  # a blade's tip may leave the picture
        return np.array([side, side, max(0.0, float(over[2]))])


@dataclass(frozen=True, eq=False)
class Arrow:
    """A force that acts or is about to: from `tail` to `tip` in the world, and how many newtons it is."""

    tail: Float[Array, "3"]
    tip: Float[Array, "3"]
    newtons: float


@dataclass(frozen=True, eq=False)
class FigureFrame:
    """One figure at one moment: every joint in the world, the feet, the forces on it."""

    positions: Float[Array, "J 3"]
    wxyz: Float[Array, "J 4"]
    touching: Float[Array, "F 3"] = field(default_factory=lambda: np.zeros((0, 3)))  # points on the ground
    planted: Bool[Array, "F"] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    arrows: tuple[Arrow, ...] = ()


@dataclass(frozen=True, eq=False)
class Frame:
    """All figures at one moment, in the order in which they were introduced, and the ground that they stand on."""

    time: float
    figures: tuple[FigureFrame, ...]
    floor: Floor = LEVEL


def trailed_joints(skeleton: Skeleton) -> tuple[int, ...]:
    """The joints that draw a line behind them: hips, hands and feet, or an animal's root and tips."""
    roles = find_roles(skeleton)
    found = [roles[role] for role in TRAILED if role in roles]
    tips = [int(j) for j in skeleton.end_parents]
    return tuple(dict.fromkeys(found if len(found) > 2 else [0, *tips]))


def foot_points(skeleton: Skeleton, joint: int, body: Globals) -> Float[Array, "*t 3"]:
    """The middle of a foot: the mean of the joint that carries it and of everything that hangs from it."""
    below = skeleton.subtree(joint)
    ends = [i for i, parent in enumerate(skeleton.end_parents) if parent in below]
    points = np.concatenate([body.positions[..., below, :], body.ends[..., ends, :]], axis=-2)
    return points.mean(axis=-2)


@dataclass(frozen=True, eq=False)
class Track:
    """A clip in its place on the page, ready to be asked for any moment."""

    clip: Clip
    place: Placement

    @cached_property
    def body(self) -> Globals:
        """Every frame's joints in the page's world."""
        found = self.clip.globals
        turn = quat.from_yaw(self.place.turn)
        positions = quat.apply(turn, found.positions) + self.place.shift
        return Globals(positions, quat.mul(turn, found.wxyz), quat.apply(turn, found.ends) + self.place.shift)

    @cached_property
    def steps(self) -> tuple[Bool[Array, "T F"], Float[Array, "T F 3"]]:
        """When each foot is planted and where; nothing for a clip whose feet cannot be told."""
        frames = self.clip.frame_count
        try:
            contacts = find_contacts(self.clip)
        except MotionError:
            return np.zeros((frames, 0), dtype=bool), np.zeros((frames, 0, 3))
        points = [foot_points(self.clip.skeleton, joint, self.body) for joint in contacts.joints]
        where = np.stack(points, axis=1) if points else np.zeros((frames, 0, 3))
        where[..., 2] = contacts.ground + self.place.shift[2]
        return contacts.planted, where

    def at(self, time: float) -> FigureFrame:
        """The figure at `time` seconds, between two frames where it falls between them; the ends hold."""
        exact = float(np.clip(time * self.clip.fps, 0, self.clip.frame_count - 1))
        near = round(exact)
        exact = float(near) if abs(exact - near) < 1e-6 else exact
        low = int(exact)
        high, share = min(low + 1, self.clip.frame_count - 1), exact - low
        planted, where = self.steps
        if share == 0.0:
            return FigureFrame(self.body.positions[low], self.body.wxyz[low], where[low], planted[low])
        a, b = self.body.wxyz[low], self.body.wxyz[high]
        b = np.where(np.sum(a * b, axis=-1, keepdims=True) < 0.0, -b, b)
        wxyz = quat.normalise((1 - share) * a + share * b)
        positions = (1 - share) * self.body.positions[low] + share * self.body.positions[high]
        nearest = low if share < 0.5 else high
        return FigureFrame(positions, wxyz, where[nearest], planted[nearest])

    @cached_property
    def trails(self) -> Float[Array, "N T 3"]:
        """The whole way of each trailed joint."""
        joints = list(trailed_joints(self.clip.skeleton))
        return np.ascontiguousarray(np.moveaxis(self.body.positions[:, joints], 1, 0))


def build_figure(name: str, skeleton: Skeleton, skin: Skin | None = None, feet: int = 2) -> Figure:
    """A mannequin for any skeleton, or the skin that came with it."""
    return Figure(name, skeleton, build_mannequin(skeleton), skin, feet)


def common_end(tracks: Sequence[Track]) -> float:
    """How long the longest of them lasts, in seconds."""
    return max(track.clip.duration for track in tracks)
