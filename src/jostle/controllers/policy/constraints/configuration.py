"""Where a row of quaternions puts every joint, and how points move when the row changes.

Of a joint with channels p, not of unit length in general, the rotation is that of q = p / |p|. In the frame of its
parent it turns by

    w = A dp,    A = 2 / |p| [ -v | s I + [v]x ],    q = (s, v)                                              (1)

which knows of no change along p itself: normalising is in it. A point x below the joint at x_j then moves by
(R_parent w) x (x - x_j), the height of the root moves everything up, and the place and heading of the root are given.

World frames come by pointer jumping: each joint's frame in its parent's is multiplied by its parent's, and with that
stands in its grandparent's; then by that one's; four products of all joints at once reach sixteen joints up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from jostle.features import Placement
from jostle.features.quaternions import QuaternionFeatures
from jostle.maths import quat
from jostle.skeleton import Pose
from jostle.types import Array, Bool, Float, Int

_TILT = slice(1, 4)
_FIRST = 4  # column of the first joint
_WHOLE = np.eye(3)


def _turn() -> Float[Array, "16 9"]:
    """The matrix of a unit quaternion is made of the products of its components: a table of which, by polarisation."""
    units = np.eye(4)
    squares = np.array([[_homogeneous(a + b) - _homogeneous(a) - _homogeneous(b) for b in units] for a in units])
    return 0.5 * squares.reshape(16, 9)


def _homogeneous(q: Float[Array, "4"]) -> Float[Array, "9"]:
    """|q|^2 times the matrix of q / |q|."""
    square = float(q @ q)
    return square * quat.to_matrix(q / np.sqrt(square)).ravel()


_TURN = _turn()


@dataclass(frozen=True, eq=False)
class RowKinematics:
    """Rows of these features as bodies."""

    features: QuaternionFeatures

    @cached_property
    def _mean(self) -> Float[Array, "J 4"]:
        even = quat.mul(self.features.mean.wxyz[0], quat.inv(self.features.uneven))
        return quat.positive(even)

    @cached_property
    def _uneven(self) -> Float[Array, "J 4 4"]:
        """What makes rotations of the even body the actor's, as matrices from the right: q U = q u."""
        return np.stack([quat.mul(unit, self.features.uneven) for unit in np.eye(4)], axis=1)

    @cached_property
    def _offsets(self) -> Float[Array, "J 3"]:
        own = self.features.mean.offsets
        return self.features.skeleton.offsets if own is None else own[0]

    @cached_property
    def turning(self) -> Int[Array, "m"]:
        """The joints that have columns, the root first."""
        return np.concatenate([[0], self.features.joints])

    @cached_property
    def _ancestors(self) -> list[Int[Array, "n"]]:
        """Parents, then the parents' parents four up, …; the last row is the world."""
        count = self.features.skeleton.joint_count
        up = np.append(self.features.skeleton.parents, count)
        up[up < 0] = count
        out = []
        while np.any(up < count):
            out.append(up)
            up = up[up]
        return out

    @cached_property
    def moves(self) -> Bool[Array, "J m"]:
        """Which joints move with which that have columns."""
        return self._below(self.turning)

    @cached_property
    def stretched(self) -> Bool[Array, "J b"]:
        """Which joints move with which bones."""
        return self._below(self.features.bones)

    def _below(self, joints: Int[Array, "n"]) -> Bool[Array, "J n"]:
        skeleton = self.features.skeleton
        out = np.zeros((skeleton.joint_count, len(joints)), dtype=bool)
        for column, joint in enumerate(joints):
            out[skeleton.subtree(int(joint)), column] = True
        return out

    def facing(self, row: Float[Array, "P"], place: Placement) -> Configuration:
        """A row whose character, uneven as he is, faces along the heading of a place."""
        own = float(quat.yaw(self.at(row, Placement()).local[0]))
        return self.at(row, Placement(place.x, place.y, place.heading - own))

    def of_pose(self, pose: Pose, like: Float[Array, "P"]) -> Configuration:
        """A pose as a row, as far as rows can say it; of q and -q the one that is nearer to a row `like` it."""
        features, row = self.features, like.copy()
        end = _FIRST + 4 * len(features.joints)
        even = quat.mul(pose.wxyz, quat.inv(features.uneven))
        heading = float(quat.yaw(even[0]))
        tilt = quat.mul(quat.from_yaw(-heading), even[0])
        row[0], row[_TILT] = pose.root[2], tilt[:3] * (1.0 if tilt[:3] @ like[_TILT] >= 0.0 else -1.0)
        turned = even[features.joints]
        turned *= np.where(np.sum(turned * like[_FIRST:end].reshape(-1, 4), axis=1) < 0.0, -1.0, 1.0)[:, None]
        row[_FIRST:end] = turned.ravel()
        if len(features.bones) and pose.offsets is not None:
            row[end:] = pose.offsets[features.bones].ravel()
        return self.at(row, Placement(float(pose.root[0]), float(pose.root[1]), heading))

    def at(self, row: Float[Array, "P"], place: Placement) -> Configuration:
        """A row at a place on the ground. The heading is that of the even body, as rows know it."""
        features, count = self.features, self.features.skeleton.joint_count
        end = _FIRST + 4 * len(features.joints)
        wxyz = self._mean.copy()
        wxyz[0, :3], wxyz[0, 3] = row[_TILT], 0.0
        wxyz[features.joints] = row[_FIRST:end].reshape(-1, 4)
        size = np.sqrt(np.einsum("jc,jc->j", wxyz, wxyz))
        wxyz /= size[:, None]
        local = (wxyz[:, None] @ self._uneven)[:, 0]
        c, s = np.cos(0.5 * place.heading), np.sin(0.5 * place.heading)
        w, x, y, z = local[0].tolist()
        local[0] = c * w - s * z, c * x - s * y, c * y + s * x, c * z + s * w  # turned about the vertical
        offsets = self._offsets
        if len(features.bones):
            offsets = offsets.copy()
            offsets[features.bones] = row[end:].reshape(-1, 3)
        frames = np.zeros((count + 1, 4, 4))
        products = (local[:, :, None] * local[:, None, :]).reshape(count, 16)
        frames[:count, :3, :3] = (products @ _TURN).reshape(count, 3, 3)
        frames[:count, :3, 3] = offsets
        frames[0, :3, 3] = place.x, place.y, row[0]
        frames[:, 3, 3] = 1.0
        frames[count, :3, :3] = _WHOLE
        for up in self._ancestors:
            frames = frames[up] @ frames
        return Configuration(
            self, row, place, wxyz, local, offsets, size, frames[:count, :3, 3], frames[:count, :3, :3]
        )


