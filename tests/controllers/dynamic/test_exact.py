"""The paper's own scheme, and the default beside it."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from jostle.controllers.dynamic.deform import Load
from jostle.controllers.dynamic.exact import Exact


@pytest.fixture(scope="module")
def exact(person):
    return Exact(person.models[0])


@pytest.fixture(scope="module")
def moment(exact):
    """Three rows of the normal motion, and where they lie."""
    poses = exact.poses
    rows = poses.rows[exact.known.usual][40:43]
    return rows, poses.encode(rows)


def test_the_likelihood_is_that_of_the_two_processes(exact, moment):
    """Against multivariate normals, but for the constants that (A) leaves out."""
    rows, x = moment
    p, d, poses = exact.poses.posterior, exact.dynamics, exact.poses
    covariance = p.covariance(x) + p.noise * np.eye(3)
    seen = (rows - poses.centre)[:, poses.kept] * poses.scales
    mean = p.mean(x) * poses.scales
    wanted = -sum(
        multivariate_normal(mean[:, i], covariance).logpdf(seen[:, i]) for i in range(seen.shape[1])
    ) - 1.5 * seen.shape[1] * np.log(2 * np.pi)
    wanted -= 0.5 * (seen.shape[1] - 1) * np.linalg.slogdet(covariance)[1]  # one determinant, not one a column
    spread = float(d.variance(x[:2].reshape(-1))) + d.noise
    step = x[2] - x[1] - d.mean(x[:2].reshape(-1))
    wanted += 0.5 * np.log(spread) + 0.5 * step @ step / spread
    assert exact.likelihood(rows, x) == pytest.approx(wanted, rel=1e-6)


def test_inferring_both_together_moves_points_by_millimetres(exact, moment):
    """The default takes the dynamics' mean and the pose there."""
    rows, x = moment
    position, _, row = exact.infer(rows[:2], x[:2])
    model = exact.known
    ahead = model.model.dynamics.next(x[:2])
    now = model.features.now
    apart = (row - model.look(ahead).row)[now].reshape(-1, 3)
    assert np.sqrt(np.mean(np.sum(apart**2, axis=1))) < 0.01
    assert np.linalg.norm(position - ahead) < model.flow.stride
    start = np.stack([*rows[:2], model.look(ahead).row])
    start[2, : now.start] = rows[1][now]
    assert exact.likelihood(np.stack([*rows[:2], row]), np.stack([*x[:2], position])) <= exact.likelihood(
        start, np.stack([*x[:2], ahead])
    )


def test_updating_by_the_likelihood_cancels_most_of_a_push(exact, moment):
    """Why the default follows the back map: the dynamics are far more certain than the pose."""
    rows, x = moment
    model = exact.known
    pose = model.features.pose(rows[2])
    load = [Load(model.body.part("torso"), np.array([0.0, 400.0, 0.0]))]
    pushed = model.moved(rows[2], pose, model.deformer.deform(pose, load))
    moved = model.model.poses.encode(pushed) - model.model.poses.encode(rows[2])
    again = exact.update(np.stack([*rows[:2], pushed]), x[:2], x[2])
    calm = exact.update(rows, x[:2], x[2])
    assert np.linalg.norm(again - calm) < 0.7 * np.linalg.norm(moved)


def test_the_papers_deformation_leaves_no_force_over_without_stands(exact, moment):
    model = exact.known
    pose = model.features.pose(moment[0][2])
    load = [Load(model.body.part("pelvis"), np.array([100.0, -50.0, 0.0]))]
    there = exact.deform(pose, load, [])
    mass, force, _ = model.deformer.parts(pose, load, [])
    physics = model.physics
    d = physics.velocity_between(physics.to_qpos(pose), physics.to_qpos(there), 1.0)
    np.testing.assert_allclose(mass @ d / model.dt**2, force, atol=2.0)
