"""Pushes in words."""

import numpy as np
import pytest

from jostle.controllers.compliant.objectives import LookAt, Reach, Upright
from jostle.controllers.obstacles import Block, Post
from jostle.errors import CommandError
from jostle.runtime.wording import read_objective, read_obstacle, read_push


@pytest.mark.parametrize(
    ("word", "angle"),
    [("forward", 0), ("front", 0), ("left", 90), ("back-left", 135), ("right", -90), ("-30deg", -30), ("back", 180)],
)
def test_directions_are_those_of_the_one_who_is_pushed(word, angle):
    force = read_push(f"torso 300N {word} at 2.1s for 0.4s", heading=0.5).push.force
    wanted = 300.0 * np.array([np.cos(0.5 + np.radians(angle)), np.sin(0.5 + np.radians(angle)), 0.0])
    np.testing.assert_allclose(force, wanted, atol=1e-9)


def test_what_is_not_said_has_a_default():
    timed = read_push("left_arm 80 N up at 3")
    assert (timed.time, timed.push.part, timed.push.duration) == (3.0, "left_arm", 0.2)
    np.testing.assert_allclose(timed.push.force, [0.0, 0.0, 80.0])


@pytest.mark.parametrize(
    "text", ["", "torso", "torso 300N sideways at 2s", "torso N left at 2s", "torso 3.0.0N left at 1s",
             "torso 300N left-right at 2s", "torso 300N left at 2s for 0s", "torso 300N left at"],
)  # fmt: skip
def test_what_is_no_push_is_refused_in_a_sentence(text):
    with pytest.raises(CommandError):
        read_push(text)


def test_what_else_to_do_is_said_in_words():
    cup, place, look = (
        read_objective(t) for t in ("left_hand upright", "right_hand at 1 -0.3 1.2", "head towards 3 1 1.6")
    )
    assert isinstance(cup, Upright)
    assert cup.part == "left_hand"
    assert isinstance(place, Reach)
    np.testing.assert_allclose(place.point, [1.0, -0.3, 1.2])
    assert isinstance(look, LookAt)
    np.testing.assert_allclose(look.point, [3.0, 1.0, 1.6])


def test_obstacles_are_said_in_words():
    post, block = read_obstacle("post 1.5 0.3 0.05 1.7"), read_obstacle("block 1 0 1.2 0.2 0.4 0.6")
    assert isinstance(post, Post)
    np.testing.assert_allclose(post.end, [1.5, 0.3, 1.7])
    assert isinstance(block, Block)
    np.testing.assert_allclose(block.half, [0.1, 0.2, 0.3])


@pytest.mark.parametrize(
    "text", ["", "head", "head at 1 2", "head towards 1 2 .", "hand upright now", "head over 1 2 3"]
)
def test_what_is_nothing_to_keep_is_refused(text):
    with pytest.raises(CommandError):
        read_objective(text)


@pytest.mark.parametrize(
    "text",
    ["", "post", "post 1 2 3", "wall 1 2 3 4", "block 1 2 3 4 5 0", "post 1 2 0 1", "post 1 2 . 1", "post 1 2 0.1 -1"],
)
def test_what_is_no_obstacle_is_refused(text):
    with pytest.raises(CommandError):
        read_obstacle(text)
