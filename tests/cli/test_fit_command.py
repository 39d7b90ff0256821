"""`jostle fit` and `jostle model` as a person uses them, with a model that is learnt in a moment."""

import json
import signal
from contextlib import contextmanager
from itertools import count

import numpy as np
import pytest

import jostle.cli.fit as command
from jostle.assets import clip_path
from jostle.clips import load_clip, save_clip
from jostle.clips.edit import trim_frames
from jostle.models.fit import KNOWN, Known
from jostle.runtime import load_bundle, load_model
from terminal import run


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with two clips, and the toy among the models."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(KNOWN, "toy", Known("toy_model", "Toy", "for tests"))
    for name in ("walk", "turn_left"):
        save_clip(trim_frames(load_clip(clip_path(name)), 30, 130), tmp_path / f"{name}.bvh")
    return tmp_path


def fit(*options, output="a.jostle"):
    return run("fit", "walk.bvh", "turn_left.bvh", "-o", output, "--model", "toy", *options)


@pytest.fixture
def made(folder, capsys):
    assert fit() == 0
    capsys.readouterr()
    return folder / "a.jostle"


def test_a_model_is_made_and_told_about(folder, capsys):
    assert fit("--seed", "4", "--latent", "2", "--option", "gait=stroll") == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert "a.jostle: toy of 200 frames at 30 a second, 2 latent dimensions" in said.err
    bundle = load_bundle(folder / "a.jostle")
    assert (bundle.kind, bundle.seed, bundle.recipe) == ("model", 4, {"latent": 2, "gait": "stroll"})
    assert [source.name for source in bundle.sources] == ["walk", "turn_left"]
    assert not (folder / "a.jostle.journal").exists()


def test_json_is_one_object(folder, capsys):
    assert fit("--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["model"], told["frames"], told["clips"], told["latent"]) == ("toy", 200, 2, 3)
    assert run("model", "info", "a.jostle", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert [clip["frames"] for clip in told["clips"]] == [100, 100]
    assert told["bytes"] == (folder / "a.jostle").stat().st_size


def _interrupted(monkeypatch, at, how):
    """ctrl-C, or what a shell sends, after so many iterations."""
    calls = count(1)

    @contextmanager
    def progress(title):
        def report(done, total):
            if next(calls) == at:
                how()

        yield report

    monkeypatch.setattr(command, "progress", progress)


def _ctrl_c():
    raise KeyboardInterrupt


@pytest.mark.parametrize("how", [_ctrl_c, lambda: signal.raise_signal(signal.SIGTERM)], ids=["ctrl-C", "SIGTERM"])
def test_an_interrupted_fit_goes_on_to_the_same_bytes(made, folder, capsys, monkeypatch, how):
    with monkeypatch.context() as patched:
        _interrupted(patched, 9, how)
        assert fit(output="b.jostle") == 130
    said = capsys.readouterr().err
    assert "b.jostle.journal keeps what was learnt; go on with the same command and --resume" in said
    assert not (folder / "b.jostle").exists()
    assert fit("--resume", output="b.jostle") == 0
    assert (folder / "b.jostle").read_bytes() == made.read_bytes()
    assert not (folder / "b.jostle.journal").exists()


def test_a_journal_of_other_clips_is_refused(folder, capsys, monkeypatch):
    with monkeypatch.context() as patched:
        _interrupted(patched, 9, _ctrl_c)
        assert fit() == 130
    assert run("fit", "walk.bvh", "-o", "a.jostle", "--model", "toy", "--resume") == 1
    assert "of other clips or settings" in capsys.readouterr().err
    (folder / "a.jostle.journal").write_bytes(b"PK rubbish")
    assert fit("--resume") == 1
    assert "no journal of a fit" in capsys.readouterr().err
    (folder / "a.jostle.journal").unlink()
    assert fit("--resume") == 1
    assert "There is no a.jostle.journal to go on from; fit without --resume." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--latent", "500"), "A latent space of 500 dimensions cannot be learnt from 200 frames"),
        (("--gait", "run"), "No toy option 'gaits'. Did you mean 'gait'?"),
        (("--option", "latent"), "--option takes NAME=VALUE"),
        (("--option", "depth=3"), "No toy option 'depth'"),
        (("--model", "gdpm"), "No model 'gdpm'. Did you mean 'gpdm'?"),
    ],
)
def test_bad_options_are_one_sentence(capsys, options, sentence):
    assert fit(*options) == 1
    said = capsys.readouterr().err.strip()
    assert sentence in said
    assert "\n" not in said


