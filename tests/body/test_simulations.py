"""Batches: the same as a plain loop, bit for bit, on any number of threads; and bodies that fall and come to rest."""

import os

import mujoco
import numpy as np
import pytest
from figures import dog, person, random_pose

from jostle.body import Dynamics, Ground, Hinges, Options, Simulations, build_body, compile_body
from jostle.clips.io import load_clip
from jostle.errors import BodyError
from jostle.skeleton import forward

CALM = Options(armature=0.005, damping=0.5, self_contact=False)


@pytest.fixture(scope="module")
def physics():
    return compile_body(build_body(person()), Ground(), CALM)


def starts(physics, count, seed=0, height=0.2):
    rng = np.random.default_rng(seed)
    qpos = np.stack([physics.to_qpos(random_pose(physics.body.skeleton, rng, 0.2)) for _ in range(count)])
    qpos[:, :2], qpos[:, 2] = 0.0, 1.0 + height
    return qpos, rng.normal(size=(count, physics.velocity_count))


def gains(physics):
    """A weak spring towards the rest pose, in proportion to each joint's inertia."""
    return 20.0 * np.minimum(physics.model.dof_M0, 1.0) * (np.arange(physics.velocity_count) >= 6)


def control(physics, qpos, qvel):
    rest = np.broadcast_to(physics.model.qpos0, qpos.shape)
    return gains(physics) * physics.velocity_between(qpos, rest, 1.0)


def run(physics, threads, steps=120, count=6):
    many = Simulations(physics, count, threads)
    many.start(*starts(physics, count))
    head = physics.body.part("head")
    for step in range(steps):
        many.forces[:] = control(physics, many.qpos, many.qvel)
        many.push(head, np.array([30.0 * (20 <= step < 60), 0.0, 0.0]))
        many.step()
        many.drop(many.positions[:, head, 2] < 1.2)
    return many


def test_any_number_of_threads_gives_the_same_bits(physics):
    one, two, five = (run(physics, threads) for threads in (1, 2, 5))
    for other in (two, five):
        assert np.array_equal(one.qpos, other.qpos)
        assert np.array_equal(one.qvel, other.qvel)
        assert np.array_equal(one.running, other.running)
    assert 0 < one.running.sum() < 6  # some were dropped on the way, so that was tested too


def test_a_batch_is_a_plain_loop(physics):
    many = Simulations(physics, 3, 2)
    qpos, qvel = starts(physics, 3)
    many.start(qpos, qvel)
    for _ in range(50):
        many.forces[:] = control(physics, many.qpos, many.qvel)
        many.step()
    for row in range(3):
        data = mujoco.MjData(physics.model)
        data.qpos[:], data.qvel[:] = qpos[row], qvel[row]
        for _ in range(50):
            data.qfrc_applied[:] = control(physics, data.qpos, data.qvel)
            mujoco.mj_step(physics.model, data)
        assert np.array_equal(many.qpos[row], data.qpos)
        assert np.array_equal(many.qvel[row], data.qvel)


def test_what_is_read_belongs_to_the_same_moment(physics):
    many = Simulations(physics, 2, 1)
    many.start(*starts(physics, 2))
    many.step(7)
    instant = Dynamics(physics)
    sole = physics.body.soles[0]
    for row in range(2):
        instant.set(many.qpos[row], many.qvel[row])
        np.testing.assert_allclose(many.read("xpos")[row], instant.data.xpos, atol=1e-12)
        ours = forward(physics.body.skeleton, physics.to_pose(many.qpos[row])).positions
        np.testing.assert_allclose(many.positions[row], ours, atol=1e-9)
        heel = instant.point(sole.joints[0], sole.points[0])
        np.testing.assert_allclose(many.site("left_heel_in")[row], heel, atol=1e-12)


def test_dropped_simulations_stand_still_and_can_start_again(physics):
    many = Simulations(physics, 3, 1)
    qpos, qvel = starts(physics, 3)
    many.start(qpos, qvel)
    many.drop(np.array([True, False, False]))
    many.step(5)
    assert np.array_equal(many.qpos[0], qpos[0])
    np.testing.assert_allclose(many.time, np.array([0, 5, 5]) * physics.model.opt.timestep)
    many.start(qpos[:1], which=np.array([0]))
    assert many.running.all()
    many.step()
    assert many.time[0] > 0
    many.drop(np.ones(3, dtype=bool))
    many.step()  # nothing left to do


