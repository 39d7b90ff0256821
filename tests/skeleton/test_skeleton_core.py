"""Skeletons and poses against plain matrices, and roles and twins on every kind of skeleton there is."""

from functools import lru_cache

import numpy as np
import pytest

from jostle.clips import load_clip
from jostle.errors import MotionError
from jostle.maths import quat
from jostle.skeleton import (
    Pose,
    Skeleton,
    aligned_to_rest,
    build_skeleton,
    find_roles,
    find_twins,
    forward,
    interpolate,
    is_humanoid,
    locals_of,
    mirror_pose,
    mirror_skeleton,
    require_humanoid,
    rest_pose,
)
from jostle.skeleton.roles import is_helper, split_side

_load = lru_cache(maxsize=64)(load_clip)  # clips are frozen, and some are large

TREE = build_skeleton(
    ["root", "a", "b", "c", "d"],
    [-1, 0, 1, 1, 0],
    [[0, 0, 1], [0.1, 0.2, 0.3], [0, 0.5, 0], [0.2, 0, -0.4], [-0.3, 0, 0.1]],
    [(2, [0, 0.1, 0]), (4, [0.0, 0.0, 0.2])],
)
PEOPLE = {
    "snu_ys2010/walk/wd2_WalkForwardNormal00.bvh": ("LeftUpLeg", "LeftLeg", "LeftFoot", "LeftArm", "LeftForeArm"),
    "snu_ys2010/other/woddy2_walk_normal_stright.bvh": ("LeftUpLeg", "LeftLeg", "LeftFoot", "LeftArm", "LeftForeArm"),
    "snu_ys2010/other/boxing_boxman_stand_dir_upper_left.bvh": (
        "LeftUpLeg", "LeftLeg", "LeftFoot", "LeftArm", "LeftForeArm",
    ),
    "cmu_bvh/02_03.bvh": ("LeftUpLeg", "LeftLeg", "LeftFoot", "LeftArm", "LeftForeArm"),
    "cmu_asf_amc/35_01.amc": ("lfemur", "ltibia", "lfoot", "lhumerus", "lradius"),
    "bandai_namco_1/dataset-1_dash_normal_001.bvh": ("UpperLeg_L", "LowerLeg_L", "Foot_L", "UpperArm_L", "LowerArm_L"),
    "kaykit_cc0/Knight.glb": ("upperleg.l", "lowerleg.l", "foot.l", "upperarm.l", "lowerarm.l"),
    "quaternius_cc0/man_Suit.glb": ("UpperLeg.L", "LowerLeg.L", "Foot.L", "UpperArm.L", "LowerArm.L"),
    "quaternius_cc0/platformer_Character.glb": ("UpperLeg.L", "LowerLeg.L", "Foot.L", "UpperArm.L", "LowerArm.L"),
}  # fmt: skip
ANIMALS = ["Fox", "Horse", "Stag", "Trex", "Triceratops", "Velociraptor"]


def _random_pose(skeleton, lead=(), seed=0, offsets=False):
    rng = np.random.default_rng(seed)
    wxyz = quat.normalise(rng.normal(size=(*lead, skeleton.joint_count, 4)))
    moved = rng.normal(size=(*lead, skeleton.joint_count, 3)) if offsets else None
    return Pose(rng.normal(size=(*lead, 3)), wxyz, moved)


def _by_matrices(skeleton, pose):
    """Forward kinematics of one pose with 4x4 matrices, the textbook way."""
    worlds = []
    for joint, parent in enumerate(skeleton.parents):
        local = np.eye(4)
        local[:3, :3] = quat.to_matrix(pose.wxyz[joint])
        offset = skeleton.offsets[joint] if pose.offsets is None else pose.offsets[joint]
        local[:3, 3] = pose.root if joint == 0 else offset
        worlds.append(local if joint == 0 else worlds[parent] @ local)
    ends = [worlds[j] @ np.append(o, 1.0) for j, o in zip(skeleton.end_parents, skeleton.end_offsets, strict=True)]
    return np.stack(worlds), np.stack(ends)[:, :3]


@pytest.mark.parametrize("offsets", [False, True])
def test_forward_kinematics_against_matrices(offsets):
    for seed in range(5):
        pose = _random_pose(TREE, seed=seed, offsets=offsets)
        worlds, ends = _by_matrices(TREE, pose)
        found = forward(TREE, pose)
        np.testing.assert_allclose(found.positions, worlds[:, :3, 3], atol=1e-12)
        np.testing.assert_allclose(quat.to_matrix(found.wxyz), worlds[:, :3, :3], atol=1e-12)
        np.testing.assert_allclose(found.ends, ends, atol=1e-12)


