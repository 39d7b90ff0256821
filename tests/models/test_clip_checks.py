"""Bad input to any model: one sentence that says what is wrong and what to do."""

from dataclasses import replace

import numpy as np
import pytest

from jostle.assets import clip_path
from jostle.clips import Clip, load_clip
from jostle.errors import MotionError
from jostle.maths import quat
from jostle.models.checks import check_clips, check_latent, moving
from jostle.skeleton import build_skeleton


def _clip(name="a", frames=20, length=0.5, seed=0, joints=("Hips", "Leg")):
    rng = np.random.default_rng(seed)
    skeleton = build_skeleton(list(joints), [-1, 0], [[0, 0, 1], [0, 0, -length]], ends=[(1, [0, 0, -0.5])])
    turns = quat.exp(0.1 * rng.normal(size=(frames, 2, 3)))
    return Clip(skeleton, 30.0, rng.normal(size=(frames, 3)), turns, name=name)


def _broken(channel):
    clip = _clip()
    values = getattr(clip, channel).copy()
    values[13] = np.nan
    return replace(clip, **{channel: values})


BAD = {
    "none": ([], "no clip to learn from"),
    "one clip bare": (_clip(), r"write \[clip\]"),
    "a path": (["walk.bvh"], "not from a str; `load_clip` reads them"),
    "one frame": ([_clip("still", frames=1)], "'still' has one frame; a model needs at least 4"),
    "three frames": ([_clip(), _clip("b", frames=3, seed=1)], "'b' has 3 frames"),
    "NaN in the root": ([_broken("root")], r"no numbers \(first in frame 13\); `jostle clips check --fix`"),
    "NaN in a rotation": ([_broken("wxyz")], "first in frame 13"),
    "other joints": ([_clip(), _clip("b", seed=1, joints=("Hips", "Tail"))], "'a' and 'b' have different skeletons"),
    "other bones": ([_clip(), _clip("b", seed=1, length=0.6)], "different lengths.*--retarget"),
    "the same clip twice": ([_clip(), _clip(seed=1), _clip("again")], "'a' and 'again' are the same motion"),
    "one name twice": ([_clip(), _clip()], "named 'a' are the same motion; give it once"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_clips_are_one_sentence(case):
    clips, sentence = BAD[case]
    with pytest.raises(MotionError, match=sentence) as raised:
        check_clips(clips)
    assert "\n" not in str(raised.value)


def test_good_clips_come_back():
    clips = [_clip(), _clip("b", frames=30, seed=1)]
    assert check_clips(iter(clips)) == tuple(clips)
    other = [_clip(), _clip("b", seed=1, length=0.6)]
    assert check_clips(other, same_bones=False) == tuple(other)
    assert len(check_clips([load_clip(clip_path(name)) for name in ("walk", "turn_left", "weave")])) == 3


@pytest.mark.parametrize(
    ("q", "sentence"),
    [(0, "at least one dimension"), (50, "from 50 frames; give more clips or a smaller latent"), (21, "20 features")],
)
def test_latent_spaces_have_a_size(q, sentence):
    with pytest.raises(MotionError, match=sentence):
        check_latent(q, 50, 20)
    check_latent(3, 50, 20)


def test_what_never_moves_is_named():
    rows = np.random.default_rng(0).normal(size=(30, 10))
    names = [f"c{i}" for i in range(10)]
    kept, notes = moving(rows, names)
    assert kept.all()
    assert notes == []
    rows[:, 2] = 0.4
    assert moving(rows, names)[1] == ["One feature never changes and stays as it is: c2."]
    rows[:, 1:9] = 0.4
    kept, notes = moving(rows, names)
    assert kept.sum() == 2
    assert notes == ["8 features never change and stay as they are: c1, c2, c3, c4, c5, c6 and 2 more."]
    with pytest.raises(MotionError, match="Nothing moves"):
        moving(np.ones((5, 10)), names)
