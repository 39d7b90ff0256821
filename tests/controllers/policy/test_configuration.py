"""Rows as bodies: forward kinematics against the skeleton's own, Jacobians against finite differences."""

import numpy as np
import pytest

from jostle.clips import Clip
from jostle.controllers.policy.constraints.configuration import RowKinematics
from jostle.features import Placement
from jostle.features.quaternions import QuaternionFeatures
from jostle.maths import quat
from jostle.skeleton import forward
from jostle.skeleton.skeleton import build_skeleton

AT = Placement(1.0, -2.0, 0.7)


@pytest.fixture(scope="module")
def stretchy():
    """Three bones, the last of which changes its length, and a joint that never turns."""
    skeleton = build_skeleton(
        ["root", "a", "held", "b"],
        [-1, 0, 1, 2],
        [[0, 0, 1], [0.1, 0, 0.3], [0.2, 0, 0], [0, 0.1, 0.4]],
        [(3, [0, 0, 0.2])],
    )
    rng = np.random.default_rng(1)
    wxyz = quat.exp(0.4 * rng.normal(size=(30, 4, 3)))
    wxyz[:, 2] = quat.exp(np.array([0.1, 0.3, 0.0]))
    offsets = np.broadcast_to(skeleton.offsets, (30, 4, 3)).copy()
    offsets[:, 3] += 0.05 * rng.normal(size=(30, 3))
    root = rng.normal(size=(30, 3)) * [0.1, 0.1, 0.02] + [0, 0, 1]
    return Clip(skeleton, 30.0, root, wxyz, offsets)


def rows_of(clip):
    features = QuaternionFeatures.of([clip])
    return features, features.encode(clip)[:, : features.pose_count]


@pytest.mark.parametrize("which", ["walker", "stretchy"])
def test_rows_stand_where_their_poses_do(which, walker_model, stretchy):
    features, rows = rows_of(stretchy) if which == "stretchy" else (walker_model.features, walker_model.rows)
    here = RowKinematics(features).at(rows[7, : features.pose_count] * 1.1, AT)  # quaternions of any length
    world = forward(features.skeleton, here.pose)
    np.testing.assert_allclose(here.positions, world.positions, atol=1e-12)
    np.testing.assert_allclose(here.turns, quat.to_matrix(world.wxyz), atol=1e-12)


def test_a_frame_decodes_as_features_do(walker_model):
    features = walker_model.features
    kinematics, row = RowKinematics(features), walker_model.rows[11]
    here = kinematics.facing(row[: features.pose_count], AT)
    there = features.decode(row[None], AT)
    np.testing.assert_allclose(here.positions, there.positions[0], atol=1e-12)
    assert float(quat.yaw(here.local[0])) == pytest.approx(AT.heading)


@pytest.mark.parametrize("which", ["walker", "stretchy"])
def test_points_move_with_the_row_as_finite_differences_say(which, walker_model, stretchy, rng):
    features, rows = rows_of(stretchy) if which == "stretchy" else (walker_model.features, walker_model.rows)
    kinematics, row = RowKinematics(features), rows[9, : features.pose_count] * 1.05
    joints = rng.integers(0, features.skeleton.joint_count, 5)
    places = rng.normal(size=(5, 3)) * 0.2
    here = kinematics.at(row, AT)
    jacobian = here.jacobian(joints, here.points(joints, places))
    for column in range(len(row)):
        low, high = (
            kinematics.at(row + h * np.eye(len(row))[column], AT).points(joints, places) for h in (-1e-6, 1e-6)
        )
        np.testing.assert_allclose(jacobian[..., column], (high - low) / 2e-6, atol=1e-7)


def test_a_pose_becomes_the_row_it_came_from(walker_model, stretchy):
    for features, rows in ((walker_model.features, walker_model.rows), rows_of(stretchy)):
        kinematics, row = RowKinematics(features), rows[9, : features.pose_count]
        here = kinematics.at(row, AT)
        back = kinematics.of_pose(here.pose, -row)  # signs as in what it is like
        np.testing.assert_allclose(back.row[1:4], -here.unit_row[1:4], atol=1e-12)
        back = kinematics.of_pose(here.pose, row)
        np.testing.assert_allclose(back.row, here.unit_row, atol=1e-12)
        assert back.place.heading == pytest.approx(AT.heading)
        np.testing.assert_allclose(back.positions, here.positions, atol=1e-12)
