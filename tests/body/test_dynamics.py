"""Jacobians, mass matrices, momentum and energy against finite differences of our own kinematics."""

import mujoco
import numpy as np
import pytest
from figures import breadth_first, dog, person, random_pose

from jostle.body import GRAVITY, Dynamics, Hinge, Hinges, build_body, compile_body
from jostle.clips.io import load_clip
from jostle.maths import quat
from jostle.skeleton import build_skeleton, forward

STEP = 1e-6
FILES = [
    "snu_ys2010/walk/wd2_WalkForwardNormal00.bvh",
    "snu_ys2010/other/boxing_boxman_hited_dir.bvh",
    "cmu_bvh/07_01.bvh",
    "cmu_bvh/143_23.bvh",
    "bandai_namco_1/dataset-1_walk_normal_001.bvh",
    "cmu_asf_amc/35_01.amc",
    "kaykit_cc0/Knight.glb",
    *(f"quaternius_cc0/{n}.glb" for n in ("Fox", "Horse", "Stag", "Trex", "Triceratops", "Velociraptor")),
    *(f"quaternius_cc0/{n}.glb" for n in ("man_Suit", "man_Worker", "platformer_Character", "woman_Casual")),
]


def moving(skeleton, seed=0, dofs=None):
    """A body in a random pose with random velocities."""
    physics = compile_body(build_body(skeleton), dofs=dofs)
    rng, instant = np.random.default_rng(seed), Dynamics(physics)
    qpos, qvel = physics.to_qpos(random_pose(skeleton, rng)), rng.normal(size=physics.velocity_count)
    instant.set(qpos, qvel)
    return physics, instant, qpos, qvel


def moved(physics, qpos, qvel, time):
    """The configuration a short time later, and our own kinematics of it."""
    later = qpos.copy()
    mujoco.mj_integratePos(physics.model, later, qvel, time)
    return forward(physics.body.skeleton, physics.to_pose(later))


def rates(physics, qpos, qvel):
    """Velocities of all centres of mass and angular velocities of all joints, by central differences."""
    before, after = (moved(physics, qpos, qvel, t) for t in (-STEP, STEP))
    com = physics.body.com
    centres = [w.positions + quat.apply(w.wxyz, com) for w in (before, after)]
    turn = quat.log(quat.mul(after.wxyz, quat.inv(before.wxyz)))
    return (centres[1] - centres[0]) / (2 * STEP), turn / (2 * STEP)


SKELETONS = [person(), breadth_first(person(spines=4, dummies=True)), dog()]


@pytest.mark.parametrize("skeleton", SKELETONS)
def test_point_jacobians_by_differences(skeleton):
    physics, instant, qpos, qvel = moving(skeleton)
    rng = np.random.default_rng(1)
    for joint in (0, 3, skeleton.joint_count - 1):
        point = rng.normal(size=3)
        before, after = (moved(physics, qpos, qvel, t) for t in (-STEP, STEP))
        at = [w.positions[joint] + quat.apply(w.wxyz[joint], point) for w in (before, after)]
        velocity = (at[1] - at[0]) / (2 * STEP)
        np.testing.assert_allclose(instant.jacobian(joint, point) @ qvel, velocity, atol=1e-6)
        world = instant.point(joint, point)
        np.testing.assert_allclose(instant.jacobian_at(joint, world), instant.jacobian(joint, point))


@pytest.mark.parametrize("skeleton", SKELETONS)
def test_jacobians_of_centres_and_of_turning_by_differences(skeleton):
    physics, instant, qpos, qvel = moving(skeleton, 2)
    velocities, turning = rates(physics, qpos, qvel)
    for joint in range(skeleton.joint_count):
        np.testing.assert_allclose(instant.jacobian(joint) @ qvel, velocities[joint], atol=1e-6)
        np.testing.assert_allclose(instant.rotation_jacobian(joint) @ qvel, turning[joint], atol=1e-6)


def test_jacobians_with_hinges_by_differences():
    hinges = Hinges((Hinge((0.0, 0.0, 1.0)), Hinge((1.0, 0.0, 0.0))))
    physics, instant, qpos, qvel = moving(person(), 5, {"left_upper_arm": hinges, "left_shin": Hinges()})
    velocities, _ = rates(physics, qpos, qvel)
    hand = physics.body.part("left_hand")
    np.testing.assert_allclose(instant.jacobian(hand) @ qvel, velocities[hand], atol=1e-6)


