"""From a drag on the page to a push on the body.

A drag is a grab (which joint, where on it) and a pull (a vector in the world, in the plane that faces the camera).
The pull times the strength is the force: half a metre at 400 N per metre is 200 N.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from jostle.controllers import Push
from jostle.maths import quat
from jostle.skeleton import Skeleton, find_roles
from jostle.types import Array, Float
from jostle.viewer.frames import Arrow, FigureFrame

STRONGEST = 2000.0  # newtons; a pull beyond it pushes no harder
WEAKEST = 1.0  # newtons; a lesser pull is a click that trembled
ARROW_SCALE = 1 / 400.0  # metres of arrow a newton, for a push that is under way


@dataclass(frozen=True, eq=False)
class Drag:
    """A hand on the body: which character and joint, where in the joint's frame, and how far it is pulled."""

    character: int
    joint: int
    point: Float[Array, "3"]
    pull: Float[Array, "3"]  # metres, in the world

    def pulled(self, pull: Float[Array, "3"]) -> Drag:
        return replace(self, pull=pull)


@dataclass(frozen=True, eq=False)
class Acting:
    """A push under way, for as long as its arrow is shown."""

    drag: Drag
    force: Float[Array, "3"]
    until: float  # seconds of the character's time


def part_of(skeleton: Skeleton, joint: int) -> str:
    """What a push calls this joint: its role where it has one, otherwise its own name."""
    return next((role for role, j in find_roles(skeleton).items() if j == joint), skeleton.names[joint])


def grab(point: Float[Array, "3"], joint: int, frame: FigureFrame) -> Float[Array, "3"]:
    """A point of the world in the frame of a joint."""
    return quat.inv_apply(frame.wxyz[joint], point - frame.positions[joint])


def nearest_vertex(point: Float[Array, "3"], vertices: Float[Array, "n 3"]) -> Float[Array, "3"]:
    """The grab, brought back onto the body: the page saw the pose of a moment ago."""
    return vertices[int(np.argmin(np.sum((vertices - point) ** 2, axis=1)))]


def force_of(pull: Float[Array, "3"], strength: float) -> Float[Array, "3"]:
    """Newtons for a pull, `strength` of them a metre, at most STRONGEST."""
    force = strength * np.asarray(pull, dtype=float)
    size = float(np.linalg.norm(force))
    return force * (STRONGEST / size) if size > STRONGEST else force


def push_of(drag: Drag, skeleton: Skeleton, strength: float, duration: float) -> Push | None:
    """What is sent when the hand lets go; None where it hardly pulled."""
    force = force_of(drag.pull, strength)
    if float(np.linalg.norm(force)) < WEAKEST:
        return None
    return Push(part_of(skeleton, drag.joint), force, duration, drag.point)


def grip(drag: Drag, frame: FigureFrame) -> Float[Array, "3"]:
    """Where the grabbed point is now, in the world."""
    return frame.positions[drag.joint] + quat.apply(frame.wxyz[drag.joint], drag.point)


def aiming(drag: Drag, frame: FigureFrame, strength: float) -> Arrow:
    """The arrow under the hand, while it pulls."""
    tail = grip(drag, frame)
    force = force_of(drag.pull, strength)
    return Arrow(tail, tail + drag.pull, float(np.linalg.norm(force)))


def acting(act: Acting, frame: FigureFrame) -> Arrow:
    """The arrow of a push under way: it comes from behind and ends where it acts."""
    at = grip(act.drag, frame)
    size = float(np.linalg.norm(act.force))
    length: Array = act.force * min(ARROW_SCALE, 0.9 / max(size, 1e-9))
    return Arrow(at - length, at, size)
