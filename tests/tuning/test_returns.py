"""Every term of the return, (4.4) to (4.11), against a plain loop over the steps of a small trace."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from jostle.controllers.walker.people import com_height, leg_length
from jostle.tuning.goal import WEIGHTS, Goal, weights_of
from jostle.tuning.objective import observe, score
from jostle.tuning.returns import score_recovery, score_return
from traces import PHYSICS, make, regular

K, B, DT = 240, 3, 0.002
STEPS = [240, 150, 30]  # one walks on, two fall
SCALE = PHYSICS.body.total_mass * com_height(PHYSICS.body)


@pytest.fixture(scope="module")
def trace():
    """Random numbers in every row that was walked; strikes every 50 steps or so, headings that change in between."""
    rng = np.random.default_rng(4)
    on = np.arange(K)[:, None] < STEPS
    struck = np.zeros((K, B), bool)
    struck[[10, 57, 110, 160, 205], 0] = struck[[5, 60, 120], 1] = struck[[20], 2] = True
    return make(
        DT,
        steps=np.array(STEPS),
        struck=struck,
        phase=((np.arange(K)[:, None] // 25 + np.arange(B)) % 4).astype(np.int8) * on.astype(np.int8),
        torques=100.0 * rng.normal(size=(K, B, 30)) * on[..., None],
        low=(rng.random((K, B, 4, 6)) < 0.6) & on[..., None, None],
        reach=rng.uniform(0.2, 0.9, (K, B)) * on,
        com=np.cumsum(rng.normal([0.0025, 0.0004, 0.0], 0.0004, (K, B, 3)), axis=0) * on[..., None],
        momentum=rng.normal(0.0, 3.0, (K, B, 3)) * on[..., None],
        head=np.cumsum(rng.normal(0.0025, 0.0009, (K, B, 3)), axis=0) * on[..., None],
        head_angles=rng.normal(0.0, 0.06, (K, B, 3)) * on[..., None],
        mug=rng.normal([0.0, 0.0, 1.0], 0.08, (K, B, 3)) * on[..., None],
        facing=rng.normal(0.0, 0.3, (K, B)) * on,
        wish=np.where(np.arange(K)[:, None] < 100, 0.2, 3.5) * on,
    )


def q(d, epsilon):
    return d * d if abs(d) > epsilon else 0.0


def instants():
    """Every 1/120 s: the step in which it is full."""
    return [k for k in range(K) if int((k + 1) * DT * 120 + 1e-4) > int(k * DT * 120 + 1e-4)]


def frame(v, heading):
    c, s = np.cos(heading), np.sin(heading)
    return c * v[0] + s * v[1], c * v[1] - s * v[0], v[2]


def tilt(angles, wish):
    """Of an up and a forward vector with these coronal, sagittal and transverse angles, seen from the wish."""
    coronal, sagittal, yaw = angles
    x, y, z = frame((np.tan(sagittal), -np.tan(coronal), 1.0), wish)
    return np.linalg.norm([np.arctan2(-y, z), np.arctan2(x, z), np.angle(np.exp(1j * (yaw - wish)))])


def strides(trace, b):
    """Velocity, step, largest momenta and unsteadiness of each, one step at a time."""
    at = [k for k in range(trace.steps[b]) if trace.struck[k, b]]
    found = []
    for first, last in pairwise(at):
        wish, seconds = trace.wish[last, b], (last - first) * DT
        vx, vy, _ = frame((trace.com[last, b] - trace.com[first, b]) / seconds, wish)
        turning = [np.abs(frame(trace.momentum[k, b], trace.wish[k, b])) for k in range(first, last)]
        largest = np.max(turning, axis=0) / (SCALE * max(vx, 0.1))
        heads = [(trace.head[k + 1, b] - trace.head[k, b]) / DT for k in range(first, last)]
        head = [frame(v, trace.wish[k, b])[0] for k, v in zip(range(first, last), heads, strict=True)]
        found.append((vx, vy, trace.reach[last, b], largest, np.std(head)))
    return found


def test_an_instant_is_a_hundred_and_twentieth_of_a_second(trace):
    assert len(instants()) == int(K * DT * 120)
    fail = score_return(trace, Goal(objective="return")).terms["fail"]
    assert fail.tolist() == [100.0 * sum(k >= n for k in instants()) for n in STEPS]
    assert fail[0] == 0.0


@pytest.mark.parametrize(("speed", "step"), [(None, None), (1.3, None), (None, 0.7), (1.3, 0.7)])
def test_user_and_step(trace, speed, step):
    terms, leg = score_return(trace, Goal(speed, step, objective="return")).terms, leg_length(PHYSICS.body)
    for b in range(B):
        user = sum(q(v - speed, 0.05) for v, *_ in strides(trace, b)) if speed else 0.0
        user += sum(q(s - step, 0.05) for _, _, s, *_ in strides(trace, b)) if step else 0.0
        assert terms["user"][b] == pytest.approx(user)
        human = [leg * (max(v, 0.0) / np.sqrt(9.81 * leg)) ** 0.42 for v, *_ in strides(trace, b)]
        free = sum(q(s - h, 0.05) for (_, _, s, *_), h in zip(strides(trace, b), human, strict=True))
        assert terms["step"][b] == pytest.approx(0.0 if speed or step else free)


def test_a_person_at_a_persons_speed_steps_as_far_as_a_person():
    """0.7 to 0.75 m at 1.4 m/s with legs of 0.9 m (Grieve 1966)."""
    leg = 0.9
    assert leg * (1.4 / np.sqrt(9.81 * leg)) ** 0.42 == pytest.approx(0.66, abs=0.02)


def test_facing(trace):
    found = score_return(trace, Goal(objective="return")).terms["facing"]
    for b in range(B):
        wanted = sum(q(vy, 0.05) for _, vy, *_ in strides(trace, b))
        for k in instants():
            if k < STEPS[b]:
                gap = np.angle(np.exp(1j * (trace.wish[k, b] - trace.facing[k, b])))
                wanted += 0.005 * q(gap, 0.1)
        assert found[b] == pytest.approx(wanted)


def test_angular_momentum(trace):
    found = score_return(trace, Goal(objective="return")).terms["ang"]
    for b in range(B):
        wanted = sum(q(x, 0.04) + q(y, 0.05) + q(z, 0.01) for *_, (x, y, z), _ in strides(trace, b))
        assert found[b] == pytest.approx(wanted)
    assert found[0] > 0.0


def test_head(trace):
    found = score_return(trace, Goal(objective="return")).terms["head"]
    for b in range(B):
        wanted = sum(q(spread, 0.25) for *_, spread in strides(trace, b))
        askew = sum(tilt(trace.head_angles[k, b], trace.wish[k, b]) > 0.1 for k in instants() if k < STEPS[b])
        assert found[b] == pytest.approx(wanted + 0.001 * askew)


def test_landing(trace):
    found = score_return(trace, Goal(objective="return")).terms["land"]
    for b in range(B):
        wanted = 0
        for k in instants():
            if k < STEPS[b]:
                low = trace.low[k, b]
                planted = low[1, :4].sum() >= 3 or low[3, :4].sum() >= 3
                wanted += int(trace.phase[k, b] % 2 == 1 and not planted) + int(low[2, 4:].any())
        assert found[b] == pytest.approx(0.001 * wanted)


def test_power_ratio_and_our_own_are_those_of_the_other_objective(trace):
    terms, other = score_return(trace, Goal(objective="return")).terms, score(trace, Goal(), np.ones(B)).terms
    for name in ("ratio", "stance", "swing", "foot"):
        np.testing.assert_array_equal(terms[name], other[name])
    np.testing.assert_array_equal(terms["power"], observe(trace)["power"])  # not over speed


def test_the_cost_is_the_negative_return(trace):
    goal = Goal(weights={"stance": 2.0, "ang": 0.5}, objective="return")
    made, weights = score_return(trace, goal), weights_of(goal, PHYSICS.body.total_mass)
    thesis = {"user": 1, "step": 1, "facing": 1, "ang": 0.5, "head": 1, "land": 1, "fail": 1, "ratio": 5}
    thesis |= {"power": 1e-5 * 200 / PHYSICS.body.total_mass, "stance": 2.0, "swing": 0.0, "foot": 0.0, "spill": 0.0}
    assert weights == pytest.approx(thesis)
    assert set(made.terms) == set(WEIGHTS["return"])
    np.testing.assert_allclose(made.cost, sum(weights[name] * made.terms[name] for name in weights))


def test_turning_the_world_changes_nothing():
    """A gait is worth the same whichever way it is told to go, if it goes there."""
    plain = regular()
    length = len(plain.phase)
    rng = np.random.default_rng(5)
    com, head, momentum = (np.cumsum(rng.normal(0.01, 0.01, (length, 1, 3)), axis=0) for _ in range(3))

    def turned(angle):
        c, s = np.cos(angle), np.sin(angle)
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        way = np.full((length, 1), angle)
        return make(
            phase=plain.phase, struck=plain.struck, low=plain.low, reach=plain.reach, com=com @ turn.T,
            head=head @ turn.T, momentum=momentum @ turn.T, facing=way, wish=way,
            head_angles=np.stack([0.0 * way, 0.0 * way, way], axis=2),
        )  # fmt: skip

    straight, other = (score_return(turned(angle), Goal(1.2, objective="return")).terms for angle in (0.0, 2.2))
    for name in ("user", "facing", "ang", "head", "land"):
        np.testing.assert_allclose(other[name], straight[name], rtol=1e-9, atol=1e-12)
    assert straight["ang"][0] > 0.0


def test_a_mug_that_tilts_spills(trace):
    found = score_return(trace, Goal(objective="return"))
    for b in range(B):
        spilled = 0
        for k in instants():
            x, y, z = frame(trace.mug[k, b], trace.wish[k, b])
            spilled += k < STEPS[b] and np.hypot(np.arctan2(-y, z), np.arctan2(x, z)) > 0.1
        assert found.terms["spill"][b] == spilled
    assert found.terms["spill"][0] > 0
    assert WEIGHTS["return"]["spill"] == 0.0  # nobody carries one unless asked


def test_recovering_and_having_fallen_cost(trace):
    """(4.17)"""
    recovering = np.random.default_rng(0).random((K, B)) < 0.4
    found = score_recovery(replace(trace, recovering=recovering), Goal(objective="recovery", weights={"recover": 2.0}))
    for b in range(B):
        felt = sum(recovering[k, b] for k in instants() if k < STEPS[b])
        down = sum(k >= STEPS[b] for k in instants())
        assert found.terms["recover"][b] == pytest.approx(0.01 * felt)
        assert found.cost[b] == pytest.approx(0.02 * felt + 100.0 * down)
        assert found.seen["recovering"][b] == pytest.approx(felt / len(instants()))
