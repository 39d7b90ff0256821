"""Every term of the objective, (3.4) to (3.17), against a plain loop over the steps of a small trace."""

from dataclasses import replace

import numpy as np
import pytest

from jostle.controllers.walker.joints import ANGLES
from jostle.errors import CommandError
from jostle.tuning.goal import WEIGHTS, Goal, weights_of
from jostle.tuning.objective import RATIO, observe, score, state_seconds, thresholded
from traces import PHYSICS, make, regular

K, B, DT = 60, 3, 0.01
STEPS = [60, 41, 7]  # one walks on, two fall


@pytest.fixture(scope="module")
def trace():
    """Random numbers in every row that was walked."""
    rng = np.random.default_rng(3)
    on = np.arange(K)[:, None] < STEPS
    turns = np.cumsum(rng.random((K, B)) < 0.15, axis=0)
    return make(
        DT,
        steps=np.array(STEPS),
        phase=(turns % 4).astype(np.int8) * on.astype(np.int8),
        torques=100.0 * rng.normal(size=(K, B, 30)) * on[..., None],
        low=(rng.random((K, B, 4, 6)) < 0.6) & on[..., None, None],
        com=np.cumsum(rng.normal([0.012, 0.001, 0.0], 0.004, (K, B, 3)), axis=0) * on[..., None],
        momentum=rng.normal(0.0, 0.5, (K, B, 3)) * on[..., None],
        head=np.cumsum(rng.normal(0.012, 0.003, (K, B, 3)), axis=0) * on[..., None],
        head_angles=rng.normal(0.0, 0.06, (K, B, 3)) * on[..., None],
    )


def terms_of(trace, goal=None, start=1.0):
    return score(trace, goal or Goal(), np.full(B, start)).terms


def q(d, epsilon):
    """(3.4), as it stands."""
    return d * d if abs(d) > epsilon else 0.0


def velocity(trace, b):
    n = trace.steps[b]
    return (trace.com[n - 1, b] - trace.com[0, b]) / (n * DT)


def test_small_differences_are_free_and_large_ones_are_squared():
    d = np.array([-0.3, -0.1, 0.0, 0.1, 0.3])
    np.testing.assert_allclose(thresholded(d, 0.2), [q(x, 0.2) for x in d])
    assert thresholded(np.array([0.2]), 0.2) == 0.0  # not beyond it


@pytest.mark.parametrize(("speed", "step"), [(None, None), (1.3, None), (None, 0.7), (1.3, 0.7)])
def test_user(trace, speed, step):
    found = terms_of(trace, Goal(speed, step))["user"]
    for b in range(B):
        wanted = 0.0 if speed is None else q(velocity(trace, b)[0] - speed, 0.025)
        wanted += 0.0 if step is None else q(0.0 - step, 0.025)  # these traces have no cycle, so no step either
        assert found[b] == pytest.approx(wanted)


def test_user_step_length():
    found = score(regular(), Goal(step=0.7), np.array([1.0])).terms["user"]
    assert found[0] == pytest.approx((0.605 - 0.7) ** 2)
    assert score(regular(), Goal(step=0.62), np.array([1.0])).terms["user"][0] == 0.0


@pytest.mark.parametrize("speed", [None, 1.4])
def test_vel(trace, speed):
    found = terms_of(trace, Goal(speed), start=0.9)["vel"]
    for b in range(B):
        vx, vy, vz = velocity(trace, b)
        start = q(0.9 - (vx if speed is None else speed), 0.025)
        assert found[b] == pytest.approx(q(vy, 0.025) + 0.01 * (start + q(vz, 0.05)))


def test_land(trace):
    found, low = terms_of(trace)["land"], trace.low
    for b in range(B):
        total = 0
        for k in range(STEPS[b]):
            foot, toe = low[k, b, 1, :4].sum(), low[k, b, 3, :4].sum()
            total += trace.phase[k, b] in (1, 3) and foot < 3 and toe < 3
            total += bool(low[k, b, 2, 4] or low[k, b, 2, 5])
        assert found[b] == pytest.approx(total / K)
    assert 0 < found[0] < 2


