"""Where the parts of a body are, now and a thirtieth of a second ago: the features of Ye & Liu 2010, section 3.1.

A row holds the points of two consecutive poses (centres of mass, and heels and toes in place of the feet), each seen
from the ground below the pelvis of its own frame, in metres, and how fast the pelvis goes:

    [ points before | points now | velocity | turn ]

Velocities are multiplied by `pace`, so that they are comparable with positions, and a model needs no weights.

Which way is forward? The paper aligns the first frame of each clip. Taking out the heading of every frame instead lets
a character turn, but the heading is then the sum of thousands of predicted turns and drifts by 20 to 50 degrees in half
a minute of straight walking. So there are two frames of reference: "clip", each clip turned once so that it travels
along X, without the last column; and "heading", in which every frame looks along X and the turn is a feature. Unless
told, `of` takes the first where no clip turns.

The way back is a pose whose points are where the row says: `BodyPoints.solve`, from a guess by regression. The guess is
what is left where points say nothing, such as the twist of a forearm: a ridge regression of all joints on the points
now, with products of their first principal components, learnt from the clips themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from jostle.body import build_body
from jostle.clips import Clip
from jostle.clips.pack import pack_clip, unpack_clip
from jostle.errors import MotionError
from jostle.features.features import Placement, differentiate, fitted, integrate
from jostle.features.points import BodyPoints, body_points
from jostle.maths import quat
from jostle.skeleton import Pose, Skeleton, find_roles
from jostle.types import Array, Float

Frame = Literal["clip", "heading"]

FPS = 30.0  # consecutive poses are 1/30 s apart
PACE = 0.3  # seconds: velocities in metres, unless a model wants them to count more
_TURNS = np.radians(40.0)  # a clip whose heading leaves its travel direction by more cannot be aligned once
_TRAVELS = 0.3  # metres: who goes less far faces forward instead of going there
_CURVED = 6  # principal components of the points whose products the guess uses
_RIDGE = 1e-4  # of the largest variance


@dataclass(frozen=True, eq=False)
class Guess:
    """Joints regressed on points: about right everywhere, and all there is where the points are silent."""

    mean: Clip  # one frame: the pose that turns are counted from, seen from below the pelvis
    centre: Float[Array, "C"]  # of the points
    axes: Float[Array, "K C"]  # principal components, scaled to unit variance
    weights: Float[Array, "F O"]

    def __call__(self, points: Float[Array, "n P 3"]) -> Pose:
        seen = _curved((points.reshape(len(points), -1) - self.centre), self.axes) @ self.weights
        turns = seen[:, 3:].reshape(len(seen), -1, 3)
        return Pose(self.mean.root[0] + seen[:, :3], quat.mul(self.mean.wxyz[0], quat.exp(turns)))


@dataclass(frozen=True, eq=False)
class BodyFeatures:
    points: BodyPoints
    guess: Guess
    frame: Frame
    fps: float = FPS
    pace: float = PACE

    kind = "bodies"

    @classmethod
    def of(
        cls, clips: Sequence[Clip], frame: Frame | None = None, fps: float = FPS, pace: float = PACE
    ) -> BodyFeatures:
        """For the skeleton of these clips, with the guess learnt from them."""
        if not clips:
            raise MotionError("There are no clips to take features from; give at least one.")
        skeleton = clips[0].skeleton
        given = [_plain(clip, skeleton, fps) for clip in clips]
        if frame is None:
            frame = "heading" if any(_turns(clip) for clip in given) else "clip"
        if frame not in ("clip", "heading"):
            raise MotionError(f"Features are seen in the frame of each 'clip' or of each 'heading', not of '{frame}'.")
        points = body_points(build_body(skeleton))
        local = [_local(clip, _headings(clip, frame)) for clip in given]
        return cls(points, learn_guess(points, local, fps), frame, float(fps), float(pace))

    @property
    def skeleton(self) -> Skeleton:
        return self.points.skeleton

    @property
    def names(self) -> tuple[str, ...]:
        places = [f"{name}.{axis}" for name in self.points.names for axis in "xyz"]
        turn = ("turn",) if self.frame == "heading" else ()
        return (*(f"before.{n}" for n in places), *places, "velocity.x", "velocity.y", "velocity.z", *turn)

    @property
    def now(self) -> slice:
        """The columns of the points now."""
        width = 3 * len(self.points.names)
        return slice(width, 2 * width)

    @property
    def velocity(self) -> slice:
        """The columns of the pelvis's velocity, in metres: times `pace`."""
        width = 2 * 3 * len(self.points.names)
        return slice(width, width + 3)

    def encode(self, clip: Clip, heading: float | None = None) -> Float[Array, "T D"]:
        """Rows of a clip. In the frame of the clip `heading` says where it goes, where its travel does not: a push may
        have turned it. The first row's pose before is where its motion comes from.
        """
        clip = _plain(clip, self.skeleton, self.fps)
        headings = _headings(clip, self.frame, heading)
        points = self.points.of(_local(clip, headings)).reshape(clip.frame_count, -1)
        before = np.concatenate([_earlier(points)[None], points[:-1]])
        ground = clip.positions[:, pelvis_of(clip.skeleton)]
        steps, turns = differentiate(ground[:, :2], headings)
        rise = np.diff(ground[:, 2], prepend=_earlier(ground[:, 2:])[0])
        speed = np.concatenate([steps, rise[:, None]], axis=1) * self.fps * self.pace
        columns = [before, points, speed]
        if self.frame == "heading":
            columns.append(turns[:, None] * self.fps * self.pace)
        return np.concatenate(columns, axis=1)

    def decode(self, rows: Float[Array, "T D"], at: Placement | None = None, name: str = "decoded") -> Clip:
        """The clip whose rows these are; frame 0 stands at the placement, later ones where velocities and turns lead.

        In the frame of the clip a placement's heading is that of its travel, as `heading` gives it.
        """
        pose = self.pose(rows)
        places, headings = self.path(rows, at or Placement())
        there = placed(pose, places, headings)
        return Clip(self.skeleton, self.fps, there.root, there.wxyz, name=name)

    def pose(self, rows: Float[Array, "*b D"]) -> Pose:
        """Each row on its own, its pelvis over the origin."""
        lead = rows.shape[:-1]
        wanted = rows[..., self.now].reshape(-1, len(self.points.names), 3)
        pose = self.points.solve(wanted, self.guess(wanted))
        return Pose(pose.root.reshape(*lead, 3), pose.wxyz.reshape(*lead, -1, 4))

    def path(self, rows: Float[Array, "T D"], at: Placement) -> tuple[Float[Array, "T 2"], Float[Array, "T"]]:
        """Where the pelvis goes on the ground, and its heading."""
        first = self.velocity.start
        scale = 1.0 / (self.fps * self.pace)
        turns = rows[:, first + 3] if self.frame == "heading" else np.zeros(len(rows))
        return integrate(rows[:, first : first + 2] * scale, turns * scale, at)

    def placement(self, clip: Clip, frame: int = -1) -> Placement:
        """From where `decode` continues a clip after this frame."""
        x, y, _ = clip.positions[frame, pelvis_of(clip.skeleton)]
        return Placement(float(x), float(y), float(_headings(clip, self.frame)[frame]))

    def pack(self) -> tuple[dict[str, Any], dict[str, Array]]:
        mean, arrays = pack_clip(self.guess.mean)
        data = {"mean": mean, "frame": self.frame, "fps": self.fps, "pace": self.pace}
        data["points"] = list(self.points.names)
        guess = {f"guess_{part}": getattr(self.guess, part) for part in ("centre", "axes", "weights")}
        return data, arrays | guess | {"point_joints": self.points.joints, "point_places": self.points.places}

    @classmethod
    def unpack(cls, data: dict[str, Any], arrays: dict[str, Array]) -> BodyFeatures:
        mean, joints, places = unpack_clip(data["mean"], arrays), arrays["point_joints"], arrays["point_places"]
        names = tuple(str(name) for name in data["points"])
        centre, axes, weights = (arrays[f"guess_{part}"] for part in ("centre", "axes", "weights"))
        count, outputs = mean.skeleton.joint_count, 3 + 3 * mean.skeleton.joint_count
        size = 3 * len(names)
        whole = (
            joints.dtype.kind == "i" and joints.shape == (len(names),) and places.shape == (len(names), 3)
            and np.all((joints >= 0) & (joints < count)) and centre.shape == (size,)
            and axes.ndim == 2 and axes.shape[1] == size and weights.shape == (_width(size, len(axes)), outputs)
            and data["frame"] in ("clip", "heading")
        )  # fmt: skip
        if not whole:
            raise MotionError("The points of these features do not fit their skeleton; the bundle is damaged.")
        points = BodyPoints(mean.skeleton, names, joints, places)
        return cls(points, Guess(mean, centre, axes, weights), data["frame"], float(data["fps"]), float(data["pace"]))


