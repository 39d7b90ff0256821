"""Motion fields: neighbours, actions, values, and the character that they steer."""

import numpy as np
import pytest

from jostle.assets import clip_path
from jostle.clips import load_clip
from jostle.clips.edit import trim_frames
from jostle.controllers import Command, Controller, Start
from jostle.controllers.policy.peers.fields import Field, FieldPolicy, FieldSettings, train_fields
from jostle.controllers.policy.peers.frames import Rush, between, frames_of, moved, walked
from jostle.controllers.policy.tasks import Heading
from jostle.errors import CommandError
from jostle.features import Placement
from jostle.maths import quat
from jostle.runtime import load_controller, save_controller


@pytest.fixture(scope="module")
def clips():
    return [trim_frames(load_clip(clip_path("walk")), 60, 110), trim_frames(load_clip(clip_path("weave")), 60, 180)]


@pytest.fixture(scope="module")
def steered(clips):
    return train_fields(clips, Heading(count=24), settings=FieldSettings(near=15))


def test_rushes_lead_from_a_stance_to_the_next(clips):
    frames = frames_of(clips)
    assert frames.lengths == (50, 120, 50, 120)
    a, b = frames.stances.rows(np.arange(10)), frames.stances.rows(np.arange(1, 11))
    there = moved(a, between(a, b, np.zeros((10, 3))))
    np.testing.assert_allclose(quat.angle(quat.inv_mul(there.wxyz, b.wxyz)), 0.0, atol=1e-7)
    np.testing.assert_allclose(there.line, b.line, atol=1e-12)


def test_travel_leads_over_the_ground_as_the_clip_goes(clips):
    frames = frames_of(clips)
    own = frames.clips[1]
    at = Placement(float(own.root[0, 0]), float(own.root[0, 1]), float(quat.yaw(own.wxyz[0, 0])))
    for row in frames.steps[51:170]:
        at = walked(at, row)
    np.testing.assert_allclose((at.x, at.y), own.root[-1, :2], atol=1e-9)


def test_a_frame_of_the_data_is_nearest_to_itself_and_goes_on_as_it_does(clips):
    field = Field(frames_of(clips), FieldSettings(near=5, drift=0.0))
    x, v, y = field.states
    near, w = field.near(x, v)
    np.testing.assert_array_equal(near[:, 0], np.arange(len(field.at)))
    assert np.all(w[:, 0] > 0.9)
    stance, rushes = field.actions(x.rows(7), v.rows(7), near[7], w[7])
    np.testing.assert_allclose(stance.line, field.frames.stances.line[field.at[7] + 1], atol=1e-9)
    np.testing.assert_allclose(rushes.spin[0], y.spin[7], atol=0.1)
    mixed = 0.5 * (y.spin[7] + y.spin[near[7, 2]])  # action 2: half of it
    np.testing.assert_allclose(rushes.spin[2], mixed, atol=0.1 * np.abs(mixed).max())


def test_drift_is_pulled_back(clips):
    """With a full pull the pose after next is the data's, wherever it is now."""
    field = Field(frames_of(clips), FieldSettings(near=5, drift=1.0))
    x, v, _ = field.states
    off = moved(x.rows(9), Rush(0.05 * np.ones_like(v.spin[0]), 0.01 * np.ones(1), np.zeros(3)))
    near, w = field.near(off, v.rows(9))
    stance, rushes = field.actions(off, v.rows(9), near, w)
    for a, home in enumerate(near):
        there, data = moved(stance, rushes.rows(a)), field.frames.stances.rows(int(field.at[home]) + 2)
        np.testing.assert_allclose(quat.angle(quat.inv_mul(there.wxyz, data.wxyz)), 0.0, atol=1e-6)
        np.testing.assert_allclose(there.line, data.line, atol=1e-9)


def test_values_of_a_field_keep_bellmans_equation(steered):
    task, field, dt = steered.task, steered.field, steered.dt
    x, v, _ = field.states
    for i in range(3, 300, 99):
        near, w = field.near(x.rows(i), v.rows(i))
        stance, rushes = field.actions(x.rows(i), v.rows(i), near, w)
        for g, theta in enumerate(task.axes[0].values):
            after = np.array([theta]) - dt * v.travel[i, 2:] / dt
            assert float(np.max(steered.worth(stance, rushes, after))) == pytest.approx(steered.values[i, g], abs=0.02)
    assert np.max(steered.values) <= 1.0 / (1.0 - steered.field.settings.discount)


def test_a_field_goes_where_it_is_asked_to(steered):
    assert isinstance(steered, Controller)
    courses = []
    for wish in (1.0, -1.0):
        states = [steered.init(Start())]
        for _ in range(100):
            states.append(steered.step(states[-1], Command(heading=wish)))
        assert 0.8 < states[-1].pose.root[2] < 1.2
        way = states[-1].pose.root - states[40].pose.root
        assert np.linalg.norm(way) > 1.5
        courses.append(np.arctan2(way[1], way[0]))
    assert courses[0] > 0.1 > -0.1 > courses[1]


def test_bundles_keep_a_field(steered, tmp_path):
    save_controller(steered, tmp_path / "a.jostle")
    back = load_controller(tmp_path / "a.jostle")
    assert isinstance(back, FieldPolicy)
    assert back.field.settings == steered.field.settings
    state = steered.init(Start((1.0, 2.0), 0.5, seed=3))
    np.testing.assert_allclose(state.pose.root[:2], [1.0, 2.0])
    again, there = (one.step(state, Command(heading=0.2)).rush for one in (back, steered))
    np.testing.assert_allclose(again.spin, there.spin, atol=1e-9)


def test_what_a_field_refuses(clips):
    with pytest.raises(CommandError, match="2 frames"):
        FieldSettings(near=1)
    with pytest.raises(CommandError, match="looks at the body"):
        train_fields(clips, "strike")