def test_fail(trace):
    np.testing.assert_allclose(terms_of(trace)["fail"], [1.0 - n / K for n in STEPS])


def visits(phases, state):
    """Lengths of the runs of one state."""
    runs, length = [], 0
    for phase in [*phases, -1]:
        if phase == state:
            length += 1
        elif length:
            runs.append(length)
            length = 0
    return runs


def test_sym(trace):
    found, seconds = terms_of(trace)["sym"], state_seconds(trace)
    for b in range(B):
        means = []
        for state in range(4):
            runs = visits(trace.phase[: STEPS[b], b], state)
            means.append(DT * np.mean(runs) if runs else 0.0)
        assert seconds[b].tolist() == pytest.approx(means)
        assert found[b] == pytest.approx(q(means[0] - means[2], 0.025) + q(means[1] - means[3], 0.025))


def test_ang(trace):
    """Normalised by mass, height of the centre of mass, and speed."""
    found, body = terms_of(trace)["ang"], PHYSICS.body
    height = sum(body.mass * (body.skeleton.rest_positions + body.com)[:, 2]) / body.total_mass
    for b in range(B):
        total = 0.0
        for k in range(1, STEPS[b]):
            total += ((trace.spin[k, b] - trace.spin[k - 1, b]) / DT) ** 2
        scale = body.total_mass * height * max(velocity(trace, b)[0], 0.1)
        assert found[b] == pytest.approx(q(np.sqrt(total / STEPS[b]) / scale, np.sqrt(0.05)))
    assert found.any()


def test_head(trace):
    found = terms_of(trace)["head"]
    for b in range(B):
        speeds = np.diff(trace.head[: STEPS[b], b, 0]) / DT
        mean = speeds.sum() / STEPS[b]
        spread = np.sqrt(np.square(speeds - mean).sum() / STEPS[b])
        tilted = sum(np.linalg.norm(trace.head_angles[k, b]) > 0.1 for k in range(STEPS[b]))
        assert found[b] == pytest.approx(q(np.sqrt(spread), np.sqrt(0.1)) + 0.012 * tilted / K)


def test_power_with_a_speed_and_without(trace):
    asked, free = terms_of(trace, Goal(1.3))["power"], terms_of(trace)["power"]
    fast = terms_of(trace, Goal(fastest=True))["power"]
    for b in range(B):
        power = sum(trace.torques[k, b, j] ** 2 for k in range(STEPS[b]) for j in range(30)) / STEPS[b]
        speed = max(velocity(trace, b)[0], 0.1)
        assert asked[b] == pytest.approx(power)
        assert free[b] == pytest.approx(power / speed)
        assert fast[b] == pytest.approx(1.0 / speed)


def test_ratio(trace):
    found, seen = terms_of(trace)["ratio"], observe(trace)["ratio"]
    for b in range(B):
        shares = []
        for joint in ("hip", "knee", "ankle"):
            columns = [i for i, name in enumerate(ANGLES) if name[1:].startswith(joint)]
            shares.append(np.square(trace.torques[: STEPS[b], b][:, columns]).sum())
        shares = np.array(shares) / sum(shares)
        np.testing.assert_allclose(seen[b], shares)
        assert found[b] == pytest.approx(np.linalg.norm(shares - [0.43, 0.04, 0.53]))
    assert RATIO.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(("times", "missed"), [
    ({}, 0.0),  # double support 24 %, heel off at 40 %
    ({"ball": (10, 40), "tip": (10, 48)}, 5.0 * 0.14), ({"heel": (0, 32)}, 5.0 * 0.08), ({"ball": (30, 55)}, 0.9),
    ({"knee": 0.52}, 3.0 * 0.40),
])  # fmt: skip
def test_our_own_term_sees_feet_that_people_do_not_have(times, missed):
    found = score(regular(**times), Goal(), np.array([1.0])).terms["stance"]
    assert found[0] == pytest.approx(missed, abs=0.12)