def test_forward_kinematics_broadcasts():
    pose = _random_pose(TREE, (2, 3), offsets=True)
    found = forward(TREE, pose)
    one = forward(TREE, Pose(pose.root[1, 2], pose.wxyz[1, 2], pose.offsets[1, 2]))
    np.testing.assert_allclose(found.positions[1, 2], one.positions, atol=1e-14)
    np.testing.assert_allclose(found.ends[1, 2], one.ends, atol=1e-14)


def test_the_rest_pose_is_the_identity():
    found = forward(TREE, rest_pose(TREE))
    np.testing.assert_allclose(found.positions, TREE.rest_positions, atol=1e-15)
    np.testing.assert_allclose(found.ends, TREE.rest_ends, atol=1e-15)
    assert TREE.height == pytest.approx(1.3 - 0.9)


@pytest.mark.parametrize("offsets", [False, True])
def test_locals_undo_forward(offsets):
    pose = _random_pose(TREE, (4,), offsets=offsets)
    world = forward(TREE, pose)
    back = locals_of(TREE, world.positions, world.wxyz, keep_offsets=offsets)
    np.testing.assert_allclose(back.root, pose.root)
    np.testing.assert_allclose(quat.angle(quat.inv_mul(back.wxyz, pose.wxyz)), 0.0, atol=1e-7)
    if offsets:
        np.testing.assert_allclose(back.offsets[:, 1:], pose.offsets[:, 1:], atol=1e-12)


def test_aligning_the_rest_pose_moves_nothing():
    rng = np.random.default_rng(3)
    rest = quat.normalise(rng.normal(size=(5, 4)))
    pose = _random_pose(TREE, (6,), offsets=True)
    turned, wxyz, offsets = aligned_to_rest(TREE, rest, pose.wxyz, pose.offsets)
    before, after = forward(TREE, pose), forward(turned, Pose(pose.root, wxyz, offsets))
    np.testing.assert_allclose(after.positions, before.positions, atol=1e-12)
    np.testing.assert_allclose(after.ends, before.ends, atol=1e-12)
    old_rest = forward(TREE, Pose(TREE.offsets[0], rest))
    np.testing.assert_allclose(turned.rest_positions, old_rest.positions, atol=1e-12)
    _, at_rest, _ = aligned_to_rest(TREE, rest, rest[None])
    np.testing.assert_allclose(quat.angle(at_rest), 0.0, atol=1e-7)


def test_interpolation_meets_both_ends():
    a, b = _random_pose(TREE, seed=1), _random_pose(TREE, seed=2)
    for t, pose in ((0.0, a), (1.0, b)):
        found = interpolate(a, b, t)
        np.testing.assert_allclose(found.root, pose.root, atol=1e-12)
        np.testing.assert_allclose(quat.angle(quat.inv_mul(found.wxyz, pose.wxyz)), 0.0, atol=1e-7)


def test_trees_are_walked():
    assert TREE.chain(3) == [0, 1, 3]
    assert TREE.subtree(1) == [1, 2, 3]
    assert TREE.children == ((1, 4), (2, 3), (), (), ())
    np.testing.assert_array_equal(TREE.ends_of(2), [[0, 0.1, 0]])
    assert TREE.same_as(TREE.scaled(1.0))
    assert not TREE.same_as(TREE.scaled(1.1))


@pytest.mark.parametrize(
    ("names", "parents", "offsets", "sentence"),
    [
        ([], [], np.zeros((0, 3)), "at least one joint"),
        (["a", "a"], [-1, 0], np.zeros((2, 3)), "Two joints are called 'a'"),
        (["a", "b"], [-1, -1], np.zeros((2, 3)), "one root"),
        (["a", "b", "c"], [-1, 2, 0], np.zeros((3, 3)), "after its parent"),
        (["a"], [-1], np.full((1, 3), np.nan), "finite"),
    ],
)
def test_impossible_skeletons_are_refused(names, parents, offsets, sentence):
    with pytest.raises(MotionError, match=sentence):
        build_skeleton(names, np.array(parents, dtype=np.int64), offsets)


def test_an_unknown_joint_is_answered_with_the_known_ones():
    with pytest.raises(MotionError, match=r"No joint 'rot'\. Did you mean 'root'\? Known: root, a, b, c, d\."):
        TREE.index("rot")


