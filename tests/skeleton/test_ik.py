"""Two-bone and whole-chain inverse kinematics: reached targets, hinges, smoothness, and Jacobians by differences."""

import numpy as np
import pytest

from jostle.errors import MotionError
from jostle.maths import quat
from jostle.skeleton import Pose, build_skeleton, forward
from jostle.skeleton.ik import BACKWARD, FORWARD, pin_limb, two_bone
from jostle.skeleton.reach import Goal, ReachProblem, reach

HIP, KNEE, ANKLE = np.array([0.0, 0.1, 0.9]), np.array([0.08, 0.1, 0.5]), np.array([0.0, 0.1, 0.08])

LEG = build_skeleton(
    ["pelvis", "thigh", "twist", "shin", "foot", "toe"],
    [-1, 0, 1, 2, 3, 4],
    np.array([[0, 0, 0.95], [0, 0.1, -0.05], [0, 0, -0.2], [0, 0, -0.2], [0, 0, -0.42], [0.15, 0, -0.05]]),
    [(5, [0.06, 0.0, 0.0])],
)


def _random_pose(skeleton, rng, lead=(), size=0.5):
    return Pose(rng.normal(size=(*lead, 3)), quat.exp(size * rng.normal(size=(*lead, skeleton.joint_count, 3))))


def _bent_pose(knee=0.6, lead=()):
    wxyz = quat.identity((*lead, 6))
    wxyz[..., 1, :] = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), -0.4 * knee)
    wxyz[..., 3, :] = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), knee)
    return Pose(np.broadcast_to([0.0, 0.0, 0.95], (*lead, 3)).copy(), wxyz)


def test_end_comes_to_a_target_within_reach():
    rng = np.random.default_rng(0)
    towards = rng.normal(size=(200, 3))
    towards /= np.linalg.norm(towards, axis=-1, keepdims=True)
    targets = HIP + rng.uniform(0.2, 0.81, size=(200, 1)) * towards
    found = two_bone(HIP, KNEE, ANKLE, targets, FORWARD)
    np.testing.assert_allclose(found.end, targets, atol=1e-12)


def test_turns_carry_the_bones_and_keep_their_lengths():
    rng = np.random.default_rng(1)
    targets = HIP + rng.normal(size=(200, 3)) * [0.4, 0.3, 0.2] + [0, 0, -0.5]
    found = two_bone(HIP, KNEE, ANKLE, targets, FORWARD)
    knee = HIP + quat.apply(found.upper_turn, KNEE - HIP)
    np.testing.assert_allclose(knee, found.middle, atol=1e-12)
    np.testing.assert_allclose(knee + quat.apply(found.lower_turn, ANKLE - KNEE), found.end, atol=1e-12)


def test_a_limb_on_its_target_stays_even_when_nearly_straight():
    for off in (0.3, 0.1, 0.05):
        knee = np.array([off, 0.1, 0.5])
        found = two_bone(HIP, knee, ANKLE, ANKLE, FORWARD)
        np.testing.assert_allclose(found.upper_turn, quat.IDENTITY, atol=1e-7)
        np.testing.assert_allclose(found.lower_turn, quat.IDENTITY, atol=1e-7)


def test_out_of_reach_points_at_the_target_almost_straight():
    target = np.array([2.0, 0.5, 0.2])
    found = two_bone(HIP, KNEE, ANKLE, target, FORWARD)
    length = np.linalg.norm(KNEE - HIP) + np.linalg.norm(ANKLE - KNEE)
    reached = np.linalg.norm(found.end - HIP)
    assert 0.98 * length < reached <= length
    np.testing.assert_allclose((found.end - HIP) / reached, (target - HIP) / np.linalg.norm(target - HIP), atol=1e-9)


def test_knee_does_not_pop_as_the_target_recedes():
    """The hard triangle straightens infinitely fast at full reach; ours turns the knee at a bounded rate."""
    away = np.linspace(0.7, 1.1, 400)
    targets = HIP + away[:, None] * np.array([0.0, 0.0, -1.0])
    found = two_bone(HIP, KNEE, ANKLE, targets, FORWARD)
    angle = quat.angle(quat.inv_mul(found.upper_turn, found.lower_turn))
    hard = np.arccos(np.clip((0.408**2 + 0.4276**2 - away**2) / (2 * 0.408 * 0.4276), -1, 1))
    assert np.max(np.abs(np.diff(angle))) < 0.35 * np.max(np.abs(np.diff(hard)))