def test_a_push_changes_momentum_by_its_impulse():
    """In free flight, at a point off the centre: m dv = f t, and dL = r x f t about the centre of mass."""
    physics = compile_body(build_body(person()), options=Options(timestep=1e-4, self_contact=False))
    hand, point = physics.body.part("left_hand"), np.array([0.02, 0.1, 0.05])
    force, steps = np.array([20.0, -5.0, 10.0]), 20
    many = Simulations(physics, 2, 1)
    many.start(np.stack([physics.model.qpos0] * 2))
    for _ in range(steps):
        many.push(hand, force, point, which=np.array([1]))
        many.step()
    instant, found = Dynamics(physics), []
    for row in range(2):
        instant.set(many.qpos[row], many.qvel[row])
        found.append(instant.momentum())
    impulse = force * steps * physics.model.opt.timestep
    np.testing.assert_allclose(found[1][0] - found[0][0], impulse, rtol=5e-3)
    instant.set(physics.model.qpos0)
    lever = instant.point(hand, point) - instant.com()
    np.testing.assert_allclose(found[1][1] - found[0][1], np.cross(lever, impulse), atol=2e-3)


def test_pushes_on_one_part_add_up():
    """A couple, two opposite forces at two points, turns the part and leaves its momentum alone."""
    physics = compile_body(build_body(person()), options=Options(timestep=1e-4, self_contact=False))
    many, chest = Simulations(physics, 1, 1), physics.body.part("chest")
    many.start(physics.model.qpos0[None])
    force, side = np.array([50.0, 0.0, 0.0]), np.array([0.0, 0.1, 0.0])
    for _ in range(20):
        many.push(chest, force, physics.body.com[chest] + side)
        many.push(chest, -force, physics.body.com[chest] - side, add=True)
        many.step()
    instant = Dynamics(physics)
    instant.set(many.qpos[0], many.qvel[0])
    linear, angular = instant.momentum()
    np.testing.assert_allclose(linear[:2], 0.0, atol=1e-9)
    np.testing.assert_allclose(angular[2], -2 * 0.1 * 50.0 * 20e-4, rtol=1e-2)


def test_a_snapshot_goes_on_to_the_same_bits(physics):
    """Whatever is simulated in between; with contacts, whose solver starts from its last guess."""
    many = Simulations(physics, 2, 1)
    many.start(np.stack([physics.model.qpos0] * 2))
    many.step(50)
    kept, ends = many.snapshot(), []
    for _ in range(2):
        many.restore(kept)
        many.step(30)
        ends.append(many.snapshot())
        many.start(np.stack([physics.model.qpos0] * 2))
        many.drop(np.array([0]))
        many.step(7)
    np.testing.assert_array_equal(ends[0], ends[1])


def test_masses_and_damping_can_differ_within_a_batch(physics):
    many = Simulations(physics, 2, 2)
    mass = np.stack([physics.model.body_mass, 2.0 * physics.model.body_mass])
    many.vary("body_mass", mass)
    many.vary("dof_damping", np.array([[0.0], [0.7]]))
    qpos, _ = starts(physics, 1)
    many.start(np.repeat(qpos, 2, axis=0))
    many.forces[:, 2] = physics.body.weight  # holds the first up; the second falls at half of g
    height = many.read("subtree_com")[:, physics.bodies[0], 2].copy()
    many.step(100)
    risen = many.read("subtree_com")[:, physics.bodies[0], 2] - height
    assert abs(risen[0]) < 1e-3
    assert risen[1] == pytest.approx(-0.25 * 9.81 * 0.2**2, rel=0.02)


