"""Guided walkers (Wang 2010, section 4.3.1): a shared upper body, spread arms, and turning by themselves."""

import numpy as np
import pytest

from jostle.assets import walker_path
from jostle.body import Ground
from jostle.controllers import Command, Start
from jostle.controllers.walker.joints import ANGLES, INDEX, MIRROR
from jostle.controllers.walker.parameters import GUIDED, WALKER
from jostle.controllers.walker.people import PEOPLE, walker_physics
from jostle.controllers.walker.walk import NEAR, Walk
from jostle.controllers.walker.walker import Walker
from jostle.runtime import load_controller

UPPER = [i for i, name in enumerate(ANGLES) if name.startswith(("back", "neck")) or name[1:].startswith(("arm", "elb"))]
LOWER = [i for i in range(30) if i not in UPPER]


def odd(seed=0):
    """Values of which no two are alike."""
    return GUIDED.decode(GUIDED.encode(GUIDED.initial) + np.random.default_rng(seed).normal(size=(2, len(GUIDED))))


def test_it_has_144_numbers():
    assert len(GUIDED) == 144
    assert sum(name.startswith("alpha_hip") for name in GUIDED.names) == 4


def test_gains_of_the_upper_body_are_those_of_every_state_and_side():
    gains = GUIDED.unpack(odd())
    for group in (gains.kp, gains.kd):
        np.testing.assert_array_equal(group[:, 0, UPPER], group[:, 1, UPPER])
        np.testing.assert_array_equal(group[:, 0, UPPER], group[:, 0, MIRROR[UPPER]])
        assert (group[:, 0, LOWER] != group[:, 1, LOWER]).all()
        assert len(np.unique(group[0, 0])) == 30 - 5  # three angles of an arm and two of an elbow are had twice


def test_arms_are_spread_to_either_side_and_elbows_bend_alike():
    values = odd()
    target = GUIDED.unpack(values).target
    spread, bent = values[:, GUIDED.index["target.arm_x"]], values[:, GUIDED.index["target.elbow_y"]]
    for state in (0, 1):
        np.testing.assert_array_equal(target[:, state, INDEX["larm_x"]], spread)
        np.testing.assert_array_equal(target[:, state, INDEX["rarm_x"]], -spread)
        np.testing.assert_array_equal(target[:, state, INDEX["lelbow_y"]], bent)
        np.testing.assert_array_equal(target[:, state, INDEX["relbow_y"]], bent)


def test_a_walker_becomes_a_guided_one():
    rng = np.random.default_rng(1)
    values = WALKER.decode(WALKER.encode(WALKER.initial) + 0.5 * rng.normal(size=len(WALKER)))
    before = WALKER.unpack(values[None])
    after = GUIDED.unpack(GUIDED.adopt(WALKER.named(values))[None])
    for name in ("kp", "kd", "target"):
        np.testing.assert_allclose(getattr(after, name)[..., LOWER], getattr(before, name)[..., LOWER], rtol=1e-12)
    arms = [INDEX["larm_y"], INDEX["rarm_y"]]
    assert after.kp[0, 0, arms[0]] == pytest.approx(np.exp(np.log(before.kp[0][:, arms]).mean()))
    for name in ("c_d", "c_v", "alpha_arm", "switch", "angles", "rates", "velocity"):
        np.testing.assert_array_equal(getattr(after, name), getattr(before, name))


@pytest.fixture(scope="module")
def four():
    """Four guided walkers with rates of their own for either side."""
    values = np.stack([GUIDED.initial] * 4)
    for at, rate in (("0.swing", 3.0), ("0.stance", 1.0), ("1.swing", 2.0), ("1.stance", 0.5)):
        values[:, GUIDED.index[f"alpha_hip{at}"]] = rate
    walk = Walk(walker_physics(PEOPLE["stocky"], Ground(), 0.002), 4, "guided", 1)
    walk.start(values)
    return walk


def test_a_near_wish_is_taken_at_once_and_a_far_one_approached(four):
    """(4.3) in closed form; in state 0 with a left swing leg, left is the side of the swing leg."""
    four.wish[:] = 0.9 * NEAR, 1.0, -1.0, 2.0 * np.pi
    steps = 20
    for _ in range(steps):
        four.step()
    assert (four.state == 0).all()
    assert (four.side == 0).all()
    left, right = (1.0 - (1.0 - rate * four.dt) ** steps for rate in (3.0, 1.0))
    np.testing.assert_allclose(four.heading, [0.9 * NEAR, left, -right, 0.0], atol=1e-12)


def test_live_it_turns_and_then_walks_that_way():
    person = load_controller(walker_path("thin"))
    guided = Walker("guided", person.person, "guided", GUIDED.adopt(WALKER.named(person.values)))
    state = guided.init(Start())
    for _ in range(30):
        state = guided.step(state, Command(heading=0.3))
    assert 0.05 < state.observed.quality["heading"] <= 0.3
    before = state.observed.quality["heading"]
    straight = guided.step(state, Command())
    assert straight.observed.quality["heading"] == before