def learn_guess(points: BodyPoints, poses: Sequence[Pose], fps: float) -> Guess:
    """Ridge regression of root and joints on points, all seen from below the pelvis."""
    root, wxyz = np.concatenate([pose.root for pose in poses]), np.concatenate([pose.wxyz for pose in poses])
    seen = np.concatenate([points.of(pose) for pose in poses]).reshape(len(root), -1)
    middle, place = quat.mean(wxyz), root.mean(axis=0)
    turns = quat.log(quat.inv_mul(middle, wxyz)).reshape(len(root), -1)
    outputs = np.concatenate([root - place, turns], axis=1)
    centre = seen.mean(axis=0)
    _, spread, axes = np.linalg.svd(seen - centre, full_matrices=False)
    used = spread[: min(_CURVED, len(spread))]
    used = used[used > 1e-6 * max(spread[0], 1e-12)]
    axes = axes[: len(used)] / np.maximum(used / np.sqrt(len(root)), 1e-12)[:, None]
    inputs = _curved(seen - centre, axes)
    normal = inputs.T @ inputs
    # The constant and the products have unit size where coordinates are decimetres: one ridge serves all.
    ridge = _RIDGE * np.max(np.diagonal(normal)[: seen.shape[1]], initial=1e-9) * np.eye(len(normal))
    ridge[seen.shape[1] :] *= 100.0
    mean = Clip(points.skeleton, fps, place[None], middle[None], name="mean")
    return Guess(mean, centre, axes, np.linalg.solve(normal + ridge, inputs.T @ outputs))


