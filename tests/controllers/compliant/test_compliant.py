"""A clip that gives way to pushes, through the protocol."""

from dataclasses import replace

import numpy as np
import pytest

from jostle.assets import clip_path, walker_path
from jostle.clips import load_clip
from jostle.clips.edit import trim_frames
from jostle.controllers import NEUTRAL, Command, Controller, Push, Start
from jostle.controllers.compliant.compliant import compliant_clip, compliant_over
from jostle.controllers.compliant.joints import Stops
from jostle.errors import CommandError, MotionError
from jostle.maths import quat
from jostle.runtime import load_controller, save_controller
from jostle.skeleton import find_roles, forward

LEFT = Command(pushes=(Push("left_arm", np.array([0.0, 120.0, 0.0]), 0.1),))


@pytest.fixture(scope="module")
def character():
    return compliant_clip(trim_frames(load_clip(clip_path("walk")), 0, 240))


def walked(character, frames, pushed=None, command=LEFT):
    states = [character.init(Start())]
    for frame in range(frames):
        states.append(character.step(states[-1], command if frame == pushed else NEUTRAL))
    return states


def off(state):
    """Degrees by which joints are turned off the clip's."""
    return np.degrees(np.linalg.norm(quat.log(quat.inv_mul(state.source.pose.wxyz, state.pose.wxyz)), axis=-1))


def test_it_is_a_controller_that_plays_its_source(character):
    assert isinstance(character, Controller)
    assert character.supports == {"pushes", "settings"}
    states = walked(character, 200)
    assert np.sqrt(np.mean([off(state) ** 2 for state in states])) < 0.3
    np.testing.assert_allclose(states[-1].pose.root, states[-1].source.pose.root, atol=1e-6)
    assert states[-1].observed.contacts == states[-1].source.observed.contacts


def test_a_push_is_answered_and_forgotten(character):
    states = walked(character, 330, pushed=60)
    arm = find_roles(character.skeleton)["left_upper_arm"]
    assert np.max(off(states[60])) < 1.0
    assert max(off(state)[arm] for state in states[61:100]) > 5.0
    assert np.max(off(states[-1])) < 2.0
    assert not states[-1].pressing


def test_the_pelvis_gives_way_and_comes_back_and_feet_stay(character):
    push = Command(pushes=(Push("pelvis", np.array([0.0, 100.0, 0.0]), 0.2),))
    states = walked(character, 200, pushed=60, command=push)
    away = np.array([state.pose.root - state.source.pose.root for state in states])
    assert 0.01 < np.max(away[:, 1]) < 0.1
    assert np.linalg.norm(away[60 + 120]) < 0.005
    feet = [joint for role, joint in find_roles(character.skeleton).items() if role.endswith("foot")]
    for state in states[61:100:3]:
        ours, theirs = (forward(character.skeleton, pose).positions[feet] for pose in (state.pose, state.source.pose))
        np.testing.assert_allclose(ours, theirs, atol=0.006)  # a straight leg is as long as it is


def test_a_step_is_pure(character):
    state = walked(character, 30)[-1]
    one, other = (character.step(state, LEFT) for _ in range(2))
    np.testing.assert_array_equal(one.pose.wxyz, other.pose.wxyz)
    np.testing.assert_array_equal(one.qvel, other.qvel)


def test_it_comes_back_from_a_bundle(character, tmp_path):
    save_controller(replace(character, k=8), tmp_path / "a.jostle", seed=1)
    back = load_controller(tmp_path / "a.jostle")
    assert (back.k, back.source.clip.name) == (8, character.source.clip.name)
    one, other = (c.step(c.init(Start()), LEFT) for c in (replace(character, k=8), back))
    np.testing.assert_allclose(one.qpos, other.qpos, atol=1e-12)


def test_any_controller_can_give_way(tmp_path):
    """A walker under it walks as it does without; its arm gives way; its own pushes stay its own."""
    walker = load_controller(walker_path("relaxed"))
    over = compliant_over(walker, seconds=3.0)
    assert over.supports >= walker.supports
    assert over.settings == walker.settings  # the ground is the walker's
    states = [over.init(Start())]
    alone = walker.init(Start())
    for frame in range(120):
        command = LEFT if frame == 60 else NEUTRAL
        states.append(over.step(states[-1], command))
        alone = walker.step(alone, command)
    np.testing.assert_allclose(states[-1].source.pose.root, alone.pose.root, atol=1e-12)
    arm = find_roles(over.skeleton)["left_upper_arm"]
    assert np.max([off(state) for state in states[:61]]) < 2.0
    assert max(off(state)[arm] for state in states[61:100]) > 2.0
    assert all(not state.sway.moved for state in states)
    save_controller(over, tmp_path / "over.jostle")
    assert load_controller(tmp_path / "over.jostle").source.kind == "walker"


def test_the_ground_may_be_pulled_away(character):
    """Feet go along at once and stay on it, the pelvis follows, and in the end all is as it was."""
    states = [character.init(Start())]
    for frame in range(240):
        states.append(character.step(states[-1], Command(settings={"ground_ahead": 1.0} if frame == 60 else {})))
    feet = [joint for role, joint in find_roles(character.skeleton).items() if role.endswith("foot")]
    for state in states[61::5]:
        ours, theirs = (forward(character.skeleton, pose).positions[feet] for pose in (state.pose, state.source.pose))
        np.testing.assert_allclose(ours - state.sway.carried, theirs, atol=0.02)
    behind = [state.pose.root - state.source.pose.root - state.sway.carried for state in states]
    assert min(away[0] for away in behind) < -0.05
    assert np.linalg.norm(behind[-1]) < 0.01
    assert max(np.max(off(state)) for state in states[61:90]) > 2.0
    assert np.max(off(states[-1])) < 2.0


def test_a_clip_that_starts_again_gives_nobody_a_push():
    """Its end is not its beginning: the body jumps with it, as it would if the clip were only played."""
    character = compliant_clip(trim_frames(load_clip(clip_path("walk")), 0, 45))
    states = walked(character, 130)
    assert np.max([off(state) for state in states]) < 5.0


def test_joints_end(character):
    """Pushed far too hard, elbows do not bend backwards, and nothing else goes on for ever."""
    stops = Stops(character.physics)
    for part, force in (
        ("left_forearm", [-900.0, 0.0, 0.0]),
        ("head", [0.0, 0.0, 900.0]),
        ("right_arm", [0, 800.0, 300.0]),
    ):
        push = Command(pushes=(Push(part, np.array(force), 0.2),))
        states = walked(character, 150, pushed=30, command=push)
        beyond = max(float(np.max(stops.excess(state.qpos, state.target))) for state in states)
        assert np.degrees(beyond) < 5.0
        assert np.max(off(states[-1])) < 30.0


def test_what_is_refused(character):
    with pytest.raises(CommandError, match="third_arm"):
        character.step(character.init(Start()), Command(pushes=(Push("third_arm", np.ones(3), 0.1),)))
    clip = trim_frames(load_clip(clip_path("walk")), 0, 60)
    moving = replace(clip, offsets=np.tile(clip.skeleton.offsets, (clip.frame_count, 1, 1)))
    with pytest.raises(MotionError, match="bones"):
        compliant_clip(moving)
