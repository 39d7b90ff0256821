"""Points of a body and the pose that they ask for: derivatives against finite differences, poses against themselves."""

import numpy as np
import pytest

from jostle.assets import clip_path
from jostle.body import build_body
from jostle.clips import load_clip
from jostle.features.points import HOLD, MISS, _Tried, body_points
from jostle.maths import quat
from jostle.skeleton import Pose
from jostle.skeleton.reach import Goal, reach


@pytest.fixture(scope="module")
def walk():
    return load_clip(clip_path("walk"))


@pytest.fixture(scope="module")
def points(walk):
    return body_points(build_body(walk.skeleton))


def _shaken(pose, rng, size):
    turns = quat.exp(size * rng.standard_normal((*pose.wxyz.shape[:-1], 3)))
    return Pose(pose.root + 0.02 * rng.standard_normal(pose.root.shape), quat.mul(turns, pose.wxyz))


def test_points_are_the_centres_of_mass_with_heels_and_toes_in_place_of_feet(walk, points):
    body = build_body(walk.skeleton)
    seen, coms = points.of(walk.poses), body.coms(walk.poses)
    for p, name in enumerate(points.names):
        if "foot" not in name:
            np.testing.assert_allclose(seen[:, p], coms[:, walk.skeleton.index(name)], atol=1e-12)
    feet = [name for name in points.names if "foot" in name]
    assert feet == ["left_foot.heel", "left_foot.toe", "right_foot.heel", "right_foot.toe"]
    low = seen[:, [points.names.index(name) for name in feet], 2].min(axis=0)
    assert np.all(np.abs(low) < 0.02)  # of the soles, which stand on the ground
    assert not {"LeftFoot", "LeftToe"} & set(points.names)


def test_the_slope_of_the_cost_is_that_of_finite_differences(walk, points):
    rng = np.random.default_rng(0)
    guess = walk.poses.rows(slice(10, 13))
    pose, wanted = _shaken(guess, rng, 0.2), points.of(guess) + 0.01 * rng.standard_normal((3, len(points.names), 3))

    def at(step):
        now = _Tried(points, wanted, pose.root, pose.wxyz, guess.root, guess.wxyz)
        return _Tried(points, wanted, *now.moved(step), guess.root, guess.wxyz)

    size = 3 * (walk.skeleton.joint_count + 1)
    now, h = at(np.zeros((3, size))), 1e-6
    jacobian = now.jacobian()
    for column in rng.choice(size, 25, replace=False):
        step = np.zeros((3, size))
        step[:, column] = h
        numeric = (at(step).seen - at(-step).seen).reshape(3, -1) / (2 * h)
        np.testing.assert_allclose(jacobian[:, :, column], numeric, atol=1e-8)
    close = _Tried(points, wanted, guess.root, guess.wxyz, guess.root, guess.wxyz)
    gradient = np.swapaxes(close.jacobian(), 1, 2) @ close.miss.reshape(3, -1, 1) / MISS**2
    np.testing.assert_allclose(np.sum(close.away**2), 0.0, atol=1e-20)
    normal = np.swapaxes(close.jacobian(), 1, 2) @ close.jacobian() / MISS**2 + np.eye(size) / HOLD**2
    np.testing.assert_allclose(
        close.step(np.zeros(3)), -np.linalg.solve(normal, gradient)[..., 0], rtol=1e-6, atol=1e-9
    )


def test_a_pose_is_found_again_from_its_points(walk, points):
    pose = walk.poses.rows(slice(0, 40))
    found = points.solve(points.of(pose), _shaken(pose, np.random.default_rng(1), 0.15))
    np.testing.assert_allclose(points.of(found), points.of(pose), atol=5e-4)
    again = points.solve(points.of(pose), pose)
    assert np.max(quat.angle(quat.inv_mul(again.wxyz, pose.wxyz))) < 1e-9


def test_far_guesses_are_damped_until_they_help(walk, points):
    pose = walk.poses.rows(slice(0, 20))
    guess = _shaken(pose, np.random.default_rng(2), 0.7)
    before = np.linalg.norm(points.of(guess) - points.of(pose), axis=-1).max(axis=1)
    after = np.linalg.norm(points.of(points.solve(points.of(pose), guess, 40)) - points.of(pose), axis=-1).max(axis=1)
    assert np.all(after < before)
    assert np.median(after) < 1e-3


def test_it_agrees_with_the_general_solver(walk, points):
    """`skeleton.reach` minimises the same sum, written another way."""
    pose = walk.poses.rows(slice(100, 102))
    wanted = points.of(pose) + 0.004 * np.random.default_rng(3).standard_normal((2, len(points.names), 3))
    goals = [Goal(int(j), wanted[:, p], points.places[p]) for p, j in enumerate(points.joints)]
    other = reach(walk.skeleton, pose, goals, move_root=True, stiffness=MISS / HOLD, iterations=60, tolerance=1e-10)
    own = points.solve(wanted, pose, iterations=60, tolerance=1e-10)
    np.testing.assert_allclose(points.of(own), points.of(other), atol=1e-5)
    assert np.max(quat.angle(quat.inv_mul(own.wxyz, other.wxyz))) < 1e-3
