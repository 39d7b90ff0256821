"""Pushes in words."""

import numpy as np
import pytest

from jostle.errors import CommandError
from jostle.runtime.wording import read_push


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