def test_an_explosion_is_taken_back_and_dropped_without_a_log(physics, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    many = Simulations(physics, 3, 2)
    qpos, _ = starts(physics, 3)
    many.start(qpos)
    many.forces[1] = 1e12
    many.step(3)
    assert many.running.tolist() == [True, False, True]
    assert np.array_equal(many.qpos[1], qpos[1])
    assert np.all(np.isfinite(many.qpos))
    assert os.listdir(tmp_path) == []


def test_unknown_names_are_answered_with_the_known_ones(physics):
    many = Simulations(physics, 1, 1)
    with pytest.raises(BodyError, match="Did you mean 'xpos'"):
        many.read("xposs")
    with pytest.raises(BodyError, match="Did you mean 'dof_damping'"):
        many.vary("dof_dampning", 1.0)
    with pytest.raises(BodyError, match="left_heel_in"):
        many.site("left_heel_inn")
    with pytest.raises(BodyError, match="touch sensor"):
        many.touch("left_heal")
    with pytest.raises(BodyError, match="at least one"):
        Simulations(physics, 0)


def test_a_statue_stands_and_its_soles_feel_its_weight():
    """Every joint welded: a rigid figure that stands on its feet without any control."""
    skeleton = person()
    welds = {name: Hinges() for name in skeleton.names[1:]}
    physics = compile_body(build_body(skeleton), Ground(), Options(), welds)
    assert physics.velocity_count == 6
    many = Simulations(physics, 1, 1)
    qpos = physics.model.qpos0.copy()
    qpos[2] += 0.03
    many.start(qpos[None])
    many.step(1500)
    parts = [many.touch(f"{side}_{end}")[0] for side in ("left", "right") for end in ("heel", "toe")]
    assert sum(parts) == pytest.approx(physics.body.weight, rel=1e-3)
    assert min(parts[0], parts[2]) > 0.2 * physics.body.weight  # both heels bear
    for label in physics.body.soles[0].labels:
        assert abs(many.site(label)[0, 2]) < 0.005  # soles are on the ground


def fall(physics, qpos, seconds=5.0):
    """Energy after every tenth of a second."""
    many, instant, energy = Simulations(physics, 1, 1), Dynamics(physics), []
    many.start(qpos[None])
    for _ in range(round(seconds / 0.1)):
        many.step(round(0.1 / physics.model.opt.timestep))
        instant.set(many.qpos[0], many.qvel[0])
        energy.append((instant.kinetic_energy(), instant.potential_energy()))
    return many, np.array(energy)


def assert_comes_to_rest(physics, qpos):
    many, energy = fall(physics, qpos)
    total, weight = energy.sum(axis=1), physics.body.weight
    assert many.running.all()
    assert np.all(np.diff(total) < 0.002 * total[0] + 1e-3)  # contacts give back a little, never more
    assert energy[-1, 0] < 1e-4 * total[0]  # at rest
    assert energy[-1, 1] < 0.35 * weight * physics.body.height  # lying down, on the ground …
    assert many.read("xipos")[0, 1:, 2].min() > -0.03  # … and not in it


@pytest.mark.parametrize(("skeleton", "self_contact"), [(person(), False), (dog(), False)])
def test_a_limp_body_falls_and_comes_to_rest(skeleton, self_contact):
    options = Options(armature=0.005, damping=1.0, self_contact=self_contact)
    physics = compile_body(build_body(skeleton), Ground(), options)
    qpos = physics.model.qpos0.copy()
    qpos[2] += 0.3
    assert_comes_to_rest(physics, qpos)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["snu_ys2010/walk/wd2_WalkForwardNormal00.bvh", "cmu_bvh/07_01.bvh"])
def test_real_limp_bodies_fall_and_come_to_rest(data, name):
    clip = load_clip(data / name)
    physics = compile_body(build_body(clip.skeleton), Ground(), Options(armature=0.005, damping=1.0))
    qpos = physics.to_qpos(clip.pose(60))
    qpos[2] += 0.2
    assert_comes_to_rest(physics, qpos)


def test_bodies_slide_down_a_slippery_slope_and_not_a_rough_one():
    """tan(0.3) = 0.31: friction of 0.1 slides, of 1 holds."""
    moved = []
    for friction in (0.1, 1.0):
        options = Options(armature=0.01, damping=5.0, self_contact=False)
        physics = compile_body(build_body(dog()), Ground(slope=0.3, friction=friction), options)
        many = Simulations(physics, 1, 1)
        many.start(physics.model.qpos0[None])
        many.step(1000)
        before = many.qpos[0, 0]
        many.step(500)
        moved.append(many.qpos[0, 0] - before)
    assert moved[0] < -0.5
    assert abs(moved[1]) < 0.1


@pytest.mark.parametrize("self_contact", [False, True])
def test_each_simulation_can_have_a_ground_of_its_own_friction(self_contact):
    """The same slope, slippery for the first and rough for the second, then the other way round."""
    options = Options(armature=0.01, damping=5.0, self_contact=self_contact)
    physics = compile_body(build_body(dog()), Ground(slope=0.3, friction=0.5), options)
    many = Simulations(physics, 2, 2)
    for frictions in ([0.1, 1.0], [1.0, 0.1]):
        many.set_friction(np.array(frictions))
        many.start(physics.model.qpos0)
        many.step(1000)
        before = many.qpos[:, 0].copy()
        many.step(300)
        moved = many.qpos[:, 0] - before
        slides, holds = moved if frictions[0] < frictions[1] else moved[::-1]
        assert slides < -0.3
        assert abs(holds) < 0.1
