"""One walker takes over from another, in the middle of a step."""

import numpy as np
import pytest

from jostle.controllers.walker.handover import left_off
from jostle.controllers.walker.parameters import GUIDED, WALKER
from jostle.controllers.walker.people import walker_physics
from jostle.controllers.walker.trace import rollout
from jostle.controllers.walker.walk import Walk
from jostle.errors import CommandError


def test_who_takes_over_from_itself_walks_on(stocky):
    """Almost: a rollout that is cut in two goes on from positions and velocities, without the solver's warm start."""
    values, physics = GUIDED.adopt(WALKER.named(stocky.values)), walker_physics(stocky.person, timestep=0.002)
    begun = left_off(Walk(physics, 2, "guided", 1), values, np.array([0.5, 0.8]), stocky.person.fallen)
    assert set(begun.side.tolist()) <= {0, 1}
    whole = rollout(Walk(physics, 2, "guided", 1), np.tile(values, (2, 1)), 1.2, stocky.person.fallen, poses=True)
    rest = rollout(
        Walk(physics, 2, "guided", 1), np.tile(values, (2, 1)), 0.4, stocky.person.fallen, poses=True, begun=begun
    )
    assert whole.qpos is not None
    assert rest.qpos is not None
    for row, first in enumerate((250, 400)):
        np.testing.assert_array_equal(rest.qpos[0, row], whole.qpos[first, row])
        np.testing.assert_allclose(rest.qpos[:150, row], whole.qpos[first : first + 150, row], atol=2e-3)
        np.testing.assert_array_equal(rest.phase[:5, row], whole.phase[first : first + 5, row])


def test_states_are_shared_out_in_order(stocky):
    values, physics = GUIDED.adopt(WALKER.named(stocky.values)), walker_physics(stocky.person, timestep=0.002)
    begun = left_off(Walk(physics, 2, "guided", 1), values, np.array([0.1, 0.3]), stocky.person.fallen)
    many = begun.tiled(5)
    np.testing.assert_array_equal(many.qvel, begun.qvel[[0, 1, 0, 1, 0]])
    np.testing.assert_array_equal(many.since, begun.since[[0, 1, 0, 1, 0]])


def test_nobody_takes_over_from_who_falls(stocky):
    walk = Walk(walker_physics(stocky.person, timestep=0.002), 1, "guided", 1)
    with pytest.raises(CommandError, match=r"The walker to take over from falls after [\d.]+ s"):
        left_off(walk, GUIDED.initial, np.array([8.0]), stocky.person.fallen)
