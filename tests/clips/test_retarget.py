"""Motion on other bodies: identity on its own, scaled on a scaled one, and on real rigs limbs that point alike."""

from functools import lru_cache

import numpy as np
import pytest

from jostle.assets.gait import make_gait, walking
from jostle.clips import Clip, load_clip
from jostle.clips.contacts import find_contacts
from jostle.clips.edit import trim, trim_frames
from jostle.clips.feet import find_feet
from jostle.clips.loop import is_cyclic, loop, repeat
from jostle.clips.mapping import find_follows, match_joints
from jostle.clips.retarget import retarget
from jostle.clips.skate import foot_skate, slide_cm
from jostle.errors import MotionError
from jostle.maths import quat
from jostle.skeleton import Skeleton, build_skeleton, find_roles

_load = lru_cache(maxsize=64)(load_clip)  # clips are frozen, and some are large

SNU = "snu_ys2010/walk/wd2_WalkForwardNormal00.bvh"
CMU = "cmu_bvh/07_01.bvh"
RUN = "cmu_bvh/09_01.bvh"
BANDAI = "bandai_namco_1/dataset-1_walk_normal_001.bvh"
KNIGHT = "kaykit_cc0/Knight.glb"
SUIT = "quaternius_cc0/man_Suit.glb"
PAIRS = [(SNU, CMU), (CMU, SNU), (BANDAI, SNU), (SNU, BANDAI), (SNU, KNIGHT), (SNU, SUIT), (RUN, SUIT)]

WALK = "the walk that is drawn by rule"
PUSHED = "snu_ys2010/push/wd2_PushStep00.bvh"
BOXER = "snu_ys2010/other/boxing_boxman_stand_dir_upper_left.bvh"
PLATFORMER = "quaternius_cc0/platformer_Character.glb"  # whose feet hang from a control bone
HARD = [
    (WALK, KNIGHT),
    (RUN, KNIGHT),
    (CMU, KNIGHT),
    (RUN, SNU),
    (PUSHED, CMU),
    (BOXER, SNU),
    (SNU, PLATFORMER),
]  # noise, short legs


def _clip(data, name):
    if name == WALK:
        return make_gait(walking(), cycles=4)
    clip = _load(data / name)
    return trim_frames(clip, 1) if str(name).startswith("cmu") else clip


def _direction(clip, first, second):
    roles = find_roles(clip.skeleton)
    v = clip.positions[:, roles[second]] - clip.positions[:, roles[first]]
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def _apart(a, b, first, second):
    """Degrees between the same bone of two clips, frame by frame."""
    return np.degrees(
        np.arccos(np.clip(np.sum(_direction(a, first, second) * _direction(b, first, second), -1), -1, 1))
    )


def _knee_side(clip, side):
    """How far the knee lies ahead of the line from hip to ankle, in the pelvis's heading."""
    roles = find_roles(clip.skeleton)
    hip, knee, ankle = (clip.positions[:, roles[f"{side}_{x}"]] for x in ("thigh", "shin", "foot"))
    line = (ankle - hip) / np.linalg.norm(ankle - hip, axis=-1, keepdims=True)
    off = (knee - hip) - np.sum((knee - hip) * line, -1, keepdims=True) * line
    return quat.inv_apply(clip.globals.wxyz[:, roles[f"{side}_thigh"]], off)[:, 0]


@pytest.mark.parametrize("name", [SNU, CMU, BANDAI])
def test_onto_itself_is_the_identity(data, name):
    clip = _clip(data, name)
    same = retarget(clip, clip.skeleton)
    np.testing.assert_allclose(same.positions, clip.positions, atol=1e-6)
    np.testing.assert_allclose(quat.angle(quat.inv_mul(same.wxyz, clip.wxyz)), 0.0, atol=1e-6)


def test_onto_a_scaled_copy_scales(data):
    clip = _clip(data, SNU)
    half = retarget(clip, clip.skeleton.scaled(0.5))
    np.testing.assert_allclose(half.positions, 0.5 * clip.positions, atol=1e-6)


def test_renamed_joints_are_found_by_role(data):
    clip = _clip(data, SNU)
    names = {"LeftUpLeg": "thigh.L", "LeftLeg": "calf.L", "RightUpLeg": "thigh.R", "RightLeg": "calf.R"}
    old = clip.skeleton
    other = Skeleton(
        tuple(names.get(n, n) for n in old.names), old.parents, old.offsets, old.end_parents, old.end_offsets
    )
    np.testing.assert_allclose(retarget(clip, other).positions, clip.positions, atol=1e-6)


