"""The clips as the other methods see them: the very rows that the connected model learns from, mirrored ones included.

A *stance* is a pose without its place: how joints are turned, the root's without its heading, and a line of lengths:
the root's height and, where bones move, their offsets. A *rush* is what changes it in one frame: a rotation vector of
each joint, the change of the line, and the root's travel, ahead, aside and turn, seen before the step. Rushes are
vectors, so they can be blended; `moved` applies one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from jostle.clips import Clip
from jostle.controllers.policy.tasks import Step, Task
from jostle.errors import CommandError, MotionError
from jostle.features import Placement
from jostle.features.features import differentiate
from jostle.features.quaternions import QuaternionFeatures
from jostle.maths import quat
from jostle.models.sequences import slices
from jostle.skeleton import Pose
from jostle.types import Array, Float, Int

SHORTEST = 12  # frames of a clip


@dataclass(frozen=True, eq=False)
class Stance:
    wxyz: Float[Array, "*b J 4"]
    line: Float[Array, "*b L"]

    def rows(self, which: Int[Array, "*c"] | int | slice) -> Stance:
        return Stance(self.wxyz[which], self.line[which])


@dataclass(frozen=True, eq=False)
class Rush:
    """Per frame."""

    spin: Float[Array, "*b J 3"]
    line: Float[Array, "*b L"]
    travel: Float[Array, "*b 3"]

    def rows(self, which: Int[Array, "*c"] | int | slice) -> Rush:
        return Rush(self.spin[which], self.line[which], self.travel[which])


@dataclass(frozen=True, eq=False)
class Frames:
    """N frames of clips, one after the other."""

    features: QuaternionFeatures
    poses: Float[Array, "N P"]
    travel: Float[Array, "N 3"]  # that led to a frame, per second, of the evened body
    lengths: tuple[int, ...]

    @property
    def dt(self) -> float:
        return 1.0 / self.features.fps

    @cached_property
    def stances(self) -> Stance:
        pose = self.features.pose(self.poses)
        parts = [pose.root[:, 2:]]
        if pose.offsets is not None:
            parts.append(pose.offsets.reshape(len(pose.offsets), -1))
        return Stance(pose.wxyz, np.concatenate(parts, axis=1))

    @cached_property
    def steps(self) -> Float[Array, "N 3"]:
        """What led to each frame: ahead, aside and turn, in the heading of the actor that is shown."""
        each = [differentiate(clip.root[:, :2], quat.yaw(clip.wxyz[:, 0])) for clip in self.clips]
        return np.concatenate([np.concatenate([moves, turns[:, None]], axis=1) for moves, turns in each])

    @cached_property
    def slices(self) -> tuple[slice, ...]:
        return tuple(slices(self.lengths))

    @cached_property
    def clips(self) -> tuple[Clip, ...]:
        """Each as the actor does it, from the origin."""
        still = np.zeros_like(self.poses)
        rows = np.concatenate([self.poses, still, self.travel], axis=1)
        return tuple(self.features.decode(rows[own]) for own in self.slices)


def frames_of(clips: Sequence[Clip], fps: float = 30.0, mirrored: bool = True) -> Frames:
    """The rows that `fit_connected` learns from."""
    features = QuaternionFeatures.of(clips, fps, even=mirrored)
    rows = [features.encode(clip) for clip in clips]
    short = min(range(len(rows)), key=lambda i: len(rows[i]))
    if len(rows[short]) < SHORTEST:
        raise MotionError(
            f"Clip '{clips[short].name}' has {len(rows[short])} frames at {fps:g} a second; give at least {SHORTEST}."
        )
    rows += [features.mirrored(own) for own in rows] if mirrored else []
    Y = np.concatenate(rows)
    return Frames(features, Y[:, : features.pose_count], Y[:, -3:], tuple(len(own) for own in rows))


def between(a: Stance, b: Stance, travel: Float[Array, "*b 3"]) -> Rush:
    """What leads from a to b."""
    return Rush(quat.log(quat.inv_mul(a.wxyz, b.wxyz)), b.line - a.line, travel)


def moved(stance: Stance, rush: Rush) -> Stance:
    wxyz = quat.mul(stance.wxyz, quat.exp(rush.spin))
    return Stance(quat.normalise(wxyz), stance.line + rush.line)


def placed(stance: Stance, at: Placement) -> Pose:
    wxyz = stance.wxyz.copy()
    wxyz[0] = quat.mul(quat.from_yaw(at.heading), wxyz[0])
    offsets = stance.line[1:].reshape(-1, 3) if len(stance.line) > 1 else None
    return Pose(np.array([at.x, at.y, stance.line[0]]), wxyz, offsets)


def walked(at: Placement, travel: Float[Array, "3"]) -> Placement:
    """Where one frame's travel leads."""
    ahead, aside, turned = (float(value) for value in travel)
    c, s = np.cos(at.heading), np.sin(at.heading)
    return Placement(at.x + c * ahead - s * aside, at.y + s * ahead + c * aside, at.heading + turned)


def unpack_frames(data: dict[str, Any], arrays: dict[str, Array]) -> Frames:
    features, lengths = QuaternionFeatures.unpack(data["features"], arrays), tuple(int(n) for n in data["lengths"])
    poses, travel = arrays["poses"], arrays["travel"]
    if poses.shape != (sum(lengths), features.pose_count) or travel.shape != (sum(lengths), 3):
        raise ValueError("lengths")
    if not (np.all(np.isfinite(poses)) and np.all(np.isfinite(travel))):
        raise ValueError("poses")
    return Frames(features, poses, travel, lengths)


def of_travel(task: Task) -> Task:
    """The task, if it looks at nothing but where the root goes: these methods know no more of a step."""
    try:
        theta = np.array([[axis.values[0] for axis in task.axes]])
        task.reward(Step(np.ones((1, 3)), 1.0), theta)
    except CommandError:
        raise CommandError(
            f"Motion fields and motion graphs do tasks of travel, such as 'heading'; '{task.name}' looks at the body."
        ) from None
    return task