@pytest.mark.parametrize(
    ("name", "side", "word"),
    [
        ("LeftUpLeg", "left", "upleg"),
        ("mixamorig:RightHandIndex1", "right", "handindex"),
        ("UpperLeg.L", "left", "upperleg"),
        ("Bip01 R Thigh", "right", "thigh"),
        ("l_knee", "left", "knee"),
        ("lfemur", "left", "femur"),
        ("RThumb", "right", "thumb"),
        ("foot_right", "right", "foot"),
        ("Head", None, "head"),
        ("Root", None, "root"),
        ("LowerBack", None, "lowerback"),
        ("rear", None, "rear"),
    ],
)
def test_sides_are_read_from_names(name, side, word):
    assert split_side(name) == (side, word)


@pytest.mark.parametrize("name", ["kneeIK.l", "control-foot-roll.r", "handslot.l", "RightUpLegDummy", "PoleTarget.L"])
def test_handles_are_no_bones(name):
    assert is_helper(name)


@pytest.mark.parametrize("name", ["LeftUpLeg", "spine", "Head", "LeftHand", "toes.r", "Abdomen"])
def test_bones_are_no_handles(name):
    assert not is_helper(name)


@pytest.mark.parametrize("file", PEOPLE)
def test_roles_of_people(data, file):
    skeleton = _load(data / file).skeleton
    roles = find_roles(skeleton)
    assert is_humanoid(skeleton)
    limbs = ("left_thigh", "left_shin", "left_foot", "left_upper_arm", "left_forearm")
    assert tuple(skeleton.names[roles[r]] for r in limbs) == PEOPLE[file]
    rest = skeleton.rest_positions
    for side, sign in (("left", 1), ("right", -1)):
        for limb in ("thigh", "shin", "upper_arm", "forearm"):
            assert sign * (rest[roles[f"{side}_{limb}"], 1] - rest[roles["pelvis"], 1]) > 0.01
        assert rest[roles[f"{side}_thigh"], 2] > rest[roles[f"{side}_shin"], 2] > rest[roles[f"{side}_foot"], 2]
    assert rest[roles["head"], 2] > rest[roles["chest"], 2] > rest[roles["pelvis"], 2]
    for side in ("left", "right"):
        if f"{side}_toe" in roles:
            assert rest[roles[f"{side}_toe"], 0] > rest[roles[f"{side}_foot"], 0]  # X is forward


@pytest.mark.parametrize("animal", ANIMALS)
def test_animals_are_no_people(data, animal):
    skeleton = _load(data / "quaternius_cc0" / f"{animal}.glb").skeleton
    assert not is_humanoid(skeleton)
    with pytest.raises(MotionError, match=r"Walking needs a human skeleton, and no joint could be taken for: .*thigh"):
        require_humanoid(skeleton, "Walking")


def _renamed(skeleton):
    names = tuple(f"j{i}" for i in range(skeleton.joint_count))
    return Skeleton(names, skeleton.parents, skeleton.offsets, skeleton.end_parents, skeleton.end_offsets)


@pytest.mark.parametrize("file", [f for f in PEOPLE if "platformer" not in f])
def test_twins_by_name_and_by_geometry_agree(data, file):
    skeleton = _load(data / file).skeleton
    twins = find_twins(skeleton)
    roles = find_roles(skeleton)
    for role, joint in roles.items():
        other = role.replace("left_", "RIGHT_").replace("right_", "left_").replace("RIGHT_", "right_")
        assert skeleton.names[twins[joint]] == skeleton.names[roles[other]]
    np.testing.assert_array_equal(twins[twins], np.arange(skeleton.joint_count))
    nonsense = find_twins(_renamed(skeleton))
    for joint in roles.values():
        assert nonsense[joint] == twins[joint]


def test_twins_of_a_lopsided_tree_are_refused():
    with pytest.raises(MotionError, match="No mirror twin of joint 'a'"):
        find_twins(build_skeleton(["root", "a"], [-1, 0], [[0, 0, 1], [0, 0.4, 0]]))


@pytest.mark.parametrize("file", ["snu_ys2010/walk/wd2_WalkForwardNormal00.bvh", "cmu_bvh/02_03.bvh"])
def test_mirroring_reflects_every_joint(data, file):
    skeleton = _load(data / file).skeleton
    twins = find_twins(skeleton)
    pose = _random_pose(skeleton, (3,))
    shown = forward(skeleton, pose)
    mirrored = forward(mirror_skeleton(skeleton), mirror_pose(skeleton, pose))
    np.testing.assert_allclose(mirrored.positions, shown.positions[:, twins] * [1, -1, 1], atol=1e-12)
    again = mirror_skeleton(mirror_skeleton(skeleton))
    np.testing.assert_allclose(again.offsets, skeleton.offsets, atol=1e-15)
