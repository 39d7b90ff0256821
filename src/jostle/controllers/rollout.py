"""`model`: a motion model left to itself. It plays the mean of its dynamics, for ever, and answers nothing.

Each step asks the model for the next latent position and for the little clip from here to there, whose first frame is
laid onto the pose that is shown. So whatever the model cannot keep up for long is seen here: a path that leaves the
cycle, or comes to rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jostle.controllers.protocol import Command, Observed, Start
from jostle.features import Placement
from jostle.maths import quat
from jostle.models.fit import unpack
from jostle.models.model import MotionModel
from jostle.models.sequences import slices
from jostle.skeleton import Pose, Skeleton
from jostle.types import Array, Float

MEMORY = 16  # latent positions that are kept: as many as any dynamics looks back at, and more


@dataclass(frozen=True, eq=False)
class RolloutState:
    pose: Pose
    time: float
    path: Float[Array, "M Q"]  # the last latent positions, the newest at the end
    observed: Observed

    @property
    def latent(self) -> Float[Array, "Q"]:
        return self.path[-1]


@dataclass(frozen=True, eq=False)
class Rollout:
    """Begins where the first training clip does, unless it is given another of them."""

    model: MotionModel
    clip: int = 0

    kind = "model"
    supports = frozenset[str]()

    @property
    def name(self) -> str:
        return self.model.kind

    @property
    def skeleton(self) -> Skeleton:
        return self.model.features.skeleton

    @property
    def dt(self) -> float:
        return 1.0 / self.model.features.fps

    def init(self, start: Start) -> RolloutState:
        rows = slices(self.model.lengths)[self.clip]
        path = self.model.latent_rows[rows][:MEMORY]
        motion = self.model.motion(path[-1:], Placement(*start.position, start.heading))
        return self._shown(motion.pose(0), 0.0, path)

    def step(self, state: RolloutState, command: Command) -> RolloutState:
        following = self.model.rollout(state.path, 1)  # (1, Q)
        path = np.concatenate([state.path, following])[-MEMORY:]
        motion = self.model.motion(path[-2:], Placement())
        return self._shown(_onto(state.pose, motion.pose(0), motion.pose(1)), state.time + self.dt, path)

    def _shown(self, pose: Pose, time: float, path: Float[Array, "M Q"]) -> RolloutState:
        unsure = float(self.model.variance(path[-1]))
        return RolloutState(pose, time, path, Observed(quality={"variance": unsure}))

    def pack(self) -> tuple[dict[str, Any], dict[str, Array]]:
        fitted, arrays = self.model.pack()
        return {"model": self.model.kind, "fitted": fitted}, arrays

    @classmethod
    def unpack(cls, data: dict[str, Any], arrays: dict[str, Array]) -> Rollout:
        return cls(unpack(str(data["model"]), dict(data["fitted"]), arrays))


def _onto(shown: Pose, same: Pose, following: Pose) -> Pose:
    """`following`, moved over the ground as `same` is moved to lie on the pose that is shown."""
    turn = quat.from_yaw(quat.yaw(shown.wxyz[0]) - quat.yaw(same.wxyz[0]))
    flat = np.array([1.0, 1.0, 0.0])
    wxyz = following.wxyz.copy()
    wxyz[0] = quat.mul(turn, wxyz[0])
    return Pose(quat.apply(turn, following.root - flat * same.root) + flat * shown.root, wxyz)
