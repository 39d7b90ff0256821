"""What a push does to a steered character: it displaces the pose from which the conditional mean goes on.

A force moves the body by its equations of motion, as in `dynamic.deform`: mass matrix, tension of the joints, feet that
stand. That gives velocities beyond those of the motion, u. They fade, those of joints as muscles catch them, that of
the body as a whole as it is braked step by step; as long as they last the pose of the last frame is displaced by u dt.
This displaced pose is y_t-1 of section 6.2, so that the character comes back at the pace of the data, wherever the
policy leads meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jostle.body import Body, compile_body
from jostle.controllers.dynamic.deform import Deformer, Load, Stand
from jostle.controllers.protocol import Push
from jostle.skeleton import Pose
from jostle.types import Array, Float

CAUGHT = 0.10  # seconds in which joints lose half of what a push gave them
BRAKED = 0.22  # seconds: the body as a whole
_NOTHING = 1e-3  # metres and radians a second


@dataclass(frozen=True, eq=False)
class Pressing:
    """A push that is going on."""

    joint: int
    push: Push
    end: float  # seconds


@dataclass(frozen=True, eq=False)
class Jolt:
    """What pushes have left: velocities beyond those of the motion, in MuJoCo's order; none at all is None."""

    velocity: Float[Array, "nv"] | None = None
    pressing: tuple[Pressing, ...] = ()

    @property
    def moves(self) -> bool:
        return self.velocity is not None or bool(self.pressing)


class Bruiser:
    """A workspace for one body: keep one per thread."""

    def __init__(self, body: Body, dt: float) -> None:
        self.body, self.dt = body, dt
        self.deformer = Deformer(compile_body(body), dt)
        fades = np.full(self.deformer.physics.velocity_count, 0.5 ** (dt / CAUGHT))
        fades[:6] = 0.5 ** (dt / BRAKED)
        self._fades = fades

    def begun(self, jolt: Jolt, pushes: Sequence[Push], time: float) -> Jolt:
        new = tuple(Pressing(self.body.part(push.part), push, time + push.duration) for push in pushes)
        return Jolt(jolt.velocity, jolt.pressing + new) if new else jolt

    def struck(self, jolt: Jolt, pose: Pose, stands: Sequence[Stand], time: float) -> tuple[Jolt, Pose]:
        """A frame later: what is left, and the pose that the next frame goes on from."""
        shares = [float(np.clip((one.end - time) / self.dt, 0.0, 1.0)) for one in jolt.pressing]
        loads = [
            Load(one.joint, share * one.push.force, one.push.point)
            for one, share in zip(jolt.pressing, shares, strict=True)
        ]
        velocity = np.zeros_like(self._fades) if jolt.velocity is None else jolt.velocity
        if loads:
            velocity = velocity + self.deformer.displacement(pose, loads, stands) / self.dt
        pose = self.deformer.displaced(pose, self.dt * velocity)
        velocity = self._fades * velocity
        going = tuple(one for one in jolt.pressing if one.end > time + self.dt + 1e-9)
        still = not going and float(np.max(np.abs(velocity))) < _NOTHING
        return Jolt(None if still else velocity, going), pose
