"""Policies that take over from each other, and pushes."""

from dataclasses import replace

import numpy as np
import pytest

from jostle.assets import clip_path
from jostle.clips import load_clip
from jostle.clips.edit import trim_frames
from jostle.controllers import Command, Controller, Push, Start
from jostle.controllers.compliant.compliant import compliant_over
from jostle.controllers.policy.planning import data_samples
from jostle.controllers.policy.policy import plan_policy
from jostle.controllers.policy.relocate import cost, led_along, relocate
from jostle.controllers.policy.switching import Switch
from jostle.controllers.policy.tasks import Heading
from jostle.errors import CommandError, MotionError
from jostle.maths import quat
from jostle.models.connected import fit_connected
from jostle.runtime import load_controller, save_controller


@pytest.fixture(scope="module")
def other():
    clip = trim_frames(load_clip(clip_path("weave")), 60, 150)
    return plan_policy(fit_connected([clip], latent=3, iterations=40), Heading(count=12), rounds=0)


@pytest.fixture(scope="module")
def both(walking, other):
    return Switch({"walk": walking, "weave": other})


def positions(policy, states):
    return np.array([policy.anatomy.kinematics.of_pose(s.pose, s.inner.row).positions for s in states])


def test_relocation_goes_downhill_by_its_own_derivative(walker_model, rng):
    count, data = walker_model.features.pose_count, data_samples(walker_model)
    row, change = walker_model.rows[30, :count], walker_model.rows[30, count:]
    z = np.concatenate([data.x[30], data.step[30]]) + 0.02 * rng.normal(size=2 * data.x.shape[1])
    _, slope = cost(walker_model, row, change, z)
    for i, way in enumerate(1e-6 * np.eye(len(z))):
        low, high = (cost(walker_model, row, change, z + sign * way)[0] for sign in (-1, 1))
        assert slope[i] == pytest.approx((high - low) / 2e-6, rel=1e-4, abs=1e-4)


def test_a_frame_of_the_data_is_found_where_it_is(walker_model):
    count, data = walker_model.features.pose_count, data_samples(walker_model)
    for frame in (25, 90, 170):
        found = relocate(walker_model, data, walker_model.rows[frame, :count], walker_model.rows[frame, count:])
        usual = np.linalg.norm(data.step, axis=1).mean()
        assert np.linalg.norm(found.x - data.x[frame]) < 1.5 * usual
        assert found.step @ data.step[frame] > 0.0  # in the same direction


def test_a_position_is_led_along_as_far_as_the_model_knows_such_poses(walker_model):
    data, frame = data_samples(walker_model), 40
    x, step = data.x[frame], data.step[frame]
    ahead = 0.3 * step  # a displacement that the model knows
    known = walker_model.pose_rows(x + ahead) - walker_model.pose_rows(x)
    led = led_along(walker_model, x, step, known) - x
    assert led @ ahead / np.linalg.norm(led) / np.linalg.norm(ahead) > 0.9
    assert 0.5 < np.linalg.norm(led) / np.linalg.norm(ahead) < 1.1
    np.testing.assert_allclose(led_along(walker_model, x, step, np.zeros_like(known)), x)


def test_another_policy_takes_over_without_a_seam(both):
    assert isinstance(both, Controller)
    assert both.tasks == ("walk", "weave")
    state, states, playing = both.init(Start(seed=1)), [], []
    for frame in range(90):
        task = {30: "weave", 60: "walk"}.get(frame)
        state = both.step(state, Command(heading=0.2, task=task))
        states.append(state)
        playing.append(state.playing)
    assert playing == ["walk"] * 30 + ["weave"] * 30 + ["walk"] * 30
    at = positions(both.first, states)
    step = np.linalg.norm(np.diff(at, axis=0), axis=-1)  # (T, J)
    for frame in (29, 59):
        around = np.concatenate([step[frame - 5 : frame], step[frame + 1 : frame + 6]])
        assert np.max(step[frame] - np.mean(around, axis=0)) < 0.10
    bend = np.linalg.norm(np.diff(at, 2, axis=0), axis=-1).max(axis=1)
    near = np.isin(np.arange(len(bend)), [28, 29, 30, 58, 59, 60])
    assert bend[near].max() < 1.2 * bend[~near].max()


