"""All frames of normal motion and of responses, one after the other, as configurations C = [P P'] (section 3).

Configurations are compared with place and heading taken out at their best, as `clips.motion_graph` does with windows of
points; velocities count beside positions by `TAU` seconds:

    min over turns and shifts of  sum |u - e^(i t) v - s|^2 + |tau (u' - e^(i t) v')|^2
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Complex

from jostle.clips import Clip
from jostle.clips.contacts import find_contacts
from jostle.clips.edit import stacked
from jostle.clips.feet import body_size
from jostle.clips.seam import difference
from jostle.maths import quat
from jostle.skeleton import Pose, Skeleton, find_roles, forward
from jostle.types import Array, Bool, Float, Int

TAU = 0.2  # seconds
_RAISED = 0.0015  # of body height: a point this much higher than another of its foot bears a third as much


@dataclass(frozen=True, eq=False)
class Place:
    """Where on the ground a motion is played: turned about the origin, then shifted."""

    yaw: float
    x: float
    y: float

    def positions(self, points: Float[Array, "*n 3"]) -> Float[Array, "*n 3"]:
        return quat.apply(quat.from_yaw(self.yaw), points) + np.array([self.x, self.y, 0.0])

    def vectors(self, v: Float[Array, "*n 3"]) -> Float[Array, "*n 3"]:
        return quat.apply(quat.from_yaw(self.yaw), v)

    def pose(self, pose: Pose) -> Pose:
        wxyz = pose.wxyz.copy()
        wxyz[0] = quat.mul(quat.from_yaw(self.yaw), wxyz[0])
        return Pose(self.positions(pose.root), wxyz, pose.offsets)

    def shifted(self, by: Float[Array, "2"]) -> Place:
        return Place(self.yaw, self.x + float(by[0]), self.y + float(by[1]))

    def turned(self, radians: float, about: Float[Array, "2"]) -> Place:
        """As if turned about a point of the ground."""
        middle = np.array([*about, 0.0])
        here = quat.apply(quat.from_yaw(radians), np.array([self.x, self.y, 0.0]) - middle) + middle
        return Place(self.yaw + radians, float(here[0]), float(here[1]))


@dataclass(frozen=True, eq=False)
class Likes:
    """What is compared of n configurations: seen from above as complex numbers, and their heights."""

    flat: Complex[Array, "n K"]
    height: Float[Array, "n K"]

    def rows(self, which: Int[Array, "m"]) -> Likes:
        return Likes(self.flat[which], self.height[which])

    def apart(self, other: Likes) -> Float[Array, "n m"]:
        """Metres, rms over joints."""
        u, v, h, g = self.flat, other.flat, self.height, other.height
        own, others = np.sum(np.abs(u) ** 2 + h**2, axis=1), np.sum(np.abs(v) ** 2 + g**2, axis=1)
        squared = own[:, None] + others - 2.0 * np.abs(u @ v.conj().T) - 2.0 * h @ g.T
        return np.sqrt(np.maximum(squared, 0.0) / (0.5 * u.shape[1]))


def likes(positions: Float[Array, "n J 3"], velocity: Float[Array, "n J 3"]) -> Likes:
    middle = positions.mean(axis=1, keepdims=True) * [1.0, 1.0, 0.0]
    both = np.concatenate([positions - middle, TAU * velocity], axis=1)
    return Likes(both[..., 0] + 1j * both[..., 1], both[..., 2])


@dataclass(frozen=True, eq=False)
class Reel:
    """N frames of clips with one skeleton and rate."""

    clips: tuple[Clip, ...]

    @property
    def skeleton(self) -> Skeleton:
        return self.clips[0].skeleton

    @property
    def fps(self) -> float:
        return self.clips[0].fps

    @cached_property
    def first(self) -> Int[Array, "C"]:
        return np.cumsum([0, *(clip.frame_count for clip in self.clips)])[:-1]

    @cached_property
    def last(self) -> Int[Array, "C"]:
        return self.first + np.array([clip.frame_count for clip in self.clips]) - 1

    @cached_property
    def poses(self) -> Pose:
        return stacked([clip.poses for clip in self.clips])

    @cached_property
    def positions(self) -> Float[Array, "N J 3"]:
        return np.concatenate([clip.positions for clip in self.clips])

    @cached_property
    def velocity(self) -> Float[Array, "N J 3"]:
        """That led to a frame; the first frame's is the next one's."""
        return np.concatenate([_backward(np.diff(clip.positions, axis=0) * self.fps) for clip in self.clips])

    @cached_property
    def turning(self) -> Float[Array, "N D"]:
        """Likewise of poses, in the terms of `clips.seam`, in the clip's own world."""
        steps = [
            difference(clip.poses.rows(slice(1, None)), clip.poses.rows(slice(None, -1))) * self.fps
            for clip in self.clips
        ]
        return np.concatenate([_backward(step) for step in steps])

    @cached_property
    def likes(self) -> Likes:
        return likes(self.positions, self.velocity)

    @cached_property
    def feet(self) -> tuple[tuple[int, ...], ...]:
        """Of each foot its ankle, and its ball where there is one."""
        roles = find_roles(self.skeleton)
        pairs = [[roles.get(f"{side}_{part}") for part in ("foot", "toe")] for side in ("left", "right")]
        return tuple(tuple(joint for joint in pair if joint is not None) for pair in pairs)

    @cached_property
    def planted(self) -> Bool[Array, "N F"]:
        return np.concatenate([find_contacts(clip).planted for clip in self.clips])

    @cached_property
    def bearing(self) -> tuple[Float[Array, "N k"], ...]:
        """Of each foot, how much each of its joints bears: the one that is least above where it stands."""
        out, soft = [], _RAISED * body_size(self.skeleton)
        for foot, joints in enumerate(self.feet):
            z = self.positions[:, list(joints), 2]
            down = self.planted[:, foot]
            above = z - np.quantile(z[down] if np.any(down) else z, 0.25, axis=0)
            weight = np.exp(-(above - above.min(axis=1, keepdims=True)) / soft)
            out.append(weight / weight.sum(axis=1, keepdims=True))
        return tuple(out)


def _backward(steps: Float[Array, "t *b"]) -> Float[Array, "T *b"]:
    return np.concatenate([steps[:1], steps])


def fit_place(
    onto: Float[Array, "P 3"],
    points: Float[Array, "n P 3"],
    going: Float[Array, "J 3"] | None = None,
    velocity: Float[Array, "n J 3"] | None = None,
) -> list[Place]:
    """Where each of n motions must be played for its points to lie on those given, as seen from above.

    Velocities, where they are given, have a say in how it is turned: who walks goes on the same way.
    """
    u, v = onto[:, 0] + 1j * onto[:, 1], points[..., 0] + 1j * points[..., 1]
    middle, own = u.mean(), v.mean(axis=1, keepdims=True)
    alike = np.sum((u - middle) * np.conj(v - own), axis=1)
    if going is not None and velocity is not None:
        w, z = going[:, 0] + 1j * going[:, 1], velocity[..., 0] + 1j * velocity[..., 1]
        alike = alike + TAU * TAU * np.sum(w * np.conj(z), axis=1)
    radians = np.angle(alike)
    shift = middle - np.exp(1j * radians) * own[:, 0]
    return [Place(float(t), float(s.real), float(s.imag)) for t, s in zip(radians, shift, strict=True)]


def shown(skeleton: Skeleton, pose: Pose) -> Float[Array, "J 3"]:
    return forward(skeleton, pose).positions
