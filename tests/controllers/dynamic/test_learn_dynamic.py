"""From clips to a character: what is kept of them, how they are shared out, and what is refused."""

import numpy as np
import pytest

from jostle.clips.edit import trim_frames, turn
from jostle.controllers import Push
from jostle.controllers.dynamic.grouping import share_out
from jostle.controllers.dynamic.learn import Example, fit_dynamic
from jostle.controllers.dynamic.responses import Given
from jostle.errors import MotionError


def test_pushed_clips_are_cut_to_what_they_show(person, pushed):
    lengths = person.models[0].model.lengths
    for length, example in zip(lengths[1:], pushed, strict=True):
        assert 50 <= length < example.clip.frame_count
    for clip in person.models[0].pushes[1:]:
        assert 0.3 < clip[0].time < 0.5


def test_where_a_clip_was_recorded_does_not_matter(walk, pushed, person):
    turned = [
        Example(
            turn(example.clip, 1.2),
            tuple((time, Push(push.part, _turned(push.force, 1.2), push.duration)) for time, push in example.pushes),
        )
        for example in pushed
    ]
    other = fit_dynamic([Example(walk), *turned], iterations=5).models[0]
    for mine, theirs in zip(person.models[0].pushes[1:], other.pushes[1:], strict=True):
        np.testing.assert_allclose(mine[0].force, theirs[0].force, atol=0.5)


def _turned(force, angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * force[0] - s * force[1], s * force[0] + c * force[1], force[2]])


def test_clips_are_shared_out_by_the_way_of_their_pushes(rng):
    """Forces along four ways, everything else alike: four groups, one each."""
    usual = rng.normal(size=(40, 6))
    ways = np.repeat(np.arange(4) * np.pi / 2, 3) + rng.normal(0, 0.1, 12)
    pushes = [[Given(0.3, 0.2, 0, 100.0 * np.array([np.cos(a), np.sin(a), 0.0]))] for a in ways]
    rows = [usual + 0.01 * rng.normal(size=usual.shape) for _ in ways]
    assert share_out(pushes, usual, rows, 4) == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]
    assert share_out(pushes, usual, rows) == [list(range(12))]


def test_several_models_share_the_normal_motion_and_a_push_chooses(walk, pushed):
    person = fit_dynamic([Example(walk), *pushed], groups=2, iterations=5)
    assert len(person.models) == 2
    assert len({model.model.lengths[0] for model in person.models}) == 1
    for i, model in enumerate(person.models):
        for clip in model.pushes[1:]:
            assert person.choose(clip[0].impulse) == i


@pytest.mark.parametrize(
    ("which", "said"), [("calm", "Nobody is pushed"), ("pushed", "pushed in every clip"), ("late", "when it is over")]
)
def test_what_cannot_be_learnt_from_is_refused_in_a_sentence(walk, pushed, which, said):
    late = Example(trim_frames(walk, 0, 60), ((7.0, Push("torso", np.array([100.0, 0.0, 0.0]), 0.2)),))
    given = {"calm": [Example(walk)], "pushed": pushed, "late": [Example(walk), late]}[which]
    with pytest.raises(MotionError, match=said):
        fit_dynamic(given)
