"""Planted feet: the slide goes, the rest stays."""

from dataclasses import replace

import numpy as np

from jostle.clips import load_clip
from jostle.clips.contacts import find_contacts
from jostle.clips.plant import find_leg, plant_feet
from jostle.maths import quat
from jostle.skeleton import Pose, build_skeleton, find_roles
from jostle.skeleton.ik import FORWARD

WALK = "snu_ys2010/walk/wd2_WalkForwardNormal01.bvh"


def _slid(clip, rate=0.05):
    """The whole clip drifts sideways: every planted foot slides by `rate` metres a second."""
    drift = rate * np.arange(clip.frame_count)[:, None] * clip.dt * np.array([0.0, 1.0, 0.0])
    return clip.with_poses(Pose(clip.root + drift, clip.wxyz, clip.offsets))


def _slide(clip, contacts):
    """Metres that the ankle moves over each stretch of heel contact, less the frames of landing and leaving."""
    moved = []
    for foot, joint in enumerate(contacts.joints):
        flags = np.flatnonzero(contacts.heel[:, foot])
        for run in np.split(flags, np.flatnonzero(np.diff(flags) > 1) + 1):
            if len(run) > 10:
                track = clip.positions[run[4:-4], joint, :2]
                moved.append(np.linalg.norm(track[-1] - track[0]))
    return np.array(moved)


def test_a_drifting_walk_stands_again(data):
    clip = load_clip(data / WALK)
    contacts = find_contacts(clip)
    slid = _slid(clip)
    planted = plant_feet(slid, contacts)
    assert _slide(slid, contacts).max() > 0.02
    assert _slide(planted, contacts).max() < 0.004


def test_only_the_legs_are_touched(data):
    clip = load_clip(data / WALK)
    planted = plant_feet(_slid(clip), find_contacts(clip))
    roles = find_roles(clip.skeleton)
    legs = [roles[f"{s}_{x}"] for s in ("left", "right") for x in ("thigh", "shin", "foot")]
    others = [j for j in range(clip.skeleton.joint_count) if j not in legs]
    np.testing.assert_array_equal(planted.wxyz[:, others], clip.wxyz[:, others])
    feet = [roles["left_foot"], roles["right_foot"]]
    turned = quat.angle(quat.inv_mul(planted.globals.wxyz[:, feet], clip.globals.wxyz[:, feet]))
    assert np.max(turned) < 1e-6


def test_the_swing_takes_no_jolt(data):
    """The shift passes from one contact to the next through the swing: accelerations grow little."""
    clip = _slid(load_clip(data / WALK))
    contacts = find_contacts(load_clip(data / WALK))
    planted = plant_feet(clip, contacts)
    before, after = (np.linalg.norm(np.diff(c.positions, n=2, axis=0), axis=-1) for c in (clip, planted))
    assert np.quantile(after, 0.999) < 1.25 * np.quantile(before, 0.999)


def test_nothing_planted_is_nothing_done(data):
    clip = load_clip(data / WALK)
    contacts = find_contacts(clip)
    none = np.zeros_like(contacts.planted)
    free = replace(contacts, planted=none, heel=none, toe=none)
    assert plant_feet(clip, free) is clip


def test_a_leg_out_of_reach_lowers_the_pelvis(data):
    clip = load_clip(data / WALK)
    contacts = find_contacts(clip)
    down = np.full((clip.frame_count, 2), -0.08)
    planted = plant_feet(clip, contacts, down)
    assert np.max(clip.root[:, 2] - planted.root[:, 2]) > 0.02
    feet = list(contacts.joints)
    lowered = (clip.positions[:, feet, 2] - planted.positions[:, feet, 2])[contacts.planted]
    assert np.median(np.abs(lowered - 0.08)) < 0.002


def test_legs_are_found_by_role_and_by_the_tree(data):
    skeleton = load_clip(data / WALK).skeleton
    roles = find_roles(skeleton)
    leg = find_leg(skeleton, roles["right_foot"])
    assert leg is not None
    assert (leg.upper, leg.lower) == (roles["right_thigh"], roles["right_shin"])
    np.testing.assert_array_equal(leg.pole, FORWARD)
    beast = build_skeleton(["body", "hip", "knee", "paw"], [-1, 0, 1, 2], np.array([[0, 0, 1.0]] + [[0, 0, -0.3]] * 3))
    found = find_leg(beast, 3)
    assert found is not None
    assert (found.upper, found.lower, found.pole) == (1, 2, None)
    assert find_leg(beast, 1) is None
