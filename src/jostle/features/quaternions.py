"""Poses and their velocities as quaternions: what Levine et al. 2012 learn from (section 4.1).

A row holds a pose and, after it, how fast everything in it changes. Where the character is and which way it faces is in
the velocities alone, so that who stays in one pose stays in one place:

    pose       [ height | tilt: w x y | a quaternion of each joint that moves | bones that move ]
    velocity   [ pose' | ahead, aside, turn ]                               per second, from the frame before

Tilt is the root's rotation without its heading, whose z is 0. A quaternion and its negative are one rotation: of each
joint, neighbouring frames lie in one hemisphere, and whole clips have the sign that is nearer to the mean pose.

No actor is his own mirror image: a foot is turned out, a shoulder hangs. Where a model is to learn from mirrored
motion as well, that difference would tell clips and mirrored clips apart, and they would be embedded side by side.
With `even`, rows are of a body from which it is taken: every joint is turned by a constant so that its mean is the
mirror image of its twin's. `decode` puts it back, so mirrored motion comes out as the same actor would do it.
Who turns to one side most of the time looks there: of such clips only the frames that go straight say what is uneven.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.ndimage import uniform_filter1d

from jostle.clips import Clip
from jostle.clips.pack import pack_clip, unpack_clip
from jostle.errors import MotionError
from jostle.features.features import Placement, differentiate, fitted, integrate
from jostle.maths import quat
from jostle.skeleton import Pose, Skeleton, find_roles, find_twins
from jostle.types import Array, Bool, Float, Int

STILL = 0.01  # radians (0.6 degrees): a joint that turns less over all clips is held, and only noise would move it
_TURNS = np.radians(20.0)  # a second: who turns faster may look where he goes
_STILL_BONE = 1e-3  # metres
_FLIP = np.array([1.0, -1.0, 1.0, -1.0])  # of a quaternion, and of a vector, in the mirror of the X-Z plane
_FLIP_BONE = np.array([1.0, -1.0, 1.0])
_ROOT = ("height", "tilt.w", "tilt.x", "tilt.y")
_TRAVEL = ("ahead", "aside", "turn")


@dataclass(frozen=True, eq=False)
class QuaternionFeatures:
    mean: Clip  # one frame: the mean pose, which decides about signs and is where joints are held
    fps: float
    joints: Int[Array, "M"]  # those that move, without the root
    bones: Int[Array, "B"]  # joints whose bones move
    uneven: Float[Array, "J 4"]  # what makes an even body the actor's: q = even * uneven
    left_out: tuple[str, ...] = ()  # joints that are held, each with the reason

    kind = "quaternions"

    @classmethod
    def of(cls, clips: Sequence[Clip], fps: float = 30.0, *, even: bool = False) -> QuaternionFeatures:
        """The columns that these clips need."""
        if not clips:
            raise MotionError("There are no clips to take features from; give at least one.")
        skeleton = clips[0].skeleton
        clips = [fitted(clip, skeleton, fps) for clip in clips]
        wxyz = np.concatenate([clip.wxyz for clip in clips])
        wxyz[:, 0] = _tilt(wxyz[:, 0])
        middle = quat.mean(wxyz)  # (J, 4)
        spread = np.sqrt(np.mean(quat.angle(quat.inv_mul(middle, wxyz)) ** 2, axis=0))
        joints, reasons = _moving(skeleton, spread, even)
        offsets = np.concatenate([_offsets(clip) for clip in clips])
        bones = np.flatnonzero(offsets.std(axis=0).max(axis=-1)[1:] > _STILL_BONE) + 1
        if not len(joints) and not len(bones):
            raise MotionError(
                f"No joint moves in {', '.join(repr(clip.name) for clip in clips[:3])}: nothing to learn from; "
                "give clips of motion."
            )
        height = float(np.mean(np.concatenate([clip.root[:, 2] for clip in clips])))
        moved = offsets.mean(axis=0)[None] if len(bones) else None
        mean = Clip(skeleton, fps, np.array([[0.0, 0.0, height]]), middle[None], moved, name="mean")
        uneven = quat.identity((skeleton.joint_count,))
        if even:
            turning = np.concatenate([_turning(clip) for clip in clips])
            uneven = _uneven(skeleton, quat.mean(wxyz[_unturning(turning, fps)]))
        return cls(mean, float(fps), joints, bones, uneven, reasons)

    @property
    def skeleton(self) -> Skeleton:
        return self.mean.skeleton

    @property
    def names(self) -> tuple[str, ...]:
        turns = [f"{self.skeleton.names[j]}.{axis}" for j in self.joints for axis in "wxyz"]
        bones = [f"{self.skeleton.names[j]} bone.{axis}" for j in self.bones for axis in "xyz"]
        pose = (*_ROOT, *turns, *bones)
        return (*pose, *(f"{name}'" for name in pose), *_TRAVEL)

    @property
    def pose_count(self) -> int:
        """Columns of a pose; velocities come after them."""
        return len(_ROOT) + 4 * len(self.joints) + 3 * len(self.bones)

    @cached_property
    def reach(self) -> Float[Array, "P"]:
        """How far a unit of each column of a pose moves the farthest point that hangs from it, metres."""
        skeleton, far = self.skeleton, []
        for joint in (0, *self.joints):
            below = skeleton.subtree(int(joint))
            ends = skeleton.rest_ends[np.isin(skeleton.end_parents, below)]
            points = np.concatenate([skeleton.rest_positions[below], ends]) - skeleton.rest_positions[joint]
            far.append(2.0 * float(np.max(np.linalg.norm(points, axis=1))))  # a quaternion holds half of the angle
        return np.array([1.0, *[far[0]] * 3, *np.repeat(far[1:], 4), *[1.0] * (3 * len(self.bones))])

    @property
    def notes(self) -> tuple[str, ...]:
        """What is left out and what is evened, in sentences."""
        held = (f"Held at their mean: {', '.join(self.left_out)}.",) if self.left_out else ()
        apart = np.degrees(quat.angle(self.uneven))
        worst = int(np.argmax(apart))
        if apart[worst] < 1e-6:
            return held
        return (
            *held,
            f"Learnt on an even body; most uneven was {self.skeleton.names[worst]} ({apart[worst]:.1f} deg).",
        )

    def encode(self, clip: Clip) -> Float[Array, "T D"]:
        clip = fitted(clip, self.skeleton, self.fps)
        wxyz = quat.mul(clip.wxyz, quat.inv(self.uneven))
        heading = quat.yaw(wxyz[:, 0])
        wxyz[:, 0] = quat.mul(quat.from_yaw(-heading), wxyz[:, 0])
        wxyz = quat.continuous(wxyz)
        nearer = np.sum(wxyz * self._even_mean, axis=(0, 2)) >= 0.0  # (J,)
        wxyz = wxyz * np.where(nearer, 1.0, -1.0)[:, None]
        parts = [clip.root[:, 2:], wxyz[:, 0, :3], _flat(wxyz[:, self.joints]), _flat(_offsets(clip)[:, self.bones])]
        steps, turns = differentiate(clip.root[:, :2], heading)
        travel = self.fps * np.concatenate([steps, turns[:, None]], axis=1)
        return self.joined(np.concatenate(parts, axis=1), travel, (clip.frame_count,))

    def joined(
        self, poses: Float[Array, "N P"], travel: Float[Array, "N 3"], lengths: Sequence[int]
    ) -> Float[Array, "N D"]:
        """Rows of poses of several clips and of what their roots do; how fast poses change follows from them. What
        led to the first frame is not known: it has what leads to the second.
        """
        change = np.diff(poses, axis=0, prepend=poses[:1])
        for first in np.cumsum([0, *lengths[:-1]]):
            change[first] = change[first + 1] if first + 1 < len(change) else 0.0
        return np.concatenate([poses, self.fps * change, travel], axis=1)

    def mirrored(self, rows: Float[Array, "T D"]) -> Float[Array, "T D"]:
        """Rows of the motion in the mirror; those of `even` features."""
        source, sign = self._mirror()
        pose, change, travel = np.split(rows, [self.pose_count, 2 * self.pose_count], axis=1)
        return np.concatenate([pose[:, source] * sign, change[:, source] * sign, travel * [1.0, -1.0, -1.0]], axis=1)

    def decode(self, rows: Float[Array, "T D"], at: Placement | None = None) -> Clip:
        """The clip that begins at this place; of the velocities only the root's are read."""
        at = at or Placement()
        pose = self._even_pose(rows[:, : self.pose_count])
        start = float(quat.yaw(quat.mul(pose.wxyz[0, 0], self.uneven[0])))
        turned = Placement(at.x, at.y, at.heading - start)
        places, headings = integrate(rows[:, -3:-1] / self.fps, rows[:, -1] / self.fps, turned)
        pose.wxyz[:, 0] = quat.mul(quat.from_yaw(headings), pose.wxyz[:, 0])
        root = np.concatenate([places, pose.root[:, 2:]], axis=1)
        return Clip(self.skeleton, self.fps, root, quat.mul(pose.wxyz, self.uneven), pose.offsets, name="decoded")

    def pose(self, rows: Float[Array, "*b P"]) -> Pose:
        """Each row on its own, standing at the origin and facing along X; velocities may follow or not."""
        pose = self._even_pose(rows[..., : self.pose_count])
        wxyz = quat.mul(pose.wxyz, self.uneven)
        wxyz[..., 0, :] = _tilt(wxyz[..., 0, :])
        return Pose(pose.root, wxyz, pose.offsets)

    def _even_pose(self, pose: Float[Array, "*b P"]) -> Pose:
        lead, count = pose.shape[:-1], self.skeleton.joint_count
        wxyz = np.broadcast_to(self._even_mean, (*lead, count, 4)).copy()
        wxyz[..., 0, :3], wxyz[..., 0, 3] = pose[..., 1:4], 0.0
        end = 4 + 4 * len(self.joints)
        wxyz[..., self.joints, :] = pose[..., 4:end].reshape(*lead, -1, 4)
        root = np.zeros((*lead, 3))
        root[..., 2] = pose[..., 0]
        offsets = None
        if len(self.bones) and self.mean.offsets is not None:
            offsets = np.broadcast_to(self.mean.offsets[0], (*lead, count, 3)).copy()
            offsets[..., self.bones, :] = pose[..., end:].reshape(*lead, -1, 3)
        return Pose(root, quat.normalise(wxyz), offsets)

    @property
    def _even_mean(self) -> Float[Array, "J 4"]:
        return quat.positive(quat.mul(self.mean.wxyz[0], quat.inv(self.uneven)))

    def _mirror(self) -> tuple[Int[Array, "P"], Float[Array, "P"]]:
        """Of each column of a mirrored pose: from which column it comes, and with which sign."""
        twins = find_twins(self.skeleton)
        place = {int(j): i for i, j in enumerate(self.joints)}
        bone = {int(j): i for i, j in enumerate(self.bones)}
        first = 4 + 4 * len(self.joints)
        source = [0, 1, 2, 3]
        source += [4 + 4 * place[int(twins[j])] + axis for j in self.joints for axis in range(4)]
        source += [first + 3 * bone[int(twins[j])] + axis for j in self.bones for axis in range(3)]
        sign = [1.0, *_FLIP[:3], *np.tile(_FLIP, len(self.joints)), *np.tile(_FLIP_BONE, len(self.bones))]
        return np.array(source), np.array(sign)

    def pack(self) -> tuple[dict[str, Any], dict[str, Array]]:
        data, arrays = pack_clip(self.mean)
        data = {"mean": data, "fps": self.fps, "left_out": list(self.left_out)}
        own = {"quaternion_joints": self.joints, "quaternion_bones": self.bones, "quaternion_uneven": self.uneven}
        return data, arrays | own

    @classmethod
    def unpack(cls, data: dict[str, Any], arrays: dict[str, Array]) -> QuaternionFeatures:
        mean = unpack_clip(data["mean"], arrays)
        joints, bones, uneven = (arrays[f"quaternion_{name}"] for name in ("joints", "bones", "uneven"))
        count = mean.skeleton.joint_count
        whole = all(a.dtype.kind == "i" and a.ndim == 1 and np.all((a > 0) & (a < count)) for a in (joints, bones))
        if not whole or uneven.shape != (count, 4) or not np.all(np.isfinite(uneven)):
            raise MotionError("The quaternions of these features name joints that are not there.")
        return cls(mean, float(data["fps"]), joints, bones, uneven, tuple(str(name) for name in data["left_out"]))


