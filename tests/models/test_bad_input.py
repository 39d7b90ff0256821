"""Every model refuses what cannot be learnt with one sentence that says what to do, and drops nothing silently."""

from dataclasses import replace

import numpy as np
import pytest

import jostle
from jostle.assets import clip_path
from jostle.clips.edit import resample, trim_frames
from jostle.errors import JostleError
from jostle.models.fit import KNOWN


@pytest.fixture(scope="module")
def walk():
    return trim_frames(resample(jostle.load_clip(clip_path("walk")), 30.0), 0, 40)


def still(clip):
    return replace(clip, root=np.repeat(clip.root[:1], 40, axis=0), wxyz=np.repeat(clip.wxyz[:1], 40, axis=0))


def holed(clip):
    wxyz = clip.wxyz.copy()
    wxyz[7, 3] = np.nan
    return replace(clip, wxyz=wxyz)


CASES = {
    "no clip": (lambda c: [], {}, "name at least one"),
    "one frame": (lambda c: [trim_frames(c, 0, 1)], {}, "give a longer one"),
    "twins": (lambda c: [c, c.renamed("again")], {}, "give it once"),
    "no number": (lambda c: [holed(c)], {}, "first in frame 7"),
    "nothing moves": (lambda c: [still(c)], {}, "[Gg]ive clips of (a )?motion"),
    "other skeleton": (lambda c: [c, jostle.load_clip(clip_path("run"))], {}, "--retarget"),
    "unknown option": (lambda c: [c], {"lateral": 3}, "option 'lateral'"),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("model", KNOWN)
def test_bad_clips_are_one_sentence(walk, model, case):
    spoil, options, sentence = CASES[case]
    with pytest.raises(JostleError, match=sentence) as told:
        jostle.fit(spoil(walk), model=model, **options)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("model", KNOWN)
def test_a_latent_space_larger_than_its_data_is_refused(walk, model):
    option = "dimensions" if model == "circle" else "latent"
    with pytest.raises(JostleError, match=r"latent dimensions|[Aa] latent space of 40"):
        jostle.fit([walk], model=model, **{option: 40})
    with pytest.raises(JostleError, match=r"latent|at least one dimension"):
        jostle.fit([walk], model=model, **{option: 0})


@pytest.mark.parametrize(
    ("model", "options", "sentence"),
    [
        ("responsive", {"noise": "fine"}, "'noise' is a number such as 0.005, not 'fine'"),
        ("responsive", {"noise": float("nan")}, "'noise' is a number"),
        ("responsive", {"normal": "first"}, "'normal' is a whole number, not 'first'"),
        ("responsive", {"paper": 1}, "'paper' is true or false"),
        ("gpdm", {"latent": 2.5}, "'latent' is a whole number such as 3, not 2.5"),
        ("gpdm", {"latent": True}, "'latent' is a whole number"),
        ("circle", {"iterations": 0}, "at least one iteration, not 0"),
        ("connected", {"seed": -1}, "A seed is a whole number from 0, not -1"),
    ],
)
def test_options_of_another_kind_are_one_sentence(walk, model, options, sentence):
    with pytest.raises(JostleError, match=sentence) as told:
        jostle.fit([walk], model=model, **options)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("model", KNOWN)
def test_a_joint_that_never_moves_is_told_not_learnt(walk, model):
    """Notes name it, and it stays as it is."""
    joint = walk.skeleton.names.index("Head")
    wxyz = walk.wxyz.copy()
    wxyz[:, joint] = wxyz[:1, joint]
    learnt = jostle.fit([replace(walk, wxyz=wxyz)], model=model, iterations=2)
    assert model == "responsive" or any("Head" in note for note in learnt.notes)  # points on a still head still move
    pose = learnt.pose(learnt.latent_rows[20])
    assert np.allclose(
        np.abs(np.sum(pose.wxyz[joint] * wxyz[20, joint])), 1.0, atol=1e-4 if model != "responsive" else 1e-2
    )
