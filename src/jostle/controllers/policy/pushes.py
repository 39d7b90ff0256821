"""What a push does to a steered character: it sets the body going beside its motion.

A force changes velocities by the equations of motion, as in `dynamic.deform`: mass matrix, tension of the joints, feet
that stand. What it adds in a frame becomes the rate of what is `Apart` from the motion: of the pose, which yields and
comes back on a spring, and of the root's travel, which is braked. The policy goes on meanwhile from where the character
has come to, and the latent position is led along as far as the model knows such poses (`relocate.led_along`).

Displacing y_t-1 alone would be the paper's way to come back, at the pace of the data. With these models that pace is a
twentieth of a second to half of the way, faster than anybody's: 300 N at the chest moved it by 2 cm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jostle.body import Body, compile_body
from jostle.controllers.dynamic.deform import Deformer, Load, Stand
from jostle.controllers.protocol import Push
from jostle.skeleton import Pose

TENSION = 2.0  # of joints: half of that of a person who stands and is ready


@dataclass(frozen=True, eq=False)
class Pressing:
    """A push that is going on."""

    joint: int
    push: Push
    end: float  # seconds


class Bruiser:
    """A workspace for one body: keep one per thread."""

    def __init__(self, body: Body, dt: float) -> None:
        self.body, self.dt = body, dt
        self._deformer = Deformer(compile_body(body), dt, tension=TENSION)

    def begun(self, pressing: tuple[Pressing, ...], pushes: Sequence[Push], time: float) -> tuple[Pressing, ...]:
        """With those that begin now, without those that are over."""
        new = tuple(Pressing(self.body.part(push.part), push, time + push.duration) for push in pushes)
        return tuple(one for one in pressing + new if one.end > time + 1e-9)

    def displaced(self, pose: Pose, pressing: Sequence[Pressing], stands: Sequence[Stand], time: float) -> Pose:
        """Where the velocities that a frame of pushes adds lead within a frame."""
        loads = []
        for one in pressing:
            share = float(np.clip((one.end - time) / self.dt, 0.0, 1.0))
            loads.append(Load(one.joint, share * one.push.force, one.push.point))
        return self._deformer.deform(pose, loads, stands)
