"""The constants of planning: Levine et al. 2012, sections 5.2 to 5.4, and those of its departures.

They are saved with a policy, which so goes on as it was planned. Those of locomotion stand here; a task names those
that are to be others (`Task.constants`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from jostle.errors import CommandError, unknown_name


@dataclass(frozen=True)
class Constants:
    unsure: float = 0.08  # c_y: what a pose costs that is as unsure as those of the data are on average
    stray: float = 0.05  # c_x: what it costs to be off the way of the dynamics by a whole step
    bend: float = 0.0  # what a change of step costs that is as large as those of the data are on average
    jolt: float = 0.1  # what a second difference of the pose costs that is as large as those of the data are on average
    discount: float = 0.97  # gamma, a frame
    neighbours: int = 6  # samples whose values count, k
    faster: float = 1.0  # weight of velocities beside positions among neighbours
    ring: int = 16  # actions beside the mean, for each pace
    apart: int = 4  # of the samples around, every so many are steered to
    reach: float = 0.5  # of the way across to such a sample
    largest: float = 1.5  # of that, in steps
    standing: float = 0.0  # of a usual step: as long is one, for the last, of who stands; or he never begins to move
    lag: float = 0.5  # of a step, by which what is shown is behind: from frame to frame actions jitter
    paces: Sequence[float] = (1.0, 0.6, 1.6)  # lengths of a step, the first that of the dynamics

    def __post_init__(self) -> None:
        object.__setattr__(self, "paces", tuple(float(pace) for pace in self.paces))
        if not (self.ring >= 1 and self.apart >= 1 and self.neighbours >= 1 and self.paces):
            raise CommandError("A plan needs an action, a sample to steer to, a neighbour and a pace at least.")
        if not 0.0 <= self.discount < 1.0:
            raise CommandError(f"What comes later counts less: discount is from 0 to below 1, not {self.discount}.")

    def told(self, words: Iterable[str]) -> Constants:
        """With those of `jolt=0.02` that are said so."""
        known = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "paces"}
        said: dict[str, Any] = {}
        for word in words:
            name, _, value = word.partition("=")
            if name not in known:
                raise CommandError(unknown_name("constant", name, known))
            try:
                said[name] = type(known[name])(value)
            except ValueError:
                raise CommandError(f"A constant is said as {name}={known[name]}, not as '{word}'.") from None
            if not (np.isfinite(said[name]) and said[name] >= 0):
                raise CommandError(f"The constant '{name}' is to be 0 or more, not {value}.")
        return replace(self, **said)


USUAL = Constants()
