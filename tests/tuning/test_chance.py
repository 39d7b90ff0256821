"""What may happen: drawn at the rates that are asked, alike for all candidates, and by nothing but seed and number."""

from dataclasses import replace

import numpy as np
import pytest

from jostle.assets import walker_path
from jostle.body import Ground
from jostle.controllers.walker.parameters import GUIDED, WALKER
from jostle.controllers.walker.people import PEOPLE, walker_physics
from jostle.controllers.walker.trace import rollout
from jostle.controllers.walker.walk import Walk
from jostle.controllers.walker.walker import Walker
from jostle.runtime import load_controller
from jostle.tuning.chance import Chance, Fates, grounds, gust_steps, turn_steps
from jostle.tuning.goal import Goal
from jostle.tuning.objective import observe
from jostle.tuning.trials import Bench, Job

DT = 0.002
STOCKY = PEOPLE["stocky"]


@pytest.fixture(scope="module")
def person():
    return load_controller(walker_path("thin"))


@pytest.fixture(scope="module")
def guided(person):
    return GUIDED.adopt(WALKER.named(person.values))


def test_gusts_blow_at_their_rate_from_all_sides_and_for_their_time():
    chance = Chance(trials=100, force=150.0, gusts=0.6)
    begin, end, force = gust_steps(chance, (3,), 40.0, DT)
    blows = end > begin
    assert blows.sum() == pytest.approx(100 * 40 * 0.6, rel=0.1)
    assert set((end - begin)[blows]) == {200}
    np.testing.assert_allclose(np.linalg.norm(force[blows], axis=1), 150.0)
    assert not force[blows][:, 2].any()
    assert not force[~blows].any()
    angles = np.arctan2(force[blows][:, 1], force[blows][:, 0])
    counts, _ = np.histogram(angles, 8, (-np.pi, np.pi))
    assert counts.min() > 0.7 * counts.mean()
    gaps = np.concatenate([np.diff(row[on]) for row, on in zip(begin, blows, strict=True)]) * DT
    assert np.std(gaps) == pytest.approx(np.mean(gaps), rel=0.15)  # as of a Poisson process


def test_fates_depend_on_seed_and_number_alone():
    few, many = (gust_steps(Chance(trials=n, force=100.0), (1, 2), 30.0, DT) for n in (3, 9))
    width = few[0].shape[1]
    for a, b in zip(few, many, strict=True):
        np.testing.assert_array_equal(a, b[:3, :width])
    longer, _, _ = gust_steps(Chance(trials=3, force=100.0), (1, 2), 60.0, DT)
    within = few[1] > few[0]
    np.testing.assert_array_equal(longer[:, :width][within], few[0][within])
    other, _, _ = gust_steps(Chance(trials=3, force=100.0), (1, 3), 30.0, DT)
    assert other.shape != few[0].shape or (other != few[0]).any()


def test_headings_wander_by_steps_of_the_spread():
    turns = turn_steps(Chance(trials=200, turn=0.5, turns=1.2), (7,), 20.0, DT)
    steps = [step for step, _ in turns]
    assert steps == sorted(set(steps))
    assert len(turns) == pytest.approx(200 * 20 * 1.2, rel=0.25)  # some at the same step
    wishes = np.array([np.zeros(200), *(wish for _, wish in turns)])
    by = np.diff(wishes, axis=0)
    by = by[by != 0.0]
    assert len(by) == pytest.approx(200 * 20 * 1.2, rel=0.1)
    assert np.std(by) == pytest.approx(0.5, rel=0.05)
    assert abs(np.mean(by)) < 0.03
    assert turn_steps(Chance(turn=0.0), (7,), 20.0, DT) == []


def test_noise_pushes_a_body_alike_at_every_time_step():
    """The impulse of a constant torque over a second spreads as much at 1 ms as at 2 ms."""
    chance, spread = Chance(trials=400, noise=50.0), {}
    for dt in (0.001, 0.002):
        fates = Fates(chance, (1,), 1.0, dt, 400)
        spread[dt] = np.std(sum(fates.noise(k) for k in range(round(1.0 / dt))) * dt)
    assert spread[0.001] == pytest.approx(spread[0.002], rel=0.03)
    expected = 50.0 * np.exp(-2.76) * np.sqrt(1.0 / 2400.0)  # of 2,400 independent draws in a second
    assert spread[0.001] == pytest.approx(expected, rel=0.03)


def test_torques_are_noisy_by_their_size_and_stiffness(guided):
    """(4.15): in the first step, where everything else is equal."""
    values = np.stack([guided] * 2)
    physics = walker_physics(PEOPLE["thin"], Ground(), DT)
    noise = np.stack([np.zeros(30), np.linspace(-2.0, 2.0, 30)], axis=1)

    def shake(walk, k):
        walk.jitter = noise

    trace = rollout(Walk(physics, 2, "guided", 1), values, DT, 0.5, happens=shake)
    calm, noisy = trace.torques[0]
    kp = GUIDED.unpack(values).kp[0, 0]
    np.testing.assert_allclose(noisy, calm + noise[:, 1] * np.abs(calm) * kp**-0.25, rtol=1e-9, atol=1e-9)


