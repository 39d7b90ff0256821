"""`jostle walk` as a person uses it."""

import csv
import json
import signal
from dataclasses import replace

import numpy as np
import pytest

from jostle.assets import walker_path
from jostle.cli.chart import Screen, spark
from jostle.cli.walk import parse_push
from jostle.clips import load_clip
from jostle.controllers import Playback
from jostle.controllers.walker.parameters import GUIDED, REACTIVE, WALKER
from jostle.controllers.walker.people import PEOPLE
from jostle.controllers.walker.walker import Walker
from jostle.errors import CommandError
from jostle.runtime import load_bundle, load_controller, load_recording, save_controller
from jostle.tuning import typical
from jostle.tuning.recipe import Stage
from jostle.tuning.trials import Bench
from terminal import run

RECIPE = """
name = "pupil"
population = 4
seed = 3
start = "mine.jostle"

[[stage]]
seconds = 0.1
advance = 0.0
generations = 2

[[stage]]
slope_deg = 2
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a walker in it and a recipe that starts from it."""
    monkeypatch.chdir(tmp_path)
    save_controller(Walker("mine", PEOPLE["tall"], "walker", WALKER.initial), tmp_path / "mine.jostle")
    (tmp_path / "recipe.toml").write_text(RECIPE)
    return tmp_path


def optimise(folder, name, *options):
    return run("walk", "optimise", folder / "recipe.toml", "-o", folder / name, "--threads", "1", *options)


def test_a_recipe_becomes_a_walker_with_its_log_and_plot(folder, capsys):
    assert optimise(folder, "new.jostle") == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert "every stage is done." in said.err
    walker, bundle = load_controller(folder / "new.jostle"), load_bundle(folder / "new.jostle")
    assert isinstance(walker, Walker)
    assert (walker.title, walker.person) == ("pupil", PEOPLE["stocky"])
    assert walker.ground.slope == pytest.approx(np.radians(2))
    assert (bundle.seed, bundle.recipe["name"], len(bundle.recipe["stage"])) == (3, "pupil", 2)
    with open(folder / "new.csv") as file:
        rows = list(csv.DictReader(file))
    assert [(row["generation"], row["stage"]) for row in rows] == [("1", "1"), ("2", "1"), ("3", "2"), ("4", "2")]
    for row in rows:
        weighted = sum(float(value) for key, value in row.items() if key.startswith("w_"))
        assert weighted == pytest.approx(float(row["cost"]))
    assert (folder / "new.png").read_bytes().startswith(b"\x89PNG")


def test_a_walker_becomes_a_guided_one_in_a_world_by_chance(folder, capsys):
    """`--recipe` is the recipe as well; a recipe of another kind starts from a walker's parameters."""
    chance = 'machine = "guided"\n' + RECIPE.partition("[[stage]]")[0] + "[[stage]]\nseconds = 0.1\ngenerations = 1\n"
    chance += 'objective = "return"\nadvance = 0.0\nchance = {trials = 2, force = 20, turn = 0.3, noise = 10}\n'
    (folder / "chance.toml").write_text(chance)
    options = ("-o", folder / "guided.jostle", "--threads", "1")
    assert run("walk", "optimise", "--recipe", folder / "chance.toml", *options) == 0
    walker = load_controller(folder / "guided.jostle")
    assert isinstance(walker, Walker)
    assert (walker.machine, len(walker.values)) == ("guided", len(GUIDED))
    capsys.readouterr()
    assert run("walk", "optimise", folder / "recipe.toml", "--recipe", folder / "chance.toml", *options) == 1
    assert "keep one of them" in capsys.readouterr().err


def test_a_recovery_and_a_transition_are_recipes_too(folder, monkeypatch):
    """A second controller is searched for a walker that is given, from where another one left off."""
    monkeypatch.setattr(typical, "SECONDS", 1.2)
    walker = 'name = "careful"\nmachine = "reactive"\nstart = "walker:stocky"\npopulation = 4\nsigma = 0.05\n'
    stage = '[[stage]]\nobjective = "recovery"\nseconds = 0.1\nadvance = 0.0\ngenerations = 1\n'
    stage += 'chance = {trials = 2, force = 50, after = "walker:thin", switch = [0.1, 0.3]}\n'
    (folder / "careful.toml").write_text(walker + stage)
    assert run("walk", "optimise", folder / "careful.toml", "-o", folder / "new.jostle", "--threads", "1") == 0
    new, stocky = load_controller(folder / "new.jostle"), load_controller(walker_path("stocky"))
    assert isinstance(new, Walker)
    assert isinstance(stocky, Walker)
    guided = GUIDED.named(GUIDED.adopt(WALKER.named(stocky.values)))
    named = REACTIVE.named(new.values)
    assert {name: named[f"base.{name}"] for name in guided} == pytest.approx(guided)
    after = load_bundle(folder / "new.jostle").recipe["stage"][0]["chance"]["after"]
    assert set(after) == set(GUIDED.names)
    assert run("walk", "parameters", folder / "new.jostle") == 0