def _moving(skeleton: Skeleton, spread: Float[Array, "J"], even: bool) -> tuple[Int[Array, "M"], tuple[str, ...]]:
    """Which joints move, and why the others do not. On an even body a joint moves where its twin does."""
    fingers = np.zeros(skeleton.joint_count, dtype=bool)
    roles = find_roles(skeleton)
    for hand in ("left_hand", "right_hand"):
        if hand in roles:
            fingers[skeleton.subtree(roles[hand])[1:]] = True
    if even:
        spread = np.maximum(spread, spread[find_twins(skeleton)])
    moves = (spread > STILL) & ~fingers
    moves[0] = False
    held = [f"{skeleton.names[j]} ({'finger' if fingers[j] else 'still'})" for j in np.flatnonzero(~moves)[1:]]
    return np.flatnonzero(moves), tuple(held)


def _turning(clip: Clip) -> Float[Array, "T"]:
    """How fast it turns, over about a step: hips sway."""
    heading = np.unwrap(quat.yaw(clip.wxyz[:, 0]))
    return uniform_filter1d(np.gradient(heading, clip.dt) if len(heading) > 1 else heading * 0.0, round(clip.fps))


def _unturning(turning: Float[Array, "n"], fps: float) -> Bool[Array, "n"]:
    """Frames that tell how a body holds itself: all, or where turns to one side prevail, those without turns."""
    straight = np.abs(turning) < _TURNS
    one_sided = abs(float(np.mean(turning))) > 0.5 * _TURNS and np.sum(straight) >= fps
    return straight if one_sided else np.ones(len(turning), dtype=bool)


def _uneven(skeleton: Skeleton, mean: Float[Array, "J 4"]) -> Float[Array, "J 4"]:
    """From the pose halfway between the mean and its mirror image to the mean."""
    image = mean[find_twins(skeleton)] * _FLIP
    return quat.positive(quat.inv_mul(quat.mean(np.stack([mean, image])), mean))


def _tilt(wxyz: Float[Array, "*b 4"]) -> Float[Array, "*b 4"]:
    return quat.mul(quat.from_yaw(-quat.yaw(wxyz)), wxyz)


def _offsets(clip: Clip) -> Float[Array, "T J 3"]:
    own = np.broadcast_to(clip.skeleton.offsets, (clip.frame_count, clip.skeleton.joint_count, 3))
    return own if clip.offsets is None else clip.offsets


def _flat(x: Float[Array, "T n c"]) -> Float[Array, "T m"]:
    return x.reshape(len(x), -1)