@dataclass(frozen=True, eq=False)
class Configuration:
    """A body in the world, at one row."""

    kinematics: RowKinematics
    row: Float[Array, "P"]
    place: Placement
    even: Float[Array, "J 4"]  # rotations of the even body in their parents' frames
    local: Float[Array, "J 4"]  # those of the actor's
    offsets: Float[Array, "J 3"]
    size: Float[Array, "J"]  # |p|
    positions: Float[Array, "J 3"]
    turns: Float[Array, "J 3 3"]

    @property
    def pose(self) -> Pose:
        moved = self.offsets if len(self.kinematics.features.bones) else None
        return Pose(self.positions[0].copy(), self.local, moved)

    @property
    def unit_row(self) -> Float[Array, "P"]:
        """The row with rotations of unit length: the same pose."""
        out, features = self.row.copy(), self.kinematics.features
        out[_TILT] = self.even[0, :3]
        out[_FIRST : _FIRST + 4 * len(features.joints)] = self.even[features.joints].ravel()
        return out

    def points(self, joints: Int[Array, "n"], places: Float[Array, "n 3"]) -> Float[Array, "n 3"]:
        """Where points of joints' frames are in the world."""
        return self.positions[joints] + np.einsum("nij,nj->ni", self.turns[joints], places)

    @cached_property
    def _spins(self) -> Float[Array, "m 4 3"]:
        """Angular velocity in the world for a change of each channel: the columns of R_parent A, (1)."""
        turning = self.kinematics.turning
        w, v = self.even[turning, 0], self.even[turning, 1:]
        columns = np.zeros((len(turning), 4, 3))
        columns[:, 0] = -v
        columns[:, 1, 0] = columns[:, 2, 1] = columns[:, 3, 2] = w
        columns[:, 1, 1], columns[:, 1, 2] = v[:, 2], -v[:, 1]  # columns of [v]x
        columns[:, 2, 0], columns[:, 2, 2] = -v[:, 2], v[:, 0]
        columns[:, 3, 0], columns[:, 3, 1] = v[:, 1], -v[:, 0]
        columns *= (2.0 / self.size[turning])[:, None, None]
        above = self.turns[self.kinematics.features.skeleton.parents[turning]]
        c, s = np.cos(self.place.heading), np.sin(self.place.heading)
        above[0] = [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]
        return columns @ above.transpose(0, 2, 1)

    def jacobian(self, joints: Int[Array, "n"], points: Float[Array, "n 3"]) -> Float[Array, "n 3 P"]:
        """How points in the world that move with joints change with the row."""
        own, features = self.kinematics, self.kinematics.features
        arms = points[:, None] - self.positions[own.turning]  # (n, m, 3)
        arms = np.where(own.moves[joints][..., None], arms, 0.0)[:, :, None]  # (n, m, 1, 3)
        x, y, z = self._spins[..., 0], self._spins[..., 1], self._spins[..., 2]  # (m, 4)
        ax, ay, az = arms[..., 0], arms[..., 1], arms[..., 2]
        turned = np.stack([y * az - z * ay, z * ax - x * az, x * ay - y * ax], axis=1)  # (n, 3, m, 4)
        out = np.empty((len(joints), 3, len(self.row)))
        out[..., 0] = 0.0, 0.0, 1.0
        out[..., _TILT] = turned[:, :, 0, :3]
        end = _FIRST + 4 * len(features.joints)
        out[..., _FIRST:end] = turned[:, :, 1:].reshape(len(joints), 3, -1)
        if len(features.bones):
            above = self.turns[features.skeleton.parents[features.bones]]  # (b, 3, 3)
            moved = own.stretched[joints][:, None, :, None] * above.transpose(1, 0, 2)  # (n, 3, b, 3)
            out[..., end:] = moved.reshape(len(joints), 3, -1)
        return out
