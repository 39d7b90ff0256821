"""Bodies to walk with: heights, masses, hinges, feet; and what cannot be a body."""

import numpy as np
import pytest

from jostle.body import Ground
from jostle.controllers.walker.joints import ANGLES, JOINTS
from jostle.controllers.walker.people import PEOPLE, Person, build_person, find_person, foot_corners, walker_physics
from jostle.errors import BodyError

THESIS = {  # figure 3.2: centimetres, kilograms
    "long_arm": (127, 65), "thin": (165, 41), "short": (165, 57), "stocky": (165, 70), "overweight": (161, 86),
    "tall": (196, 79),
}  # fmt: skip


def crown(body):
    """How high the head reaches."""
    skeleton = body.skeleton
    return (skeleton.rest_positions[skeleton.end_parents] + skeleton.end_offsets)[:, 2].max()


def soles(body):
    """How high the corners of the soles are."""
    found = []
    for side in ("Left", "Right"):
        points = foot_corners(body, side)
        for joint in ("Foot", "Toe"):
            found += (points[joint] + body.skeleton.rest_positions[body.skeleton.index(side + joint)])[:, 2].tolist()
    return np.array(found)


@pytest.mark.parametrize("name", PEOPLE)
def test_the_six_of_figure_3_2(name):
    height, mass = THESIS[name]
    body = build_person(find_person(name))
    assert body.total_mass == pytest.approx(mass)
    assert body.height == pytest.approx(height / 100)
    assert crown(body) - soles(body).min() == pytest.approx(height / 100, rel=1e-3)
    np.testing.assert_allclose(soles(body), 0.0, atol=0.005)
    assert PEOPLE[name].fallen == (0.4 if name == "long_arm" else 0.7)
    com = body.mass @ (body.skeleton.rest_positions + body.com)[:, 2] / mass
    assert com > PEOPLE[name].fallen + 0.1  # who stands has not fallen


def test_thirty_hinges_in_the_order_of_the_angles():
    model = walker_physics(Person()).model
    assert (model.nv, model.nq, model.nu) == (36, 37, 0)
    at = 1
    for joint, (_, axes, limits) in JOINTS.items():
        for number, (axis, (low, high)) in enumerate(zip(axes, limits, strict=True)):
            hinge = model.joint(at)
            assert hinge.name == f"{joint}.{number}"
            assert hinge.axis.tolist() == [float(axis == a) for a in "xyz"]
            assert model.jnt_limited[at]
            assert hinge.range.tolist() == [low, high]
            assert low <= 0.0 <= high  # the rest pose is allowed
            at += 1
    assert at == model.njnt == len(ANGLES) + 1


def test_arms_and_legs_can_be_stretched():
    plain, arms, legs = (build_person(p) for p in (Person(), Person(arms=1.5), Person(legs=1.1)))

    def length(body, *names):
        skeleton = body.skeleton
        return sum(np.linalg.norm(skeleton.offsets[skeleton.index(n)]) for n in names)

    for side in ("Left", "Right"):
        arm, leg = (f"{side}ForeArm", f"{side}Hand"), (f"{side}Leg", f"{side}Foot")
        assert length(arms, *arm) == pytest.approx(1.5 * length(plain, *arm))
        assert length(arms, *leg) == pytest.approx(length(plain, *leg))
        assert length(legs, *leg) == pytest.approx(1.1 * length(plain, *leg))
        assert length(legs, *arm) == pytest.approx(length(plain, *arm))
    for body in (plain, arms, legs):
        assert crown(body) == pytest.approx(crown(plain))  # the trunk makes up for the legs
        feet = [body.skeleton.rest_positions[body.skeleton.index(f"{s}Foot"), 2] for s in ("Left", "Right")]
        np.testing.assert_allclose(feet, 0.039 * 1.65, atol=1e-9)


def test_feet_and_toes_are_boxes_with_four_corners_below():
    physics = walker_physics(Person())
    model, body = physics.model, physics.body
    for side in ("Left", "Right"):
        points = foot_corners(body, side)
        assert [points[name].shape for name in ("Foot", "Toe", "Tip")] == [(4, 3), (4, 3), (2, 3)]
        for joint in ("Foot", "Toe"):
            geom = model.body(side + joint).geomadr[0]
            half, centre = model.geom_size[geom], model.geom_pos[geom]
            for point in points[joint]:
                np.testing.assert_allclose(np.abs(point - centre), half, atol=1e-12)
                assert point[2] < centre[2]
            assert points[joint][0, 0] < points[joint][2, 0]  # the heel comes first
        np.testing.assert_allclose(points["Tip"][:, :2], points["Toe"][2:, :2], atol=1e-12)
        assert (points["Tip"][:, 2] > points["Toe"][2:, 2]).all()
    left, right = foot_corners(body, "Left"), foot_corners(body, "Right")
    for joint in left:  # the controller takes the left foot's corners for both
        np.testing.assert_allclose(np.sort(left[joint], axis=0), np.sort(right[joint], axis=0), atol=1e-12)


def test_ground_and_time_step_reach_the_model():
    model = walker_physics(Person(), Ground(0.1, 0.3), 0.001).model
    ground = model.geom("ground")
    assert model.opt.timestep == 0.001
    assert ground.friction[0] == 0.3
    w, _, y, _ = ground.quat
    assert 2.0 * np.arctan2(-y, w) == pytest.approx(0.1)


def test_every_shape_may_touch_the_ground_and_nothing_else():
    model = walker_physics(Person()).model
    ground = model.geom("ground").id
    pairs = {frozenset(pair) for pair in zip(model.pair_geom1.tolist(), model.pair_geom2.tolist(), strict=True)}
    assert pairs == {frozenset((ground, geom)) for geom in range(model.ngeom) if geom != ground}
    bodies = np.arange(model.ngeom) != ground
    assert not model.geom_contype[bodies].any()
    assert not model.geom_conaffinity[bodies].any()


@pytest.mark.parametrize(("given", "message"), [
    ({"height": 0.2}, "height must lie between 0.5 and 2.5, not 0.2"), ({"mass": np.nan}, "mass"),
    ({"mass": 5000.0}, "between 10 and 300"), ({"arms": 0.0}, "arms"), ({"legs": np.inf}, "legs"),
])  # fmt: skip
def test_impossible_bodies_are_refused(given, message):
    with pytest.raises(BodyError, match=message):
        Person(**given)


def test_an_unknown_body_is_answered_with_the_known_ones():
    with pytest.raises(BodyError, match="Did you mean 'stocky'"):
        find_person("stockey")
