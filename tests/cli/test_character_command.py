"""`jostle fit --controller`, `jostle push` and `jostle model check` on the command line."""

import json

import numpy as np
import pytest

from jostle.assets import clip_path, pushed_clips
from jostle.clips import load_clip
from jostle.controllers.dynamic import check
from jostle.runtime import load_recording
from terminal import run

PUSHED = [str(pushed_clips()[i][0]) for i in (1, 15)]


@pytest.fixture(scope="module")
def me(tmp_path_factory):
    path = tmp_path_factory.mktemp("character") / "me.jostle"
    clips = [str(clip_path("walk")), *PUSHED]
    assert run("fit", *clips, "-o", str(path), "--controller", "dynamic", "--iterations", "5") == 0
    return path


def test_what_was_learnt_is_told(tmp_path, capsys):
    target = tmp_path / "two.jostle"
    given = ["fit", "walk", *PUSHED, "-o", str(target), "--controller", "dynamic"]
    assert run(*given, "--iterations", "3", "--option", "groups=2", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["models"] == len(told["frames"]) == len(told["latent"]) == 2
    assert told["bytes"] == target.stat().st_size
    assert not (tmp_path / "two.jostle.journal").exists()


def test_a_push_in_words_is_kept_as_a_recording(me, tmp_path, capsys):
    target = tmp_path / "out.bvh"
    words = ["--push", "torso 250N left at 0.5s for 0.2s", "--push", "head 80N back at 1s"]
    assert run("push", str(me), *words, "-o", str(target), "--seconds", "2", "--fps", "30", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["pushes"] == 2
    kept = load_recording(target)
    assert [timed.time for timed in kept.pushes] == pytest.approx([0.5, 1.0])
    np.testing.assert_allclose(kept.pushes[0].push.force, [0.0, 250.0, 0.0], atol=1e-9)


@pytest.mark.parametrize("ending", [".glb", ".png"])
def test_it_may_be_any_clip_or_film(me, tmp_path, ending):
    target = tmp_path / f"out{ending}"
    assert run("push", str(me), "--push", "torso 100N left at 0.2s", "-o", str(target), "--seconds", "0.8") == 0
    assert target.stat().st_size > 1000
    if ending == ".glb":
        assert load_clip(target).frame_count > 40


def test_a_character_is_checked(me, capsys, monkeypatch):
    monkeypatch.setattr(check, "DIRECTIONS", 4)
    monkeypatch.setattr(check, "PHASES", 2)
    assert run("model", "check", str(me), "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found["closes"], bool)
    assert len(found["leads"]) == 2
    assert set(found["capture_next"]) == {"degrees_left", "phase"}
    assert run("model", "check", str(me)) == 0
    assert "capture next: a push" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["push", "walk", "-o", "x.bvh"], "add --controller compliant"),
        (["push", "walk", "--controller", "complaint", "-o", "x.bvh"], "compliant"),
        (["push", "ME", "--push", "torso left", "-o", "x.bvh"], "is no push"),
        (["push", "ME", "--push", "tail 10N left at 1s", "-o", "x.bvh"], "tail"),
        (["push", "ME", "--push", "torso 10N left at 5s", "-o", "x.bvh", "--seconds", "2"], "the last push ends"),
        (["push", "ME", "-o", "x.bvh", "--fps", "0"], "frames a second"),
        (["push", "ME", "-o", "x.xyz"], "cannot be written"),
        (["model", "check", "walker:stocky"], "what can be checked"),
        (["fit", "walk", "-o", "x.jostle", "--controller", "dynamo"], "dynamo"),
        (["fit", "walk", "-o", "x.jostle", "--controller", "dynamic"], "Nobody is pushed"),
        (["fit", "walk", "-o", "x.jostle", "--controller", "dynamic", "--model", "gpdm"], "not both"),
        (["fit", "walk", "-o", "x.jostle", "--controller", "dynamic", "--option", "fps=20"], "not 'fps'"),
        (["fit", "walk", "-o", "x.txt"], "written as a bundle"),
    ],
)
def test_bad_input_is_one_sentence(me, tmp_path, monkeypatch, capsys, given, said):
    monkeypatch.chdir(tmp_path)
    assert run(*[str(me) if word == "ME" else word for word in given]) == 1
    err = capsys.readouterr().err.strip()
    assert said in err.splitlines()[-1]
    assert "Traceback" not in err
    assert not list(tmp_path.iterdir())
