"""The states that are typical of a walker: what a recovery controller brings it back to (Wang 2010, section 4.4.4).

The walker walks for a hundred seconds with random changes of heading, and an axis-aligned Gaussian is laid over what
its balance feels all the while: from the stance ankle to the centre of mass, and the velocity of that, in the sagittal
and the coronal plane.
"""

from __future__ import annotations

import numpy as np

from jostle.body import Ground
from jostle.controllers.walker.parameters import GUIDED
from jostle.controllers.walker.people import Person, walker_physics
from jostle.controllers.walker.walk import Walk
from jostle.errors import CommandError
from jostle.tuning.chance import Chance, Fates
from jostle.types import Array, Float

WALKS, SECONDS, SETTLING = 4, 25.0, 1.0  # a hundred seconds in four walks
TIMESTEP = 0.002
TURNING = Chance(trials=WALKS, turn=0.3, turns=0.6)


def typical_states(
    values: Float[Array, "P"], person: Person, ground: Ground, seed: int = 0
) -> tuple[Float[Array, "4"], Float[Array, "4"]]:
    """Mean and standard deviation of d and v, sagittal and coronal, of a guided walker."""
    walk = Walk(walker_physics(person, ground, TIMESTEP), WALKS, GUIDED.kind)
    fates = Fates(TURNING, (seed,), SECONDS, walk.dt, WALKS)
    walk.start(np.tile(values, (WALKS, 1)))
    felt = []
    for k in range(round(SECONDS / walk.dt)):
        fates(walk, k)
        now, _, _ = walk.step()
        if k * walk.dt >= SETTLING:
            felt.append(np.concatenate([now.distance[:, :2], now.velocity[:, :2]], axis=1))
        if not (walk.many.running.all() and np.all(walk.many.com[:, 2] > person.fallen)):
            raise CommandError(
                f"The walker to recover to falls after {k * walk.dt:.1f} s of walking and turning, so nothing is "
                "typical of it; make it with `chance = {turn = 0.3}` first."
            )
    states = np.concatenate(felt)
    return states.mean(axis=0), states.std(axis=0)
