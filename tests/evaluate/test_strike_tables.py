"""What is learnt from takes of strikes: real ones."""

import numpy as np

from jostle.controllers.policy.strikes import strike_windows, strikes_in
from jostle.evaluate.control.strike_tables import FPS, TRAININGS, takes_of


def test_strikes_of_real_takes_are_found(data):
    [take] = takes_of(TRAININGS["punch"], data)
    assert take.fps == FPS
    pieces, found = strike_windows([take], "right_hand")
    assert len(found) == 16  # of 25 punches those at one height
    assert np.ptp([strike.place[2] for strike in found]) < 0.3
    assert sum(piece.frame_count for piece in pieces) < 0.75 * take.frame_count
    assert len(strikes_in(takes_of(TRAININGS["front kick"], data), "right_foot")) == 2


def test_a_take_with_a_wrong_rate_is_as_long_as_it_was(data):
    [take] = takes_of(TRAININGS["left punch"], data)
    assert 13.0 < take.duration < 14.0