def test_knee_never_bends_backwards():
    """Also from a leg that is straight, or that noise has bent backwards by a few degrees."""
    for off in (0.05, 0.01, 0.0, -0.005, -0.03):
        knee = np.array([off, 0.1, 0.49])
        targets = HIP + np.linspace(0.5, 0.9, 50)[:, None] * np.array([0.1, 0.05, -0.99])
        found = two_bone(HIP, knee, ANKLE, targets, FORWARD)
        line = (found.end - HIP) / np.linalg.norm(found.end - HIP, axis=-1, keepdims=True)
        side = found.middle - HIP
        side = side - np.sum(side * line, axis=-1, keepdims=True) * line
        assert np.all(side[:, 0] > 0)


def test_knee_direction_is_continuous_through_a_straight_leg():
    offs = np.linspace(-0.05, 0.05, 2001)
    knees = np.stack([offs, np.full_like(offs, 0.103), np.full_like(offs, 0.49)], axis=-1)
    found = two_bone(HIP, knees, ANKLE, HIP + np.array([0.1, 0, -0.7]), FORWARD)
    assert np.max(np.abs(np.diff(found.middle, axis=0))) < 2e-3


def test_knee_stays_a_hinge():
    """Moving the target changes the knee's rotation only about the axis it had."""
    pose = _bent_pose()
    pinned = pin_limb(LEG, pose, 1, 3, 4, np.array([0.3, 0.25, 0.2]))
    change = quat.log(quat.mul(pinned.wxyz[3], quat.inv(pose.wxyz[3])))
    assert abs(change[1]) > 0.05
    np.testing.assert_allclose(change[[0, 2]], 0.0, atol=1e-9)


def test_straight_limbs_do_not_divide_by_zero():
    straight = np.array([HIP, HIP - [0, 0, 0.4], HIP - [0, 0, 0.8]])
    for pole in (None, FORWARD, np.array([0.0, 0.0, 1.0])):
        for target in (straight[2], straight[0], straight[0] + [0, 0, 0.5], straight[0] + [9.0, 0, 0]):
            found = two_bone(*straight, target, pole)
            assert np.all(np.isfinite(found.upper_turn))
            assert np.all(np.isfinite(found.lower_turn))


def test_pin_limb_reaches_and_keeps_the_foot_level():
    rng = np.random.default_rng(2)
    pose = _bent_pose(lead=(5, 7))
    targets = np.array([0.1, 0.1, 0.2]) + 0.06 * rng.uniform(-1, 1, size=(5, 7, 3))
    before, after = forward(LEG, pose), forward(LEG, pin_limb(LEG, pose, 1, 3, 4, targets))
    np.testing.assert_allclose(after.positions[..., 4, :], targets, atol=1e-10)
    np.testing.assert_allclose(quat.angle(quat.inv_mul(before.wxyz[..., 4, :], after.wxyz[..., 4, :])), 0, atol=1e-7)
    riding = forward(LEG, pin_limb(LEG, pose, 1, 3, 4, targets, keep_end=False))
    np.testing.assert_allclose(riding.positions[..., 4, :], targets, atol=1e-10)
    assert np.all(quat.angle(quat.inv_mul(before.wxyz[..., 4, :], riding.wxyz[..., 4, :])) > 1e-3)


def test_pin_weight_goes_from_here_to_there():
    pose, target = _bent_pose(), np.array([0.2, 0.12, 0.25])
    here = forward(LEG, pose).positions[4]
    untouched = pin_limb(LEG, pose, 1, 3, 4, target, weight=0.0)
    np.testing.assert_array_equal(untouched.wxyz[[0, 2, 5]], pose.wxyz[[0, 2, 5]])
    np.testing.assert_allclose(untouched.wxyz, pose.wxyz, atol=1e-12)
    half = forward(LEG, pin_limb(LEG, pose, 1, 3, 4, target, weight=0.5)).positions[4]
    np.testing.assert_allclose(half, 0.5 * (here + target), atol=1e-10)


