"""A beam to walk on: it bears as a plane does, up to its edges, and legs cannot pass through each other."""

import mujoco
import numpy as np
import pytest

from jostle.body import Ground
from jostle.controllers import Command, Start
from jostle.controllers.walker.people import PEOPLE, walker_physics
from jostle.controllers.walker.senses import half_width
from jostle.controllers.walker.trace import Shove, rollout
from jostle.controllers.walker.walk import Walk
from jostle.controllers.walker.walker import Walker
from jostle.runtime import load_controller, save_controller

BEAM = Ground(width=0.5)


def test_in_its_middle_it_is_a_plane_and_beside_it_there_is_nothing(stocky):
    values = np.tile(stocky.values, (2, 1))
    push = [Shove(0.6, 0.4, np.array([[0.0, 0.0, 0.0], [0.0, 120.0, 0.0]]))]
    plane, beam = (
        rollout(Walk(walker_physics(stocky.person, ground), 2, threads=1), values, 2.0, 0.7, push, poses=True)
        for ground in (Ground(), BEAM)
    )
    assert plane.qpos is not None
    assert beam.qpos is not None
    np.testing.assert_allclose(beam.qpos[:300, 0], plane.qpos[:300, 0], atol=1e-3)
    assert plane.seconds.tolist() == [2.0, 2.0]
    assert beam.seconds[0] == 2.0
    assert beam.seconds[1] < 2.0  # one step to the side was one too many


def test_feet_touch_only_what_is_there(stocky):
    walk = Walk(walker_physics(stocky.person, BEAM), 2, threads=1)
    walk.start(np.tile(stocky.values, (2, 1)))
    qpos, qvel = walk.many.qpos.copy(), walk.many.qvel.copy()
    qpos[1, 1] += 1.0
    walk.many.start(qpos, qvel)
    walk.look()
    low = walk.sense().low
    assert low[0].any()
    assert not low[1].any()
    assert half_width(walk.physics) == 0.25
    assert half_width(walker_physics(stocky.person)) == np.inf


def test_a_sloping_beam_lies_where_its_plane_would(stocky):
    slope = np.radians(8.0)
    model = walker_physics(stocky.person, Ground(slope, width=0.5)).model
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    box = model.geom("ground")
    top = data.geom_xpos[box.id] + data.geom_xmat[box.id].reshape(3, 3) @ [0.0, 0.0, box.size[2]]
    assert top[2] == pytest.approx(np.tan(slope) * top[0])


def test_legs_touch_each_other_on_a_beam_only():
    """Feet put into each other are pushed apart."""
    for ground, apart in ((Ground(), False), (BEAM, True)):
        physics = walker_physics(PEOPLE["stocky"], ground)
        data = mujoco.MjData(physics.model)
        data.qpos[3], data.qpos[2] = 1.0, 5.0  # high above the ground
        hips = [physics.model.joint(f"{side}UpLeg.0").qposadr[0] for side in ("Left", "Right")]
        data.qpos[hips] = -0.12, 0.12
        mujoco.mj_forward(physics.model, data)
        assert (data.ncon > 0) is apart


def test_it_lives_on_a_beam_and_is_kept_with_it(stocky, tmp_path):
    save_controller(Walker("b", stocky.person, "walker", stocky.values, BEAM), tmp_path / "b.jostle")
    walker = load_controller(tmp_path / "b.jostle")
    assert isinstance(walker, Walker)
    assert walker.ground == BEAM
    state = walker.init(Start())
    for _ in range(60):
        state = walker.step(state, Command())
    assert state.observed.quality["fallen"] == 0.0
    assert state.observed.quality["speed"] > 0.8
