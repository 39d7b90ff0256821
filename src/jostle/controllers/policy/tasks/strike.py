"""Strike a target: the punches and kicks of Levine et al. 2012, section 7.1.

Reward is e^(-sharp d), d the distance of the striking joint to the target, while the joint goes towards it, at speed.
A target is a place on the ground, at the height at which the strikes of the motions hit: theta has two parameters.
What is "at speed", that height, and where strikes hit, is taken from the motions (`fitted`).

Departures: the speed that counts is that away from the body, for, pulled back, a fist passes the target once more, as
fast. And the distance is that of the way which the joint goes in a frame, not of its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from jostle.clips import Clip
from jostle.controllers.policy.strikes import strike_windows, strikes_in
from jostle.controllers.policy.tasks.axes import Axis
from jostle.controllers.policy.tasks.step import Step
from jostle.controllers.policy.tasks.target import Targeted, flat, polar
from jostle.errors import CommandError
from jostle.features import Placement
from jostle.models.connected import SHARPEST
from jostle.types import Array, Float

if TYPE_CHECKING:
    from jostle.models.connected_model import Connected

FINE, NARROW = 0.05, np.radians(6.0)  # metres and radians between grid points where strikes hit
_BEYOND, _WIDE = 0.15, np.radians(20.0)  # that the fine grid goes on beyond
_COARSE = np.radians(36.0)  # all round
ENOUGH = 0.4  # of how fast strikes go at their fastest: at speed; where they hit they have half


@dataclass(frozen=True)
class Striking(Targeted):
    joint: str = "right_hand"
    sharp: float = 10.0  # per metre
    worth: float = 5.0  # of a frame on the target: it lasts one or two frames of fifteen
    speed: float | None = None  # metres a second, away from the body
    height: float | None = None
    near: float | None = None  # strikes hit from so far ..
    far: float | None = None  # .. to so far,
    right: float | None = None  # from this direction ..
    left: float | None = None  # .. to this one

    name = "strike"
    latent = 5
    mirrored = False  # who strikes with the right hand does so
    sharpest = SHARPEST  # a fist is nowhere for long
    constants = MappingProxyType(  # bend: a fifth less acceleration, as many hits
        {"bend": 0.03, "unsure": 0.04, "stray": 0.0, "discount": 0.95, "neighbours": 4, "faster": 2.0, "apart": 1,
         "reach": 0.5, "largest": 0.8, "standing": 0.5, "paces": (1.0,), "jolt": 0.0, "lag": 0.0}
    )  # fmt: skip

    def chosen(self, clips: Sequence[Clip]) -> list[Clip]:
        """Strikes from guard to guard, without the standing about."""
        return strike_windows(clips, self.joint)[0]

    def fitted(self, model: Connected) -> Striking:
        """What was left open, from the strikes of the training motions."""
        found = [strike for _, strike in strikes_in(learnt_clips(model), self.joint)]
        if not found:
            raise CommandError(f"'{self.joint}' strikes nowhere in these motions: name another joint.")
        places = polar(np.array([strike.place[:2] for strike in found]))
        known = {
            "speed": ENOUGH * float(np.median([strike.fastest for strike in found])),
            "height": float(np.median([strike.place[2] for strike in found])),
            "near": float(np.min(places[:, 1])),
            "far": float(np.max(places[:, 1])),
            "right": float(np.min(places[:, 0])),
            "left": float(np.max(places[:, 0])),
        }
        return replace(self, **{name: value for name, value in known.items() if getattr(self, name) is None})

    @property
    def axes(self) -> tuple[Axis, ...]:
        """Fine where strikes hit, coarse elsewhere."""
        near, far, right, left = (self._known(name) for name in ("near", "far", "right", "left"))
        fine = np.arange(right - _WIDE, left + _WIDE + 1e-9, NARROW)
        rest = 2.0 * np.pi - (fine[-1] - fine[0])
        coarse = fine[-1] + rest * np.arange(1, round(rest / _COARSE)) / round(rest / _COARSE)
        turns = Axis.at("direction", np.concatenate([fine, coarse]), end=float(fine[0]) + 2.0 * np.pi)
        reach = np.arange(max(near - _BEYOND, FINE), far + _BEYOND + 1e-9, FINE)
        return turns, Axis.at("distance", np.concatenate([[0.0], reach, reach[-1] + [0.3, 1.0]]))

    def reward(self, step: Step, theta: Float[Array, "*b 2"]) -> Float[Array, "*b"]:
        """Up to `worth`."""
        target = flat(theta)
        target = np.concatenate([target, np.full((*theta.shape[:-1], 1), self._known("height"))], axis=-1)
        at, v = step.position(self.joint), step.velocity(self.joint)
        far = passed(at - step.dt * v, at, target)
        away = np.sum(v[..., :2] * target[..., :2], axis=-1) / np.maximum(theta[..., 1], 1e-6)
        return self.worth * np.exp(-self.sharp * far) * (away >= self._known("speed"))

    def aims(self) -> tuple[str, float] | None:
        return self.joint, self._known("height")

    def begin(self, at: Placement) -> Float[Array, "3"]:
        """In the middle of what it reaches."""
        turn, far = 0.5 * (self._known("left") + self._known("right")), 0.5 * (self._known("near") + self._known("far"))
        course = at.heading + turn
        return np.array([at.x + far * np.cos(course), at.y + far * np.sin(course), self._known("height")])

    def _known(self, name: str) -> float:
        value = getattr(self, name)
        if value is None:
            raise CommandError(f"The {name} of strikes is not known before the motions are: call `fitted(model)`.")
        return float(value)


def passed(a: Float[Array, "*#b 3"], b: Float[Array, "*#b 3"], point: Float[Array, "*#b 3"]) -> Float[Array, "*b"]:
    """How near a way from a to b comes to a point: a foot at 7 m/s is 25 cm further with every frame."""
    way = b - a
    along = np.sum((point - a) * way, axis=-1) / np.maximum(np.sum(way**2, axis=-1), 1e-12)
    nearest = a + np.clip(along, 0.0, 1.0)[..., None] * way
    return np.sqrt(np.sum((nearest - point) ** 2, axis=-1))


def learnt_clips(model: Connected) -> list[Clip]:
    """The training motions as the model was given them, each from the origin."""
    ends = np.cumsum(model.lengths)
    return [model.features.decode(model.rows[e - n : e]) for e, n in zip(ends, model.lengths, strict=True)]
