"""What a push does to a pose, against the equations of motion written out."""

import numpy as np
import pytest

from jostle import assets
from jostle.body import Dynamics, build_body, compile_body
from jostle.clips import load_clip
from jostle.controllers.dynamic.deform import Deformer, Load, Stand
from jostle.maths import quat
from jostle.skeleton import forward

DT = 1.0 / 30.0


@pytest.fixture(scope="module")
def walk():
    return load_clip(assets.clip_path("walk"))


@pytest.fixture(scope="module")
def physics(walk):
    return compile_body(build_body(walk.skeleton))


def _chest(physics):
    return physics.body.part("torso")


def test_displacing_is_the_inverse_of_the_velocity_between(physics, walk):
    a, b = physics.to_qpos(walk.pose(3)), physics.to_qpos(walk.pose(9))
    step = physics.velocity_between(a, b, DT) * DT
    there = physics.displaced(a, step)
    pose, wanted = physics.to_pose(there), physics.to_pose(b)
    np.testing.assert_allclose(pose.root, wanted.root, atol=1e-12)
    np.testing.assert_allclose(quat.log(quat.inv_mul(pose.wxyz, wanted.wxyz)), 0.0, atol=1e-9)


def test_without_tension_or_stands_it_solves_the_papers_equation(physics, walk):
    force = np.array([120.0, -80.0, 30.0])
    deformer = Deformer(physics, DT, tension=0.0)
    d = deformer.displacement(walk.pose(5), [Load(_chest(physics), force)])
    instant = Dynamics(physics)
    instant.set(physics.to_qpos(walk.pose(5)))
    residual = instant.mass_matrix() @ d / DT**2 - instant.jacobian(_chest(physics)).T @ force
    np.testing.assert_allclose(residual, 0.0, atol=1e-9)


@pytest.mark.parametrize("tension", [0.0, 4.0, 50.0])
def test_momentum_is_that_of_the_push(physics, walk, tension):
    force = np.array([200.0, 100.0, 0.0])
    d = Deformer(physics, DT, tension=tension).displacement(walk.pose(20), [Load(_chest(physics), force)])
    instant = Dynamics(physics)
    instant.set(physics.to_qpos(walk.pose(20)))
    gained = physics.body.total_mass * instant.com_jacobian() @ d / DT
    if tension == 0.0:
        np.testing.assert_allclose(gained, force * DT, atol=1e-9)
    else:  # joints that resist by themselves take a little of it
        np.testing.assert_allclose(gained, force * DT, atol=0.2 * np.linalg.norm(force) * DT)


def test_a_tense_body_does_not_fold(physics, walk):
    load, head = [Load(_chest(physics), np.array([-300.0, 0.0, 0.0]))], physics.body.part("head")

    def nod(tension):
        pose = Deformer(physics, DT, tension=tension).deform(walk.pose(0), load)
        return np.linalg.norm(quat.log(quat.inv_mul(walk.pose(0).wxyz[head - 1], pose.wxyz[head - 1])))

    assert nod(4.0) < 0.3 * nod(0.0)


def test_a_planted_foot_stays(physics, walk):
    sole = physics.body.soles[0]
    pose, stands = walk.pose(0), [Stand(sole.joints[i], sole.points[i]) for i in (0, 2, 4)]
    load = [Load(_chest(physics), np.array([0.0, 250.0, 0.0]))]

    def moved(stands):
        after = Deformer(physics, DT).deform(pose, load, stands)
        at, turned = forward(physics.body.skeleton, pose), forward(physics.body.skeleton, after)
        joint = sole.joints[0]
        return np.linalg.norm(turned.positions[joint] - at.positions[joint])

    assert moved(stands) < 0.3 * moved([])


def test_twice_the_force_is_twice_the_displacement(physics, walk):
    deformer, force = Deformer(physics, DT), np.array([40.0, 70.0, 0.0])
    once = deformer.displacement(walk.pose(7), [Load(3, force)])
    twice = deformer.displacement(walk.pose(7), [Load(3, force), Load(3, force)])
    np.testing.assert_allclose(twice, 2.0 * once, atol=1e-12)
