"""A character: a controller, its body, and a clock at the display rate.

A controller steps at its own `dt`; a screen wants a pose sixty times a second. The character counts display frames and
takes as many controller steps as they need, showing the pose in between. Counting frames instead of adding seconds
keeps the two clocks together for hours.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from jostle.body import Body, build_body
from jostle.controllers import NEUTRAL, Command, Controller, Observed, Push, Start, check_settings, settings_of
from jostle.errors import CommandError, MotionError
from jostle.skeleton import Pose, Skeleton, interpolate


@dataclass(frozen=True, eq=False)
class CharacterState:
    """What a character is at one display frame: the pose to show, and what the next step needs."""

    pose: Pose
    frame: int  # display frames since the start
    time: float  # seconds since the start
    steps: int  # controller steps taken
    last: Any  # the controller's state before `next`
    next: Any  # the controller's state at or after this display frame
    waiting: tuple[Push, ...] = ()  # pushes that came since the controller's last step
    changed: Mapping[str, float] = field(default_factory=dict)  # settings that came since then

    @property
    def observed(self) -> Observed:
        return getattr(self.next, "observed", Observed())


@dataclass(frozen=True, eq=False)
class Character:
    """`init` and `step` at the display rate; pure, like the controller inside."""

    controller: Controller
    rate: float = 60.0  # display frames a second
    mass: float | None = None  # kilograms; where none is given, the controller's own body, or what `build_body` takes

    def __post_init__(self) -> None:
        if not (math.isfinite(self.rate) and self.rate > 0):
            raise MotionError(f"A character cannot be shown {self.rate} times a second; give a positive rate.")

    @property
    def skeleton(self) -> Skeleton:
        return self.controller.skeleton

    @cached_property
    def body(self) -> Body:
        own = getattr(self.controller, "body", None)
        return own if own is not None and self.mass is None else build_body(self.skeleton, mass=self.mass)

    def init(self, start: Start | None = None) -> CharacterState:
        state = self.controller.init(start or Start())
        return CharacterState(state.pose, 0, 0.0, 0, state, state)

    def step(self, state: CharacterState, command: Command = NEUTRAL) -> CharacterState:
        """One display frame later."""
        self._check_pushes(command)
        check_settings(settings_of(self.controller), command.settings)
        frame = state.frame + 1
        due = frame / (self.rate * self.controller.dt)  # controller steps, as a real number
        last, following, steps = state.last, state.next, state.steps
        wish = replace(command, pushes=state.waiting + command.pushes, settings={**state.changed, **command.settings})
        while steps < math.ceil(due - 1e-9):
            last, following, steps = following, self.controller.step(following, wish), steps + 1
            wish = replace(wish, pushes=(), settings={})
        between = min(max(due - (steps - 1), 0.0), 1.0)
        pose = following.pose if between > 1 - 1e-9 else interpolate(last.pose, following.pose, between)
        return CharacterState(pose, frame, frame / self.rate, steps, last, following, wish.pushes, wish.settings)

    def _check_pushes(self, command: Command) -> None:
        for push in command.pushes:
            if "pushes" not in self.controller.supports:
                raise CommandError(
                    f"The controller '{self.controller.name}' does not answer pushes; it supports: "
                    f"{', '.join(sorted(self.controller.supports)) or 'nothing but playing'}."
                )
            self.body.part(push.part)
