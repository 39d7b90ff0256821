"""Models in bundles: the same numbers, where they came from, and one sentence for what is no model."""

import json
import zipfile

import numpy as np
import pytest

import jostle
from jostle.assets import clip_path
from jostle.clips import load_clip
from jostle.clips.edit import stacked
from jostle.clips.pack import clip_hash
from jostle.errors import BundleError, JostleError, JostleWarning, MotionError
from jostle.models.fit import KNOWN, Known, Origin, fit, options_of, origin
from jostle.runtime import load_bundle, load_controller, load_model, save_model
from jostle.skeleton import Pose, rest_pose
from terminal import said_of


@pytest.fixture(autouse=True)
def toy(monkeypatch):
    monkeypatch.setitem(KNOWN, "toy", Known("toy_model", "Toy", "for tests"))


@pytest.fixture(scope="module")
def walk():
    return load_clip(clip_path("walk"))


@pytest.fixture
def model(walk):
    return fit([walk], "toy", iterations=40, seed=7)


def test_the_same_numbers_come_back(model, walk, tmp_path):
    save_model(model, tmp_path / "a.jostle")
    back = load_model(tmp_path / "a.jostle")
    x = model.latent_rows[::7] + 0.1
    np.testing.assert_array_equal(back.pose(x).wxyz, model.pose(x).wxyz)
    np.testing.assert_array_equal(back.variance(x), model.variance(x))
    np.testing.assert_array_equal(back.predict(walk, 9).root, model.predict(walk, 9).root)
    assert back.log_likelihood(walk) == model.log_likelihood(walk)
    assert (back.lengths, back.notes, back.kind) == (model.lengths, model.notes, model.kind)


def test_a_bundle_says_what_it_was_learnt_from(model, walk, tmp_path):
    save_model(model, tmp_path / "a.jostle")
    bundle = load_bundle(tmp_path / "a.jostle")
    assert (bundle.kind, bundle.seed, bundle.recipe) == ("model", 7, {"iterations": 40})
    assert [(s.name, s.sha256) for s in bundle.sources] == [("walk", clip_hash(walk))]
    back = load_model(tmp_path / "a.jostle")
    assert origin(back) == origin(model)
    save_model(back, tmp_path / "b.jostle")
    assert (tmp_path / "b.jostle").read_bytes() == (tmp_path / "a.jostle").read_bytes()
    assert origin(object) == Origin()


def test_as_a_character_it_runs(model, tmp_path):
    save_model(model, tmp_path / "a.jostle")
    controller = load_controller(tmp_path / "a.jostle")
    recording = jostle.record(jostle.Character(controller), 0.5)
    assert recording.frame_count > 20


def test_a_character_that_is_no_model_is_refused(walk, tmp_path):
    jostle.save_controller(jostle.Playback(walk), tmp_path / "p.jostle")
    with pytest.raises(BundleError, match="it holds a 'playback', not a motion model"):
        load_model(tmp_path / "p.jostle")


def _rewritten(path, change=None, without=None):
    """The same bundle with another head, or without one of its arrays."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if name != without}
    head = json.loads(members["jostle.json"])
    if change is not None:
        change(head)
    members["jostle.json"] = json.dumps(head).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def test_garbled_ones_are_one_sentence(model, tmp_path):
    cases = {
        "kind": ({"change": lambda head: head["data"].update(model="gdpm")}, "Did you mean 'gpdm'"),
        "data": ({"change": lambda head: head.update(data={"model": "connected"})}, "lacks or garbles 'fitted'"),
        "fitted": ({"change": lambda head: head["data"].update(model="connected", fitted=3)}, "lacks or garbles"),
        "empty": ({"change": lambda head: head["data"].update(model="connected", fitted={})}, "lacks or garbles"),
        "array": ({"change": lambda head: head["data"].update(model="connected"), "without": "latent.npy"}, "garbles"),
    }
    for name, (what, _) in cases.items():
        save_model(model, tmp_path / f"{name}.jostle")
        _rewritten(tmp_path / f"{name}.jostle", **what)
    said = said_of([tmp_path / f"{name}.jostle" for name in cases])  # a process of its own
    assert len(said) == len(cases)
    for sentence, (_, words) in zip(said, cases.values(), strict=True):
        assert words in sentence


def test_options_that_are_not_there_are_named(walk):
    assert options_of("toy") == {"latent": 3, "gait": "walk", "iterations": 100}
    with pytest.raises(MotionError, match=r"No toy option 'laten'. Did you mean 'latent'"):
        fit([walk], "toy", laten=2)
    with pytest.raises(MotionError, match=r"No model 'gdpm'. Did you mean 'gpdm'"):
        fit([walk], "gdpm")
    with pytest.raises(JostleError, match="at least one"):
        fit([], "toy")


def test_frames_that_are_no_motion_are_told(walk):
    still = rest_pose(walk.skeleton)
    frames = stacked([Pose(still.root[None], still.wxyz[None]), walk.poses])
    with pytest.warns(JostleWarning, match=r"'walk': A T-pose .* frame 0.* `jostle clips check --fix` mends a copy"):
        fit([walk.with_poses(frames)], "toy", iterations=2)
