"""Where a walker heads, and how it gets round a corner.

The controller works in a frame that faces the heading, so turning that frame turns torso and feet; but not the way the
body is going. A body of speed v that turns at the rate w must be pushed to the inside with v w per kilogram, and what
pushes it is the foot, put down to the outside of where it would go: by an angle of about v w / g. Without that, gaits
that walk straight for minutes run out of their turn and fall within a few steps; with it they get round
(`benchmarks/steering.py`, docs/walking.md).

    veer = LEAN v w / g + CORRECT drift

The second term brings the way in line with the heading; `drift` is how fast the body slides to the side of its heading,
averaged over a step or so. Both fade when nobody steers: a walker that is left alone is the one that was optimised.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.body import GRAVITY
from jostle.maths.angles import wrapped
from jostle.types import Array, Float

TURNING = np.radians(10.0)  # a second, at most
LEAN = 2.0  # of the angle that balances a point mass; legs have mass, and a step is not over at once
CORRECT = 0.3  # radians for a metre a second
SETTLING = 0.5  # seconds: a step or so
LARGEST = 0.3  # radians: no leg steps further aside than this
TO_MIDDLE = 0.3  # radians: nobody on a beam heads further aside than this


@dataclass(frozen=True)
class Course:
    """What steering remembers."""

    heading: float  # radians about Z
    turning: float = 0.0  # radians a second, to the left
    drift: float = 0.0  # metres a second, to the right of the heading
    steered: float = 0.0  # 1 while someone steers, 0 a while after
    veer: float = 0.0  # radians by which swing legs step to the right

    @property
    def ahead(self) -> Float[Array, "2"]:
        return np.array([np.cos(self.heading), np.sin(self.heading)])

    def after(self, wish: float | None, velocity: Float[Array, "3"], dt: float, fastest: float = TURNING) -> Course:
        """`dt` seconds later, on the way to a heading (None: straight on); `velocity` is that of the centre of mass."""
        share = min(1.0, dt / SETTLING)
        gap = 0.0 if wish is None else wrapped(wish - self.heading)
        turning = self.turning + share * (float(np.clip(gap / SETTLING, -fastest, fastest)) - self.turning)
        speed, aside = self.ahead @ velocity[:2], self.ahead[1] * velocity[0] - self.ahead[0] * velocity[1]
        drift = self.drift + share * (float(aside) - self.drift)
        steered = self.steered + share * ((wish is not None) - self.steered)
        veer = LEAN * float(speed) * turning / GRAVITY + steered * CORRECT * drift
        return Course(self.heading + dt * turning, turning, drift, steered, float(np.clip(veer, -LARGEST, LARGEST)))


def to_middle(aside: Float[Array, "*n"], ahead: float) -> Float[Array, "*n"]:
    """The heading that leads back to the middle of a beam, so many metres ahead, from so far to its left."""
    return np.clip(-np.arctan(aside / ahead), -TO_MIDDLE, TO_MIDDLE)
