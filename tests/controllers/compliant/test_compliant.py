"""A clip that gives way to pushes, through the protocol."""

from dataclasses import replace

import numpy as np
import pytest

from jostle.assets import clip_path
from jostle.clips import load_clip
from jostle.clips.edit import trim_frames
from jostle.controllers import NEUTRAL, Command, Controller, Push, Start
from jostle.controllers.compliant.compliant import compliant_clip
from jostle.errors import CommandError, MotionError
from jostle.maths import quat
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
    assert character.supports == {"pushes"}
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


def test_what_is_refused(character):
    with pytest.raises(CommandError, match="third_arm"):
        character.step(character.init(Start()), Command(pushes=(Push("third_arm", np.ones(3), 0.1),)))
    clip = trim_frames(load_clip(clip_path("walk")), 0, 60)
    moving = replace(clip, offsets=np.tile(clip.skeleton.offsets, (clip.frame_count, 1, 1)))
    with pytest.raises(MotionError, match="bones"):
        compliant_clip(moving)