def test_at_the_switch_the_pose_is_what_it_was(both):
    state = both.init(Start(seed=1))
    for _ in range(20):
        state = both.step(state, Command(heading=0.2))
    over = both.taken_over(state, "weave")
    np.testing.assert_allclose(np.abs(np.sum(over.pose.wxyz * state.pose.wxyz, axis=-1)), 1.0, atol=1e-9)
    np.testing.assert_allclose(over.pose.root, state.pose.root, atol=1e-12)
    assert both.step(over, Command(heading=0.2)).inner.apart is not None
    for _ in range(60):
        over = both.step(over, Command(heading=0.2))
    assert over.inner.apart is None
    assert not over.aside.any()


def test_settings_and_pushes_go_on_across_a_switch(both):
    state = both.step(both.init(Start()), Command(settings={"hips": 1.0}))
    push = Push("chest", np.array([0.0, 100.0, 0.0]), 0.3)
    state = both.step(state, Command(task="weave", pushes=(push,)))
    assert state.inner.settings["hips"] == 1.0
    assert state.inner.pressing


def test_a_bundle_holds_them_all(both, tmp_path):
    save_controller(both, tmp_path / "both.jostle")
    back = load_controller(tmp_path / "both.jostle")
    assert back.tasks == both.tasks
    states = [one.step(one.init(Start()), Command(task="weave")) for one in (both, back)]
    np.testing.assert_allclose(states[0].pose.wxyz, states[1].pose.wxyz, atol=1e-6)


def test_what_cannot_be_switched(both, walking):
    with pytest.raises(CommandError, match="weave"):
        both.step(both.init(Start()), Command(task="swim"))
    with pytest.raises(MotionError, match="two or more"):
        Switch({"walk": walking})


def test_a_push_moves_the_part_and_the_root_and_is_over_soon(walking):
    assert "pushes" in walking.supports
    own = replace(walking, constraints=())
    state, free, apart, moved = own.init(Start()), own.init(Start()), [], []
    push = Push("chest", np.array([0.0, 250.0, 0.0]), 0.2)
    for frame in range(80):
        state = own.step(state, Command(heading=0.0, pushes=(push,) if frame == 20 else ()))
        free = own.step(free, Command(heading=0.0))
        off = state.body.positions - free.body.positions
        apart.append(np.linalg.norm((off - off[0])[own.anatomy.part("chest")]))
        moved.append(off[0, 1])
    assert max(apart[:20]) < 1e-9
    assert 0.01 < max(apart[20:40]) < 0.4
    assert moved[35] > 0.05  # to the side of the push
    assert state.apart is None  # over
    assert not state.pressing
    assert state.observed.quality["variance"] < 30.0


def test_a_push_is_stronger_where_it_is_stronger(walking):
    own = replace(walking, constraints=())
    far = []
    for newtons in (5.0, 20.0):
        state, free = own.init(Start()), own.init(Start())
        for frame in range(12):
            push = (Push("left_hand", np.array([0.0, newtons, 0.0]), 0.2),) if frame == 2 else ()
            state, free = own.step(state, Command(heading=0.0, pushes=push)), own.step(free, Command(heading=0.0))
        hand = own.anatomy.part("left_hand")
        far.append(np.linalg.norm(state.body.positions[hand] - free.body.positions[hand]))
    assert far[1] > 2.0 * far[0] > 0.01


def test_compliant_over_a_policy_leaves_pushes_of_the_pelvis_to_it(walking):
    over = compliant_over(walking, seconds=2.0)
    state = over.init(Start())
    push = Push("chest", np.array([0.0, 150.0, 0.0]), 0.2)
    for frame in range(20):
        state = over.step(state, Command(heading=0.0, pushes=(push,) if frame == 5 else ()))
    assert state.source.apart is not None
    assert np.all(np.isfinite(state.pose.wxyz))
    assert float(np.abs(quat.yaw(state.pose.wxyz[0]))) < 1.0
