"""Any joints to any points: a damped Gauss-Newton solver over rotation increments, many frames at once.

The unknowns are increments w, one rotation vector per free joint in its parent's frame: r <- exp(w) r. A point x that
hangs from joint j (at x_j, with parent rotation R_p) moves by

    dx = (R_p w) x (x - x_j)    so    dx/dw = -[x - x_j]x R_p                                                (1)

and `stiffness` adds the residual log(r r_0^-1), with derivative the inverse left Jacobian of the rotation group, so
that what the points do not say stays as it was. Every frame has its own damping (Levenberg-Marquardt): one stubborn
frame does not slow the others, and each step is kept only where it helped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from jostle.maths import quat
from jostle.skeleton.pose import Globals, Pose, forward
from jostle.skeleton.skeleton import Skeleton
from jostle.types import Array, Float

_MOST_DAMPING = 1e6
_Stack = TypeVar("_Stack", Pose, Globals)


@dataclass(frozen=True, eq=False)
class Goal:
    """A point fixed to `joint` (at `offset` in its frame) is wanted at `position`; `weight` may differ by frame."""

    joint: int
    position: Float[Array, "*t 3"]
    offset: Float[Array, "3"] = field(default_factory=lambda: np.zeros(3))
    weight: Float[Array, "*t"] | float = 1.0


def reach(
    skeleton: Skeleton,
    pose: Pose,
    goals: Sequence[Goal],
    joints: Sequence[int] | None = None,
    move_root: bool = False,
    stiffness: float = 0.01,
    iterations: int = 20,
    tolerance: float = 1e-7,
) -> Pose:
    """Turn `joints` (all, unless named) so that the goals' points come to their positions, in every frame of `pose`.

    `stiffness` weighs a radian of turning from the given pose against a metre of missing a goal; `move_root` lets
    the root move as well. Stops when no angle changes by more than `tolerance`.
    """
    lead = pose.root.shape[:-1]
    start = _flat(skeleton, pose)
    free = tuple(range(skeleton.joint_count)) if joints is None else tuple(sorted(set(joints)))
    problem = ReachProblem(skeleton, start, tuple(_flat_goal(g, lead) for g in goals), free, move_root, stiffness)
    now, world = start, forward(skeleton, start)
    r = problem.residual(now, world)
    damping = np.full(len(r), 1e-6)
    for _ in range(iterations):
        step = _damped_step(problem.jacobian(now, world), r, damping)
        tried = problem.moved(now, step)
        tried_world = forward(skeleton, tried)
        r_tried = problem.residual(tried, tried_world)
        better = np.sum(r_tried**2, axis=-1) <= np.sum(r**2, axis=-1)
        now, world, r = _pick(better, tried, now), _pick(better, tried_world, world), _where(better, r_tried, r)
        damping = np.clip(np.where(better, damping * 0.3, damping * 10.0), 1e-9, _MOST_DAMPING)
        settled = np.max(np.abs(step), axis=-1, initial=0.0) < tolerance
        if np.all(settled | (damping >= _MOST_DAMPING)):
            break
    return Pose(now.root.reshape(*lead, 3), now.wxyz.reshape(*lead, -1, 4), pose.offsets)


def _flat(skeleton: Skeleton, pose: Pose) -> Pose:
    """All leading axes as one."""
    offsets = None if pose.offsets is None else pose.offsets.reshape(-1, skeleton.joint_count, 3)
    return Pose(pose.root.reshape(-1, 3), pose.wxyz.reshape(-1, skeleton.joint_count, 4), offsets)


def _flat_goal(goal: Goal, lead: tuple[int, ...]) -> Goal:
    position = np.broadcast_to(goal.position, (*lead, 3)).reshape(-1, 3)
    weight = np.broadcast_to(np.asarray(goal.weight, dtype=float), lead).reshape(-1)
    return Goal(goal.joint, position, goal.offset, weight)


@dataclass(frozen=True, eq=False)
class ReachProblem:
    """What is wanted and what may move: residual, its derivative, and how a step of the unknowns changes a pose."""

    skeleton: Skeleton
    start: Pose  # (T, …)
    goals: tuple[Goal, ...]
    joints: tuple[int, ...]
    move_root: bool
    stiffness: float

    def residual(self, pose: Pose, world: Globals) -> Float[Array, "T m"]:
        """Weighted misses of the goals, then how far each free joint has turned from the start and the root moved."""
        parts = [_column(goal.weight) * (_point(world, goal) - goal.position) for goal in self.goals]
        parts.append(self.stiffness * self._turned(pose).reshape(len(pose.root), -1))
        if self.move_root:
            parts.append(self.stiffness * (pose.root - self.start.root))
        return np.concatenate(parts, axis=-1)

    def jacobian(self, pose: Pose, world: Globals) -> Float[Array, "T m n"]:
        """The derivative of `residual` with respect to the increments that `moved` takes."""
        points, angles = 3 * len(self.goals), 3 * len(self.joints)
        width = angles + 3 * self.move_root
        out = np.zeros((len(pose.root), points + width, width))
        for g, goal in enumerate(self.goals):
            out[:, 3 * g : 3 * g + 3] = self._goal_rows(world, goal, width)
        stiff = self.stiffness * _inverse_left_jacobian(self._turned(pose))  # (T, n, 3, 3)
        for i in range(len(self.joints)):
            out[:, points + 3 * i : points + 3 * i + 3, 3 * i : 3 * i + 3] = stiff[:, i]
        if self.move_root:
            out[:, points + angles :, angles:] = self.stiffness * np.eye(3)
        return out

    def moved(self, pose: Pose, step: Float[Array, "T n"]) -> Pose:
        """The pose after the increments: r <- exp(w) r for each free joint; the last three move the root if it may."""
        joints, angles = list(self.joints), 3 * len(self.joints)
        wxyz = pose.wxyz.copy()
        turns = quat.exp(step[:, :angles].reshape(len(step), -1, 3))
        wxyz[:, joints] = quat.normalise(quat.mul(turns, wxyz[:, joints]))
        return Pose(pose.root + step[:, angles:] if self.move_root else pose.root, wxyz, pose.offsets)

    def _turned(self, pose: Pose) -> Array:
        joints = list(self.joints)
        return quat.log(quat.mul(pose.wxyz[:, joints], quat.inv(self.start.wxyz[:, joints])))  # (T, n, 3)

    def _goal_rows(self, world: Globals, goal: Goal, width: int) -> Array:
        rows = np.zeros((len(world.positions), 3, width))
        point, above = _point(world, goal), set(self.skeleton.chain(goal.joint))
        for i, joint in enumerate(self.joints):
            if joint in above:
                turning = -_cross_matrix(point - world.positions[:, joint])
                if joint > 0:
                    turning = turning @ quat.to_matrix(world.wxyz[:, self.skeleton.parents[joint]])
                rows[:, :, 3 * i : 3 * i + 3] = turning  # (1)
        if self.move_root:
            rows[:, :, width - 3 :] = np.eye(3)
        return _column(goal.weight)[..., None] * rows


def _point(world: Globals, goal: Goal) -> Array:
    return world.positions[:, goal.joint] + quat.apply(world.wxyz[:, goal.joint], goal.offset)


def _cross_matrix(v: Array) -> Array:
    out = np.zeros((*v.shape, 3))
    x, y, z = v[..., 0], v[..., 1], v[..., 2]
    out[..., 0, 1], out[..., 0, 2], out[..., 1, 2] = -z, y, -x
    out[..., 1, 0], out[..., 2, 0], out[..., 2, 1] = z, -y, x
    return out


def _inverse_left_jacobian(v: Array) -> Array:
    """d log(exp(w) exp(v)) / dw at w = 0: I - [v]/2 + c [v]^2 with c = 1/t^2 - cot(t/2)/(2t)."""
    t = np.linalg.norm(v, axis=-1)[..., None, None]
    small = t < 1e-4
    safe = np.where(small, 1.0, t)
    c = np.where(small, 1.0 / 12.0, 1.0 / safe**2 - 0.5 / (safe * np.tan(0.5 * safe)))
    cross = _cross_matrix(v)
    return np.eye(3) - 0.5 * cross + c * (cross @ cross)


def _damped_step(jacobian: Array, r: Array, damping: Array) -> Array:
    transposed = np.swapaxes(jacobian, -1, -2)
    normal = transposed @ jacobian
    normal += damping[:, None, None] * np.eye(normal.shape[-1])
    return -np.linalg.solve(normal, transposed @ r[..., None])[..., 0]


def _column(weight: Array | float) -> Array:
    return np.asarray(weight, dtype=float)[..., None]


def _where(better: Array, a: Array, b: Array) -> Array:
    return np.where(better.reshape(-1, *(1,) * (a.ndim - 1)), a, b)


def _pick(better: Array, a: _Stack, b: _Stack) -> _Stack:
    """Field by field the frames of a where they are better, else those of b."""
    names = [name for name in type(a).__dataclass_fields__ if getattr(a, name) is not None]
    return type(a)(**{name: _where(better, getattr(a, name), getattr(b, name)) for name in names})
