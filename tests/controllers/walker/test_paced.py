"""The paced walker: SIMBICON's rhythm and feedback with what guided walkers share, learn and are told."""

import numpy as np
import pytest

from jostle.assets import walker_path
from jostle.controllers.walker.joints import ANGLES
from jostle.controllers.walker.parameters import GUIDED, PACED, SIMBICON, WALKER, recast
from jostle.controllers.walker.people import walker_physics
from jostle.controllers.walker.trace import rollout
from jostle.controllers.walker.walk import Walk
from jostle.errors import CommandError
from jostle.runtime import load_controller


@pytest.fixture(scope="module")
def simbicon():
    return load_controller(walker_path("simbicon"))


@pytest.fixture(scope="module")
def values(simbicon):
    return recast("simbicon", simbicon.machine, simbicon.values, PACED)


def test_it_has_what_a_guided_walker_has_and_a_clock():
    assert len(PACED) == 148
    gone, new = set(GUIDED.names) - set(PACED.names), set(PACED.names) - set(GUIDED.names)
    assert gone == {"c_d.sagittal", "c_d.coronal", "c_v.sagittal", "c_v.coronal", "c_trans"}
    assert new == {"duration"} | {
        f"{g}.{p}{s}" for g in ("c_d", "c_v") for p in ("sagittal", "coronal") for s in (0, 1)
    }


def test_simbicon_becomes_one(simbicon, values):
    before, after = SIMBICON.unpack(simbicon.values[None]), PACED.unpack(values[None])
    legs = [i for i, name in enumerate(ANGLES) if not name.strip("lr").startswith(("back", "neck", "arm", "elbow"))]
    for group in ("c_d", "c_v", "switch", "pitch", "velocity"):
        np.testing.assert_allclose(getattr(after, group), getattr(before, group))
    for group in ("kp", "kd", "target"):
        np.testing.assert_allclose(getattr(after, group)[..., legs], getattr(before, group)[..., legs])
    assert after.alpha_arm[0] == 0.0


def test_it_walks_and_turns_to_where_it_is_told(simbicon, values):
    walk = Walk(walker_physics(simbicon.person, simbicon.ground, 0.002), 2, "paced", 2)

    def turn(walk: Walk, step: int) -> None:
        if step == 1000:
            walk.wish[:] = 0.0, 0.6

    trace = rollout(walk, np.stack([values] * 2), 6.0, simbicon.person.fallen, happens=turn)
    assert trace.seconds.tolist() == [6.0, 6.0]
    gone = trace.com[-1] - trace.com[-500]
    assert np.arctan2(gone[:, 1], gone[:, 0]) == pytest.approx([0.0, 0.6], abs=0.15)


def test_a_walker_that_steps_by_place_has_no_clock_to_give():
    with pytest.raises(CommandError, match="a paced walker is made from a simbicon or another paced"):
        recast("thin", "walker", WALKER.initial, PACED)
