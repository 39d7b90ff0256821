"""`jostle graph build` on the command line, and the push that follows."""

import json

import pytest

from jostle.assets import clip_path, pushed_clips
from jostle.clips import load_clip, save_clip
from jostle.clips.edit import trim
from jostle.runtime import load_recording
from terminal import run

PUSHED = [str(pushed_clips()[i][0]) for i in (1, 15)]


@pytest.fixture(scope="module")
def stroll(tmp_path_factory):
    path = tmp_path_factory.mktemp("graph") / "stroll.bvh"
    save_clip(trim(load_clip(clip_path("walk")), 0.0, 6.0), path)
    return str(path)


def test_a_character_is_built_and_pushed(stroll, tmp_path, capsys):
    target, out = tmp_path / "people.jostle", tmp_path / "out.bvh"
    assert run("graph", "build", stroll, "--responses", *PUSHED, "-o", target, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["pushes"] == 2
    assert told["responses"] == 4
    assert told["kept"] > 0.5
    words = ["--push", "torso 250N left at 0.5s"]
    assert run("push", target, *words, "-o", out, "--seconds", "1.2", "--fps", "30", "--json") == 0
    assert json.loads(capsys.readouterr().out)["quality"]["miss_deg"]["most"] < 180.0
    assert load_recording(out).pushes[0].time == pytest.approx(0.5)


def test_what_cannot_be_built_is_one_sentence(stroll, tmp_path, capsys):
    target = tmp_path / "people.jostle"
    assert run("graph", "build", stroll, "--responses", stroll, "-o", target) == 1
    assert "In none of these takes a push was found" in capsys.readouterr().err
    assert run("graph", "build", stroll, "--responses", *PUSHED, "-o", tmp_path / "people.bvh") == 1
    assert "such as people.jostle" in capsys.readouterr().err
    assert run("graph", "build", stroll, "--responses", *PUSHED, "-o", target, "--threshold", "0") == 1
    assert "up to 1 m" in capsys.readouterr().err
