"""Where one walker leaves off, so that another can take over (Wang 2010, section 4.4.5)."""

from __future__ import annotations

import numpy as np

from jostle.controllers.walker.walk import Begun, Walk
from jostle.errors import CommandError
from jostle.types import Array, Float

BETWEEN = "_to_"  # in the name of a transition: A_to_B takes over from A and goes on as B


def left_off(walk: Walk, values: Float[Array, "P"], times: Float[Array, "n"], fallen: float) -> Begun:
    """Copies of a walker, each after its own time in seconds."""
    walk.start(np.tile(values, (len(times), 1)))
    qpos, qvel = np.zeros_like(walk.many.qpos), np.zeros_like(walk.many.qvel)
    state, side, since = np.zeros(len(times), int), np.zeros(len(times), int), np.zeros(len(times))
    at = np.round(times / walk.dt).astype(int)
    for k in range(int(at.max()) + 1):
        now = np.flatnonzero(at == k)
        qpos[now], qvel[now] = walk.many.qpos[now], walk.many.qvel[now]
        state[now], side[now], since[now] = walk.state[now], walk.side[now], walk.since[now]
        walk.step()
        if not (walk.many.running.all() and np.all(walk.many.com[:, 2] > fallen)):
            raise CommandError(f"The walker to take over from falls after {k * walk.dt:.1f} s; choose one that walks.")
    return Begun(qpos, qvel, state, side, since)
