"""The poised walker: a paced one that presses with its stance ankle, leans, and on a beam keeps to the middle."""

import numpy as np
import pytest

from jostle.assets import walker_folder, walker_path
from jostle.body import Ground
from jostle.controllers.walker.gpu import GpuWalk
from jostle.controllers.walker.joints import ANGLES, INDEX
from jostle.controllers.walker.parameters import PACED, POISED, WALKER, recast
from jostle.controllers.walker.people import walker_physics
from jostle.controllers.walker.trace import Shove, rollout
from jostle.controllers.walker.walk import Walk
from jostle.controllers.walker.walker import Walker
from jostle.errors import CommandError
from jostle.runtime import load_controller
from jostle.tuning.chance import Chance, Fates

BEAM = Ground(width=0.5)
_FOOT, _SWING_HIP, _STANCE_HIP = (INDEX[name] for name in ("rankle_x", "lhip_x", "rhip_x"))


@pytest.fixture(scope="module")
def paced():
    return load_controller(walker_path("push_400"))


@pytest.fixture(scope="module")
def named(paced):
    return PACED.named(paced.values)


def both_states(**gains):
    return {f"{gain.replace('_of_', '.')}{state}": value for gain, value in gains.items() for state in (0, 1)}


def walking(paced, rows, ground=BEAM, kind="poised"):
    """A batch that stands in its start state, moved aside and drifting to its left."""
    walk = Walk(walker_physics(paced.person, ground), len(rows), kind, 1)
    walk.start(np.stack(rows))
    qpos, qvel = walk.many.qpos.copy(), walk.many.qvel.copy()
    qpos[:, 1] += 0.05
    qvel[:, 1] += 0.2
    walk.many.start(qpos, qvel)
    walk.look()
    return walk


def test_it_has_what_a_paced_walker_has_and_three_ways_to_answer_a_drift():
    assert len(POISED) == 166
    assert POISED.names[: len(PACED)] == PACED.names
    assert not POISED.initial[len(PACED) :].any()
    gains = POISED.unpack(POISED.vector({"c_v.ankle1": 2.0, "c_m.thigh0": 0.5, "c_d.torso1": 0.3})[None]).poise
    assert gains is not None
    assert np.argwhere(gains[0]).tolist() == [[0, 0, 2], [1, 1, 0], [1, 2, 1]]
    assert PACED.unpack(PACED.initial[None]).poise is None


def test_with_nothing_to_answer_by_it_walks_as_the_paced_one_does(paced, named):
    physics, push = walker_physics(paced.person, BEAM), [Shove(0.2, 0.2, np.array([[0.0, 30.0, 0.0]] * 2))]
    walks = [
        rollout(Walk(physics, 2, space.kind, 1), np.tile(space.vector(named), (2, 1)), 0.6, 0.7, push)
        for space in (PACED, POISED)
    ]
    np.testing.assert_array_equal(walks[0].com, walks[1].com)
    np.testing.assert_array_equal(walks[0].torques, walks[1].torques)


def test_its_foot_presses_where_it_drifts_to_and_torso_and_swing_leg_follow(paced, named):
    """Towards the side of the swing leg is negative about X, for a foot that presses and a torso that leans."""
    gains = [{}, *({gain: 1.0} for gain in ("c_v_of_ankle", "c_v_of_torso", "c_m_of_thigh"))]
    rows = [POISED.vector(named | both_states(**gain)) for gain in gains]
    senses, torques, _ = walking(paced, rows).step()
    v, m = senses.velocity[0, 1], senses.aside[0]
    assert v > 0.1
    assert m == pytest.approx(0.05, abs=0.01)
    plain, ankle, torso, thigh = torques
    assert ankle[_FOOT] == pytest.approx(plain[_FOOT] - named["kp0.rankle_x"] * v)
    assert torso[_STANCE_HIP] - plain[_STANCE_HIP] == pytest.approx(named["kp0.rhip_x"] * v, rel=0.1)  # below the torso
    assert thigh[_SWING_HIP] - plain[_SWING_HIP] == pytest.approx(named["kp0.lhip_x"] * m, rel=0.1)
    for other, moved in (
        (ankle, "rankle"),
        (torso, "rhip"),
        (thigh, ("lhip", "rhip")),
    ):  # the stance hip bears the thigh
        still = [not angle.startswith(moved) for angle in ANGLES]
        np.testing.assert_array_equal(other[still], plain[still])


def test_it_feels_the_middle_of_a_beam_and_no_other(paced, named):
    rows = [POISED.vector(named)]
    for ground, aside in ((BEAM, 1.0), (Ground(), 0.0)):
        walk = walking(paced, rows, ground)
        assert walk.sense().aside == pytest.approx(aside * walk.many.com[:, 1])
        walk.side = 1 - walk.side
        walk.look()
        assert walk.sense().aside == pytest.approx(-aside * walk.many.com[:, 1])


def test_a_foot_that_presses_keeps_a_body_from_being_blown_away(paced, named):
    rows = [POISED.vector(named | both_states(c_v_of_ankle=gain)) for gain in (0.0, 1.5)]
    gust = [Shove(0.6, 0.4, np.tile([0.0, 30.0, 0.0], (2, 1)))]
    trace = rollout(Walk(walker_physics(paced.person), 2, "poised", 1), np.stack(rows), 1.2, 0.7, gust)
    moved = trace.com[-1, :, 1] - trace.com[300, :, 1]
    assert 0.0 < moved[1] < 0.8 * moved[0]


def test_it_is_made_from_a_paced_one(paced, named):
    values = recast("push_400", "paced", paced.values, POISED)
    np.testing.assert_allclose(values, POISED.vector(named))
    with pytest.raises(
        CommandError, match="'thin' is a walker; a poised walker is made from a paced or another poised"
    ):
        recast("thin", "walker", WALKER.initial, POISED)


def test_it_says_that_no_gpu_walks_it(paced):
    with pytest.raises(CommandError, match="walks on processors only; leave out --gpu"):
        GpuWalk(walker_physics(paced.person), 2, "poised", 0.7, "cpu")


@pytest.mark.slow
def test_the_shipped_one_strays_half_as_far_on_its_beam_as_it_did_when_it_only_stepped():
    chance, strayed = Chance(8, 30.0, middle=2.0), []
    for name in ("beam", "starts/beam_2"):
        walker = load_controller(walker_folder() / f"{name}.jostle")
        assert isinstance(walker, Walker)
        walk = Walk(walker_physics(walker.person, walker.ground), 8, walker.machine, 1)
        fates = Fates(chance, (41, 0), 6.0, walk.dt, 8)
        trace = rollout(walk, np.tile(walker.values, (8, 1)), 6.0, walker.person.fallen, happens=fates)
        strayed.append(np.abs(trace.com[..., 1]).max(axis=0).mean())
        if name == "beam":
            assert trace.seconds.tolist() == [6.0] * 8
    assert strayed[0] < 0.5 * strayed[1]