def test_a_splayed_rest_pose_makes_no_difference(data):
    """Turn both legs of the rest pose outwards by 20 degrees, as CMU's are: the motion stays where it was."""
    clip = _clip(data, SNU)
    old, roles = clip.skeleton, find_roles(clip.skeleton)
    offsets = old.offsets.copy()
    for side, sign in (("left", 1.0), ("right", -1.0)):
        splay = quat.exp(np.array([sign * np.radians(20.0), 0.0, 0.0]))
        for limb in ("shin", "foot"):
            offsets[roles[f"{side}_{limb}"]] = quat.apply(splay, offsets[roles[f"{side}_{limb}"]])
    splayed = Skeleton(old.names, old.parents, offsets, old.end_parents, old.end_offsets)
    legs = [roles[f"{side}_{x}"] for side in ("left", "right") for x in ("thigh", "shin", "foot")]
    before, after = clip.positions[:, legs], retarget(clip, splayed, fix_feet=False).positions[:, legs]
    np.testing.assert_allclose(after - after[:, :1], before - before[:, :1], atol=1e-9)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_limbs_point_as_in_the_source(data, source, target):
    clip = _clip(data, source)
    out = retarget(clip, _load(data / target).skeleton)
    for side in ("left", "right"):
        assert _apart(clip, out, f"{side}_upper_arm", f"{side}_forearm").max() < 0.1
        assert _apart(clip, out, f"{side}_forearm", f"{side}_hand").max() < 0.1
        assert np.median(_apart(clip, out, f"{side}_thigh", f"{side}_shin")) < 6.0
        assert np.median(_apart(clip, out, f"{side}_shin", f"{side}_foot")) < 8.0
    assert np.median(_apart(clip, out, "pelvis", "chest")) < 8.0


@pytest.mark.parametrize(("source", "target"), PAIRS + HARD)
def test_planted_feet_slide_no_more_than_in_the_source(data, source, target):
    clip = _clip(data, source)
    out = retarget(clip, _load(data / target).skeleton)
    assert slide_cm(out) <= slide_cm(clip) + 0.5
    assert foot_skate(out) <= foot_skate(clip) + 0.01


@pytest.mark.parametrize(("source", "target"), PAIRS + HARD)
def test_feet_stand_on_the_ground_and_never_sink_into_it(data, source, target):
    """Heights count from the rest pose, in which all points of a foot stand on one floor."""
    clip = _clip(data, source)
    out = retarget(clip, _load(data / target).skeleton)
    ends, rest = out.skeleton.rest_ends, out.skeleton.rest_positions
    lowest = np.full((out.frame_count, 2), np.inf)
    for point in find_feet(out).points:
        stands = rest[point.joint, 2] if point.end is None else ends[point.end, 2]
        lowest[:, point.foot] = np.minimum(lowest[:, point.foot], point.track(out)[:, 2] - stands)
    planted = find_contacts(clip).planted
    floor = np.median(lowest[planted])
    assert np.min(lowest) > floor - 0.003 * out.skeleton.height
    assert np.quantile(lowest[planted], 0.9) < floor + 0.015 * out.skeleton.height


@pytest.mark.parametrize("target", [KNIGHT, CMU])
def test_steps_are_as_long_as_the_legs(data, target):
    """A body takes as many of its own leg lengths to a step as the source, however thick its soles are."""
    clip = _clip(data, SNU)
    out = retarget(clip, _load(data / target).skeleton)
    assert _legs_travelled(out) == pytest.approx(_legs_travelled(clip), rel=0.02)


def _legs_travelled(clip):
    roles = find_roles(clip.skeleton)
    leg = sum(np.linalg.norm(clip.skeleton.offsets[roles[f"left_{x}"]]) for x in ("shin", "foot"))
    hips = clip.positions[:, [roles["left_thigh"], roles["right_thigh"]], :2].mean(axis=1)
    return np.linalg.norm(hips[-1] - hips[0]) / leg


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_knees_bend_forwards_and_legs_do_not_cross(data, source, target):
    out = retarget(_clip(data, source), _load(data / target).skeleton)
    roles = find_roles(out.skeleton)
    for side in ("left", "right"):
        assert np.min(_knee_side(out, side)) > -0.02
    facing = quat.from_yaw(quat.yaw(out.globals.wxyz[:, roles["pelvis"]]))
    between = out.positions[:, roles["left_shin"]] - out.positions[:, roles["right_shin"]]
    assert np.quantile(quat.inv_apply(facing, between)[:, 1], 0.02) > -0.05 * out.skeleton.height


