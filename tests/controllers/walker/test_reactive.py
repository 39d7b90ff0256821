"""Reactive walkers (Wang 2010, section 4.4.4): one controller in typical states, another in all others (4.16)."""

import numpy as np
import pytest

from jostle.assets import walker_path
from jostle.controllers import Command, Push, Start
from jostle.controllers.walker.parameters import BASE, FEATURES, GUIDED, REACTIVE, WALKER, reactive
from jostle.controllers.walker.people import PEOPLE, walker_physics
from jostle.controllers.walker.trace import Shove, rollout
from jostle.controllers.walker.walk import Walk
from jostle.controllers.walker.walker import Walker
from jostle.runtime import load_controller, save_controller

PHYSICS = walker_physics(PEOPLE["stocky"], timestep=0.002)
MEAN, SPREAD = np.array([0.06, 0.1, 1.35, 0.0]), np.array([0.18, 0.045, 0.08, 0.24])


@pytest.fixture(scope="module")
def guided():
    walker = load_controller(walker_path("stocky"))
    assert isinstance(walker, Walker)
    return GUIDED.adopt(WALKER.named(walker.values))


def changed(values, **given):
    return REACTIVE.vector(REACTIVE.named(values) | given)


def test_it_is_given_a_walker_and_searches_for_another(guided):
    values = reactive(guided, MEAN, SPREAD)
    searched = [REACTIVE.names[i] for i in REACTIVE.searched]
    assert len(searched) == 110
    assert not [name for name in searched if name.startswith((BASE, "typical", "spread", "angle", "velocity"))]
    gains = REACTIVE.unpack(values[None])
    plain = GUIDED.unpack(guided[None])
    assert gains.reaction is not None
    for name in ("kp", "kd", "target", "c_d", "c_v", "alpha_hip", "alpha_arm", "switch", "angles", "velocity"):
        np.testing.assert_array_equal(getattr(gains, name), getattr(plain, name))
        np.testing.assert_array_equal(getattr(gains.reaction.gains, name), getattr(plain, name))
    np.testing.assert_allclose(gains.reaction.mean[0], MEAN)
    np.testing.assert_allclose(gains.reaction.spread[0], SPREAD)
    assert gains.reaction.kappa[0] == pytest.approx(np.exp(-7.0))


def test_with_its_own_gains_for_recovery_it_walks_as_before(guided):
    """Bit by bit, although it changes between the two all the time."""
    force = np.tile([30.0, 40.0, 0.0], (2, 1))
    walked = {}
    for kind, values in (("guided", guided), ("reactive", changed(reactive(guided, MEAN, SPREAD), kappa=3.0))):
        walk = Walk(PHYSICS, 2, kind, threads=1)
        walked[kind] = rollout(walk, np.tile(values, (2, 1)), 1.5, 0.7, [Shove(0.5, 0.2, force)], poses=True)
    np.testing.assert_array_equal(walked["reactive"].qpos, walked["guided"].qpos)
    changes = np.abs(np.diff(walked["reactive"].recovering[:, 0].astype(int))).sum()
    assert changes > 2
    assert not walked["guided"].recovering.any()


def test_the_mode_is_that_of_the_density(guided):
    """Against a product of four normal densities."""
    values = np.stack([changed(reactive(guided, MEAN, SPREAD), kappa=k) for k in (1e-3, 3.0, 30.0, 1e6)])
    walk = Walk(PHYSICS, 4, "reactive", threads=1)
    walk.start(values)
    seen = set()
    for _ in range(400):
        now, _, _ = walk.step()
        features = np.concatenate([now.distance[:, :2], now.velocity[:, :2]], axis=1)
        normal = np.exp(-0.5 * ((features - MEAN) / SPREAD) ** 2) / (SPREAD * np.sqrt(2.0 * np.pi))
        expected = normal.prod(axis=1) < values[:, REACTIVE.index["kappa"]]
        np.testing.assert_array_equal(walk.mode == 1, expected)
        seen |= set(expected.tolist())
    assert seen == {True, False}
    assert (walk.mode == 1)[3]  # no state is as dense as that


def test_where_nothing_is_typical_only_the_second_controller_acts(guided):
    """From the start state of the first, with the gains of the second."""
    other = GUIDED.decode(GUIDED.encode(guided) + 0.3 * np.random.default_rng(0).normal(size=len(GUIDED)))
    own = {name: value for name, value in GUIDED.named(other).items() if name in REACTIVE.index}
    both = changed(reactive(guided, MEAN, SPREAD), kappa=1e6, **own)
    start = {n: v for n, v in GUIDED.named(guided).items() if n not in REACTIVE.index}
    second = GUIDED.vector(GUIDED.named(other) | start)
    poses = []
    for kind, values in (("reactive", both), ("guided", second)):
        walk = Walk(PHYSICS, 2, kind, threads=1)
        poses.append(rollout(walk, np.tile(values, (2, 1)), 0.4, 0.7, poses=True).qpos)
    np.testing.assert_array_equal(*poses)


def test_it_lives_and_is_kept_in_a_file(guided, tmp_path):
    walker = Walker("careful", PEOPLE["stocky"], "reactive", reactive(guided, MEAN, SPREAD))
    save_controller(walker, tmp_path / "careful.jostle")
    again = load_controller(tmp_path / "careful.jostle")
    assert isinstance(again, Walker)
    np.testing.assert_array_equal(again.values, walker.values)
    state = again.init(Start())
    push = Push("torso", np.array([0.0, 60.0, 0.0]), 0.2)
    for k in range(60):
        state = again.step(state, Command(heading=0.2, pushes=(push,) if k == 20 else ()))
    assert state.observed.quality["fallen"] == 0.0
    assert len(FEATURES) == 4


def test_gains_grow_with_a_body_and_habits_do_not(guided):
    values = reactive(guided, MEAN, SPREAD)
    heavier = REACTIVE.named(REACTIVE.for_mass(values, 1.2))
    named = REACTIVE.named(values)
    assert heavier["kp1.rhip_x"] == pytest.approx(1.2 * named["kp1.rhip_x"])
    assert heavier[BASE + "kd0.lknee_y"] == pytest.approx(1.2 * named[BASE + "kd0.lknee_y"])
    for name in ("kappa", "spread.v.coronal", "typical.d.sagittal", "c_v.coronal"):
        assert heavier[name] == named[name]
