"""Points that ride on the joints of a body, and the pose that brings them where they are wanted.

A model that predicts where the parts of a body are (Ye & Liu 2010, 3.1) says nothing of joint angles; they are found
by Gauss-Newton. All joints turn, so the derivative has a row for every coordinate of every point and a column for
every axis of every joint, most of them zero: a joint moves what hangs from it and nothing else. With world increments,

    R_j <- exp(w_j) R_j for joint j and all below it:   dx/dw_j = -[x - x_j]x,                                 (1)

the whole derivative is one masked cross product, and forward kinematics is a matrix product for each level of the tree
instead of one for each joint. That makes an iteration cost a third of a millisecond for one frame, and less for many.

Points do not say everything: nothing shows how a straight arm is twisted. So the solution is held to a guess, by
1/`HOLD` a radian against 1/`MISS` a metre; what the points do say overrules it by far.

(`skeleton.reach` solves for any few goals and joints and asks for nothing else; with a point on every joint this is
twenty times faster.)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from jostle.body import Body
from jostle.maths import quat
from jostle.skeleton import Pose, Skeleton
from jostle.types import Array, Bool, Float, Int

LIGHT = 1e-3  # of the whole mass: a part that weighs less (a finger, a helper in the hip) has no point of its own
MISS = 1e-3  # metres: how exactly points are met
HOLD = 0.5  # radians: how far a joint may be from the guess
_CAUTION = 0.03  # damping over cost
_CHUNK = 256  # frames solved at a time, so that memory stays within tens of megabytes


@dataclass(frozen=True, eq=False)
class BodyPoints:
    skeleton: Skeleton
    names: tuple[str, ...]
    joints: Int[Array, "P"]  # that each point rides on
    places: Float[Array, "P 3"]  # in the joint's frame

    def of(self, pose: Pose) -> Float[Array, "*t P 3"]:
        """Where the points of a pose are."""
        lead = pose.root.shape[:-1]
        at, turned = self._forward(pose.root.reshape(-1, 3), pose.wxyz.reshape(-1, self.skeleton.joint_count, 4))
        return self._placed(at, turned).reshape(*lead, -1, 3)

    def solve(self, wanted: Float[Array, "*t P 3"], guess: Pose, iterations: int = 12, tolerance: float = 1e-3) -> Pose:
        """The poses nearest to the guesses whose points are where they are wanted: for many frames at once from a
        regression, or one frame after the other from the pose before. Stops when no angle changes by more than
        `tolerance`; what is still missing then is of the order of its square.
        """
        lead = guess.root.shape[:-1]
        targets = wanted.reshape(-1, len(self.joints), 3)
        root, wxyz = guess.root.reshape(-1, 3), guess.wxyz.reshape(-1, self.skeleton.joint_count, 4)
        chunks = [slice(start, start + _CHUNK) for start in range(0, len(targets), _CHUNK)]
        found = [self._solved(targets[rows], root[rows], wxyz[rows], iterations, tolerance) for rows in chunks]
        roots, turns = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return Pose(roots.reshape(*lead, 3), turns.reshape(*lead, -1, 4))

    @cached_property
    def _levels(self) -> list[tuple[Array, Array]]:
        """Joints that are equally far from the root, and their parents; the root itself left out."""
        depth = np.zeros(self.skeleton.joint_count, dtype=np.int64)
        for j in range(1, self.skeleton.joint_count):
            depth[j] = depth[self.skeleton.parents[j]] + 1
        levels = [np.flatnonzero(depth == d) for d in range(1, int(depth.max()) + 1)]
        return [(joints, self.skeleton.parents[joints]) for joints in levels]

    @cached_property
    def _moves(self) -> Bool[Array, "P J"]:
        """Which joints move which points."""
        out = np.zeros((len(self.joints), self.skeleton.joint_count), dtype=bool)
        for p, joint in enumerate(self.joints):
            out[p, self.skeleton.chain(int(joint))] = True
        return out

    def _forward(self, root: Float[Array, "T 3"], wxyz: Float[Array, "T J 4"]) -> tuple[Array, Array]:
        """World positions (T, J, 3) and rotations (T, J, 3, 3) of the joints."""
        turned = quat.to_matrix(wxyz)
        at = np.empty(turned.shape[:-1])
        at[:, 0] = root
        for joints, parents in self._levels:
            above = turned[:, parents]
            turned[:, joints] = above @ turned[:, joints]
            at[:, joints] = at[:, parents] + (above @ self.skeleton.offsets[joints][..., None])[..., 0]
        return at, turned

    def _placed(self, at: Float[Array, "T J 3"], turned: Float[Array, "T J 3 3"]) -> Float[Array, "T P 3"]:
        return at[:, self.joints] + (turned[:, self.joints] @ self.places[..., None])[..., 0]

    def _solved(
        self, wanted: Float[Array, "T P 3"], root: Array, wxyz: Array, iterations: int, tolerance: float
    ) -> tuple[Array, Array]:
        """Levenberg-Marquardt with a damping for each frame, in proportion to its cost: far from the points, weak turns
        such as the twist of a hand must not be asked to do what strong ones can; near them the steps are Newton's.
        """
        first = _Tried(self, wanted, root, wxyz, root, wxyz)
        now, caution = first, np.full(len(root), 1.0)
        for _ in range(iterations):
            step = now.step(_CAUTION * caution * now.cost)
            then = _Tried(self, wanted, *now.moved(step), first.root, first.wxyz)
            better = then.cost <= now.cost
            now = then if np.all(better) else then.where(better, now)
            if np.max(np.abs(step)) < tolerance:
                break
            caution = np.where(better, np.maximum(0.5 * caution, 1e-2), 8.0 * caution)
        return now.root, now.wxyz


class _Tried:
    """Poses of several frames, how far off their points are, and how far they are from the guess."""

    def __init__(self, points: BodyPoints, wanted: Array, root: Array, wxyz: Array, root_0: Array, wxyz_0: Array):
        self.points, self.wanted, self.root, self.wxyz = points, wanted, root, wxyz
        self.root_0, self.wxyz_0 = root_0, wxyz_0
        self.at, self.turned = points._forward(root, wxyz)
        self.seen = points._placed(self.at, self.turned)  # (T, P, 3)
        self.above = self.turned[:, np.maximum(points.skeleton.parents, 0)]  # (T, J, 3, 3): of each joint's parent
        self.above[:, 0] = np.eye(3)
        turns = quat.log(quat.mul(wxyz, quat.inv(wxyz_0)))
        self.away = np.concatenate([(root - root_0)[:, None], _times(self.above, turns)], axis=1)  # (T, J + 1, 3)
        self.miss = self.seen - wanted
        self.cost = np.sum(self.miss**2, axis=(1, 2)) / MISS**2 + np.sum(self.away**2, axis=(1, 2)) / HOLD**2

    def where(self, better: Bool[Array, "T"], other: _Tried) -> _Tried:
        """These frames where they are better, else the others."""
        root = np.where(better[:, None], self.root, other.root)
        wxyz = np.where(better[:, None, None], self.wxyz, other.wxyz)
        return _Tried(self.points, self.wanted, root, wxyz, self.root_0, self.wxyz_0)

    def step(self, damping: Float[Array, "T"]) -> Float[Array, "T n"]:
        """The damped Gauss-Newton step: increments of the root's place and of every joint, in the world."""
        jacobian = self.jacobian()
        frames, size = len(jacobian), jacobian.shape[-1]
        across = np.swapaxes(jacobian, -1, -2)
        normal = across @ jacobian / MISS**2
        gradient = (across @ self.miss.reshape(frames, -1, 1))[..., 0] / MISS**2 + self.away.reshape(
            frames, -1
        ) / HOLD**2
        diagonal = normal.reshape(frames, -1)[:, :: size + 1]
        diagonal += HOLD**-2 + damping[:, None]
        return -np.linalg.solve(normal, gradient[..., None])[..., 0]

    def jacobian(self) -> Float[Array, "T m n"]:
        """Of the points' coordinates by the increments."""
        arms = (self.seen[:, :, None] - self.at[:, None]) * self.points._moves[..., None]  # (T, P, J, 3)
        x, y, z = arms[..., 0], arms[..., 1], arms[..., 2]
        frames, count, joints = x.shape
        out = np.zeros((frames, count, 3, joints + 1, 3))
        out[:, :, [0, 1, 2], 0, [0, 1, 2]] = 1.0
        out[:, :, 0, 1:, 1], out[:, :, 0, 1:, 2] = z, -y  # -[x]x, (1)
        out[:, :, 1, 1:, 0], out[:, :, 1, 1:, 2] = -z, x
        out[:, :, 2, 1:, 0], out[:, :, 2, 1:, 1] = y, -x
        return out.reshape(frames, 3 * count, 3 * (joints + 1))

    def moved(self, step: Float[Array, "T n"]) -> tuple[Array, Array]:
        """Each joint turned about its own place: an increment in the world is one in its parent's frame."""
        turns = step.reshape(len(step), -1, 3)
        own = _times(np.swapaxes(self.above, -1, -2), turns[:, 1:])
        return self.root + turns[:, 0], quat.normalise(quat.mul(quat.exp(own), self.wxyz))


def _times(m: Float[Array, "*b 3 3"], v: Float[Array, "*b 3"]) -> Float[Array, "*b 3"]:
    return (m @ v[..., None])[..., 0]


def body_points(body: Body) -> BodyPoints:
    """The centre of mass of every part that weighs something, and of each foot its heel and toe instead (3.1)."""
    skeleton, soles = body.skeleton, body.soles
    feet = {joint for sole in soles for joint in sole.joints}
    joints = [j for j in range(skeleton.joint_count) if j not in feet and body.mass[j] > LIGHT * body.total_mass]
    names, places = [skeleton.names[j] for j in joints], [body.com[j] for j in joints]
    for sole in soles:
        for end in ("heel", "toe"):
            corners = [i for i, label in enumerate(sole.labels) if end in label.split("_")]
            joints.append(sole.joints[corners[0]])
            names.append(f"{sole.name}.{end}")
            places.append(np.mean(sole.points[corners], axis=0))
    return BodyPoints(skeleton, tuple(names), np.array(joints, dtype=np.int64), np.array(places))
