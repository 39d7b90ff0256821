"""What is typical of a walker: a Gaussian over its balance."""

import numpy as np
import pytest

from jostle.controllers.walker.parameters import GUIDED, WALKER
from jostle.controllers.walker.people import walker_physics
from jostle.controllers.walker.walk import Walk
from jostle.errors import CommandError
from jostle.tuning import typical
from jostle.tuning.chance import Chance


def test_mean_and_spread_of_what_balance_feels(stocky, monkeypatch):
    """Of four walks straight on, which are one walk four times."""
    monkeypatch.setattr(typical, "SECONDS", 3.0)
    monkeypatch.setattr(typical, "TURNING", Chance(trials=4))
    values = GUIDED.adopt(WALKER.named(stocky.values))
    mean, spread = typical.typical_states(values, stocky.person, stocky.ground)
    walk = Walk(walker_physics(stocky.person, stocky.ground, 0.002), 1, "guided", threads=1)
    walk.start(values[None])
    felt = []
    for _ in range(1500):
        now, _, _ = walk.step()
        felt.append([*now.distance[0, :2], *now.velocity[0, :2]])
    np.testing.assert_allclose(mean, np.mean(felt[500:], axis=0), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(spread, np.std(felt[500:], axis=0), rtol=1e-6)


def test_nothing_is_typical_of_who_falls(stocky):
    with pytest.raises(CommandError, match=r"falls after [\d.]+ s of walking and turning"):
        typical.typical_states(GUIDED.initial, stocky.person, stocky.ground)
