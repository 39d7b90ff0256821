"""A clip: a skeleton and its poses at a constant rate. Frozen; edits return new clips."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from jostle.errors import MotionError
from jostle.skeleton import Globals, Pose, Skeleton, forward
from jostle.types import Array, Float

AnyClip = TypeVar("AnyClip", bound="Clip")


@dataclass(frozen=True, eq=False)
class Clip:
    """T frames of motion: metres, seconds, Z up. `unit` is how many metres one unit of the source file was."""

    skeleton: Skeleton
    fps: float
    root: Float[Array, "T 3"]
    wxyz: Float[Array, "T J 4"]
    offsets: Float[Array, "T J 3"] | None = None
    name: str = "clip"
    unit: float = 1.0

    def __post_init__(self) -> None:
        frames, joints = len(self.root), self.skeleton.joint_count
        if frames == 0:
            raise MotionError(f"Clip '{self.name}' has no frames.")
        if self.root.shape != (frames, 3):
            raise MotionError(
                f"Clip '{self.name}' has root positions of shape {self.root.shape}; they must be ({frames}, 3)."
            )
        if self.wxyz.shape != (frames, joints, 4):
            raise MotionError(
                f"Clip '{self.name}' has {frames} root positions and {joints} joints, "
                f"but rotations of shape {self.wxyz.shape}; they must be ({frames}, {joints}, 4)."
            )
        if self.offsets is not None and self.offsets.shape != (frames, joints, 3):
            raise MotionError(
                f"Clip '{self.name}' has offsets of shape {self.offsets.shape}; they must be ({frames}, {joints}, 3)."
            )
        if not (np.isfinite(self.fps) and self.fps > 0):
            raise MotionError(f"Clip '{self.name}' has {self.fps} frames a second; the rate must be positive.")

    @property
    def frame_count(self) -> int:
        return len(self.root)

    @property
    def dt(self) -> float:
        return 1.0 / self.fps

    @property
    def duration(self) -> float:
        """From the first frame to the last, in seconds."""
        return (self.frame_count - 1) / self.fps

    @property
    def poses(self) -> Pose:
        """All frames as one stacked pose."""
        return Pose(self.root, self.wxyz, self.offsets)

    @cached_property
    def globals(self) -> Globals:
        """World positions and rotations of every joint in every frame."""
        return forward(self.skeleton, self.poses)

    @property
    def positions(self) -> Float[Array, "T J 3"]:
        return self.globals.positions

    def pose(self, frame: int) -> Pose:
        return self.poses.rows(frame)

    def with_poses(self, poses: Pose, *, fps: float | None = None, skeleton: Skeleton | None = None) -> Clip:
        """A plain clip of the same name with other frames, and where given another rate or skeleton."""
        return Clip(
            skeleton or self.skeleton,
            fps or self.fps,
            poses.root,
            poses.wxyz,
            poses.offsets,
            self.name,
            self.unit,
        )

    def renamed(self: AnyClip, name: str) -> AnyClip:
        return replace(self, name=name)
