"""Let a batch of walkers walk on and on, keeping nothing of it: for experiments too long or too wide for a trace."""

from __future__ import annotations

import numpy as np

from jostle.controllers.walker.trace import PATIENCE
from jostle.controllers.walker.walk import Begun, Walk
from jostle.evaluate.metrics import fell
from jostle.types import Array, Bool, Float, Int

_EVERY = 10  # steps between two looks at who has fallen


class March:
    """`step` again and again; who has fallen, or taken no step for 1.5 s, is left behind.

    Fallen is a centre of mass below `fallen` metres, as in the thesis, or a torso that `metrics.fell` calls fallen.
    """

    def __init__(self, walk: Walk, values: Float[Array, "B P"], fallen: float, begun: Begun | None = None) -> None:
        self.walk, self.fallen, self.k = walk, fallen, 0
        walk.start(values) if begun is None else walk.take_over(values, begun)
        count, body = walk.many.count, walk.physics.body
        self.torso = body.skeleton.index("Spine")
        self._body = int(walk.physics.bodies[self.torso])
        self._standing = float(body.skeleton.rest_positions[self.torso, 2])
        self._last = np.zeros(count, dtype=int)
        self.strikes: Int[Array, "B"] = np.zeros(count, dtype=int)  # steps on foot
        self.seconds: Float[Array, "B"] = np.zeros(count)  # walked so far

    @property
    def time(self) -> float:
        return self.k * self.walk.dt

    @property
    def walking(self) -> Bool[Array, "B"]:
        on = np.zeros(self.walk.many.count, dtype=bool)
        on[self.walk.rows] = True
        return on

    def step(self) -> None:
        walk, rows = self.walk, self.walk.rows
        _, _, struck = walk.step()
        self.strikes[rows[struck]] += 1
        self._last[rows[struck]] = self.k
        self.k += 1
        self.seconds[rows] = self.time
        if self.k % _EVERY == 0:
            self._leave_behind()

    def _leave_behind(self) -> None:
        walk, rows = self.walk, self.walk.rows
        height = self._above(walk.many.com[rows], rows)
        torso = self._above(walk.many.read("xpos")[rows, self._body], rows)
        up = walk.many.read("xmat")[rows, self._body, 2::3]
        on = (height > self.fallen) & ~fell(torso, up, self._standing) & walk.many.running[rows]
        on &= (self.k - self._last[rows]) * walk.dt < PATIENCE
        if not on.all():
            walk.keep(on)

    def _above(self, points: Float[Array, "n 3"], rows: Int[Array, "n"]) -> Float[Array, "n"]:
        """Straight up from the ground."""
        normal = self.walk.normal[rows]
        return ((points - self.walk.pivot[rows]) * normal).sum(axis=1) / normal[:, 2]
