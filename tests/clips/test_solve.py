"""A skeleton through points: near them, with bones that keep their length, upright, and without flips."""

import numpy as np
import pytest

from jostle.clips.points import Points, points_of, read_points
from jostle.clips.solve import read_solved, solve_skeleton
from jostle.clips.tree import DOG_PARENTS, find_tree, is_dog, ordered
from jostle.errors import MotionError
from jostle.maths import quat
from jostle.skeleton import Pose, build_skeleton, find_twins, forward

NAMES = (
    "Hips",
    "Chest",
    "LeftArm",
    "LeftHand",
    "RightArm",
    "RightHand",
    "LeftUpLeg",
    "LeftFoot",
    "RightUpLeg",
    "RightFoot",
)
TREE = (-1, 0, 1, 2, 1, 4, 0, 6, 0, 8)
OFFSETS = np.array(
    [
        [0, 0, 0.9], [0, 0, 0.5], [0, 0.2, 0], [0, 0, -0.6], [0, -0.2, 0], [0, 0, -0.6],
        [0, 0.1, -0.05], [0.05, 0, -0.85], [0, -0.1, -0.05], [0.05, 0, -0.85],
    ]
)  # fmt: skip


def _figure(frames: int = 120, noise: float = 0.0) -> Points:
    """A stick figure that walks a circle and swings its limbs about every axis."""
    rng = np.random.default_rng(5)
    skeleton = build_skeleton(NAMES, TREE, OFFSETS)
    t = np.linspace(0.0, 4.0, frames)[:, None, None]
    swing = 0.5 * np.sin(t * rng.uniform(1.0, 3.0, (10, 3)) + rng.uniform(0, 6, (10, 3)))
    wxyz = quat.exp(swing)
    heading = t[:, 0, 0]
    wxyz[:, 0] = quat.mul(quat.from_yaw(heading), quat.exp(0.3 * swing[:, 0]))
    root = np.stack([np.sin(heading), 1 - np.cos(heading), np.full(frames, 0.9)], axis=-1)
    positions = forward(skeleton, Pose(root, wxyz)).positions
    return Points(NAMES, positions + noise * rng.normal(size=positions.shape), 30.0, "figure")


def _bone_lengths(clip):
    parents = clip.skeleton.parents[1:]
    return np.linalg.norm(clip.positions[:, 1:] - clip.positions[:, parents], axis=-1)


def test_exact_points_are_met_exactly():
    points = _figure()
    clip = solve_skeleton(points, TREE)
    np.testing.assert_allclose(clip.positions, points.positions, atol=1e-6)
    np.testing.assert_allclose(_bone_lengths(clip)[0], np.linalg.norm(OFFSETS[1:], axis=-1), atol=1e-9)


def test_tree_by_name_and_in_any_order():
    points = _figure()
    shuffle = np.random.default_rng(0).permutation(10)
    mixed = Points(tuple(NAMES[i] for i in shuffle), points.positions[:, shuffle], 30.0)
    tree = {name: (None if p < 0 else NAMES[p]) for name, p in zip(NAMES, TREE, strict=True)}
    clip = solve_skeleton(mixed, tree)
    assert clip.skeleton.names[0] == "Hips"
    for name in NAMES:
        found = clip.positions[:, clip.skeleton.index(name)]
        np.testing.assert_allclose(found, points.positions[:, NAMES.index(name)], atol=1e-6)


def test_tree_is_found_from_what_keeps_its_distance():
    assert find_tree(NAMES, _figure(noise=0.001).positions) == TREE


def test_rest_pose_is_upright_and_faces_x():
    clip = solve_skeleton(_figure(), TREE)
    rest = clip.skeleton.rest_positions
    assert rest[1, 2] > rest[0, 2] > rest[7, 2]
    assert abs(rest[:, 2].min()) < 1e-9
    left, right = rest[[2, 6]], rest[[4, 8]]
    assert np.all(left[:, 1] - right[:, 1] > 0.15)
    assert np.all(np.abs(left[:, 0] - right[:, 0]) < 0.05)


def test_facing_is_by_travel_without_sides_and_by_hand():
    points = _figure()
    bare = Points(tuple("abcdefghij"), points.positions, 30.0)
    names = solve_skeleton(points, TREE).wxyz[:, 0]
    travel = solve_skeleton(bare, TREE).wxyz[:, 0]
    assert np.degrees(np.max(quat.angle(quat.inv_mul(names, travel)))) < 15
    turned = solve_skeleton(bare, TREE, facing=np.pi / 2)
    assert abs(quat.yaw(turned.wxyz[0, 0]) - np.pi / 2) < 0.4


def test_noise_leaves_bones_constant_and_errors_small():
    points = _figure(noise=0.003)
    clip = solve_skeleton(points, TREE)
    assert np.ptp(_bone_lengths(clip), axis=0).max() < 1e-9
    assert np.linalg.norm(clip.positions - points.positions, axis=-1).mean() < 0.006


def test_gaps_are_bridged():
    whole = _figure()
    positions = whole.positions.copy()
    positions[40:52, 3] = np.nan  # a hand
    positions[60:66, 0] = np.nan  # the root
    positions[80:90, 6:8] = np.nan  # a whole leg
    clip = solve_skeleton(Points(NAMES, positions, 30.0), TREE)
    assert np.all(np.isfinite(clip.wxyz))
    assert np.all(np.isfinite(clip.root))
    miss = np.linalg.norm(clip.positions - whole.positions, axis=-1)
    seen = np.all(np.isfinite(positions), axis=-1)
    assert miss[seen].max() < 0.01
    assert miss[~seen].max() < 0.15
    assert miss[60:66, 0].max() < 0.02  # the rest of the body says where the root is


