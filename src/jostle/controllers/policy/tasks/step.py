"""What a step does: the one thing that a task's reward may look at.

Everything is seen from where the character stood, and faced, before the step: X ahead, Y left, Z up from the ground.
Travel is always at hand. Heights, positions and velocities of joints are worked out when a task asks for them first,
and kept, for all steps of a batch at once. Arrays have the same leading axes as `travel`, or lack some of their length:
they broadcast.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from jostle.body.parts import known_parts, resolve
from jostle.errors import CommandError
from jostle.features.quaternions import QuaternionFeatures
from jostle.skeleton import Pose, Skeleton
from jostle.skeleton.pose import position_of
from jostle.types import Array, Float

if TYPE_CHECKING:
    from jostle.models.connected_model import Connected


@dataclass(eq=False)
class Bodies:
    """Poses at latent positions, joint by joint, each standing at the origin and facing along X."""

    features: QuaternionFeatures
    rows: Float[Array, "*b P"]
    _pose: Pose | None = None
    _found: dict[int, Array] = field(default_factory=dict)

    @classmethod
    def at(cls, model: Connected, x: Float[Array, "*b Q"]) -> Bodies:
        return cls(model.features, model.pose_rows(x))

    def position(self, joint: int) -> Float[Array, "*b 3"]:
        if joint not in self._found:
            if self._pose is None:
                self._pose = self.features.pose(self.rows)
            self._found[joint] = position_of(self.features.skeleton, self._pose, joint)
        return self._found[joint]


class _Later:
    """Bodies that are made when somebody asks."""

    def __init__(self, model: Connected, x: Float[Array, "*b Q"]) -> None:
        self.model, self.x = model, x
        self._made: Bodies | None = None

    @property
    def bodies(self) -> Bodies:
        if self._made is None:
            self._made = Bodies.at(self.model, self.x)
        return self._made


@dataclass(frozen=True, eq=False)
class Step:
    travel: Float[Array, "*b 3"]  # ahead, aside, turn; per second
    dt: float
    _before: _Later | None = None
    _after: _Later | None = None
    _wider: bool = False  # whether an axis for the grid of parameters comes last

    @classmethod
    def between(cls, model: Connected, x: Float[Array, "*#b Q"], following: Float[Array, "*#b Q"]) -> Step:
        """From latent positions to others; the first may have length 1 along some axes."""
        travel = model.travel(following, np.broadcast_to(x, following.shape))
        return cls(travel, 1.0 / model.features.fps, _Later(model, x), _Later(model, following))

    @property
    def wider(self) -> Step:
        """The same steps with one axis more, which broadcasts over the points of a grid."""
        return replace(self, travel=self.travel[..., None, :], _wider=True)

    @property
    def speed(self) -> Float[Array, "*b"]:
        """Of the root over the ground, metres a second."""
        return np.hypot(self.travel[..., 0], self.travel[..., 1])

    @property
    def course(self) -> Float[Array, "*b"]:
        """Where the root goes, radians to the left."""
        return np.arctan2(self.travel[..., 1], self.travel[..., 0])

    @property
    def height(self) -> Float[Array, "*b"]:
        """Of the root above the ground, after the step."""
        return self._widened(self._bodies(self._after).rows[..., :1])[..., 0]

    def position(self, part: str) -> Float[Array, "*b 3"]:
        """Where a joint is after the step: `right_hand`, or a joint's own name."""
        after = self._bodies(self._after)
        return self._moved(self._widened(after.position(self._joint(part))))

    def velocity(self, part: str) -> Float[Array, "*b 3"]:
        """How fast a joint goes, the way that the root goes included; metres a second."""
        before = self._bodies(self._before)
        return (self.position(part) - self._widened(before.position(self._joint(part)))) / self.dt

    def seen_after(self, points: Float[Array, "*b 2"]) -> Float[Array, "*b 2"]:
        """Points on the ground, that stay where they are, from where the step led."""
        d = points - self.dt * self.travel[..., :2]
        c, s = np.cos(self.dt * self.travel[..., 2]), np.sin(self.dt * self.travel[..., 2])
        return np.stack([c * d[..., 0] + s * d[..., 1], -s * d[..., 0] + c * d[..., 1]], axis=-1)

    def _moved(self, own: Float[Array, "*b 3"]) -> Float[Array, "*b 3"]:
        """From where the step led to where it began."""
        turn, go = self.dt * self.travel[..., 2], self.dt * self.travel[..., :2]
        c, s = np.cos(turn), np.sin(turn)
        x, y = c * own[..., 0] - s * own[..., 1] + go[..., 0], s * own[..., 0] + c * own[..., 1] + go[..., 1]
        return np.stack([x, y, np.broadcast_to(own[..., 2], x.shape)], axis=-1)

    def _bodies(self, later: _Later | None) -> Bodies:
        if later is None:
            raise CommandError("This step knows how the root travels and nothing of the body.")
        return later.bodies

    def _joint(self, part: str) -> int:
        return joint_of(self._bodies(self._after).features.skeleton, part)

    def _widened(self, found: Float[Array, "*b c"]) -> Float[Array, "*w c"]:
        return found[..., None, :] if self._wider else found


@lru_cache(maxsize=64)
def joint_of(skeleton: Skeleton, part: str) -> int:
    """The joint of a role, a plain word or a joint's own name."""
    return resolve(known_parts(skeleton, 0), part)