@pytest.mark.parametrize(("peak", "drop", "stance", "toe", "missed"), [
    (1.0, 0.05, 0.2, 0.4, 0.0), (1.4, 0.05, 0.2, 0.3, 3.0 * 0.3), (1.0, 0.3, 0.2, 0.3, 3.0 * 0.2),
    (1.0, 0.0, 0.0, 0.3, 3.0 * 0.12), (1.0, 0.0, 0.5, 0.3, 3.0 * 0.2), (1.0, 0.0, 0.2, -0.1, 3.0 * 0.4),
])  # fmt: skip
def test_our_other_term_sees_marching_locked_knees_and_flat_landings(peak, drop, stance, toe, missed):
    """In each step of 50 the knee bends most in the middle; the thigh is furthest ahead ten before the strike."""
    trace = regular()
    within = (np.arange(len(trace.knee)) - 1) % 50
    knee, thigh = np.where(within == 25, peak, 0.0), np.where(within == 39, -0.5, -0.5 + drop)
    standing, foot = np.full(trace.knee.shape, stance), np.where(trace.struck, -toe, 0.7)
    made = replace(trace, knee=knee[:, None], thigh=thigh[:, None], stance_knee=standing, foot=foot)
    scored = score(made, Goal(), np.array([1.0]))
    assert scored.terms["swing"][0] == pytest.approx(missed)
    seen = [scored.seen[name][0] for name in ("knee_swing", "thigh_drop", "knee_stance", "toe_up")]
    assert seen == pytest.approx([peak, drop, stance, toe])


@pytest.mark.parametrize(("hung", "toe", "missed"), [
    (1.0, 0.5, 0.0), (0.6, 0.5, 3.0 * 0.25), (1.4, 0.5, 3.0 * 0.15), (1.0, 0.2, 3.0 * 0.25),
])  # fmt: skip
def test_our_third_term_sees_feet_that_do_not_hang_and_strike_flat(hung, toe, missed):
    trace = regular()
    made = replace(trace, foot=np.where(trace.struck, -toe, hung))
    scored = score(made, Goal(), np.array([1.0]))
    assert scored.terms["foot"][0] == pytest.approx(missed)
    assert scored.seen["toe_down"][0] == pytest.approx(hung)


def test_the_cost_is_the_weighted_sum(trace):
    goal = Goal(1.3, 0.6, weights={"stance": 2.0, "swing": 0.5, "ratio": 0.0})
    made = score(trace, goal, np.ones(B))
    thesis = {"user": 100, "vel": 100, "land": 1.2, "fail": 120000, "sym": 100, "ang": 10, "head": 100, "ratio": 1}
    power = 1e-5 * 70.0 / PHYSICS.body.total_mass
    weights = thesis | {"power": power, "stance": 2.0, "swing": 0.5, "foot": 0.0, "ratio": 0.0}
    assert WEIGHTS["energy"] == pytest.approx(thesis | {"power": 1e-5, "stance": 0.0, "swing": 0.0, "foot": 0.0})
    assert weights_of(goal, PHYSICS.body.total_mass) == pytest.approx(weights)
    assert set(made.terms) == set(weights)
    np.testing.assert_allclose(made.cost, sum(weights[name] * made.terms[name] for name in weights))


def test_the_weight_of_power_follows_mass_but_not_for_the_fastest_walk():
    assert weights_of(Goal(), 35.0)["power"] == pytest.approx(2e-5)
    assert weights_of(Goal(fastest=True, weights={"power": 3.0}), 35.0)["power"] == 3.0


def test_a_cost_that_is_no_number_is_a_very_large_one(trace):
    broken = make(DT, steps=np.array(STEPS), com=np.full((K, B, 3), np.nan))
    assert score(broken, Goal(), np.ones(B)).cost.tolist() == [1e9] * B


def test_an_unknown_term_is_answered_with_the_known_ones():
    with pytest.raises(CommandError, match="Did you mean 'ratio'"):
        Goal(weights={"ration": 1.0})


def test_climbing_a_slope_is_no_bobbing():
    slope, x = np.radians(10.0), 0.012 * np.arange(K)
    com = np.stack([x, 0 * x, x * np.tan(slope)], axis=1)[:, None]
    climbing = replace(make(DT, com=com), normal=np.array([[-np.sin(slope), 0.0, np.cos(slope)]]))
    np.testing.assert_allclose(observe(climbing)["velocity"][0, 1:], 0.0, atol=1e-12)
