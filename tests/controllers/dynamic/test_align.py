"""The way a clip goes, found by laying it onto the normal motion."""

import numpy as np
import pytest

from jostle.clips.edit import trim_frames, turn
from jostle.controllers.dynamic.align import headings


@pytest.mark.parametrize("angle", [0.0, 0.7, -2.5])
def test_a_turned_clip_goes_where_it_was_turned(walk, angle):
    found = headings([trim_frames(walk, 60, 200), turn(trim_frames(walk, 250, 330), angle)], 0, 30.0)
    assert np.angle(np.exp(1j * (found[1] - found[0] - angle))) == pytest.approx(0.0, abs=0.01)


def test_a_push_aside_does_not_change_the_way(walk, pushed):
    """These walkers are told to go along X; the one that was pushed to the left travels obliquely."""
    clips = [trim_frames(walk, 60, 200), *(example.clip for example in pushed)]
    ends = clips[3].root[-1] - clips[3].root[0]
    assert abs(np.arctan2(ends[1], ends[0])) > np.radians(3.0)
    np.testing.assert_allclose(headings(clips, 0, 30.0), 0.0, atol=np.radians(0.5))
