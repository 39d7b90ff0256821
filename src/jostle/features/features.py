"""What a model sees of a pose: a row of numbers, and the way back.

*Features* turn a clip into rows y (T, D) and rows into a clip. They know a skeleton and a rate; a clip at another rate
is resampled, a clip of another skeleton is refused with a sentence that says what to do. Where the character is on the
ground, and which way it faces, is no feature: rows tell how it moves from frame to frame, and `decode` adds that up
from a `Placement`. Rows are raw; centring and scaling are a model's affair.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from jostle.clips import Clip
from jostle.clips.edit import resample
from jostle.errors import MotionError
from jostle.maths import quat
from jostle.skeleton import Skeleton
from jostle.types import Array, Float


@dataclass(frozen=True)
class Placement:
    """Where on the ground a motion begins, and which way it faces."""

    x: float = 0.0
    y: float = 0.0
    heading: float = 0.0  # radians left of X


@runtime_checkable
class Features(Protocol):
    """Final: each kind is a frozen dataclass with these, and `pack` and `unpack` for bundles."""

    @property
    def kind(self) -> str: ...

    @property
    def skeleton(self) -> Skeleton: ...

    @property
    def fps(self) -> float: ...

    @property
    def names(self) -> tuple[str, ...]:
        """Of the D columns."""
        ...

    def encode(self, clip: Clip) -> Float[Array, "T D"]: ...

    def decode(self, rows: Float[Array, "T D"], at: Placement = ...) -> Clip: ...

    def pack(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """What JSON can say, and arrays."""
        ...


def fitted(clip: Clip, skeleton: Skeleton, fps: float, *, same_bones: bool = True) -> Clip:
    """The clip at this rate, or a sentence why it cannot be encoded. Angles alone bear bones of other lengths."""
    alike = clip.skeleton.same_as(skeleton) if same_bones else _same_tree(clip.skeleton, skeleton)
    if not alike:
        raise MotionError(
            f"Clip '{clip.name}' has another skeleton than the model ({clip.skeleton.joint_count} joints against "
            f"{skeleton.joint_count}, or bones of other lengths); bring it over with `jostle convert --retarget`."
        )
    if not (np.all(np.isfinite(clip.root)) and np.all(np.isfinite(clip.wxyz))):
        raise MotionError(f"Clip '{clip.name}' holds values that are no numbers; `jostle clips check --fix` mends it.")
    return clip if np.isclose(clip.fps, fps, rtol=1e-3) else resample(clip, fps)


def _same_tree(a: Skeleton, b: Skeleton) -> bool:
    return a.names == b.names and np.array_equal(a.parents, b.parents)


def placement(clip: Clip, frame: int = 0) -> Placement:
    """Where a clip's root is in a frame, and which way it faces."""
    x, y, _ = clip.root[frame]
    return Placement(float(x), float(y), float(quat.yaw(clip.wxyz[frame, 0])))


def integrate(
    steps: Float[Array, "T 2"], turns: Float[Array, "T"], at: Placement
) -> tuple[Float[Array, "T 2"], Float[Array, "T"]]:
    """Places on the ground and headings from metres (ahead and to the left, in the heading before the step) and radians
    a frame. Row t leads from frame t-1 to t; the first row is not read: frame 0 is at the placement.
    """
    headings = at.heading + np.concatenate([[0.0], np.cumsum(turns[1:])])
    before = headings[:-1]
    c, s = np.cos(before), np.sin(before)
    moves = np.stack([c * steps[1:, 0] - s * steps[1:, 1], s * steps[1:, 0] + c * steps[1:, 1]], axis=-1)
    places = np.array([at.x, at.y]) + np.concatenate([np.zeros((1, 2)), np.cumsum(moves, axis=0)])
    return places, headings


def differentiate(places: Float[Array, "T 2"], headings: Float[Array, "T"]) -> tuple[Float[Array, "T 2"], Array]:
    """The inverse of `integrate`: steps ahead and to the left, and turns, a frame. The first row repeats the second."""
    turns = np.diff(np.unwrap(headings))
    c, s = np.cos(headings[:-1]), np.sin(headings[:-1])
    d = np.diff(places, axis=0)
    steps = np.stack([c * d[:, 0] + s * d[:, 1], -s * d[:, 0] + c * d[:, 1]], axis=-1)
    if len(steps) == 0:
        return np.zeros((1, 2)), np.zeros(1)
    return np.concatenate([steps[:1], steps]), np.concatenate([turns[:1], turns])
