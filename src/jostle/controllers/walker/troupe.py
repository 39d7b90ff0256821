"""Walkers of one body that take turns (Wang 2010, section 4.4.5): the task "brisk" lets that one go on in mid-stride.

What a step depends on is the same for all walkers of a body, so a change is nothing but another walker's next step.
Where a transition was made for a change, a walker called `A_to_B`, it takes over instead of B; it is B with a recovery.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from jostle.body import Body
from jostle.controllers.protocol import Command, Observed, Setting, Start
from jostle.controllers.walker.handover import BETWEEN
from jostle.controllers.walker.walker import STAND_UP, Walker, WalkerState
from jostle.errors import CommandError, unknown_name
from jostle.skeleton import Pose, Skeleton
from jostle.types import Array


@dataclass(frozen=True, eq=False)
class TroupeState:
    """The walker's own state, and whose it is."""

    walking: WalkerState
    by: str  # the walker that was asked for, or a transition to it

    @property
    def who(self) -> str:
        """The walker that was asked for."""
        return self.by.rpartition(BETWEEN)[2]

    @property
    def pose(self) -> Pose:
        return self.walking.pose

    @property
    def time(self) -> float:
        return self.walking.time

    @property
    def observed(self) -> Observed:
        return self.walking.observed


@dataclass(frozen=True, eq=False)
class Troupe:
    """The first walker begins; the others wait for a task of their name."""

    walkers: tuple[Walker, ...]

    kind = "troupe"
    sources = ()
    supports = Walker.supports
    dt = Walker.dt

    def __post_init__(self) -> None:
        if not self.walkers:
            raise CommandError("There is no walker to begin with; name at least one.")
        first, titles = self.walkers[0], [walker.title for walker in self.walkers]
        for walker in self.walkers:
            if walker.person != first.person:
                raise CommandError(
                    f"'{walker.title}' cannot take over from '{first.title}': they have different bodies."
                )
            if walker.ground.width != first.ground.width:
                raise CommandError(f"'{walker.title}' cannot take over from '{first.title}': one of them needs a beam.")
            if titles.count(walker.title) > 1:
                raise CommandError(f"Two walkers are called '{walker.title}'; each needs a name of its own.")

    @property
    def name(self) -> str:
        return self.walkers[0].name

    @property
    def body(self) -> Body:
        return self.walkers[0].body

    @property
    def skeleton(self) -> Skeleton:
        return self.walkers[0].skeleton

    @property
    def settings(self) -> tuple[Setting, ...]:
        return self.walkers[0].settings

    @cached_property
    def tasks(self) -> tuple[str, ...]:
        return (STAND_UP, *(walker.title for walker in self.walkers if BETWEEN not in walker.title))

    @cached_property
    def _called(self) -> dict[str, Walker]:
        return {walker.title: walker for walker in self.walkers}

    def init(self, start: Start) -> TroupeState:
        first = self.walkers[0]
        return TroupeState(first.init(start), first.title)

    def step(self, state: TroupeState, command: Command) -> TroupeState:
        if command.task is not None and command.task not in self.tasks:
            raise CommandError(unknown_name("task", command.task, self.tasks))
        by = state.by
        if command.task not in (None, STAND_UP):
            by = by if command.task == state.who else self._taking_over(state.who, command.task)
            command = replace(command, task=None)
        return TroupeState(self._called[by].step(state.walking, command), by)

    def _taking_over(self, before: str, after: str) -> str:
        transition = f"{before}{BETWEEN}{after}"
        return transition if transition in self._called else after

    def pack(self) -> tuple[dict[str, Any], dict[str, Array]]:
        return {"walkers": [walker.pack()[0] for walker in self.walkers]}, {}

    @classmethod
    def unpack(cls, data: dict[str, Any], arrays: dict[str, Array]) -> Troupe:
        return cls(tuple(Walker.unpack(walker, {}) for walker in data["walkers"]))


def with_others(first: Walker, others: Sequence[Walker]) -> Walker | Troupe:
    """A walker together with those of the others that have its body and ground; alone where none has."""
    shared = (first.person, first.ground.width)
    same = [w for w in others if (w.person, w.ground.width) == shared and w.title != first.title]
    return Troupe((first, *same)) if same else first
