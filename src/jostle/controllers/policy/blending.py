"""What sets a character apart from its motion fades on a spring: that of another policy before, and pushes.

The paper lets the conditional mean alone do this. It begins where the old motion was, and in the first frame gives up
as much of the difference as poses of neighbouring frames differ: here a third of it and more, 7 cm at a foot between
walking and running, and 29 where latent positions are sure of different things. So the difference is taken off first,
with the speed at which it is growing, and fades on a critically damped spring; the conditional mean has what is left.

    y_t = mu(y_t-1 - e_t-1) + e_t,    e_0 = y - g(x),    e_0' = y' - g'
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.controllers.policy.constraints.configuration import Configuration
from jostle.features.features import differentiate
from jostle.maths import spring
from jostle.types import Array, Float

HALFLIFE = 0.14  # seconds: of another policy's motion
SHAKEN = 0.25  # seconds: of what pushes do
_GONE = 2e-4  # metres and quaternions, or as much in a frame


@dataclass(frozen=True, eq=False)
class Apart:
    """Differences from what the policy would do, and how fast they grow: of the row, and of the root's travel."""

    row: Float[Array, "P"]
    rate: Float[Array, "P"]  # per second
    travel: Float[Array, "3"]  # ahead, aside, turn; per second
    halflife: float = HALFLIFE

    def after(self, dt: float) -> Apart | None:
        """A frame later; None once it cannot be seen."""
        row, rate = spring.step(self.row, self.rate, np.zeros_like(self.row), self.halflife, dt)
        travel = spring.damp(self.travel, np.zeros(3), self.halflife, dt)
        left = max(float(np.max(np.abs(part))) for part in (row, dt * rate, dt * travel))
        return Apart(row, rate, travel, self.halflife) if left > _GONE else None

    def pushed(self, change: Float[Array, "V"]) -> Apart:
        """Faster by so much."""
        count = len(self.row)
        return Apart(self.row, self.rate + change[:count], self.travel + change[count:], SHAKEN)


@dataclass(frozen=True, eq=False)
class Seam:
    """A motion that another policy goes on from: its last row, and its last change, per second."""

    row: Float[Array, "P"]
    change: Float[Array, "V"]

    def apart(self, before: Float[Array, "P"], row: Float[Array, "P"], travel: Float[Array, "3"], dt: float) -> Apart:
        """From a policy whose row was the one `before`, is the other now, and whose root travels so."""
        rate = self.change[: len(row)] - (row - before) / dt
        return Apart(self.row - before, rate, self.change[-3:] - travel)

    def pushed(self, change: Float[Array, "V"]) -> Seam:
        return Seam(self.row, self.change + change)


def change_between(before: Configuration, now: Configuration, dt: float) -> Float[Array, "V"]:
    """How fast a row and the root change, per second."""
    places = np.array([[c.place.x, c.place.y] for c in (before, now)])
    steps, turns = differentiate(places, np.array([before.place.heading, now.place.heading]))
    return np.concatenate([now.row - before.row, steps[1], turns[1:]]) / dt
