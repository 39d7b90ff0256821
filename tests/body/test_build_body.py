import numpy as np
import pytest
from figures import dog, person

from jostle.body import Box, Capsule, build_body
from jostle.body.shapes import radius_for
from jostle.clips.io import load_clip
from jostle.errors import BodyError, CommandError
from jostle.maths import quat
from jostle.skeleton import build_skeleton, find_roles, find_twins, rest_pose

VARIANTS = [
    *({"spines": n} for n in range(6)),
    {"neck": False},
    {"clavicles": False},
    {"hands": False},
    {"toes": False},
    {"dummies": True},
    {"spines": 0, "neck": False, "clavicles": False, "hands": False, "toes": False},
]
SKELETONS = [
    "snu_ys2010/walk/wd2_WalkForwardNormal00.bvh",
    "snu_ys2010/other/boxing_boxman_hited_dir.bvh",
    "cmu_bvh/07_01.bvh",
    "cmu_bvh/143_23.bvh",
    "bandai_namco_1/dataset-1_walk_normal_001.bvh",
    "kaykit_cc0/Knight.glb",
    "quaternius_cc0/man_Suit.glb",
    "quaternius_cc0/Fox.glb",
    "quaternius_cc0/Trex.glb",
]


def assert_physical(body):
    """Positive masses, and inertias that some solid could have: no principal moment beyond the sum of the others."""
    assert np.all(body.mass > 0)
    moments = np.linalg.eigvalsh(body.inertia)
    assert np.all(moments > 0)
    assert np.all(moments[:, 2] <= moments[:, 0] + moments[:, 1] + 1e-12)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_people_of_any_joints_weigh_what_was_asked(variant):
    body = build_body(person(**variant), mass=63.0)
    assert body.total_mass == pytest.approx(63.0, rel=1e-12)
    assert_physical(body)


@pytest.mark.parametrize("name", SKELETONS)
def test_real_skeletons_give_physical_bodies(data, name):
    body = build_body(load_clip(data / name).skeleton, mass=70.0)
    assert body.total_mass == pytest.approx(70.0, rel=1e-12)
    assert_physical(body)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_the_centre_of_mass_of_a_standing_person(variant):
    """At 53 to 62 % of the height (56 with hanging arms; arms held out raise it), on the midline, over the feet."""
    skeleton = person(**variant)
    body = build_body(skeleton)
    x, y, z = body.total_com(rest_pose(skeleton))
    floor = min(
        (skeleton.rest_positions[j] + p)[2] for s in body.soles for j, p in zip(s.joints, s.points, strict=True)
    )
    assert 0.53 < (z - floor) / (1.75 - floor) < 0.62
    assert abs(y) < 1e-9
    assert -0.05 < x < 0.2


def trunk(body):
    """Mass and centre of everything between the hips and the neck."""
    roles = find_roles(body.skeleton)
    limbs = [roles[r] for r in roles if r.split("_")[-1] in ("thigh", "arm", "head", "neck")]
    limbs = [j for limb in limbs for j in body.skeleton.subtree(limb)]
    own = [j for j in range(body.skeleton.joint_count) if j not in limbs]
    centre = body.mass[own] @ (body.skeleton.rest_positions + body.com)[own] / body.mass[own].sum()
    return body.mass[own].sum(), centre


@pytest.mark.parametrize("spines", [0, 1, 3, 5])
def test_a_trunk_is_the_same_over_any_number_of_spine_joints(spines):
    mass, centre = trunk(build_body(person(spines=spines, clavicles=False)))
    usual_mass, usual_centre = trunk(build_body(person(spines=2, clavicles=False)))
    assert mass == pytest.approx(usual_mass, rel=1e-9)
    np.testing.assert_allclose(centre, usual_centre, atol=1e-9)


def test_limbs_have_their_published_share():
    body = build_body(person(), mass=100.0, sex="male")
    assert body.mass[body.part("left_thigh")] == pytest.approx(14.16, rel=1e-3)
    assert body.mass[body.part("left_forearm")] == pytest.approx(1.62, rel=1e-3)
    assert body.mass[body.part("left_foot")] + body.mass[body.part("left_toe")] == pytest.approx(1.37, rel=1e-3)
    assert body.com[body.part("left_thigh")][2] == pytest.approx(-0.4095 * 0.42, abs=1e-6)


def test_left_and_right_are_alike():
    skeleton = person(dummies=True)
    body, twins = build_body(skeleton), find_twins(skeleton)
    np.testing.assert_allclose(body.mass, body.mass[twins])
    np.testing.assert_allclose(body.com, body.com[twins] * [1, -1, 1], atol=1e-12)


def test_joints_without_a_segment_borrow_a_little():
    body = build_body(person(dummies=True), mass=70.0)
    dummy = body.mass[body.part("LeftHipDummy")]
    assert 0 < dummy < 0.1


def test_soles_lie_below_the_feet_and_hold_heel_and_toe():
    skeleton = person()
    left = build_body(skeleton).soles[0]
    at = {k: skeleton.rest_positions[j] + p for k, j, p in zip(left.labels, left.joints, left.points, strict=True)}
    heights = [p[2] for p in at.values()]
    assert max(heights) - min(heights) < 1e-9
    assert heights[0] < skeleton.rest_positions[skeleton.index("LeftToeBase")][2]
    assert at["left_heel_in"][0] < 0 < 0.13 < at["left_toe_in"][0]
    assert at["left_ball_in"][1] < at["left_ball_out"][1]  # inner is towards the other foot
    assert left.joints[left.labels.index("left_toe_in")] == skeleton.index("LeftToeBase")