def test_bad_clips_are_one_sentence(folder, capsys):
    walk = load_clip(folder / "walk.bvh")
    save_clip(trim_frames(walk, 0, 1), "one.bvh")
    save_clip(walk, "again.bvh")
    for names, sentence in (
        (("one.bvh",), "'one' has one frame"),
        (("walk.bvh", "again.bvh"), "'walk' and 'again' are the same motion"),
        (("walk.bvh", "run"), "different skeletons"),
        (("none.bvh",), "there is no such file"),
    ):
        assert run("fit", *names, "-o", "x.jostle", "--model", "toy") == 1
        said = capsys.readouterr().err.strip()
        assert sentence in said
        assert "\n" not in said


def test_a_model_is_described(made, capsys):
    assert run("model", "info", made) == 0
    said = capsys.readouterr().out
    for words in ("toy", "turn_left", "latent", "defaults", "angles"):
        assert words in said
    assert run("model", "list") == 0
    assert "connected" in capsys.readouterr().out
    assert run("model", "list", "toy", "--json") == 0
    assert json.loads(capsys.readouterr().out)["options"] == {"latent": 3, "gait": "walk", "iterations": 100}


def test_a_model_is_drawn(made, folder, capsys):
    from PIL import Image

    assert run("model", "plot", made, "a.png", "--frames", "20", "--rollouts", "1") == 0
    picture = np.asarray(Image.open(folder / "a.png").convert("RGB"))
    assert picture.shape[1] > 1000
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 1000
    assert run("model", "plot", made, "a.png", "--frames", "0") == 1
    assert "1 to" in capsys.readouterr().err


def test_a_clip_is_continued(made, folder, capsys):
    assert run("model", "predict", made, "walk.bvh", "-o", "next.bvh", "--frames", "40") == 0
    assert "next.bvh: 40 frames at 30 a second" in capsys.readouterr().err
    following = load_clip(folder / "next.bvh")
    assert following.frame_count == 40
    assert run("model", "predict", made, "walk.bvh", "-o", "whole.bvh", "--frames", "40", "--whole") == 0
    whole = load_clip(folder / "whole.bvh")
    assert whole.frame_count == load_clip(folder / "walk.bvh").frame_count + 40
    assert run("model", "predict", made, "run", "-o", "x.bvh") == 1
    assert "retarget" in capsys.readouterr().err


def test_other_bundles_and_rubbish_are_one_sentence(made, folder, capsys):
    raw = made.read_bytes()
    (folder / "half.jostle").write_bytes(raw[: len(raw) // 2])
    for name, sentence in (
        ("walker:stocky", "it holds a 'walker', not a motion model"),
        ("half.jostle", "no whole jostle bundle"),
        ("walk.bvh", "no whole jostle bundle"),
    ):
        assert run("model", "info", name) == 1
        assert sentence in capsys.readouterr().err


def test_a_model_runs_as_a_character(made, folder):
    assert run("render", made, "run.png", "--seconds", "2") == 0
    assert (folder / "run.png").stat().st_size > 10_000
    assert load_model(made).lengths == (100, 100)


def test_other_methods_do_the_same_task(folder, capsys):
    for method, kind in (("fields", "motion_field"), ("graph", "motion_graph")):
        options = ("-o", f"{method}.jostle", "--method", method, "--json")
        assert run("policy", "train", "walk.bvh", "turn_left.bvh", *options) == 0
        assert json.loads(capsys.readouterr().out)["method"] == method
        assert load_bundle(folder / f"{method}.jostle").kind == kind
    assert run("policy", "train", "walk.bvh", "-o", "me.jostle", "--method", "grph") == 1
    assert "Did you mean 'graph'?" in capsys.readouterr().err


def test_a_policy_is_trained_and_steered(folder, capsys):
    options = ("--iterations", "8", "--rounds", "0", "--json")
    assert run("policy", "train", "walk.bvh", "turn_left.bvh", "-o", "me.jostle", *options) == 0
    told = json.loads(capsys.readouterr().out)
    assert 0.9 * told["frames"] <= told["samples"] <= told["frames"]  # less those that flew off
    assert load_bundle(folder / "me.jostle").kind == "policy"
    assert run("policy", "train", "walk.bvh", "-o", "me.jostle", "--task", "jump") == 1
    assert "heading" in capsys.readouterr().err
