"""What else a character that gives way should do: hold a cup upright, look somewhere, keep clear of obstacles, ….

An objective sees the body at one frame and says what velocities it would like, as rows of least squares

    | J v+ - b |^2,   v+ the velocities of the whole body until the next frame

beside the paper's own terms (`yielding`); J and b carry the objective's weight. Anything that has `rows` is one:

    class Still:                                     # a heavy backpack
        def rows(self, view: View) -> Rows:
            return Rows(200.0 * view.here.rotation_jacobian(view.part("chest")), np.zeros(3))

Objectives add up. Root and legs are not theirs to move. Each row may pull with a torque of its own, which enters the
equations of motion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from jostle.body import Dynamics
from jostle.controllers.obstacles import Obstacle
from jostle.controllers.skin import skin_of
from jostle.maths import quat
from jostle.types import Array, Float

STRONG = 300.0  # beside the paper's 200 for a radian off the motion and 10 to 30 for a radian a second
SOON = 0.1  # seconds in which an objective would like to be where it wants
FASTEST = 4.0  # radians a second, and metres a second: no objective wants more
FAR = 0.4  # metres: for a place further away nobody strains
GIVEN_UP = np.radians(140.0)  # off where the motion looks: nobody looks at what is behind
UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class View:
    """The body at a frame."""

    here: Dynamics  # as it is
    now: Dynamics  # as the motion has it
    then: Dynamics  # as the motion has it a frame later
    dt: float

    def part(self, name: str) -> int:
        return self.here.physics.body.part(name)

    def closing(self, error: Array, next_error: Array) -> Array:
        """The velocity that makes an error fade, not faster than anybody would.

        `next_error` is what it is to be a frame later if nothing is done: the motion goes on meanwhile.
        """
        return (next_error - error) / self.dt + _limited(error / SOON)


@dataclass(frozen=True, eq=False)
class Rows:
    jacobian: Float[Array, "n nv"]
    wanted: Float[Array, "n"]


@runtime_checkable
class Objective(Protocol):
    def rows(self, view: View) -> Rows | None:
        """None where nothing is wanted now."""
        ...


@dataclass(frozen=True)
class Force:
    """On a part, now."""

    joint: int
    at: Float[Array, "3"]  # where, in the world
    newtons: Float[Array, "3"]


@dataclass(frozen=True, eq=False)
class Upright:
    """What `part` holds is upright: a cup in a hand. `axis` is the cup's, in the part's frame.

    Without an axis the cup is as upright as the motion holds it.
    """

    part: str = "right_hand"
    axis: Float[Array, "3"] | None = None
    weight: float = STRONG

    def rows(self, view: View) -> Rows:
        joint = view.part(self.part)
        errors = (self._tilt(view.here, motion, joint) for motion in (view.now, view.then))
        return Rows(self.weight * view.here.rotation_jacobian(joint)[:2], self.weight * view.closing(*errors))

    def _tilt(self, here: Dynamics, motion: Dynamics, joint: int) -> Float[Array, "2"]:
        """The turn that rights it; not about the vertical, which spills nothing."""
        axis = quat.inv_apply(_turned(motion, joint), UP) if self.axis is None else np.asarray(self.axis)
        return quat.log(quat.between(quat.apply(_turned(here, joint), axis), UP))[:2]


@dataclass(frozen=True, eq=False)
class LookAt:
    """The face turns towards a point in the world; from what is more and more behind it turns away again."""

    point: Float[Array, "3"]
    part: str = "head"
    widest: float = np.radians(60.0)  # off where the motion looks
    weight: float = STRONG

    def rows(self, view: View) -> Rows:
        joint = view.part(self.part)
        errors = [self._turn(view.here, motion, joint) for motion in (view.now, view.then)]
        return Rows(self.weight * view.here.rotation_jacobian(joint), self.weight * view.closing(*errors))

    def _turn(self, here: Dynamics, motion: Dynamics, joint: int) -> Float[Array, "3"]:
        """From how the part is turned to how it would be if it looked there."""
        turned = _turned(motion, joint)
        x, y, z = quat.inv_apply(turned, np.asarray(self.point) - here.point(joint)).tolist()
        aside, up = np.arctan2(y, x), np.arctan2(z, np.hypot(x, y))
        minds = np.clip((GIVEN_UP - abs(aside)) / (GIVEN_UP - self.widest), 0.0, 1.0)
        angles = minds * np.clip([aside, -up], -self.widest, [self.widest, 0.5 * self.widest])
        goal = quat.mul(turned, quat.from_euler(angles, "ZY"))
        return quat.log(quat.mul(goal, quat.inv(_turned(here, joint))))


@dataclass(frozen=True, eq=False)
class Reach:
    """A part of the body is kept at a place in the world, as long as that is near."""

    point: Float[Array, "3"]
    part: str = "right_hand"
    weight: float = STRONG

    def rows(self, view: View) -> Rows:
        joint = view.part(self.part)
        away = np.asarray(self.point) - view.here.point(joint)
        weight = self.weight * min(1.0, (FAR / max(float(np.linalg.norm(away)), FAR)) ** 2)
        return Rows(weight * view.here.jacobian(joint), weight * view.closing(away, away))


@dataclass(frozen=True, eq=False)
class Avoid:
    """Obstacles repel what comes near; what hits them all the same is pushed back."""

    obstacles: Sequence[Obstacle]
    margin: float = 0.15  # metres from where they repel
    weight: float = STRONG
    stiffness: float = 4000.0  # newtons a metre
    hardest: float = 400.0  # newtons

    def rows(self, view: View) -> Rows | None:
        near = self._near(view.here, self.margin)
        if not near:
            return None
        rows, wanted = [], []
        for joint, at, normal, far in near:
            nearness = 1.0 - max(far, 0.0) / self.margin
            weight = self.weight * nearness**2
            rows.append(weight * (normal @ view.here.jacobian_at(joint, at)))
            wanted.append(weight * min((self.margin - far) * nearness / SOON, FASTEST))
        return Rows(np.array(rows), np.array(wanted))

    def hits(self, here: Dynamics) -> list[Force]:
        """Of what is inside an obstacle."""
        return [
            Force(joint, at, min(-far * self.stiffness, self.hardest) * normal)
            for joint, at, normal, far in self._near(here, 0.0)
        ]

    def _near(self, here: Dynamics, within: float) -> list[tuple[int, Array, Array, float]]:
        """Of each shape and obstacle: the joint, where on the skin it is nearest, which way out, how far; metres."""
        found, skin = [], skin_of(here.physics.body)
        at = here.positions(skin.joints) + (here.axes(skin.joints) @ skin.points[:, :, None])[..., 0]
        for obstacle in self.obstacles:
            far, normal = obstacle.distance(at)
            far = far - skin.radii
            for ball in skin.deepest(far, within):
                touch = at[ball] - skin.radii[ball] * normal[ball]
                found.append((int(skin.joints[ball]), touch, normal[ball], float(far[ball])))
        return found


def _turned(instant: Dynamics, joint: int) -> Float[Array, "4"]:
    return instant.turns(np.array([joint]))[0]


def _limited(velocity: Array) -> Array:
    return velocity * min(1.0, FASTEST / max(float(np.linalg.norm(velocity)), 1e-9))
