"""Walkers on a GPU against those on the processor; where there is no GPU, the same code runs on the processor."""

import numpy as np
import pytest

from jostle.assets import walker_path
from jostle.body import Ground
from jostle.controllers.walker.handover import left_off
from jostle.controllers.walker.parameters import GUIDED, REACTIVE, WALKER, reactive
from jostle.controllers.walker.people import walker_physics
from jostle.controllers.walker.trace import Shove, rollout
from jostle.controllers.walker.walk import Walk
from jostle.runtime import load_controller
from jostle.tuning.objective import observe
from jostle.tuning.returns import instants

pytest.importorskip("warp", reason="needs the extra 'gpu'")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning")]


def test_a_gpu_draws_noise_of_the_right_size_and_alike_for_equal_fates():
    from jostle.controllers.walker.gpu import GpuWalk

    walker, count, noise = load_controller(walker_path("thin")), 64, 0.3
    values = np.stack([walker.values] * count)
    forces = {}
    walk = GpuWalk(walker_physics(walker.person), count, "walker", walker.person.fallen, "cpu")
    for strength in (0.0, noise):
        walk.shake(strength, np.arange(count) // 2 + 1)
        walk.start(values)
        walk.run(1)
        forces[strength] = walk.applied[:, 6:]
    calm, shaken = forces[0.0], forces[noise]
    gains = WALKER.unpack(values[:1])
    torque = calm[0] - gains.kd[0, 0] * gains.rates[0]  # with the damper
    drawn = (shaken - calm) / (np.abs(torque) * gains.kp[0, 0] ** -0.25 + 1e-9)
    np.testing.assert_allclose(shaken[::2], shaken[1::2], atol=1e-3)
    some = np.abs(torque) > 1.0
    assert np.std(drawn[::2][:, some]) == pytest.approx(noise, rel=0.1)
    assert abs(np.mean(drawn[::2][:, some])) < 0.05


def test_a_gpu_turns_as_the_processor_does():
    from jostle.controllers.walker.gpu import GpuWalk

    walker = load_controller(walker_path("thin"))
    values = np.stack([GUIDED.adopt(WALKER.named(walker.values))] * 2)
    values[:, [GUIDED.index[f"alpha_hip{at}"] for at in ("0.swing", "0.stance", "1.swing")]] = 2.0, 0.5, 1.5
    physics = walker_physics(walker.person)
    found = GpuWalk(physics, 2, "guided", walker.person.fallen, "cpu")
    at, to = np.array([[300, 700], [300, 700]]), np.array([[0.15, -0.2], [-0.3, -0.35]])
    found.start(values, turn_at=at, turn_to=to)
    found.run(1000)

    def turn(walk, k):
        if k in at[0]:
            walk.wish[:] = to[:, at[0].tolist().index(k)]

    walk = Walk(physics, 2, "guided")
    trace = rollout(walk, values, 2.0, walker.person.fallen, happens=turn)
    np.testing.assert_allclose(found.headings, walk.heading, atol=1e-3)
    seen, wanted = found.seen(), observe(trace)
    for key in ("lasted", "velocity", "power", "ratio", "states", "step_m"):
        np.testing.assert_allclose(seen[key], wanted[key], rtol=0.03, atol=0.01, err_msg=key)


def test_a_gpu_recovers_as_the_processor_does():
    from jostle.controllers.walker.gpu import GpuWalk

    walker, rng = load_controller(walker_path("thin")), np.random.default_rng(0)
    guided = GUIDED.adopt(WALKER.named(walker.values))
    base = reactive(guided, np.array([0.06, 0.1, 1.2, 0.0]), np.array([0.18, 0.045, 0.08, 0.24]))
    units = REACTIVE.encode(np.stack([base, base]))
    units[1, REACTIVE.searched] += 0.15 * rng.normal(size=len(REACTIVE.searched))  # recovers in a way of its own
    values = REACTIVE.decode(units)
    values[:, REACTIVE.index["kappa"]] = 0.3
    physics, steps = walker_physics(walker.person), 500
    pushed = np.tile([0.0, 20.0, 0.0], (2, 1))
    found = GpuWalk(physics, 2, "reactive", walker.person.fallen, "cpu")
    found.aim(rate=0.24)
    found.start(values, np.full((2, 1), 200), np.full((2, 1), 300), pushed[:, None])
    found.run(steps)
    trace = rollout(Walk(physics, 2, "reactive"), values, 1.0, walker.person.fallen, [Shove(0.4, 0.2, pushed)])
    recovering = trace.recovering[instants(steps, 0.002)].sum(axis=0)
    assert (recovering > 0).all()
    assert (recovering < 120).all()
    np.testing.assert_allclose(found.returned()["recovering"], recovering, atol=3.0)
    seen, wanted = found.seen(), observe(trace)
    for key in ("lasted", "velocity", "power", "ratio"):
        np.testing.assert_allclose(seen[key], wanted[key], rtol=0.03, atol=0.01, err_msg=key)


def test_a_gpu_takes_over_as_the_processor_does():
    from jostle.controllers.walker.gpu import GpuWalk

    walker = load_controller(walker_path("thin"))
    values, physics = GUIDED.adopt(WALKER.named(walker.values)), walker_physics(walker.person)
    other = GUIDED.decode(GUIDED.encode(values) + 0.1 * np.random.default_rng(1).normal(size=len(GUIDED)))
    times, rows = np.array([0.45, 0.7, 0.9, 1.2]), np.tile(other, (4, 1))
    begun = left_off(Walk(physics, 4, "guided"), values, times, walker.person.fallen)
    assert set(begun.side.tolist()) == {0, 1}
    found = GpuWalk(physics, 4, "guided", walker.person.fallen, "cpu")
    found.start(rows, begun=begun)
    found.run(250)
    trace = rollout(Walk(physics, 4, "guided"), rows, 0.5, walker.person.fallen, begun=begun)
    seen, wanted = found.seen(), observe(trace)
    for key in ("lasted", "velocity", "power", "ratio", "states"):
        np.testing.assert_allclose(seen[key], wanted[key], rtol=0.03, atol=0.01, err_msg=key)


def test_a_gpu_lays_grounds_as_the_processor_does():
    from jostle.controllers.walker.gpu import GpuWalk

    walker = load_controller(walker_path("stocky"))
    values, slope, friction = np.tile(walker.values, (3, 1)), np.radians([0.0, 2.0, -2.0]), np.array([0.8, 1.0, 0.3])
    physics = walker_physics(walker.person)
    found, walk = GpuWalk(physics, 3, "walker", walker.person.fallen, "cpu"), Walk(physics, 3)
    for laid in (found, walk):
        laid.lay_ground(slope, friction)
    found.start(values)
    found.run(400)
    seen, wanted = found.seen(), observe(rollout(walk, values, 0.8, walker.person.fallen))
    for key in ("lasted", "velocity", "power", "ratio", "states"):
        np.testing.assert_allclose(seen[key], wanted[key], rtol=0.03, atol=0.01, err_msg=key)


def test_a_gpu_has_beams_as_the_processor_does():
    """At an edge, how a foot slips off is a matter of the last digit; that it does is not."""
    from jostle.controllers.walker.gpu import GpuWalk

    walker = load_controller(walker_path("stocky"))
    values, physics = np.tile(walker.values, (2, 1)), walker_physics(walker.person, Ground(width=0.5))
    pushed = np.array([[0.0, 0.0, 0.0], [0.0, 120.0, 0.0]])
    found = GpuWalk(physics, 2, "walker", walker.person.fallen, "cpu")
    found.start(values, np.full((2, 1), 300), np.full((2, 1), 500), pushed[:, None])
    found.run(300)
    seen, wanted = found.seen(), observe(rollout(Walk(physics, 2), values, 0.6, walker.person.fallen))
    for key in ("lasted", "velocity", "power", "ratio", "states"):
        np.testing.assert_allclose(seen[key], wanted[key], rtol=0.03, atol=0.01, err_msg=key)
    found.run(600)
    steps = found.returned()["steps"]
    assert steps[0] == 900
    assert 500 < steps[1] < 900


@pytest.mark.parametrize(
    ("name", "slope", "force"), [("stocky", 0.0, 0.0), ("stocky", 1.0, 0.0), ("simbicon", 0.0, 20.0)]
)
def test_a_gpu_sees_what_the_processor_sees(name, slope, force):
    from jostle.controllers.walker.gpu import GpuWalk

    walker = load_controller(walker_path(name))
    physics = walker_physics(walker.person, Ground(np.radians(slope)))
    values = np.stack([walker.values, walker.values])
    pushed = np.tile([0.0, force, 0.0], (2, 1))
    found = GpuWalk(physics, 2, walker.machine, walker.person.fallen, "cpu")
    found.start(values, np.full((2, 1), 500), np.full((2, 1), 550), pushed[:, None])
    found.run(1200)
    trace = rollout(Walk(physics, 2, walker.machine), values, 2.4, walker.person.fallen, [Shove(1.0, 0.1, pushed)])
    seen, wanted = found.seen(), observe(trace)
    assert set(seen) == set(wanted)
    for key in wanted:
        np.testing.assert_allclose(seen[key], wanted[key], rtol=0.03, atol=0.01, err_msg=key)