def test_fates_are_what_was_drawn(guided):
    """Four walkers, two trials: everyone is pushed and told to turn as its trial says, when it says so."""
    chance = Chance(trials=2, force=25.0, gusts=4.0, duration=0.1, turn=0.1, turns=5.0)
    seconds, forces = 1.2, []
    fates = Fates(chance, (5,), seconds, DT, 4)
    walk = Walk(walker_physics(PEOPLE["thin"], Ground(), DT), 4, "guided", 1)
    torso = int(walk.physics.bodies[walk.physics.body.skeleton.index("Spine")])

    def watched(walk, k):
        fates(walk, k)
        forces.append(walk.many.read("xfrc_applied")[:, torso, :3].copy())

    trace = rollout(walk, np.stack([guided] * 4), seconds, 0.5, happens=watched)
    begin, end, force = gust_steps(chance, (5,), seconds, DT)
    wishes = dict(turn_steps(chance, (5,), seconds, DT))
    assert wishes
    assert (end > begin).any()
    wish = np.zeros(2)
    for k in range(len(trace.phase)):
        wish = wishes.get(k, wish)
        np.testing.assert_array_equal(trace.wish[k], np.tile(wish, 2))
        blows = (begin <= k) & (k < end)
        np.testing.assert_allclose(forces[k], np.tile((blows[:, :, None] * force).sum(axis=1), (2, 1)))


def test_all_candidates_meet_the_same_fates_wherever_they_stand(guided):
    chance = Chance(trials=3, force=60.0, gusts=2.0, turn=0.2, noise=20.0)
    goal = Goal(objective="return")
    job = Job(PEOPLE["thin"], "guided", Ground(), goal, 1.5, seed=(1, 0), chance=chance)
    rng = np.random.default_rng(0)
    values = GUIDED.decode(GUIDED.encode(guided) + 0.02 * rng.normal(size=(4, len(GUIDED))))
    values[3] = values[0]
    together = Bench(1).score(job, values)
    assert together.cost[3] == together.cost[0]
    alone = Bench(2).score(job, values[1:2])
    assert alone.cost[0] == together.cost[1]
    assert len(set(together.cost[:3])) == 3
    fresh = Bench(1).score(replace(job, seed=(1, 0, 5)), values)
    assert (fresh.cost[:3] != together.cost[:3]).all()


def test_grounds_are_drawn_between_their_bounds_and_alike_for_a_fate():
    chance = Chance(trials=40, friction=(0.3, 0.5), slope_deg=(-4.0, 8.0))
    assert chance.lays_ground
    assert not Chance().lays_ground
    slope, friction = grounds(chance, (1, 2), Ground())
    assert np.degrees(slope.min()) > -4.0
    assert np.degrees(slope.max()) < 8.0
    assert np.degrees(np.ptp(slope)) > 8.0
    assert 0.3 < friction.min() < 0.34
    assert 0.46 < friction.max() < 0.5
    fewer = grounds(replace(chance, trials=3), (1, 2), Ground())
    np.testing.assert_array_equal(fewer, [slope[:3], friction[:3]])
    same = grounds(Chance(trials=2, friction=(0.4, 0.4)), (0,), Ground(0.1, 0.9))
    np.testing.assert_allclose(same, [[0.1, 0.1], [0.4, 0.4]])


def test_a_ground_that_is_laid_is_the_ground_that_is_built():
    """Walkers on slopes and ice of their own walk as they do where there is nothing else."""
    walker = load_controller(walker_path("stocky"))
    assert isinstance(walker, Walker)
    values, slope, friction = np.tile(walker.values, (3, 1)), np.radians([0.0, 3.0, -2.0]), np.array([1.0, 0.8, 0.35])
    walk = Walk(walker_physics(walker.person), 3, "walker", threads=1)
    walk.lay_ground(slope, friction)
    together = rollout(walk, values, 1.0, walker.person.fallen, poses=True)
    assert together.qpos is not None
    for row in range(3):
        own = Walk(walker_physics(walker.person, Ground(slope[row], friction[row])), 2, "walker", threads=1)
        alone = rollout(own, values[:2], 1.0, walker.person.fallen, poses=True)
        assert alone.qpos is not None
        np.testing.assert_allclose(together.qpos[:200, row], alone.qpos[:200, 0], atol=1e-6)
        np.testing.assert_allclose(together.normal[row], alone.normal[0], atol=1e-12)
        np.testing.assert_allclose(observe(together)["velocity"][row], observe(alone)["velocity"][0], atol=0.02)


def test_a_batch_that_was_given_other_grounds_is_not_kept_for_those_that_were_not():
    walker = load_controller(walker_path("stocky"))
    assert isinstance(walker, Walker)
    bench, values = Bench(1), walker.values[None]
    plain = Job(walker.person, "walker", Ground(), Goal(), 0.6, chance=Chance(trials=2))
    first = bench.score(plain, values).cost
    other = bench.score(replace(plain, chance=Chance(trials=2, friction=(0.1, 0.2))), values).cost
    np.testing.assert_array_equal(bench.score(plain, values).cost, first)
    assert other != first


def test_someone_who_steers_brings_it_back_to_the_middle(guided):
    """From a start that heads half a radian aside, while another that nobody steers goes on."""
    ends = {}
    for middle in (2.0, None):
        walk = Walk(walker_physics(STOCKY, Ground(), DT), 1, "guided", 1)
        fates = Fates(Chance(trials=1, middle=middle), (0,), 3.0, DT, 1)
        walk.start(guided[None], heading=0.2)
        for k in range(1500):
            fates(walk, k)
            walk.step()
        ends[middle] = float(walk.heading[0]), float(walk.many.com[0, 1])
    assert ends[None][0] == pytest.approx(0.2)
    assert ends[2.0][0] < 0.0 < ends[2.0][1] < ends[None][1]
