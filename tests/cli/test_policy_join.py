"""`jostle policy join`: two policies in one bundle."""

import pytest

from jostle.assets import clip_path
from jostle.clips import load_clip
from jostle.clips.edit import trim_frames
from jostle.controllers.policy.policy import plan_policy
from jostle.controllers.policy.tasks import Heading
from jostle.models.connected import fit_connected
from jostle.runtime import load_controller, save_controller
from terminal import run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("walk", "weave"):
        clip = trim_frames(load_clip(clip_path(name)), 60, 110)
        save_controller(
            plan_policy(fit_connected([clip], latent=2, iterations=5), Heading(count=6), rounds=0), f"{name}.jostle"
        )
    return tmp_path


def test_policies_are_joined_by_the_names_of_their_files_or_others(folder, capsys):
    assert run("policy", "join", "walk.jostle", "weave.jostle", "-o", "both.jostle") == 0
    assert "both.jostle: walk, weave." in capsys.readouterr().err
    assert load_controller("both.jostle").tasks == ("walk", "weave")
    assert run("policy", "join", "walk.jostle", "walk.jostle", "-o", "c.jostle", "--names", "slow", "fast") == 0
    assert load_controller("c.jostle").tasks == ("slow", "fast")


def test_what_cannot_be_joined_is_one_sentence(folder, capsys):
    assert run("policy", "join", "walk.jostle", "weave.jostle", "-o", "both.jostle") == 0
    for words, sentence in (
        (("walk.jostle", "-o", "b.jostle"), "two or more"),
        (("walk.jostle", "walk.jostle", "-o", "b.jostle"), "different names"),
        (("walk.jostle", "weave.jostle", "-o", "b.zip"), "both.jostle"),
        (("walk.jostle", "both.jostle", "-o", "b.jostle"), "no policy to join"),
    ):
        assert run("policy", "join", *words) == 1
        assert sentence in capsys.readouterr().err
