"""Leg angles are those that the body was posed with, whichever way it walks."""

import numpy as np

from jostle.clips import Clip
from jostle.clips.contacts import Contacts
from jostle.clips.edit import turn
from jostle.controllers.walker.joints import INDEX
from jostle.controllers.walker.people import PEOPLE, walker_physics
from jostle.evaluate.walk.legs import cycles_of, flat_slope, leg_angles, over_cycle


def posed(**radians: float) -> Clip:
    """Two frames of `stocky` with these angles."""
    physics = walker_physics(PEOPLE["stocky"])
    qpos = np.zeros((2, physics.model.nq))
    qpos[:, 3] = 1.0
    for name, value in radians.items():
        qpos[:, 7 + INDEX[name]] = value
    pose = physics.to_pose(qpos)
    return Clip(physics.body.skeleton, 60.0, pose.root, pose.wxyz)


AHEAD = np.array([2.0, 0.0])


def test_angles_are_what_the_joints_were_set_to():
    bent = posed(lhip_y=-0.5, lknee_y=0.7, lankle_y=0.3, rhip_y=0.2)
    moved = leg_angles(bent, AHEAD) - leg_angles(posed(), AHEAD)
    left, right = np.radians(moved[0])
    np.testing.assert_allclose(left, [0.5, 0.7, -0.5], atol=1e-9)  # toe: 0.5 up at the hip, 0.7 and 0.3 down
    np.testing.assert_allclose(right, [-0.2, 0.0, -0.2], atol=1e-9)


def test_the_side_view_turns_with_the_walk():
    bent = posed(lhip_y=-0.5, lknee_y=0.7, rhip_y=0.2)
    yaw = 2.0
    there = np.array([np.cos(yaw), np.sin(yaw)])
    np.testing.assert_allclose(leg_angles(turn(bent, yaw), there), leg_angles(bent, AHEAD), atol=1e-9)


def test_a_flat_foot_slopes_by_what_it_does_with_heel_and_toe_down():
    angles = np.zeros((6, 2, 3))
    angles[:, 0, 2] = [10, -5, -7, -6, 30, 40]
    angles[:, 1, 2] = -3
    on = np.array([[0, 1, 1, 1, 0, 0], [1] * 6], dtype=bool).T
    contacts = Contacts(("l", "r"), (0, 1), on, on, on, 0.0, np.zeros(2), 60.0)
    np.testing.assert_allclose(flat_slope(angles, contacts), [-6, -3])


def test_a_cycle_is_sampled_evenly_between_its_strikes():
    ramp = np.arange(50.0)[:, None] * [1.0, 2.0]
    curve = over_cycle(ramp, 10.5, 30.5)
    np.testing.assert_allclose(curve[:, 0], 10.5 + 0.2 * np.arange(100))
    np.testing.assert_allclose(curve[:, 1], 2 * curve[:, 0])
    assert cycles_of(np.array([3, 9, 14])) == [(3, 9), (9, 14)]