def test_a_blend_of_walkers_is_a_start(folder):
    """Gains meet at their geometric mean, angles at the arithmetic one; the best of one generation stays near."""
    mine = load_controller(folder / "mine.jostle")
    assert isinstance(mine, Walker)
    other = replace(mine, values=WALKER.vector(WALKER.named(mine.values) | {"kp0.lhip_y": 250.0, "c_trans": 0.2}))
    save_controller(other, folder / "other.jostle")
    blend = 'start = {"mine.jostle" = 0.5, "other.jostle" = 0.5}\nbody = "tall"\nsigma = 1e-5\npopulation = 4\n'
    (folder / "blend.toml").write_text(blend + "[[stage]]\nseconds = 0.1\nadvance = 0.0\ngenerations = 1\n")
    assert run("walk", "optimise", folder / "blend.toml", "-o", folder / "new.jostle", "--threads", "1") == 0
    new = load_controller(folder / "new.jostle")
    assert isinstance(new, Walker)
    named, own = WALKER.named(new.values), WALKER.named(mine.values)
    assert named["kp0.lhip_y"] == pytest.approx(np.sqrt(250.0 * own["kp0.lhip_y"]), rel=1e-3)
    assert named["c_trans"] == pytest.approx(0.5 * (0.2 + own["c_trans"]), abs=1e-4)


def test_stopped_and_resumed_it_is_the_same_walker(folder, capsys):
    assert optimise(folder, "whole.jostle") == 0
    assert optimise(folder, "parts.jostle", "--generations", "1") == 0
    said = capsys.readouterr().err
    assert "stopped after 1 generations, as asked" in said
    assert "parts.jostle --resume" in said
    for limit in (2, 3, 9):
        assert run("walk", "optimise", "-o", "parts.jostle", "--resume", "--threads", "2", "--generations", limit) == 0
    assert (folder / "parts.run").read_bytes() == (folder / "whole.run").read_bytes()
    assert (folder / "parts.jostle").read_bytes() == (folder / "whole.jostle").read_bytes()


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_keeps_everything_and_says_how_to_go_on(folder, capsys, monkeypatch, sent):
    scored = Bench.score
    calls = []

    def interrupted(self, job, values):
        calls.append(job)
        if len(calls) == 3:
            signal.raise_signal(sent)
        return scored(self, job, values)

    monkeypatch.setattr(Bench, "score", interrupted)
    assert optimise(folder, "new.jostle") == 130
    assert "jostle walk optimise -o" in capsys.readouterr().err
    assert optimise(folder, "new.jostle", "--resume") == 0
    assert len(calls) == 5  # four generations, one of them twice


def test_what_is_said_on_the_command_line_counts(folder, capsys):
    options = ("--body", "short", "--speed", "1.3", "--step", "0.7", "--seed", "9", "--start", "initial")
    assert optimise(folder, "new.jostle", *options, "--generations", "1") == 0
    recipe = load_bundle(folder / "new.jostle").recipe
    assert (recipe["body"], recipe["seed"], recipe["start"]) == ("short", 9, "initial")
    assert [(stage["speed"], stage["step"]) for stage in recipe["stage"]] == [(1.3, 0.7)] * 2


def test_without_a_recipe_a_walker_bears_the_name_of_its_file(folder, monkeypatch):
    scored = Bench.score
    monkeypatch.setattr(Bench, "score", lambda self, job, values: scored(self, replace(job, seconds=0.1), values))
    new = ("--body", "tall", "--population", "4", "--generations", "1", "--threads", "1")
    assert run("walk", "optimise", "-o", "new.jostle", *new) == 0
    bundle = load_bundle(folder / "new.jostle")
    assert (bundle.data["title"], bundle.recipe["stage"][0]["seconds"]) == ("new", list(Stage().seconds))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--body", "giant"), "'body' of the recipe must be one of"),
        (("--population", "1"), "a whole number from 4"),
        (("--speed", "-1"), "'speed' of stage 1"),
        (("--minutes", "0"), "--minutes must be a positive number"),
        (("--generations", "-3"), "--generations must be a positive number"),
        (("--threads", "-1"), "--threads must be 0"),
        (("--resume",), "there is no run to go on with"),
        (("--machine", "simbicon"), "is a walker, and the recipe makes a simbicon"),
        (("--start", "walker:nobody"), "nobody"),
        (("--start", "none.jostle"), "none.jostle"),
    ],
)
def test_bad_orders_are_one_sentence_and_leave_nothing(folder, capsys, options, said):
    before = {path.name for path in folder.iterdir()}
    assert optimise(folder, "new.jostle", *options) == 1
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert said in line
    assert {path.name for path in folder.iterdir()} == before