def test_joints_without_a_source_stay_at_rest(data):
    clip = _clip(data, SNU)
    out = retarget(clip, _load(data / SUIT).skeleton)
    for name in ("Index2.L", "Thumb3.R"):
        turned = quat.angle(out.wxyz[:, out.skeleton.index(name)])
        assert np.max(turned) < 1e-6


def test_spines_share_the_bend():
    """A bend spread over two spine joints arrives on three: the chest turns as far, each joint a part of it."""
    two = _person(["spine", "chest"])
    three = _person(["spine", "belly", "chest"])
    wxyz = quat.identity((1, two.joint_count))
    for name in ("spine", "chest"):
        wxyz[0, two.index(name)] = quat.exp(np.array([0.0, 0.4, 0.0]))
    out = retarget(Clip(two, 30.0, two.offsets[:1], wxyz), three, fix_feet=False)
    chest = out.globals.wxyz[0, three.index("chest")]
    np.testing.assert_allclose(quat.log(chest), [0.0, 0.8, 0.0], atol=1e-9)
    parts = [quat.log(out.wxyz[0, three.index(n)])[1] for n in ("spine", "belly", "chest")]
    assert min(parts) > 0.1
    assert sum(parts) == pytest.approx(0.8)


def _person(trunk):
    names, parents, offsets = ["pelvis"], [-1], [[0.0, 0.0, 1.0]]

    def add(name, parent, offset):
        names.append(name)
        parents.append(names.index(parent))
        offsets.append(offset)

    for above, name in zip(["pelvis", *trunk], trunk, strict=False):
        add(name, above, [0.0, 0.0, 0.5 / len(trunk)])
    add("head", trunk[-1], [0.0, 0.0, 0.2])
    for side, y in (("left", 1.0), ("right", -1.0)):
        add(f"{side}_thigh", "pelvis", [0.0, 0.1 * y, 0.0])
        add(f"{side}_shin", f"{side}_thigh", [0.0, 0.0, -0.45])
        add(f"{side}_foot", f"{side}_shin", [0.0, 0.0, -0.45])
        add(f"{side}_upper_arm", trunk[-1], [0.0, 0.2 * y, 0.1])
        add(f"{side}_forearm", f"{side}_upper_arm", [0.0, 0.3 * y, 0.0])
        add(f"{side}_hand", f"{side}_forearm", [0.0, 0.3 * y, 0.0])
    return build_skeleton(names, parents, np.array(offsets), [(names.index("head"), [0.0, 0.0, 0.2])])


def test_arms_down_and_arms_out_agree():
    """The same person with a rest pose of hanging arms: raising them in one raises them in the other."""
    out_pose = _person(["spine", "chest"])
    offsets = out_pose.offsets.copy()
    for side in ("left", "right"):
        for limb in ("forearm", "hand"):
            j = out_pose.index(f"{side}_{limb}")
            offsets[j] = [0.0, 0.0, -np.linalg.norm(offsets[j])]
    down_pose = Skeleton(out_pose.names, out_pose.parents, offsets, out_pose.end_parents, out_pose.end_offsets)
    rng = np.random.default_rng(0)
    wxyz = quat.exp(0.4 * rng.normal(size=(5, out_pose.joint_count, 3)))
    clip = Clip(out_pose, 30.0, np.repeat(out_pose.offsets[:1], 5, axis=0), wxyz)
    out = retarget(clip, down_pose, fix_feet=False)
    np.testing.assert_allclose(out.positions, clip.positions, atol=1e-9)


def test_a_table_overrides_and_is_checked(data):
    clip = _clip(data, SNU)
    crossed = {"LeftArm": "RightArm", "RightArm": "LeftArm"}
    matches = match_joints(clip.skeleton, clip.skeleton, crossed)
    index = clip.skeleton.index
    assert matches[index("LeftArm")] == index("RightArm")
    assert matches[index("LeftLeg")] == index("LeftLeg")
    with pytest.raises(MotionError, match=r"No target joint 'LeftArmm'. Did you mean 'LeftArm'"):
        retarget(clip, clip.skeleton, {"LeftArmm": "LeftArm"})
    with pytest.raises(MotionError, match="No source joint 'Arm'"):
        retarget(clip, clip.skeleton, {"LeftArm": "Arm"})


