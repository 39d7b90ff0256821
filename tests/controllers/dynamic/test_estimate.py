"""Pushes estimated from motion alone, against the forces that the simulated walker was really pushed with."""

import numpy as np
import pytest

from jostle import assets
from jostle.body import build_body
from jostle.clips import load_clip
from jostle.clips.edit import trim_frames, turn
from jostle.controllers.dynamic.estimate import LONGEST, PART, SHORTEST, estimate_pushes
from jostle.controllers.dynamic.learn import Example, fit_dynamic
from jostle.errors import MotionError
from jostle.runtime import load_recording


@pytest.fixture(scope="session")
def body(walk):
    return build_body(walk.skeleton)


def test_shipped_pushes_are_found_in_time_direction_and_size(walk, body):
    asides, ratios, late = [], [], []
    for path, _ in assets.held_out_clips()[::3]:
        recorded = load_recording(path)
        true = recorded.pushes[0]
        found = estimate_pushes(recorded, body, walk)
        assert found, path.stem
        time, push = found[0]
        assert push.part == PART
        assert SHORTEST <= push.duration <= LONGEST + 0.2
        given, told = true.push.impulse[:2], push.impulse[:2]
        asides.append(np.degrees(np.abs(np.angle(complex(*told) / complex(*given)))))
        ratios.append(np.linalg.norm(told) / np.linalg.norm(given))
        late.append(abs(time - true.time))
    assert np.median(asides) < 10.0
    assert max(asides) < 30.0
    assert 0.7 < np.median(ratios) < 1.3
    assert max(late) < 0.1


@pytest.mark.parametrize("name", ["walk", "weave", "turn_right", "stand", "run"])
def test_nobody_pushes_in_normal_motion(name):
    clip = load_clip(assets.clip_path(name))
    assert estimate_pushes(clip, build_body(clip.skeleton)) == ()


def test_other_frames_of_the_normal_motion_are_not_pushed(walk, body):
    half = walk.frame_count // 2
    assert estimate_pushes(trim_frames(walk, half, walk.frame_count), body, trim_frames(walk, 0, half)) == ()


def test_a_push_is_seen_without_a_normal_motion(pushed, body):
    """What feet cannot give is enough for a hard one; here to the left."""
    (time, push), *_ = estimate_pushes(pushed[2].clip, body)
    true_time, true = pushed[2].pushes[0]
    assert abs(time - true_time) < 0.1
    assert push.impulse @ true.impulse > 0.9 * np.linalg.norm(push.impulse) * np.linalg.norm(true.impulse)


def test_forces_turn_with_the_clip(walk, pushed, body):
    here = estimate_pushes(pushed[0].clip, body, walk)
    there = estimate_pushes(turn(pushed[0].clip, 1.2), body, walk)
    c, s = np.cos(1.2), np.sin(1.2)
    x, y, _ = here[0][1].force
    np.testing.assert_allclose(there[0][1].force, [c * x - s * y, s * x + c * y, 0.0], atol=0.05 * np.hypot(x, y))
    assert abs(there[0][0] - here[0][0]) < 0.01


def test_a_clip_that_is_too_short_says_nothing(walk, body):
    assert estimate_pushes(trim_frames(walk, 0, 10), body, walk) == ()


def test_a_character_is_learnt_from_clips_whose_forces_nobody_recorded(walk, pushed):
    silent = [Example(example.clip) for example in (pushed[2], pushed[1])]
    more = Example(trim_frames(walk, 300, 420))
    person = fit_dynamic([silent[0], Example(walk), more, silent[1]], iterations=3)
    notes = " ".join(person.models[0].model.notes)
    assert "they are estimated" in notes
    assert "is left out: no push is seen in it" in notes
    assert len(person.models[0].pushes) == 3
    sideways, backward = (person.models[0].pushes[i][0].impulse for i in (1, 2))
    assert sideways[1] > 2.0 * abs(sideways[0])
    assert -backward[0] > 2.0 * abs(backward[1])


def test_clips_that_are_all_normal_make_no_character(walk):
    parts = [Example(trim_frames(walk, a, a + 150)) for a in (0, 200)]
    with pytest.raises(MotionError, match="Nobody is pushed in any clip"):
        fit_dynamic(parts)