def test_refusals_name_the_remedy():
    points = _figure()
    lost = points.positions.copy()
    lost[:, 4] = np.nan
    with pytest.raises(MotionError, match="leave them out: RightArm"):
        solve_skeleton(Points(NAMES, lost))
    with pytest.raises(MotionError, match="one root"):
        solve_skeleton(points, [0] * 10)
    with pytest.raises(MotionError, match="loop"):
        solve_skeleton(points, [-1, 2, 1, 0, 0, 0, 0, 0, 0, 0])
    with pytest.raises(MotionError, match="No tree can be found for 400 points"):
        solve_skeleton(Points(tuple(f"m{i}" for i in range(400)), np.zeros((2, 400, 3))))
    with pytest.raises(MotionError, match="3 parents for 10 points"):
        solve_skeleton(points, [-1, 0, 1])
    with pytest.raises(MotionError, match="Tail"):
        solve_skeleton(points, {"Tail": None})


def test_ordered_puts_parents_first():
    assert ordered([1, -1, 0]) == [1, 0, 2]
    assert ordered(DOG_PARENTS) == list(range(27))


@pytest.fixture(scope="module")
def dogs(data):
    files = sorted((data / "dog_mann").glob("*_joint_pos.txt"))
    return {path.stem: (read_points(path), read_solved(path)) for path in files}


def test_every_dog_joint_lies_within_2_cm_in_every_frame(dogs):
    assert len(dogs) == 8
    for name, (points, clip) in dogs.items():
        miss = np.linalg.norm(clip.positions - points.positions, axis=-1)
        assert miss.max() < 0.02, name
        assert miss.max() < 1e-4, name  # the recording is of a rigid skeleton, so nothing need be lost


def test_dog_bones_keep_their_length(dogs):
    for points, clip in dogs.values():
        assert np.ptp(_bone_lengths(clip), axis=0).max() < 1e-9
        assert is_dog(points.positions)


def test_dog_stands_on_its_feet_and_faces_x(dogs):
    for name, (_, clip) in dogs.items():
        rest, index = clip.skeleton.rest_positions, clip.skeleton.index
        feet = [index(f"{side}{end}Toes") for side in ("Left", "Right") for end in ("Front", "Hind")]
        assert rest[feet, 2].max() < 0.15 < 0.3 < rest[index("Pelvis"), 2], name
        assert rest[index("Neck"), 0] - rest[index("Pelvis"), 0] > 0.25, name
        assert rest[index("LeftHindUpperLeg"), 1] > 0.02 > -0.02 > rest[index("RightHindUpperLeg"), 1], name
        assert abs(rest[index("Neck"), 1]) < 0.03, name


def test_dog_walks_forward_with_its_head_first(dogs):
    clip = dogs["dog_walk03_joint_pos"][1]
    ahead = quat.apply(clip.wxyz[:, 0], np.array([1.0, 0.0, 0.0]))[:-1, :2]
    steps = np.diff(clip.root[:, :2], axis=0)
    goes = np.linalg.norm(steps, axis=-1) > 0.2 / 60.0
    assert np.mean(np.sum(steps * ahead, axis=-1)[goes] > 0) > 0.95


def test_dog_does_not_flip(dogs):
    """Between frames a joint turns no more than the bones it carries are seen to turn, and a little twist."""
    for name, (points, clip) in dogs.items():
        bones = points.positions[:, 1:] - points.positions[:, list(DOG_PARENTS[1:])]
        bones = bones / np.maximum(np.linalg.norm(bones, axis=-1, keepdims=True), 1e-9)
        seen = np.arccos(np.clip(np.sum(bones[1:] * bones[:-1], axis=-1), -1.0, 1.0)).max(axis=1)
        turned = quat.angle(quat.inv_mul(clip.wxyz[:-1], clip.wxyz[1:])).max(axis=1)
        assert np.all(turned < 2.0 * seen + 0.1), name
        assert np.all(np.sum(clip.wxyz[1:] * clip.wxyz[:-1], axis=-1) > 0), name


def test_dog_twins_are_known(dogs):
    skeleton = dogs["dog_trot_joint_pos"][1].skeleton
    twins = find_twins(skeleton)
    assert skeleton.names[twins[skeleton.index("LeftFrontFoot")]] == "RightFrontFoot"


def test_dog_tree_is_found_without_names(dogs):
    """Unlabelled, the dog's own tree is found, and meets the points as well."""
    points = dogs["dog_walk00_joint_pos"][0]
    assert find_tree(tuple(f"m{i}" for i in range(27)), points.positions) == DOG_PARENTS
    clip = solve_skeleton(Points(tuple(f"m{i}" for i in range(27)), points.positions, 60.0))
    order = [int(name[1:]) for name in clip.skeleton.names]
    assert np.linalg.norm(clip.positions - points.positions[:, order], axis=-1).max() < 0.02


def test_points_of_a_clip_solve_back(dogs):
    clip = dogs["dog_pace_joint_pos"][1]
    again = solve_skeleton(points_of(clip))
    np.testing.assert_allclose(again.positions, clip.positions, atol=1e-6)
