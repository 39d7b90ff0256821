"""What is measured of a gait, on feet whose times are known."""

import numpy as np
import pytest

from jostle.controllers.walker.gait import Gait, feet_down, measure, strikes
from traces import make, regular


def test_a_regular_gait_is_measured_as_it_was_made():
    gait = measure(regular(), 0)
    assert gait.cycles == 16 - 2 - 2  # sixteen strikes, two to settle, and a cycle ends two later
    assert gait.heel_off == pytest.approx(0.40, abs=0.011)
    assert gait.toe_off == pytest.approx(0.62, abs=0.011)
    assert gait.double_support == pytest.approx(2 * (0.62 - 0.50), abs=0.011)
    assert gait.flat == 1.0
    assert gait.cycle_s == pytest.approx(1.0)
    assert gait.step_m == pytest.approx(0.605)
    assert gait.step_spread_m == pytest.approx(0.005)


@pytest.mark.parametrize(("times", "flat"), [
    ({"ball": (25, 55)}, 1 / 3), ({"heel": (0, 15)}, 0.0), ({"heel": (0, 20)}, 1 / 3),
])  # fmt: skip
def test_a_foot_on_heel_or_ball_alone_is_not_flat(times, flat):
    """Mid-stance is from 15 to 30 percent of the cycle."""
    assert measure(regular(**times), 0).flat == pytest.approx(flat, abs=0.08)


def test_without_double_support_there_is_none():
    assert measure(regular(ball=(10, 45), tip=(12, 48)), 0).double_support == 0.0


def test_a_foot_that_lands_before_it_is_called_a_strike_does_not_leave_late():
    """Corners that touch at the very end of the cycle belong to the next step."""
    gait = measure(regular(early=3), 0)
    assert gait.toe_off == pytest.approx(0.59, abs=0.011)
    assert gait.heel_off == pytest.approx(0.37, abs=0.011)


def test_feet_are_told_left_and_right_whichever_swings():
    trace = regular()
    down = feet_down(trace, 0)
    for foot in (0, 1):
        heel = [0 <= (k - (50 if foot == 0 else 0)) % 100 < 40 for k in range(len(down))]
        tip = [12 <= (k - (50 if foot == 0 else 0)) % 100 < 62 for k in range(len(down))]
        assert down[:, foot, 0].tolist() == heel
        assert down[:, foot, 5].tolist() == tip


def test_strikes_end_with_the_walk():
    struck = np.zeros((50, 2), bool)
    struck[[5, 20, 40]] = True
    trace = make(struck=struck, steps=np.array([50, 30]))
    assert strikes(trace, 0).tolist() == [5, 20, 40]
    assert strikes(trace, 1).tolist() == [5, 20]


def test_too_few_steps_make_no_gait():
    assert measure(regular(cycles=2), 0) == Gait(0)
    assert measure(make(struck=np.zeros((10, 1), bool)), 0) == Gait(0)
