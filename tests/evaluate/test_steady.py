"""Figures of an undisturbed walk, from made-up traces whose figures are known, and from a short real one."""

from dataclasses import replace

import numpy as np
import pytest

from jostle.body import Ground
from jostle.controllers.walker.joints import INDEX
from jostle.controllers.walker.parameters import SIMBICON
from jostle.controllers.walker.people import PEOPLE, walker_physics
from jostle.controllers.walker.trace import Trace
from jostle.evaluate.walk import steady
from jostle.evaluate.walk.subjects import Subject

DT = 0.01
PHYSICS = walker_physics(PEOPLE["stocky"], timestep=DT)


def made_up(step_times=(0.5, 0.5), steps=40, speed=1.2) -> Trace:
    """Left and right steps that take so many seconds, straight ahead, upright, every joint at zero."""
    took = [round(step_times[i % 2] / DT) for i in range(steps)]
    length = sum(took)
    ends = np.cumsum(took) - 1
    struck, phase = np.zeros((length, 1), bool), np.zeros((length, 1), np.int8)
    struck[ends] = True
    for i, (end, n) in enumerate(zip(ends, took, strict=True)):
        phase[end - n + 1 : end + 1] = 2 * (i % 2)
        phase[end - n // 2 + 1 : end + 1] += 1
    t = np.arange(length) * DT
    com = np.stack([speed * t, 0 * t, 0 * t + 0.9], axis=1)[:, None]
    qpos = np.zeros((length, 1, PHYSICS.model.nq))
    qpos[:, 0, 3] = 1.0
    qpos[:, 0, :3] = com[:, 0]
    flat = np.zeros((length, 1))
    return Trace(
        PHYSICS, DT, np.array([length]), phase, struck, struck & False, np.zeros((length, 1, 30)),
        np.zeros((length, 1, 4, 6), bool), flat + 0.6, flat, flat, flat, flat, com, 0.0 * com,
        com + np.array([0, 0, 0.6]), 0.0 * com, com, flat, flat, np.array([[0.0, 0.0, 1.0]]), qpos,
    )  # fmt: skip


def with_angle(trace: Trace, name: str, values: np.ndarray) -> Trace:
    assert trace.qpos is not None
    qpos = trace.qpos.copy()
    qpos[:, 0, 7 + INDEX[name]] = values
    return replace(trace, qpos=qpos)


def test_a_straight_walk_strays_by_nothing_and_sway_does_not_count():
    trace = made_up()
    sway = 0.03 * np.sin(2 * np.pi * (np.arange(len(trace.phase)) + 1) * DT - np.pi / 2)  # one period a cycle
    swaying = trace.com.copy()
    swaying[:, 0, 1] = sway
    found = steady.travel(replace(trace, com=swaying))
    assert found["speed"] == pytest.approx(1.2, rel=1e-3)
    assert found["line_m_per_10m"] == pytest.approx(0.0, abs=1e-3)


def test_a_walk_that_bears_off_strays_by_what_ten_metres_bring():
    trace = made_up()
    com = trace.com.copy()
    com[:, 0, 1] = 0.05 * com[:, 0, 0]
    assert steady.travel(replace(trace, com=com))["line_m_per_10m"] == pytest.approx(0.5, abs=0.05)


def test_uneven_steps_show_in_the_timing():
    assert steady.timing(made_up((0.5, 0.5)))["symmetry_ms"] == pytest.approx(0.0, abs=1e-9)
    limping = steady.timing(made_up((0.56, 0.5)))
    assert limping["symmetry_ms"] == pytest.approx(60.0, abs=1.0)
    assert limping["cadence"] == pytest.approx(120.0 / 1.06, rel=0.01)
    assert limping["step_m"] == pytest.approx(0.6)


def test_work_of_the_ankle_behind_is_torque_times_turn():
    """The stance ankle extends at 2 rad/s under 50 N m before each strike; the swing ankle does not count."""
    trace = made_up()
    torques = trace.torques.copy()
    torques[:, 0, INDEX["rankle_y"]], torques[:, 0, INDEX["lankle_y"]] = 50.0, -1e3
    turning = 2.0 * DT * np.arange(len(trace.phase))
    trace = with_angle(with_angle(replace(trace, torques=torques), "lankle_y", turning), "rankle_y", turning)
    found = steady.push_off(trace)
    assert found["push_off_j"] == pytest.approx(50.0 * 2.0 * 0.15)
    assert found["push_off_nm"] == pytest.approx(50.0)


def test_the_knee_that_strikes_counts_from_straight_whichever_way_it_is_bent():
    trace = made_up()
    left_strikes = trace.phase < 2
    knee = np.where(trace.struck, np.where(left_strikes, 0.1, -0.3), 0.9)
    assert steady.timing(replace(trace, knee=knee))["knee_at_strike_deg"] == pytest.approx(np.degrees(0.2))


@pytest.mark.parametrize(("sign", "expected"), [(-1.0, -1.0), (1.0, 1.0), (0.0, 0.0)])
def test_arms_against_legs(sign, expected):
    trace = made_up()
    leg = 0.4 * np.sin(2 * np.pi * np.arange(len(trace.phase)) * DT)
    for side, way in (("l", 1.0), ("r", -1.0)):
        trace = with_angle(with_angle(trace, f"{side}hip_y", way * leg), f"{side}arm_y", 0.5 * sign * way * leg)
    found = steady.arms_and_legs(trace)
    assert found["arm_leg"] == pytest.approx(expected, abs=1e-6)
    assert found["arm_swing_deg"] == pytest.approx(abs(sign) * np.degrees(0.4), rel=0.01, abs=1e-9)


def test_a_bobbing_head_accelerates():
    """2 cm up and down at 2 Hz: rms of (2 pi f)^2 A sin."""
    trace = made_up()
    head = trace.head.copy()
    head[:, 0, 2] += 0.02 * np.sin(2 * np.pi * 2.0 * np.arange(len(trace.phase)) * DT)
    found = steady.head_motion(replace(trace, head=head))
    assert found["head_bob_cm"] == pytest.approx(4.0, rel=0.01)
    assert found["head_sway_cm"] == 0.0
    assert found["head_acceleration"] == pytest.approx(0.02 * (4 * np.pi) ** 2 / np.sqrt(2), rel=0.03)


def test_the_mean_cycle_begins_with_the_strike_of_its_own_leg():
    trace = made_up()
    t = np.arange(len(trace.phase)) * DT
    trace = with_angle(trace, "lhip_y", -0.3 * np.cos(2 * np.pi * (t + DT - 0.5)))  # forward when left strikes
    trace = with_angle(trace, "rhip_y", 0.3 * np.cos(2 * np.pi * (t + DT - 0.5)))
    curve = steady.mean_cycle(trace, steady.to_clip(trace, 200), 0.0)
    np.testing.assert_allclose(curve[:, 0], np.degrees(0.3 * np.cos(2 * np.pi * np.arange(100) / 100)), atol=0.2)
    np.testing.assert_allclose(curve[:, 1], 0.0, atol=1e-6)


def test_who_lies_down_has_stopped_walking():
    trace = made_up()
    assert trace.qpos is not None
    qpos = trace.qpos.copy()
    qpos[500:, 0, 3:7] = [np.cos(0.6), 0.0, np.sin(0.6), 0.0]  # 69 degrees forward
    fallen = replace(trace, qpos=qpos)
    assert steady.upright_seconds(fallen, steady.to_clip(fallen, 100)) == pytest.approx(5.0)
    assert steady.upright_seconds(trace, steady.to_clip(trace, 100)) == pytest.approx(20.0)


def test_a_short_real_walk_has_every_figure():
    subject = Subject("simbicon", PEOPLE["stocky"], "simbicon", SIMBICON.initial, Ground())
    row = steady.walk_steadily(subject, 1.65, timestep=0.002)  # five steps: two to settle, three for a cycle
    assert row["seconds_walked"] == pytest.approx(1.65)
    assert row["speed"] > 0.1
    assert sum(row["power_share"]) == pytest.approx(1.0)
    assert np.shape(row["curve"]) == (100, 3)
    assert all(np.isfinite(v) for k, v in row.items() if k not in ("walker", "power_share", "curve"))
    assert {"E_vel", "E_head", "E_stance", "foot_skate", "knee_at_strike_deg", "angular_momentum"} <= set(row)
