"""The thirty angles and their mirror image."""

import numpy as np
import pytest

from jostle.controllers.walker.joints import ANGLES, ANKLES, HIPS, INDEX, KNEES, MIRROR, SIGN, columns, mirrored
from jostle.controllers.walker.people import PEOPLE, walker_physics
from jostle.skeleton import forward


def test_there_are_thirty_as_in_figure_2_1():
    counts = {}
    for name in ANGLES:
        joint = name.rsplit("_", 1)[0].lstrip("lr") or name
        counts[joint] = counts.get(joint, 0) + 1
    assert counts == {"back": 3, "neck": 3, "arm": 6, "elbow": 4, "hip": 6, "knee": 2, "ankle": 4, "toe": 2}
    assert len(ANGLES) == len(set(ANGLES)) == 30


def test_the_mirror_of_the_mirror_is_the_walker():
    assert [mirrored(mirrored(name)) for name in ANGLES] == list(ANGLES)
    assert mirrored("lhip_x") == "rhip_x"
    assert mirrored("back_z") == "back_z"
    assert np.array_equal(MIRROR[MIRROR], np.arange(30))
    assert np.array_equal(SIGN[MIRROR], SIGN)


def test_mirrored_angles_are_a_mirrored_body():
    """Positions of the joints reflect in the plane of X and Z, left for right."""
    physics = walker_physics(PEOPLE["stocky"])
    skeleton, rng = physics.body.skeleton, np.random.default_rng(0)
    qpos = physics.model.qpos0.copy()
    qpos[7:] = 0.3 * rng.normal(size=30)
    other = qpos.copy()
    other[7:] = SIGN * qpos[7:][MIRROR]
    ours, theirs = (forward(skeleton, physics.to_pose(q)).positions for q in (qpos, other))
    for i, name in enumerate(skeleton.names):
        swapped = name.replace("Left", "?").replace("Right", "Left").replace("?", "Right")
        np.testing.assert_allclose(theirs[skeleton.index(swapped)], ours[i] * [1.0, -1.0, 1.0], atol=1e-12)


@pytest.mark.parametrize(("angle", "part", "axis", "sign"), [
    ("back_y", "Head", 0, 1), ("lhip_y", "LeftFoot", 0, -1), ("lknee_y", "LeftFoot", 0, -1),
    ("lankle_y", "LeftToe", 2, -1), ("lelbow_y", "LeftHand", 0, -1), ("larm_y", "LeftHand", 0, -1),
    ("lhip_x", "LeftFoot", 1, 1), ("rhip_x", "RightFoot", 1, 1), ("back_x", "Head", 1, -1),
])  # fmt: skip
def test_each_angle_turns_as_the_essay_says(angle, part, axis, sign):
    """The trunk leans forward, a leg swings back, a knee flexes, toes go down as the angle grows."""
    physics = walker_physics(PEOPLE["stocky"])
    at = [physics.model.qpos0.copy() for _ in range(2)]
    at[1][7 + INDEX[angle]] = 0.3
    before, after = (forward(physics.body.skeleton, physics.to_pose(q)).positions for q in at)
    joint = physics.body.skeleton.index(part)
    assert np.sign(round(float((after - before)[joint, axis]), 6)) == sign


def test_groups():
    assert [ANGLES[i] for i in columns("lknee", "rankle")] == ["lknee_y", "rankle_x", "rankle_y"]
    assert (len(HIPS), len(KNEES), len(ANKLES)) == (6, 2, 4)
    assert {ANGLES[i][1:].split("_")[0] for i in HIPS} == {"hip"}
