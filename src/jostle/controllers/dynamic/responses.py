"""One latent model of a normal motion and its answers to pushes, with what a push does to it.

A *row* is the model's features of one frame (`features.bodies`): points before and now, seen from below the pelvis
along the way of the character, and its velocity. Everything here happens in that frame; where the character is and
which way it goes is the controller's affair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from jostle.body import Body, Physics, build_body, compile_body
from jostle.controllers.dynamic.deform import Deformer, Load, Stand
from jostle.controllers.dynamic.flow import Flow, explained
from jostle.errors import MotionError
from jostle.features.bodies import BodyFeatures, pelvis_of
from jostle.maths import quat
from jostle.models.responsive import Responsive
from jostle.models.sequences import slices
from jostle.skeleton import Pose, forward
from jostle.types import Array, Float

PLANTED = 0.35  # metres a second: a heel or toe that is slower bears the body
HELD = 0.8  # and one that is slower than this is shown where it was, if it is the model that moves it
LIFTED = 0.08  # seconds: half-life of where a foot was held, once it swings
SETTLE = 0.1  # of that, in a frame, is how fast a body comes back over feet that all stand
FAR = 0.12  # metres: no foot is held farther from where the model has it


@dataclass(frozen=True, eq=False)
class Given:
    """A push in a training clip."""

    time: float  # seconds after the clip's first frame
    duration: float
    joint: int
    force: Float[Array, "3"]  # newtons, in the frame of the features
    point: Float[Array, "3"] | None = None  # in the joint's frame

    @property
    def impulse(self) -> Float[Array, "3"]:
        return self.force * self.duration


@dataclass(frozen=True, eq=False)
class Sight:
    """What a model says of a latent position."""

    row: Float[Array, "D"]
    guess: Pose  # about its pose, over the origin
    variance: float  # of a scaled feature, without noise


@dataclass(frozen=True, eq=False)
class Responses:
    model: Responsive
    normal: int  # which of the model's clips nobody pushed
    pushes: tuple[tuple[Given, ...], ...]  # of each clip

    def __post_init__(self) -> None:
        if not (0 <= self.normal < len(self.model.lengths) == len(self.pushes)):
            raise MotionError("The pushes do not fit the clips of their model; the bundle is damaged.")

    @property
    def features(self) -> BodyFeatures:
        return self.model.features

    @property
    def dt(self) -> float:
        return 1.0 / self.features.fps

    @cached_property
    def body(self) -> Body:
        return build_body(self.features.skeleton)

    @cached_property
    def physics(self) -> Physics:
        return compile_body(self.body)

    @cached_property
    def deformer(self) -> Deformer:
        return Deformer(self.physics, self.dt)

    @property
    def usual(self) -> slice:
        """The rows of the normal motion."""
        return slices(self.model.lengths)[self.normal]

    # What comes next

    @cached_property
    def flow(self) -> Flow:
        return Flow.of(self.model, self.normal, self.forced)

    @cached_property
    def forced(self) -> Float[Array, "N Q"]:
        """By how much pushes displaced the latent positions of the training rows, frame by frame."""
        poses = self.model.poses
        out = np.zeros_like(poses.x)
        for rows, pushes in zip(slices(self.model.lengths), self.pushes, strict=True):
            for t in range(1, rows.stop - rows.start):
                loads = acting(pushes, t * self.dt, self.dt)
                if loads:
                    row = poses.rows[rows.start + t]
                    pose = self.features.pose(row)
                    step = self.deformer.displacement(pose, loads, self.stands(row))
                    free = self.moved(row, pose, self.deformer.displaced(pose, -step))
                    out[rows.start + t] = poses.encode(row) - poses.encode(free)
        return out

    # Poses

    def look(self, x: Float[Array, "Q"]) -> Sight:
        """What the model says of a latent position; one evaluation of its kernel."""
        poses, known, joints = self.model.poses, self.model.poses.posterior, self._middle.wxyz.shape[0]
        k = known.kernel(known.hypers, x[None], known.inputs)[0]
        seen = k @ self._weights
        row = poses.centre.copy()
        row[poses.kept] += seen[: -3 * (joints + 1)]
        turns = seen[-3 * joints :].reshape(joints, 3)
        guess = Pose(
            self._middle.root + seen[-3 * (joints + 1) : -3 * joints], quat.mul(self._middle.wxyz, quat.exp(turns))
        )
        return Sight(row, guess, max(poses.alpha - explained(self._shrink, k), 0.0))

    @cached_property
    def _shrink(self) -> Float[Array, "M M"]:
        return self.model.poses.posterior.shrink.astype(np.float32)

    @cached_property
    def _learnt(self) -> Pose:
        return self.features.pose(self.model.poses.rows)

    @cached_property
    def _middle(self) -> Pose:
        return Pose(self._learnt.root.mean(axis=0), quat.mean(self._learnt.wxyz))

    @cached_property
    def _weights(self) -> Float[Array, "M O"]:
        """Of the kernel: points and velocity, as `decode` has them, and behind them the joints, regressed likewise."""
        middle, seen, known = self._middle, self._learnt, self.model.poses.posterior
        turns = quat.log(quat.inv_mul(middle.wxyz, seen.wxyz)).reshape(len(seen.root), -1)
        outputs = np.concatenate([seen.root - middle.root, turns], axis=1)
        if len(known.inputs) == len(outputs):
            return np.concatenate([known.weights, known.shrink @ outputs], axis=1)
        k = known.kernel(known.hypers, self.model.poses.x, known.inputs)  # of few inducing inputs: least squares
        normal = k.T @ k + known.noise * known.kernel(known.hypers, known.inputs, known.inputs)
        joints = np.linalg.solve(normal + 1e-9 * np.trace(normal) * np.eye(len(normal)), k.T @ outputs)
        return np.concatenate([known.weights, joints], axis=1)

    def read(self, guess: Pose, row: Float[Array, "D"]) -> Pose:
        """The pose whose points are where the row says, over the origin: one step of Gauss-Newton from a guess."""
        return self.features.points.solve(row[self.features.now].reshape(-1, 3), guess, iterations=1)

    # Pushes

    @cached_property
    def _feet(self) -> list[int]:
        """Which points are heels and toes; where a body has no soles, none."""
        return [i for i, name in enumerate(self.features.points.names) if name.endswith((".heel", ".toe"))]

    def stands(self, row: Float[Array, "D"]) -> list[Stand]:
        """What bears the body: heels and toes that hardly move."""
        points, speed = self.features.points, np.linalg.norm(self._treading(row), axis=1)
        slow = [i for i, v in zip(self._feet, speed, strict=True) if v < PLANTED]
        return [Stand(int(points.joints[i]), points.places[i]) for i in slow]

    def _treading(self, row: Float[Array, "D"]) -> Float[Array, "F 3"]:
        """How fast heels and toes go over the ground, metres a second."""
        width = self.features.now.start
        before, now = (row[part].reshape(-1, 3)[self._feet] for part in (slice(width), self.features.now))
        return (now - before) / self.dt + self.velocity(row) * [1.0, 1.0, 0.0]

    @cached_property
    def _carried(self) -> Float[Array, "P F"]:
        """By how much each point goes along when a heel or toe is held elsewhere: fully where it is that point, at the
        knee by about a half, above the leg not at all.
        """
        points, skeleton, feet = self.features.points, self.features.skeleton, self._feet
        out = np.zeros((len(points.names), len(feet)))
        for column, foot in enumerate(feet):
            chain = skeleton.chain(int(points.joints[foot]))  # from the root down
            splits = [j for j in chain if len(skeleton.children[j]) > 1]
            leg = chain[chain.index(splits[-1]) + 1 :] if splits else chain
            bones = np.linalg.norm(skeleton.offsets[leg], axis=1)
            down = np.cumsum(bones) - bones[0]
            alike = [other for other in feet if points.joints[other] == points.joints[foot]]
            for p, joint in enumerate(points.joints):
                if p not in feet and joint in leg and down[-1] > 0:
                    reach = down[leg.index(int(joint))] + np.linalg.norm(points.places[p])
                    out[p, column] = min(float(reach / down[-1]), 1.0) / len(alike)
            out[foot, column] = 1.0
        return out

    def hold(
        self, row: Float[Array, "D"], slip: Float[Array, "F 2"]
    ) -> tuple[Float[Array, "F 2"], Float[Array, "2"], Float[Array, "D"]]:
        """Where heels and toes are shown beside where the model says, how far the body comes back over them, and the
        row that shows them there.

        What bears the body stays where it is, whatever the model says of it, up to `FAR`; what swings loses the
        difference again. Where all of them bear, it is the body that was moved wrongly: it comes back by `SETTLE`.
        """
        going = self._treading(row)[:, :2]
        speed = np.linalg.norm(going, axis=1)
        slip = np.where(speed[:, None] < HELD, slip - going * self.dt, slip * 0.5 ** (self.dt / LIFTED))
        far = np.linalg.norm(slip, axis=1, keepdims=True)
        slip = slip * np.minimum(1.0, FAR / np.maximum(far, 1e-9))
        stands = len(slip) > 0 and bool(np.all(speed < PLANTED))
        shift = SETTLE * slip.mean(axis=0) if stands else np.zeros(2)
        slip = slip - shift
        out = row.copy()
        moved = out[self.features.now].reshape(-1, 3)
        moved[:, :2] += self._carried @ slip
        out[self.features.now] = moved.reshape(-1)
        return slip, shift, out

    @property
    def foot_count(self) -> int:
        """Of heels and toes."""
        return len(self._feet)

    def velocity(self, row: Float[Array, "D"]) -> Float[Array, "3"]:
        """Metres a second, of the pelvis."""
        return row[self.features.velocity] / self.features.pace

    def moved(self, row: Float[Array, "D"], pose: Pose, then: Pose) -> Float[Array, "D"]:
        """The row, where the frame ends in another pose: points and velocity change; where it comes from does not."""
        points, shift = self.features.points, self.pelvis(then) - self.pelvis(pose)
        ground = shift * [1.0, 1.0, 0.0]
        change = points.of(Pose(then.root - ground, then.wxyz)) - points.of(pose)
        out = row.copy()
        out[self.features.now] += change.reshape(-1)
        out[self.features.velocity] += shift / self.dt * self.features.pace
        return out

    def contacts(self, row: Float[Array, "D"]) -> dict[str, bool]:
        """Which feet bear the body."""
        points = self.features.points
        bearing = {stand.joint for stand in self.stands(row)}
        return {points.names[i].rsplit(".", 1)[0]: int(points.joints[i]) in bearing for i in self._feet}

    def log_likelihood(self, row: Float[Array, "D"], sight: Sight) -> float:
        """ln p of a row where this is seen, each scaled feature on its own, without the constant."""
        poses = self.model.poses
        spread = sight.variance + poses.noise
        miss = ((row - sight.row)[poses.kept] * poses.scales) ** 2
        return -0.5 * (float(np.sum(miss)) / spread + len(miss) * float(np.log(spread)))

    def pelvis(self, pose: Pose) -> Float[Array, "3"]:
        """Where it is; features see a pose from below it."""
        joint = pelvis_of(self.features.skeleton)
        return pose.root if joint == 0 else forward(self.features.skeleton, pose).positions[joint]

    def centred(self, pose: Pose) -> Pose:
        """With the pelvis over the origin."""
        return Pose(pose.root - self.pelvis(pose) * [1.0, 1.0, 0.0], pose.wxyz)

    def pack(self) -> tuple[dict[str, Any], dict[str, Array]]:
        fitted, arrays = self.model.pack()
        return {"fitted": fitted, "normal": self.normal, "pushes": _said(self.pushes)}, arrays

    @classmethod
    def unpack(cls, data: dict[str, Any], arrays: dict[str, Array]) -> Responses:
        model = Responsive.unpack(data["fitted"], arrays)
        pushes = tuple(tuple(_heard(push) for push in clip) for clip in data["pushes"])
        count = model.features.skeleton.joint_count
        if not all(0 <= push.joint < count and push.duration > 0 for clip in pushes for push in clip):
            raise MotionError("The pushes do not fit the skeleton of their model; the bundle is damaged.")
        return cls(model, int(data["normal"]), pushes)


def acting(pushes: Sequence[Given], now: float, dt: float) -> list[Load]:
    """What pushes in the frame that ends now, each for as much of it as it lasts."""
    loads = []
    for push in pushes:
        lasts = min(now, push.time + push.duration) - max(now - dt, push.time)
        if lasts > 1e-6 * dt:
            loads.append(Load(push.joint, push.force * (lasts / dt), push.point))
    return loads


def _said(pushes: Sequence[Sequence[Given]]) -> list[list[dict[str, Any]]]:
    return [
        [
            {
                "time": push.time,
                "duration": push.duration,
                "joint": push.joint,
                "force": push.force.tolist(),
                "point": None if push.point is None else push.point.tolist(),
            }
            for push in clip
        ]
        for clip in pushes
    ]


def _heard(push: dict[str, Any]) -> Given:
    point = None if push["point"] is None else np.array(push["point"], dtype=float)
    force = np.array(push["force"], dtype=float)
    if force.shape != (3,) or not np.all(np.isfinite(force)) or (point is not None and point.shape != (3,)):
        raise MotionError("A push of this model is no force at a point; the bundle is damaged.")
    return Given(float(push["time"]), float(push["duration"]), int(push["joint"]), force, point)
