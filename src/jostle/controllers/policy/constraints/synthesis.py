"""One frame under constraints: who decides what, and the pose that comes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from jostle.controllers.policy.constraints.configuration import Configuration
from jostle.controllers.policy.constraints.constraint import Anatomy, Constraint, Moment
from jostle.controllers.policy.constraints.inference import ITERATIONS, Rows, most_likely, stacked
from jostle.controllers.policy.constraints.solids import Clear
from jostle.features import Placement
from jostle.types import Array, Float

CARRIED = 0.18
EASE = 0.4  # seconds in which a constraint takes hold, and lets go


@dataclass(frozen=True, eq=False)
class Held:
    """A constraint at work: how much of it, and what it remembers."""

    share: float
    memory: Any


@dataclass(frozen=True, eq=False)
class Synthesis:
    """`linear`: one step from the conditional mean, in place of as many as it takes."""

    anatomy: Anatomy
    constraints: tuple[Constraint, ...]
    dt: float
    linear: bool = False

    @cached_property
    def spread(self) -> Float[Array, "P"]:
        """w^-2, how readily each channel gives way, and less for what carries much: the root, the trunk.

        Otherwise the head would nod at every step, and who reaches for something would bend his back as readily as his
        elbow. `CARRIED` is the share of the body's mass at which a joint gives way half as much.
        """
        anatomy = self.anatomy
        features, mass = anatomy.model.features, anatomy.body.mass
        below = [mass[anatomy.skeleton.subtree(joint)].sum() for joint in range(len(mass))]
        gives = 1.0 / (1.0 + (np.array(below) / mass.sum() / CARRIED) ** 2)
        each = [np.full(4, gives[0]), np.repeat(gives[features.joints], 4), np.repeat(gives[features.bones], 3)]
        return np.concatenate(each) * anatomy.model.scales[0] ** -2

    def init(self, mean: Configuration) -> tuple[Configuration, tuple[Held, ...]]:
        """The first pose is the mean; constraints take hold from there."""
        return mean, tuple(Held(0.0, constraint.init(self.anatomy)) for constraint in self.constraints)

    def step(
        self,
        mean: Configuration,
        before: Configuration,
        held: Sequence[Held],
        wanted: Sequence[float],
        target: Float[Array, "3"] | None = None,
    ) -> tuple[Configuration, tuple[Held, ...]]:
        eased, ease = [], self.dt / EASE
        for constraint, one, share in zip(self.constraints, held, wanted, strict=True):
            fresh = one.share == 0.0 and share > 0.0
            memory = constraint.init(self.anatomy) if fresh else one.memory
            eased.append(Held(min(max(share, one.share - ease), one.share + ease), memory))
        return self._found(Moment(self.anatomy, before, mean, self.dt, target), eased)

    def stopped(self, before: Float[Array, "3"], after: Placement, held: Sequence[Held]) -> Placement:
        """Where the root comes to, in a world in which it cannot go everywhere."""
        x, y = after.x, after.y
        for constraint, one in zip(self.constraints, held, strict=True):
            if isinstance(constraint, Clear) and one.share > 0.0:
                x, y = constraint.stops(before, np.array([x, y, before[2]]), self.anatomy.girth, one.share)[:2].tolist()
        return Placement(x, y, after.heading)

    def _found(self, moment: Moment, held: Sequence[Held]) -> tuple[Configuration, tuple[Held, ...]]:
        pairs = list(zip(self.constraints, held, strict=True))
        decided = tuple(
            Held(h.share, c.decide(moment, h.memory, _smooth(h.share))) if h.share > 0.0 else h for c, h in pairs
        )
        at_work = [(c, h) for c, h in zip(self.constraints, decided, strict=True) if h.share > 0.0]

        def asked(here: Configuration) -> Rows | None:
            rows = [c.rows(moment, here, h.memory, _smooth(h.share)) for c, h in at_work]
            found = [one for one in rows if one is not None]
            return stacked(found) if found else None

        start = self.anatomy.kinematics.at(moment.before.unit_row, moment.mean.place)
        return most_likely(moment.mean, start, self.spread, asked, 1 if self.linear else ITERATIONS), decided


def _smooth(share: float) -> float:
    return share * share * (3.0 - 2.0 * share)
