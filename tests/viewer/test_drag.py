"""From a drag to a push, and from a stick to a heading."""

import math

import numpy as np
import pytest

from jostle.maths import quat
from jostle.skeleton import build_skeleton
from jostle.viewer.drag import STRONGEST, Acting, Drag, acting, aiming, force_of, grab, nearest_vertex, part_of, push_of
from jostle.viewer.frames import FigureFrame
from jostle.viewer.messages import Held
from jostle.viewer.steering import Steering, heading_of, yaw_of_camera


def frame_of(person, walk) -> FigureFrame:
    return FigureFrame(walk.positions[5], walk.globals.wxyz[5])


def test_a_grabbed_point_stays_on_the_body(person, walk):
    frame, joint = frame_of(person, walk), person.index("LeftArm")
    point = np.array([0.3, 0.2, 1.1])
    local = grab(point, joint, frame)
    world = frame.positions[joint] + quat.apply(frame.wxyz[joint], local)
    np.testing.assert_allclose(world, point, atol=1e-12)


def test_force_is_strength_times_pull_up_to_a_limit():
    np.testing.assert_allclose(force_of(np.array([0.5, 0.0, 0.0]), 400.0), [200.0, 0.0, 0.0])
    capped = force_of(np.array([3.0, 4.0, 0.0]), 1000.0)
    np.testing.assert_allclose(capped, STRONGEST * np.array([0.6, 0.8, 0.0]))


def test_letting_go_makes_a_push_on_the_part_under_the_hand(person):
    drag = Drag(0, person.index("LeftForeArm"), np.array([0.0, 0.0, -0.1]), np.array([0.0, -0.25, 0.0]))
    push = push_of(drag, person, 400.0, 0.3)
    assert push.part == "left_forearm"
    np.testing.assert_allclose(push.force, [0.0, -100.0, 0.0])
    np.testing.assert_allclose(push.point, drag.point)
    assert push.duration == 0.3


def test_a_trembling_click_is_no_push(person):
    assert push_of(Drag(0, 2, np.zeros(3), np.full(3, 1e-4)), person, 400.0, 0.2) is None


def test_parts_are_roles_or_the_joints_own_names(person):
    assert part_of(person, person.index("Chest")) == "chest"
    assert part_of(person, person.index("LeftLeg")) == "left_shin"
    tail = build_skeleton(["Root", "Tail"], [-1, 0], [[0, 0, 1], [-0.3, 0, 0]], [(1, [-0.2, 0, 0])])
    assert part_of(tail, 1) == "Tail"


def test_the_grab_is_brought_back_onto_the_surface():
    vertices = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    np.testing.assert_array_equal(nearest_vertex(np.array([0.8, 0.3, 0.0]), vertices), vertices[1])


def test_arrows_show_the_newtons(person, walk):
    frame = frame_of(person, walk)
    drag = Drag(0, person.index("Chest"), np.array([0.1, 0.0, 0.0]), np.array([0.0, 0.5, 0.0]))
    aim = aiming(drag, frame, 400.0)
    assert aim.newtons == pytest.approx(200.0)
    np.testing.assert_allclose(aim.tip - aim.tail, drag.pull)
    under_way = acting(Acting(drag, np.array([0.0, 200.0, 0.0]), 1.0), frame)
    np.testing.assert_allclose(under_way.tip, aim.tail)
    assert (under_way.tip - under_way.tail) @ np.array([0.0, 1.0, 0.0]) > 0.2


@pytest.mark.parametrize(
    ("held", "angle"), [((0.0, 1.0), 0.0), ((1.0, 0.0), -90.0), ((-1.0, 0.0), 90.0), ((0.0, -1.0), 180.0)]
)
def test_up_is_away_from_the_camera(held, angle):
    for yaw in (0.0, 1.0, -3.0):
        expected = yaw + math.radians(angle)
        difference = heading_of(Held(*held), yaw) - expected
        assert math.cos(difference) == pytest.approx(1.0)


def test_camera_yaw():
    assert yaw_of_camera((2.0, 0.0, 1.0), (0.0, 0.0, 1.0)) == pytest.approx(math.pi)
    assert yaw_of_camera((0.0, 0.0, 5.0), (0.0, 0.0, 0.0)) == 0.0


def test_nothing_is_asked_before_anyone_steers_and_standing_after():
    steering = Steering()
    assert steering.wish(0.0, 1.3) == (None, None)
    steering.hold(1, Held(0.0, 0.5))
    heading, speed = steering.wish(0.0, 1.3)
    assert heading == pytest.approx(0.0)
    assert speed == pytest.approx(0.65)
    steering.hold(1, Held())
    assert steering.wish(0.0, 1.3) == (None, 0.0)
    steering.forget()
    assert steering.wish(0.0, 1.3) == (None, None)


def test_two_pages_steer_together():
    steering = Steering()
    steering.hold(1, Held(0.0, 1.0))
    steering.hold(2, Held(1.0, 0.0))
    assert steering.stick().amount == pytest.approx(1.0)
    steering.hold(1, Held())
    assert steering.stick() == Held(1.0, 0.0)
