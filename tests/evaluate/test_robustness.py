"""`evaluate robustness` as a whole, made small: its plan, its figures, and how a walk is described."""

import json
from dataclasses import replace

import numpy as np
import pytest

from jostle.body import Ground
from jostle.controllers.walker.parameters import GUIDED, WALKER, reactive
from jostle.controllers.walker.people import PEOPLE
from jostle.controllers.walker.trace import rollout
from jostle.controllers.walker.walker import Walker
from jostle.errors import CommandError
from jostle.evaluate import Request, evaluate
from jostle.evaluate.robustness import experiment
from jostle.evaluate.robustness.style import step_width, walk_style
from jostle.evaluate.robustness.success import carried
from jostle.evaluate.robustness.thesis import ROWS, TOLERANCE
from jostle.evaluate.walk.pushes import Protocol
from jostle.evaluate.walk.subjects import read_subject
from jostle.evaluate.walk.thesis import DIRECTIONS
from jostle.runtime import save_controller
from jostle.tuning.chance import Chance


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("walkers")
    stocky = read_subject("stocky")
    guided = GUIDED.adopt(WALKER.named(stocky.values))
    save_controller(Walker("g", PEOPLE["stocky"], "guided", guided), folder / "push_100.jostle")
    save_controller(Walker("w", PEOPLE["stocky"], "walker", stocky.values), folder / "other.jostle")
    habits = np.array([0.06, 0.1, 1.35, 0.0]), np.array([0.18, 0.045, 0.08, 0.24])
    back = Walker("t", PEOPLE["stocky"], "reactive", reactive(guided, *habits))
    save_controller(back, folder / "other_to_push_100.jostle")
    on_beam = Walker("b", PEOPLE["stocky"], "walker", stocky.values, Ground(width=0.5))
    save_controller(on_beam, folder / "mug_on_a_beam.jostle")
    return folder


def test_the_rows_of_the_tables_are_all_directions_once():
    assert sorted(d for directions in ROWS.values() for d in directions) == sorted(DIRECTIONS)
    assert all(set(row) == set(ROWS) for row in TOLERANCE.values())
    newtons = {direction: [10.0 * i, 10.0 * i + 2.0] for i, direction in enumerate(DIRECTIONS)}
    assert experiment.by_rows(newtons)["side"] == pytest.approx(np.mean([20, 22, 60, 62]))
    assert "side" not in experiment.by_rows({"left": [1.0]})


def test_a_report_has_every_figure_of_every_walker(files, monkeypatch, tmp_path):
    protocol = Protocol(seconds=0.6, every=0.3, first=0.1, offsets=(0.0,), directions=("left", "right"), rungs=1)
    small = experiment.Plan((0.0, 90.0), 2, switches=2, trial=0.2, mugs=2, seconds=2.5, pushes=protocol, timestep=0.002)
    monkeypatch.setattr(experiment, "_QUICK", small)
    monkeypatch.setattr("jostle.evaluate.robustness.transitions.SECONDS", 2.2)
    names = tuple(str(files / f"{name}.jostle") for name in ("push_100", "other", "other_to_push_100", "mug_on_a_beam"))
    report = evaluate("robustness", Request(quick=True, subjects=names, plots=tmp_path, workers=1))
    plain = json.loads(json.dumps(report.to_dict(), allow_nan=False))["summary"]
    assert plain["gusts"]["push_100"].keys() == {"0 N", "90 N"}
    assert set(plain["tolerance"]["other"]) == {"side"}
    assert set(plain["turns"]) == {"push_100", "other_to_push_100"}  # the other one does not hear of headings
    assert plain["transitions"].keys() == {"other_to_push_100"}
    assert plain["transitions"]["other_to_push_100"].keys() == {"with", "direct"}
    assert plain["speed"]["other"] == pytest.approx(1.3, abs=0.3)
    assert {row["experiment"] for row in report.rows} == {
        "tolerance",
        "gusts",
        "turns",
        "style",
        "transitions",
        "beam",
        "mug",
    }
    assert plain["beam"] == {"mug_on_a_beam": 1.0}
    assert plain["mug"] == {"mug_on_a_beam": 0.0}  # its arms hang
    assert (tmp_path / "success.png").read_bytes().startswith(b"\x89PNG")
    assert any("push_100" in table.head for table in report.tables())


def test_without_a_robust_walker_one_sentence_says_what_to_do(monkeypatch):
    monkeypatch.setattr(experiment.assets, "walker_names", lambda: ("stocky",))
    with pytest.raises(CommandError, match="name walkers with --walker"):
        evaluate("robustness", Request(quick=True))


def test_a_mug_is_kept_by_who_holds_it_level():
    """Arms of steel with a right angle at the elbow, for a moment; and the same with the hand a little low."""
    stocky = read_subject("stocky")
    stiff = {f"{gain}{state}.rarm_{axis}": value for state in (0, 1) for axis in "xyz"
             for gain, value in (("kp", 4000.0), ("kd", 400.0))}  # fmt: skip
    for bent, kept in ((-np.pi / 2, 1.0), (-np.pi / 2 + 0.3, 0.0)):
        held = {f"target{state}.relbow_y": bent for state in (0, 1)} | {"angle.relbow_y": bent, "rate.relbow_y": 0.0}
        held |= {"alpha_arm": 0.0, "angle.rarm_y": 0.0, "rate.rarm_y": 0.0, "pitch": 0.0, "pitch_rate": 0.0}
        held |= {"angle.back_y": 0.0, "angle.back_z": 0.0, "rate.back_y": 0.0, "rate.back_z": 0.0}
        values = WALKER.vector(WALKER.named(stocky.values) | stiff | held)
        found = carried(replace(stocky, values=values), Chance(trials=2), seconds=0.02, timestep=0.002)
        assert found["kept"] == kept
        assert found["tilt"] == pytest.approx(abs(bent + np.pi / 2), abs=0.1)


def test_a_style_is_what_can_be_seen():
    stocky = read_subject("stocky")
    row = walk_style(stocky, 3.0, 0.002)
    assert row["com_height"] == pytest.approx(0.92, abs=0.05)
    assert 0.4 < row["step_m"] < 0.8
    assert abs(row["arm_spread_deg"]) < 20.0
    trace = rollout(stocky.walk(1, 0.002), stocky.copies(1), 3.0, stocky.person.fallen, poses=True)
    assert 0.02 < step_width(trace) < 0.35
    assert row["step_width_m"] == step_width(trace)
    short = walk_style(stocky, 0.3, 0.002)
    assert "step_m" not in short
    assert short["seconds_walked"] == pytest.approx(0.3)