def test_a_sole_is_level_under_an_upright_shin_where_the_rest_pose_straddles():
    """Legs that lean out by 20 degrees, as CMU's: turned upright at the hip, the sole is level."""
    upright = person()
    offsets, lean = upright.offsets.copy(), np.radians(20.0)
    for side, s in (("Left", 1.0), ("Right", -1.0)):
        for joint in (f"{side}Leg", f"{side}Foot"):
            length = -offsets[upright.index(joint)][2]
            offsets[upright.index(joint)] = [0, s * length * np.sin(lean), -length * np.cos(lean)]
    ends = list(zip(upright.end_parents.tolist(), upright.end_offsets, strict=True))
    body = build_body(build_skeleton(upright.names, upright.parents, offsets, ends))
    corners = body.soles[0].points[:4]  # heel and ball, on the left ankle
    turned = quat.apply(quat.from_axis_angle(np.array([1.0, 0.0, 0.0]), -lean), corners)
    assert np.ptp(turned[:, 2]) < 1e-9
    assert np.ptp(corners[:, 2]) > 0.01  # in the rest pose it is not


def test_shapes_weigh_what_the_limbs_do():
    """A limb's capsule has its mass at the density of water."""
    body = build_body(person())
    shin = body.part("left_shin")
    (capsule,) = [shape for shape in body.shapes if shape.joint == shin]
    assert isinstance(capsule, Capsule)
    assert 1000.0 * capsule.volume == pytest.approx(body.mass[shin], rel=1e-3)
    feet = [s for s in body.shapes if s.joint in (body.part("left_foot"), body.part("left_toe"))]
    assert len(feet) == 2
    assert all(isinstance(shape, Box) for shape in feet)


@pytest.mark.parametrize(("volume", "length"), [(0.003, 0.4), (0.001, 0.0), (1e-6, 0.3)])
def test_radius_for_a_volume(volume, length):
    r = radius_for(volume, length)
    assert np.pi * r**2 * length + 4 / 3 * np.pi * r**3 == pytest.approx(volume, rel=1e-9)


def test_an_animal_weighs_its_volume():
    body = build_body(dog())
    assert 10 < body.total_mass < 60
    assert_physical(body)
    assert body.skeleton.names[int(np.argmax(body.mass))] in ("pelvis", "back", "withers")
    assert build_body(dog(), mass=31.0).total_mass == pytest.approx(31.0)
    larger = build_body(dog().scaled(2.0))
    assert larger.total_mass == pytest.approx(8.0 * body.total_mass, rel=1e-6)


@pytest.mark.parametrize("wrong", [{"mass": 0.0}, {"mass": float("nan")}, {"height": -1.0}])
def test_nonsense_is_refused(wrong):
    with pytest.raises(BodyError, match="positive number"):
        build_body(person(), **wrong)


def test_a_skeleton_without_height_is_refused():
    with pytest.raises(BodyError, match="no height"):
        build_body(build_skeleton(["dot"], [-1], [[0, 0, 0]]), mass=1.0)


def test_parts_by_role_by_name_and_by_word():
    skeleton = person()
    body = build_body(skeleton)
    assert body.part("left_shin") == skeleton.index("LeftLeg")
    assert body.part("LeftLeg") == skeleton.index("LeftLeg")
    assert body.part("left_knee") == body.part("left_shin")
    assert body.part("torso") == body.part("chest") == skeleton.index("Spine1")
    assert body.part("left_arm") == skeleton.index("LeftArm")
    assert body.part("Right Hand") == skeleton.index("RightHand")


def test_a_missing_part_means_the_nearest_one():
    body = build_body(person(hands=False, toes=False, neck=False))
    assert body.part("left_hand") == body.part("left_forearm")
    assert body.part("right_toe") == body.part("right_foot")
    assert body.part("neck") == body.part("head")


def test_an_unknown_part_names_the_known_ones():
    with pytest.raises(CommandError, match=r"No body part 'left_thing'.*Known: .*pelvis"):
        build_body(person()).part("left_thing")
    assert build_body(dog()).part("torso") == int(np.argmax(build_body(dog()).mass))


def test_a_joint_at_a_cut_of_the_trunk_makes_no_sliver():
    """Wherever the waist is, no box is thinner than a millimetre or two."""
    skeleton = person(spines=1)
    heights = np.linspace(-0.02, 0.02, 81) * skeleton.height
    waist = skeleton.index("Spine")
    for shift in heights:
        offsets = skeleton.offsets.copy()
        offsets[waist, 2] += shift
        ends = list(zip(skeleton.end_parents.tolist(), skeleton.end_offsets.tolist(), strict=True))
        body = build_body(build_skeleton(skeleton.names, skeleton.parents, offsets, ends))
        boxes = [shape for shape in body.shapes if isinstance(shape, Box)]
        assert min(box.half.min() for box in boxes) > 0.0005 * body.height