@pytest.mark.parametrize("skeleton", SKELETONS)
def test_kinetic_energy_is_that_of_the_parts(skeleton):
    """v' M v / 2 = sum of m u^2 / 2 + w' I w / 2, with u and w from differences."""
    physics, instant, qpos, qvel = moving(skeleton, 3)
    body = physics.body
    velocities, turning = rates(physics, qpos, qvel)
    frames = quat.to_matrix(forward(skeleton, physics.to_pose(qpos)).wxyz)
    inertia = frames @ body.inertia @ frames.swapaxes(1, 2)
    straight = 0.5 * np.sum(body.mass * np.sum(velocities**2, axis=1))
    energy = straight + 0.5 * np.einsum("ji,jik,jk->", turning, inertia, turning)
    assert 0.5 * qvel @ instant.mass_matrix() @ qvel == pytest.approx(energy, rel=1e-6)
    assert instant.kinetic_energy() == pytest.approx(energy, rel=1e-6)


@pytest.mark.parametrize("skeleton", SKELETONS)
def test_momentum_is_that_of_the_parts(skeleton):
    physics, instant, qpos, qvel = moving(skeleton, 4)
    body = physics.body
    velocities, turning = rates(physics, qpos, qvel)
    pose = physics.to_pose(qpos)
    frames = quat.to_matrix(forward(skeleton, pose).wxyz)
    spin = np.einsum("jik,jk->ji", frames @ body.inertia @ frames.swapaxes(1, 2), turning)
    arms = body.coms(pose) - body.total_com(pose)
    angular = np.sum(spin + body.mass[:, None] * np.cross(arms, velocities), axis=0)
    momentum, about_com = instant.momentum()
    np.testing.assert_allclose(momentum, body.mass @ velocities, atol=1e-5)
    np.testing.assert_allclose(about_com, angular, atol=1e-5)


def test_the_centre_of_mass_moves_as_momentum_says():
    physics, instant, qpos, qvel = moving(person(), 6)
    poses = [qpos.copy(), qpos.copy()]
    for later, time in zip(poses, (-STEP, STEP), strict=True):
        mujoco.mj_integratePos(physics.model, later, qvel, time)
    before, after = (physics.body.total_com(physics.to_pose(p)) for p in poses)
    velocity = (after - before) / (2 * STEP)
    np.testing.assert_allclose(instant.momentum()[0], physics.body.total_mass * velocity, atol=1e-5)
    np.testing.assert_allclose(instant.com_jacobian() @ qvel, velocity, atol=1e-6)
    np.testing.assert_allclose(instant.com(), physics.body.total_com(physics.to_pose(qpos)), atol=1e-12)


def test_potential_energy_is_weight_times_height():
    _, instant, _, _ = moving(person(), 7)
    masses, heights = instant.physics.body.mass, instant.coms()[:, 2]
    assert instant.potential_energy() == pytest.approx(GRAVITY * masses @ heights)


def test_bias_forces_and_inverse_agree_with_the_mass_matrix():
    physics, instant, _, _ = moving(person(), 8)
    qacc = np.random.default_rng(9).normal(size=physics.velocity_count)
    forces = instant.mass_matrix() @ qacc + instant.bias_forces()
    np.testing.assert_allclose(instant.inverse(qacc), forces, atol=1e-9)


def test_effective_mass_of_a_free_rigid_body():
    """1 / (1/m + (r x n)' I^-1 (r x n)), by hand."""
    skeleton = build_skeleton(["stick"], [-1], [[0, 0, 1]], [(0, [0.8, 0, 0.1])])
    body = build_body(skeleton, mass=2.0)
    instant = Dynamics(compile_body(body))
    up, point = np.array([0.0, 0.0, 1.0]), np.array([0.8, 0.0, 0.1])
    lever = np.cross(point - body.com[0], up)
    by_hand = 1.0 / (1.0 / 2.0 + lever @ np.linalg.solve(body.inertia[0], lever))
    assert instant.effective_mass(0, up, point) == pytest.approx(by_hand)
    assert instant.effective_mass(0, up) == pytest.approx(2.0)
    assert instant.effective_mass(0, 5.0 * up, point) == pytest.approx(by_hand)


def assert_positive_definite(skeleton):
    physics = compile_body(build_body(skeleton))
    rng, instant = np.random.default_rng(0), Dynamics(physics)
    for _ in range(3):
        instant.set(physics.to_qpos(random_pose(skeleton, rng)))
        matrix = instant.mass_matrix()
        np.testing.assert_allclose(matrix, matrix.T, atol=1e-12)
        np.linalg.cholesky(matrix)
        assert np.linalg.cond(matrix) < 1e9


@pytest.mark.parametrize("spines", range(6))
def test_mass_matrices_are_positive_definite(spines):
    assert_positive_definite(person(spines=spines, dummies=True))


@pytest.mark.parametrize("name", FILES)
def test_mass_matrices_of_real_skeletons_are_positive_definite(data, name):
    assert_positive_definite(load_clip(data / name).skeleton)


@pytest.mark.slow
def test_mass_matrices_of_every_file_are_positive_definite(data):
    for path in sorted([*data.glob("*/*.bvh"), *data.glob("*/*/*.bvh"), *data.glob("*/*.glb")]):
        assert_positive_definite(load_clip(path).skeleton)
