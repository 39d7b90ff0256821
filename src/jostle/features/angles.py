"""Poses as joint angles: the features of Wang 2010, 6.3, which people of different builds share.

A row holds the angles of every joint that moves, the tilt of the body, how high its root is, and after these how fast
each of them changes, how fast the body turns and where its root goes:

    [ angles | tilt | height | angles' | tilt' | turn, ahead, aside, rise ]

Angles are exponential maps of the turn from the joint's mean, so that no joint is ever near the half turn where such
maps jump. The heading is no feature, but the turn of each frame is; the root's step is measured in the heading before
it. Speeds are per frame and backward, y'_t = y_t - y_t-1, so a row that continues a clip needs that clip alone. Heights
and steps are in leg lengths: the same row makes a tall and a short person walk with their feet on the ground.

Departures from 6.3: hinges have exponential maps as well (of one axis, whose idle columns are left out by their
spread), the heading's turn stands for the heading, and the height is added, without which a synthesised walk sinks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jostle.clips import Clip
from jostle.clips.pack import pack_clip, unpack_clip
from jostle.errors import MotionError
from jostle.features.features import Placement, differentiate, fitted, integrate
from jostle.maths import quat
from jostle.skeleton import Pose, Skeleton, find_roles
from jostle.types import Array, Float, Int

STILL = 0.005  # radians (0.3 degrees): a column that spreads less over all clips is constant, and only noise would move
_BODY = ("tilt.x", "tilt.y", "height")
_ROOT = ("turn", "ahead", "aside", "rise")


@dataclass(frozen=True, eq=False)
class AngleFeatures:
    mean: Clip  # one frame: the pose that angles are turns from, and the bones that `decode` uses
    fps: float
    joints: Int[Array, "C"]  # of each column of angles
    axes: Int[Array, "C"]  # 0 to 2
    left_out: tuple[str, ...] = ()  # joints that are held at their mean, each with the reason

    kind = "angles"

    @classmethod
    def of(cls, clips: Sequence[Clip], fps: float = 30.0) -> AngleFeatures:
        """The columns that these clips need; bones are those of the first."""
        if not clips:
            raise MotionError("There are no clips to take features from; give at least one.")
        skeleton = clips[0].skeleton
        wxyz = np.concatenate([fitted(clip, skeleton, fps, same_bones=False).wxyz for clip in clips])
        middle = quat.mean(wxyz)  # (J, 4)
        middle[0] = quat.identity()
        spread = np.std(quat.log(quat.inv_mul(middle, wxyz)), axis=0)  # (J, 3)
        free, reasons = _free(skeleton), []
        moves = (spread > STILL) & np.array([reason is None for reason in free])[:, None]
        moves[0] = False
        for j in range(1, skeleton.joint_count):
            if not moves[j].any():
                reasons.append(f"{skeleton.names[j]} ({free[j] or 'still'})")
        if not moves.any():
            raise MotionError(
                f"No joint moves in {', '.join(repr(clip.name) for clip in clips[:3])}: nothing to learn from; "
                "give clips of motion."
            )
        joints, axes = np.nonzero(moves)
        mean = Clip(skeleton, fps, np.array([[0.0, 0.0, _leg(skeleton)]]), middle[None], name="mean")
        return cls(mean, float(fps), joints, axes, tuple(reasons))

    @property
    def skeleton(self) -> Skeleton:
        return self.mean.skeleton

    @property
    def names(self) -> tuple[str, ...]:
        angles = [f"{self.skeleton.names[j]}.{'xyz'[axis]}" for j, axis in zip(self.joints, self.axes, strict=True)]
        return (*angles, *_BODY, *(f"{name}'" for name in (*angles, *_BODY[:2])), *_ROOT)

    @property
    def angles(self) -> int:
        """How many columns are angles, the tilt included: the first, but for the height, come first."""
        return len(self.joints) + 2

    @property
    def travel(self) -> slice:
        """The columns of the root's steps on the ground."""
        return slice(len(self.names) - 3, len(self.names) - 1)

    @property
    def notes(self) -> tuple[str, ...]:
        return (f"Held at their mean: {', '.join(self.left_out)}.",) if self.left_out else ()

    def encode(self, clip: Clip) -> Float[Array, "T D"]:
        """Bones may have any length; the tree of joints is that of the features."""
        clip = fitted(clip, self.skeleton, self.fps, same_bones=False)
        leg = _leg(clip.skeleton)
        heading = quat.yaw(clip.wxyz[:, 0])
        tilt = quat.log(quat.inv_mul(quat.from_yaw(heading), clip.wxyz[:, 0]))[:, :2]
        turns = _unwrapped(quat.log(quat.inv_mul(self.mean.wxyz[0], clip.wxyz)))  # (T, J, 3)
        angles = np.concatenate([turns[:, self.joints, self.axes], tilt], axis=1)
        height = clip.root[:, 2:] / leg
        steps, turn = differentiate(clip.root[:, :2], heading)
        moved = np.concatenate([turn[:, None], steps / leg, _backward(height)], axis=1)
        return np.concatenate([angles, height, _backward(angles), moved], axis=1)

    def decode(self, rows: Float[Array, "T D"], at: Placement | None = None, skeleton: Skeleton | None = None) -> Clip:
        """The clip that begins at this place, on the bones of the features or on others of the same tree."""
        bones = skeleton or self.skeleton
        if bones.names != self.skeleton.names:
            raise MotionError(
                f"These features have {self.skeleton.joint_count} joints, and the skeleton given has others; "
                "give one of the same joints."
            )
        leg, count = _leg(bones), self.angles
        places, headings = integrate(rows[:, -3:-1] * leg, rows[:, -4], at or Placement())
        turns = np.zeros((len(rows), bones.joint_count, 3))
        turns[:, self.joints, self.axes] = rows[:, : count - 2]
        turns[:, 0, :2] = rows[:, count - 2 : count]
        wxyz = quat.mul(self.mean.wxyz[0], quat.exp(turns))
        wxyz[:, 0] = quat.mul(quat.from_yaw(headings), wxyz[:, 0])
        root = np.concatenate([places, rows[:, count : count + 1] * leg], axis=1)
        return Clip(bones, self.fps, root, wxyz, name="decoded")

    def pose(self, rows: Float[Array, "*b D"]) -> Pose:
        """Each row on its own, standing at the origin and facing along X."""
        flat, count = rows.reshape(-1, rows.shape[-1]), self.angles
        turns = np.zeros((len(flat), self.skeleton.joint_count, 3))
        turns[:, self.joints, self.axes] = flat[:, : count - 2]
        turns[:, 0, :2] = flat[:, count - 2 : count]
        wxyz = quat.mul(self.mean.wxyz[0], quat.exp(turns))
        root = np.zeros((len(flat), 3))
        root[:, 2] = flat[:, count] * _leg(self.skeleton)
        lead = rows.shape[:-1]
        return Pose(root.reshape(*lead, 3), wxyz.reshape(*lead, *wxyz.shape[1:]))

    def pack(self) -> tuple[dict[str, Any], dict[str, Array]]:
        data, arrays = pack_clip(self.mean)
        data = {"mean": data, "fps": self.fps, "left_out": list(self.left_out)}
        return data, arrays | {"angle_joints": self.joints, "angle_axes": self.axes}

    @classmethod
    def unpack(cls, data: dict[str, Any], arrays: dict[str, Array]) -> AngleFeatures:
        mean, joints, axes = unpack_clip(data["mean"], arrays), arrays["angle_joints"], arrays["angle_axes"]
        whole = joints.dtype.kind == axes.dtype.kind == "i" and joints.shape == axes.shape == (joints.size,)
        if not (whole and np.all((joints > 0) & (joints < mean.skeleton.joint_count)) and np.all(axes // 3 == 0)):
            raise MotionError("The angles of these features name joints or axes that are not there.")
        return cls(mean, float(data["fps"]), joints, axes, tuple(str(name) for name in data["left_out"]))


def _free(skeleton: Skeleton) -> list[str | None]:
    """Why a joint is left out, whether it moves or not; None for those that may stay."""
    out: list[str | None] = [None] * skeleton.joint_count
    roles = find_roles(skeleton)
    for limb, reason in (("hand", "finger"), ("toe", "beyond the toes"), ("head", "face")):
        for role in (limb, f"left_{limb}", f"right_{limb}"):
            if role in roles:
                for j in skeleton.subtree(roles[role])[1:]:
                    out[j] = reason
    return out


def _leg(skeleton: Skeleton) -> float:
    """From hip to ankle along the bones, of both legs the mean; for who has no such legs, the rest pose's height."""
    roles, at = find_roles(skeleton), skeleton.rest_positions
    chains = [[f"{side}_{limb}" for limb in ("thigh", "shin", "foot")] for side in ("left", "right")]
    if not all(role in roles for chain in chains for role in chain):
        return skeleton.height or 1.0
    joints = [[at[roles[role]] for role in chain] for chain in chains]
    return float(np.mean(np.sum(np.linalg.norm(np.diff(joints, axis=1), axis=2), axis=1))) or 1.0


def _backward(x: Float[Array, "T n"]) -> Float[Array, "T n"]:
    """x_t - x_t-1; the first row repeats the second."""
    d = np.diff(x, axis=0)
    return np.concatenate([d[:1], d]) if len(d) else np.zeros_like(x)


def _unwrapped(turns: Float[Array, "T J 3"]) -> Float[Array, "T J 3"]:
    """The same turns without jumps: beyond half a turn the map goes on instead of beginning at the other side."""
    out = turns.copy()
    for t in range(1, len(out)):
        size = np.linalg.norm(out[t], axis=-1)
        axis = out[t] / np.maximum(size, 1e-9)[:, None]
        rounds = np.round((np.sum(axis * out[t - 1], axis=-1) - size) / (2.0 * np.pi))
        out[t] += 2.0 * np.pi * rounds[:, None] * axis
    return out