def test_a_walker_that_is_there_is_not_overwritten(folder, capsys):
    before = (folder / "mine.jostle").read_bytes()
    assert optimise(folder, "mine.jostle") == 1
    assert "exists already" in capsys.readouterr().err
    assert (folder / "mine.jostle").read_bytes() == before


def test_parameters_as_a_table_and_as_json(folder, capsys):
    assert run("walk", "parameters", "mine.jostle") == 0
    shown = capsys.readouterr().out
    assert "torso_y" in shown
    assert "c_trans" in shown
    assert run("walk", "parameters", "mine.jostle", "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["person"]["height"] == 1.96
    assert len(printed["parameters"]) == 184
    assert printed["parameters"]["c_trans"] == {"value": 0.16, "unit": "m"}


def test_a_recording_holds_the_walk_and_its_pushes(folder, capsys):
    pushes = ("--push", "0.2:left:150", "0.5:back:80:0.1:head")
    assert run("walk", "record", "mine.jostle", "-o", "walk.bvh", "--seconds", "0.8", *pushes) == 0
    recording = load_recording(folder / "walk.bvh")
    assert recording.frame_count == 49
    assert [round(timed.time, 3) for timed in recording.pushes] == [0.2, 0.5]
    np.testing.assert_allclose(recording.pushes[0].push.force, [0.0, 150.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(recording.pushes[1].push.force, [-80.0, 0.0, 0.0], atol=1e-9)
    assert recording.pushes[1].push.part == "head"
    assert run("walk", "record", "mine.jostle", "-o", "walk.glb", "--seconds", "0.2") == 0
    assert load_clip(folder / "walk.glb").frame_count == 13


@pytest.mark.parametrize(
    "text", ["4:left", "x:left:100", "4:up:100", "4:left:-3", "4:left:100:nan", "1:left:2:3:head:5"]
)
def test_a_push_that_cannot_be_read_is_explained(text):
    with pytest.raises(CommandError, match=r"SECONDS:DIRECTION:NEWTONS|Known: forward"):
        parse_push(text)


def test_only_walkers_walk(folder, capsys):
    save_controller(Playback(load_clip(run_clip(folder))), folder / "clip.jostle")
    assert run("walk", "parameters", "clip.jostle") == 1
    assert "not a walker" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("-o", "a.bvh", "--seconds", "-1"), "more than 0"),
        (("-o", "a.xyz"), ".bvh"),
        (("-o", "a.bvh", "--fps", "0"), "positive rate"),
        (("-o", "a.bvh", "--push", "1:left:10:1:tail"), "tail"),
    ],
)
def test_what_cannot_be_recorded_is_said_before_it_walks(folder, capsys, options, said):
    assert run("walk", "record", "mine.jostle", *options) == 1
    assert said in capsys.readouterr().err


def run_clip(folder):
    assert run("convert", "walk", folder / "walk.npz", "--end", "0.2") == 0
    return folder / "walk.npz"


def test_blocks_grow_with_the_logarithm():
    assert spark([0.0, 0.01, 1.0, 100.0], 10, 100.0) == "  ▄█"
    assert len(spark([float(i) for i in range(1, 1000)], 40, 1000.0)) == 40
    assert spark([1.0, 100.0, 1.0, 1.0], 2, 100.0) == "█▄"  # the highest of each bin


def test_at_a_terminal_the_terms_are_drawn(folder, monkeypatch):
    import io

    from rich.console import Console

    screens = []
    started = Screen.__init__

    def seen(self, *arguments):
        started(self, *arguments)
        self.console = Console(file=io.StringIO(), force_terminal=True, width=100)
        self.live.console = self.console
        screens.append(self)

    monkeypatch.setattr(Screen, "__init__", seen)
    assert optimise(folder, "new.jostle", "--generations", "2") == 0
    drawn = screens[0].console.file.getvalue()
    for word in ("pupil", "left at most", "generation 2", "best", "power", "█"):
        assert word in drawn