def test_arms_bend_the_other_way():
    at = np.array([[0, 0.2, 1.4], [0, 0.5, 1.4], [0, 0.75, 1.4]])
    found = two_bone(*at, np.array([0.3, 0.3, 1.4]), BACKWARD)
    assert found.middle[0] < found.end[0]
    assert np.linalg.norm(found.end - [0.3, 0.3, 1.4]) < 1e-9


def test_joints_that_are_no_limb_are_refused():
    with pytest.raises(MotionError, match="each must hang from the one before"):
        pin_limb(LEG, _bent_pose(), 3, 1, 4, np.zeros(3))


@pytest.mark.parametrize("move_root", [False, True])
def test_reach_jacobian_matches_finite_differences(move_root):
    rng = np.random.default_rng(3)
    start, pose = _random_pose(LEG, rng, (2,)), _random_pose(LEG, rng, (2,))
    goals = (
        Goal(5, rng.normal(size=(2, 3)), rng.normal(size=3), np.array([1.0, 0.3])),
        Goal(3, rng.normal(size=(2, 3)), weight=np.array([2.0, 0.5])),
    )
    problem = ReachProblem(LEG, start, goals, (0, 1, 3, 4), move_root, 0.7)
    jacobian = problem.jacobian(pose, forward(LEG, pose))
    for k in range(jacobian.shape[-1]):
        step = np.zeros((2, jacobian.shape[-1]))
        step[:, k] = 1e-6
        ahead, behind = problem.moved(pose, step), problem.moved(pose, -step)
        slope = (problem.residual(ahead, forward(LEG, ahead)) - problem.residual(behind, forward(LEG, behind))) / 2e-6
        np.testing.assert_allclose(jacobian[..., k], slope, atol=1e-7)


def test_reach_brings_points_home_in_every_frame():
    rng = np.random.default_rng(4)
    start = _random_pose(LEG, rng, (3, 4), size=0.3)
    there = forward(LEG, Pose(start.root, quat.mul(quat.exp(0.2 * rng.normal(size=(3, 4, 6, 3))), start.wxyz)))
    tip = np.array([0.06, 0.0, 0.0])
    goals = [Goal(4, there.positions[..., 4, :]), Goal(5, there.ends[..., 0, :], tip)]
    solved = forward(LEG, reach(LEG, start, goals, stiffness=1e-4))
    np.testing.assert_allclose(solved.positions[..., 4, :], there.positions[..., 4, :], atol=1e-4)
    np.testing.assert_allclose(solved.ends[..., 0, :], there.ends[..., 0, :], atol=1e-4)


def test_reach_leaves_other_joints_and_satisfied_goals_alone():
    rng = np.random.default_rng(5)
    pose = _random_pose(LEG, rng, (3,))
    world = forward(LEG, pose)
    same = reach(LEG, pose, [Goal(5, world.positions[:, 5])])
    np.testing.assert_allclose(same.wxyz, pose.wxyz, atol=1e-12)
    moved = reach(LEG, pose, [Goal(5, world.positions[:, 5] + 0.05)], joints=[3, 4])
    np.testing.assert_array_equal(moved.wxyz[:, [0, 1, 2, 5]], pose.wxyz[:, [0, 1, 2, 5]])
    assert np.max(np.abs(moved.wxyz[:, 3] - pose.wxyz[:, 3])) > 1e-3


def test_reach_agrees_with_two_bone_on_a_leg():
    pose, target = _bent_pose(), np.array([0.25, 0.1, 0.2])
    closed = forward(LEG, pin_limb(LEG, pose, 1, 3, 4, target)).positions
    solved = forward(LEG, reach(LEG, pose, [Goal(4, target)], joints=[1, 3], stiffness=1e-5, iterations=50)).positions
    np.testing.assert_allclose(solved[4], closed[4], atol=1e-4)
    np.testing.assert_allclose(solved[3], closed[3], atol=0.02)