def _curved(seen: Float[Array, "n C"], axes: Float[Array, "K C"]) -> Float[Array, "n F"]:
    """Coordinates, a constant, and squares and products of the first principal components."""
    parts = seen @ axes.T
    first, second = np.triu_indices(len(axes))
    return np.concatenate([seen, np.ones((len(seen), 1)), parts[:, first] * parts[:, second]], axis=1)


def _width(size: int, axes: int) -> int:
    return size + 1 + axes * (axes + 1) // 2


def _plain(clip: Clip, skeleton: Skeleton, fps: float) -> Clip:
    clip = fitted(clip, skeleton, fps)
    if clip.offsets is None:
        return clip
    off = np.max(np.abs(clip.offsets[:, 1:] - clip.skeleton.offsets[1:]), initial=0.0)
    if off > 1e-4:
        raise MotionError(
            f"The bones of clip '{clip.name}' move against each other by {100 * off:.1f} cm, which points cannot say; "
            "bring it onto a body with fixed bones first (`jostle convert --retarget`)."
        )
    return clip.with_poses(Pose(clip.root, clip.wxyz))


def pelvis_of(skeleton: Skeleton) -> int:
    """The joint that poses are seen from below of."""
    return find_roles(skeleton).get("pelvis", 0)


def _yaw(clip: Clip) -> Float[Array, "T"]:
    return np.unwrap(quat.yaw(clip.globals.wxyz[:, pelvis_of(clip.skeleton)]))


def travel(clip: Clip) -> float:
    """The direction, in radians left of X, in which a clip goes, or faces where it goes nowhere."""
    ground = clip.positions[:, pelvis_of(clip.skeleton), :2]
    way, yaw = ground[-1] - ground[0], _yaw(clip)
    facing = float(np.angle(np.mean(np.exp(1j * yaw))))
    if np.linalg.norm(way) < _TRAVELS:
        return facing
    direction = float(np.arctan2(way[1], way[0]))
    aside = float(np.angle(np.exp(1j * (direction - facing))))
    return direction if abs(aside) < np.pi / 4 else facing  # who walks backward or aside still faces ahead


def _turns(clip: Clip) -> bool:
    return bool(np.max(np.abs(np.angle(np.exp(1j * (_yaw(clip) - travel(clip)))))) > _TURNS)


def _headings(clip: Clip, frame: Frame, heading: float | None = None) -> Float[Array, "T"]:
    if frame == "heading":
        return _yaw(clip)
    return np.full(clip.frame_count, travel(clip) if heading is None else heading)


def _local(clip: Clip, headings: Float[Array, "T"]) -> Pose:
    """Poses seen from the ground below the pelvis, along the headings."""
    ground = clip.positions[:, pelvis_of(clip.skeleton)] * [1.0, 1.0, 0.0]
    back = quat.from_yaw(-headings)
    wxyz = clip.wxyz.copy()
    wxyz[:, 0] = quat.mul(back, wxyz[:, 0])
    return Pose(quat.apply(back, clip.root - ground), wxyz)


def placed(pose: Pose, places: Float[Array, "*t 2"], headings: Float[Array, "*t"] | float) -> Pose:
    """The inverse of `_local`: poses over the origin turned, and brought to their places."""
    turn, wxyz = quat.from_yaw(headings), pose.wxyz.copy()
    wxyz[..., 0, :] = quat.mul(turn, wxyz[..., 0, :])
    root = quat.apply(turn, pose.root)
    root[..., :2] += places
    return Pose(root, wxyz)


def _earlier(x: Float[Array, "T n"]) -> Float[Array, "n"]:
    """A frame before the first, by the motion from the first to the second."""
    return x[0] if len(x) < 2 else 2.0 * x[0] - x[1]
