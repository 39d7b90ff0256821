"""The one protocol: what a user may ask of a character, and what a controller must answer.

A controller is pure: `init(start)` gives a state, `step(state, command)` the next one, `dt` seconds later. Nothing is
hidden in it: the same states and commands give the same motion. `state.pose` is what is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np

from jostle.controllers.floor import LEVEL, Floor
from jostle.errors import CommandError, unknown_name
from jostle.skeleton import Pose, Skeleton
from jostle.types import Array, Float


@dataclass(frozen=True, eq=False)
class Push:
    """A force on a body part: the only way to disturb a character."""

    part: str  # a role ("chest", "left_forearm"), a plain word ("torso", "left_arm") or a joint's own name
    force: Float[Array, "3"]  # newtons, in the world frame
    duration: float  # seconds
    point: Float[Array, "3"] | None = None  # metres, in the part's frame; None is the part's centre of mass

    def __post_init__(self) -> None:
        object.__setattr__(self, "force", self._vector("force", self.force))
        if not (np.isfinite(self.duration) and self.duration > 0):
            raise CommandError(f"A push on '{self.part}' needs a positive duration, not {self.duration} s.")
        if self.point is not None:
            object.__setattr__(self, "point", self._vector("point", self.point))

    def _vector(self, what: str, given: object) -> Float[Array, "3"]:
        """An array of its own, also where a list was given."""
        try:
            vector = np.array(given, dtype=float)
        except (TypeError, ValueError):
            vector = np.zeros(0)
        if vector.shape != (3,) or not np.all(np.isfinite(vector)):
            raise CommandError(f"A push on '{self.part}' needs a {what} of three finite numbers, not {given}.")
        return vector

    @property
    def impulse(self) -> Float[Array, "3"]:
        """Force times duration, in newton seconds."""
        return self.force * self.duration


@dataclass(frozen=True, eq=False)
class Command:
    """What the user wants this frame. Every field's default means: no wish."""

    heading: float | None = None  # radians about Z, world frame
    speed: float | None = None  # metres a second
    target: Float[Array, "3"] | None = None  # a point in the world
    pushes: tuple[Push, ...] = ()  # those that begin now; the controller sees them through to their end
    task: str | None = None
    settings: Mapping[str, float] = field(default_factory=dict)  # those to change; they stay until changed again


NEUTRAL = Command()


@dataclass(frozen=True)
class Setting:
    """A number of a character's world that may be changed while it runs, such as the slope of its ground."""

    name: str
    label: str  # for people
    low: float
    high: float
    default: float
    unit: str = ""
    toggle: bool = False  # on or off, from 0 to 1: a tick in the page


def check_settings(known: Iterable[Setting], given: Mapping[str, float]) -> None:
    """Refuse settings that are not known or out of range."""
    by_name = {setting.name: setting for setting in known}
    for name, value in given.items():
        if name not in by_name:
            if not by_name:
                raise CommandError(f"This controller has no settings, so '{name}' cannot be set.")
            raise CommandError(unknown_name("setting", name, by_name))
        low, high, unit = by_name[name].low, by_name[name].high, by_name[name].unit
        if not (isinstance(value, int | float | np.number) and low <= value <= high):
            limits = f"{low:g} and {high:g} {unit}".rstrip()
            raise CommandError(f"The setting '{name}' must be a number between {limits}, not {value}.")


@dataclass(frozen=True)
class Start:
    """Where and how a character begins."""

    position: tuple[float, float] = (0.0, 0.0)  # metres, on the ground
    heading: float = 0.0  # radians about Z
    seed: int = 0


@runtime_checkable
class State(Protocol):
    """What every controller's state shows. Controllers add what they need."""

    @property
    def pose(self) -> Pose: ...

    @property
    def time(self) -> float: ...


@runtime_checkable
class Controller(Protocol):
    """Pure, no hidden clock.

    It may also have a `body` of its own, `settings` (a tuple of Setting) that commands change, and `tasks` (names).
    """

    @property
    def name(self) -> str: ...

    @property
    def skeleton(self) -> Skeleton: ...

    @property
    def dt(self) -> float: ...

    @property
    def supports(self) -> frozenset[str]:
        """The fields of a Command that this controller honours; the viewer greys out the others."""
        ...

    def init(self, start: Start) -> State: ...

    def step(self, state: Any, command: Command) -> State: ...


@dataclass(frozen=True, eq=False)
class Observed:
    """What a state may tell beyond its pose; a state that has no `observed` tells nothing."""

    contacts: dict[str, bool] = field(default_factory=dict)  # part -> touches the ground
    quality: dict[str, float] = field(default_factory=dict)  # likelihood, variance, …, by name
    floor: Floor = LEVEL


def settings_of(controller: Controller) -> tuple[Setting, ...]:
    """What may be changed while this controller runs."""
    return getattr(controller, "settings", ())


def tasks_of(controller: Controller) -> tuple[str, ...]:
    """What this controller does when it is asked by name."""
    return getattr(controller, "tasks", ())