def test_a_person_is_no_dog_without_a_table(data):
    clip = _clip(data, SNU)
    fox = _load(data / "quaternius_cc0" / "Fox.glb").skeleton
    with pytest.raises(MotionError, match=r"not both people .* pass a table"):
        retarget(clip, fox)
    out = retarget(clip, fox, {"Neck1": "Spine1", "Head": "Head"})
    assert out.frame_count == clip.frame_count
    assert np.all(np.isfinite(out.positions))


def test_animals_with_shared_names_need_no_table(data):
    from jostle.clips.formats.gltf import animations

    walk = next(name for name, *_ in animations(data / "quaternius_cc0/Fox.glb") if name.endswith("Walk"))
    fox = _load(data / "quaternius_cc0/Fox.glb", animation=walk)
    stag = _load(data / "quaternius_cc0/Stag.glb").skeleton
    out = retarget(fox, stag)
    spine = [stag.index(n) for n in stag.names if n in fox.skeleton.names][:6]
    moved = quat.angle(quat.inv_mul(out.globals.wxyz[0, spine], out.globals.wxyz[:, spine]))
    assert np.max(moved) > 0.02


def test_clips_with_handles_can_be_a_source(data):
    from jostle.clips.formats.gltf import animations

    name = next(found for found, *_ in animations(data / KNIGHT) if found.split("|")[-1] == "Walking_A")
    knight = _load(data / KNIGHT, animation=name)
    out = retarget(knight, _clip(data, SNU).skeleton)
    assert out.offsets is None
    before, after = find_contacts(knight).treadmill, find_contacts(out).treadmill  # it walks in place
    assert np.linalg.norm(before) > 0.3
    ratio = np.linalg.norm(out.positions[0, 0, 2]) / np.linalg.norm(knight.positions[0, 1, 2])
    np.testing.assert_allclose(after / ratio, before, atol=0.25 * np.linalg.norm(before))
    assert _apart(knight, out, "left_upper_arm", "left_forearm").max() < 0.1
    for side in ("left", "right"):
        assert np.min(_knee_side(out, side)) > -0.02


def test_feet_that_hang_from_a_control_bone_stay_on_their_shins(data):
    """Such a rig has no bone from shin to foot; the gap between the two must keep the length it has at rest."""
    clip, skeleton = _clip(data, SNU), _load(data / PLATFORMER).skeleton
    out, roles = retarget(clip, skeleton), find_roles(skeleton)
    assert out.skeleton is skeleton
    for side in ("left", "right"):
        shin, foot = roles[f"{side}_shin"], roles[f"{side}_foot"]
        assert shin not in skeleton.chain(foot)
        gap = np.linalg.norm(out.positions[:, foot] - out.positions[:, shin], axis=-1)
        np.testing.assert_allclose(
            gap, np.linalg.norm(skeleton.rest_positions[foot] - skeleton.rest_positions[shin]), atol=1e-6
        )
    assert np.ptp(out.positions[:, roles["left_foot"], 0:2], axis=0).max() > 1.0  # and walk along


def test_follows_name_their_own_joint_on_equal_skeletons(data):
    skeleton = trim(_clip(data, CMU), 0.0, 0.1).skeleton
    for joint, follow in find_follows(skeleton, skeleton).items():
        assert (follow.first if follow.share == 0.0 else follow.second) == joint
        assert follow.share in (0.0, 1.0)


@pytest.mark.parametrize("target", [CMU, KNIGHT])
def test_a_loop_stays_a_loop(data, target):
    closed = loop(_clip(data, BANDAI))
    out = retarget(closed, _load(data / target).skeleton)
    assert is_cyclic(out)
    assert out.frame_count == closed.frame_count
    bends = np.linalg.norm(np.diff(repeat(out, 2).positions, n=2, axis=0), axis=-1).max(axis=1)
    seam = out.frame_count - 1
    assert bends[seam - 2 : seam + 1].max() <= 1.05 * np.quantile(bends, 0.98)
