"""`jostle view` and `jostle render` with characters: bundles and shipped walkers."""

import pytest

from jostle.assets import walker_names, walker_path
from jostle.cli import show
from jostle.controllers import Playback
from jostle.controllers.walker.parameters import WALKER
from jostle.controllers.walker.people import PEOPLE
from jostle.controllers.walker.walker import Walker
from jostle.errors import MotionError
from jostle.runtime import load_controller, save_controller
from terminal import run


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.jostle"
    save_controller(Walker("mine", PEOPLE["short"], "walker", WALKER.initial), path)
    return path


@pytest.fixture
def shown(monkeypatch):
    """The controllers that a page would run."""
    seen = []
    monkeypatch.setattr("jostle.viewer.view_controllers", lambda controllers, **_: seen.extend(controllers))
    return seen


def test_view_runs_bundles_and_clips_side_by_side(mine, shown):
    assert run("view", str(mine), "walk") == 0
    assert isinstance(shown[0], Walker)
    assert shown[0].name == "walker:mine"
    assert isinstance(shown[1], Playback)


def test_view_runs_shipped_walkers_by_name(shown):
    assert run("view", "walker:stocky") == 0
    assert [controller.name for controller in shown] == ["walker:stocky"]


def test_a_shipped_walker_comes_with_the_others_of_its_body(shown):
    assert run("view", "walker:fast") == 0
    assert shown[0].tasks[:2] == ("stand up", "fast")
    assert {"stocky", "slow", "simbicon"} <= set(shown[0].tasks)
    assert "tall" not in shown[0].tasks


def test_walkers_of_one_body_are_one_character_together(mine, shown, tmp_path, capsys):
    other = tmp_path / "other.jostle"
    save_controller(Walker("other", PEOPLE["short"], "walker", WALKER.initial), other)
    assert run("view", str(mine), str(other), "--together") == 0
    assert [controller.tasks for controller in shown] == [("stand up", "mine", "other")]
    assert run("view", str(mine), "walker:tall", "--together") == 1
    assert "they have different bodies" in capsys.readouterr().err


def test_an_unknown_walker_gets_one_sentence(capsys):
    assert run("view", "walker:stockyy") == 1
    said = capsys.readouterr().err
    assert "No shipped walker 'stockyy'" in said
    assert "stocky" in said.split("Known")[1]


def test_render_lets_a_character_run_first(mine, tmp_path, capsys):
    out = tmp_path / "out.png"
    assert run("render", str(mine), "walk", str(out), "--seconds", "0.2", "--poses", "1", "--size", "200", "100") == 0
    assert out.stat().st_size > 1000


@pytest.mark.parametrize("seconds", ["0", "nan", "-1", "1e9"])
def test_render_refuses_runs_of_no_length(mine, tmp_path, capsys, seconds):
    assert run("render", str(mine), str(tmp_path / "out.png"), "--seconds", seconds) == 1
    assert "can run for at most 600 s" in capsys.readouterr().err


def test_motions_keep_the_order_in_which_they_were_named(mine):
    motions = show._motions(["walk", str(mine), "run"], None, 0.1)
    assert [clip.name for clip in motions] == ["walk", "mine", "run"]


@pytest.mark.parametrize("name", walker_names())
def test_every_shipped_walker_is_one(name):
    walker = load_controller(walker_path(name))
    assert isinstance(walker, Walker)
    assert walker.title == name


def test_walker_path_names_the_known(capsys):
    with pytest.raises(MotionError, match="No shipped walker 'robot'"):
        walker_path("robot")
