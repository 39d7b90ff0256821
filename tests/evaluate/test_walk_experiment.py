"""`evaluate walk` as a whole, made small; its plan, its summary, and what it says of what is missing."""

import json
from dataclasses import replace

import numpy as np
import pytest

from jostle import assets
from jostle.body import Ground
from jostle.controllers.walker.parameters import SIMBICON, WALKER
from jostle.controllers.walker.people import PEOPLE
from jostle.controllers.walker.walker import Walker
from jostle.errors import CommandError, FileError
from jostle.evaluate import Request, evaluate
from jostle.evaluate.walk import ablations, experiment
from jostle.evaluate.walk.humans import Humans
from jostle.evaluate.walk.pushes import Protocol
from jostle.evaluate.walk.subjects import find_subjects, read_subject
from jostle.runtime import save_controller


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("walkers")
    save_controller(Walker("s", PEOPLE["stocky"], "simbicon", SIMBICON.initial), folder / "simbicon.jostle")
    save_controller(Walker("w", PEOPLE["tall"], "walker", WALKER.initial, Ground(0.1, 0.8)), folder / "tall.jostle")
    return folder


def small_plan() -> experiment.Plan:
    protocol = Protocol(seconds=1.0, every=0.5, first=0.4, offsets=(0.0,), directions=("left",), rungs=1, most=50.0)
    return experiment.Plan(seconds=1.5, steps=False, pushes=protocol, clock=0.1)


@pytest.fixture
def small(monkeypatch):
    """Made-up rows in place of simulations."""

    def walked(subject, seconds):
        return row(subject.name, 12e3, 15.0) | {"seconds_walked": seconds, "speed": 1.2}

    def pushed(subject, protocol, seed, tick):
        return {"walker": subject.name, "newtons": {"left": [100.0 + seed], "back": [50.0]}}

    monkeypatch.setattr(experiment, "_QUICK", small_plan())
    monkeypatch.setattr(experiment, "walk_steadily", walked)
    monkeypatch.setattr(experiment, "push_tolerance", pushed)
    monkeypatch.setattr(experiment, "throughput", lambda subject, seconds: {"simulated_per_second": 99.0})


def test_subjects_come_from_files(files):
    tall = read_subject(str(files / "tall.jostle"))
    assert (tall.name, tall.machine, tall.ground) == ("tall", "walker", Ground(0.1, 0.8))
    np.testing.assert_array_equal(tall.values, WALKER.initial)
    assert tall.digest != read_subject(str(files / "simbicon.jostle")).digest


def test_bad_subjects_get_one_sentence(files, tmp_path):
    with pytest.raises(FileError, match="no such file"):
        find_subjects([str(tmp_path / "nobody.jostle")])
    with pytest.raises(CommandError, match=r"No shipped walker 'nobody'.* Or name a \.jostle file"):
        find_subjects(["walker:nobody"])
    with pytest.raises(CommandError, match="Two of the walkers are called 'tall'"):
        find_subjects([str(files / "tall.jostle")] * 2)


def test_a_folder_that_is_not_there_gets_one_sentence(tmp_path):
    with pytest.raises(FileError, match="no such folder"):
        Request(data=tmp_path / "none")
    with pytest.raises(CommandError, match="seed"):
        Request(seed=-1)
    with pytest.raises(CommandError, match="Did you mean 'walk'"):
        evaluate("wlak", Request())


def test_a_report_has_its_figures_rows_and_gaps(small, files, tmp_path):
    given = Request(None, 3, True, None, (str(files / "simbicon.jostle"),), tmp_path / "kept", 1)
    plain = json.loads(json.dumps(evaluate("walk", given).to_dict(), allow_nan=False))
    summary = plain["summary"]
    assert summary["seconds_walked"] == {"simbicon": 1.5}
    assert summary["tolerance"] == {"simbicon": {"left": 103.0, "back": 50.0}}
    assert summary["throughput"] == 99.0
    assert [row["experiment"] for row in plain["rows"]] == ["steady", "pushes", "throughput"]
    assert plain["paper"]["e_power"]["simbicon"] == 33392
    assert any(sentence.startswith("gait_sd") for sentence in plain["skipped"])


def test_pictures_are_drawn_where_a_folder_is_given(small, files, tmp_path):
    evaluate("walk", Request(None, 0, True, tmp_path, (str(files / "simbicon.jostle"),), None, 1))
    for picture in ("gait", "power", "pushes"):
        assert (tmp_path / f"{picture}.png").read_bytes().startswith(b"\x89PNG")


def test_real_people_stand_beside_the_walker(small, files, data):
    report = evaluate("walk", Request(data, quick=True, subjects=(str(files / "simbicon.jostle"),), workers=1))
    assert set(report.summary["gait_sd"]["simbicon"]) == {"thigh", "knee", "foot"}
    assert not any(sentence.startswith("gait_sd") for sentence in report.skipped)


@pytest.mark.slow
def test_a_small_run_in_other_processes_is_kept_and_repeats(monkeypatch, files, tmp_path):
    monkeypatch.setattr(experiment, "_QUICK", small_plan())
    given = Request(quick=True, subjects=(str(files / "simbicon.jostle"),), checkpoint=tmp_path / "kept", workers=2)
    first = evaluate("walk", given).summary
    assert first["seconds_walked"]["simbicon"] == pytest.approx(1.5)
    assert set(first["tolerance"]["simbicon"]) == {"left"}
    assert first["throughput"] > 0.0
    again = evaluate("walk", given).summary
    assert {**again, "throughput": 0} == {**first, "throughput": 0}
    anew = evaluate("walk", replace(given, checkpoint=None)).summary
    assert {**anew, "throughput": 0} == {**first, "throughput": 0}


def row(name: str, power: float, knee: float) -> dict:
    curve = np.full((100, 3), knee).tolist()
    return {"walker": name, "e_power": power, "power_share": [0.4, 0.1, 0.5], "E_head": 2.0, "curve": curve}


def people() -> Humans:
    """Whose every angle is 10 degrees and spreads by 5."""
    flat = np.full((100, 3), 10.0)
    return Humans(flat, np.full((100, 3), 5.0), flat[None], 1, 1.3, 0.0)


def test_the_summary_has_the_known_names():
    rows = {"stocky": row("stocky", 12e3, 15.0), "simbicon": row("simbicon", 30e3, 30.0)}
    pushed = {"stocky": {"newtons": {"left": [100.0, 120.0]}}}
    measured = experiment.Measured(rows, pushed, {}, {}, {"simulated_per_second": 80.0}, [])
    summary = experiment.summarise(measured, people())
    assert summary["tolerance"] == {"stocky": {"left": 110.0}}
    assert summary["gait_sd"]["stocky"] == {"thigh": 1.0, "knee": 1.0, "foot": 1.0}
    assert summary["against_simbicon"]["stocky"] == {"e_power": 0.4, "gait_sd_knee": 0.25, "gait_sd_foot": 0.25}
    assert summary["objective"]["stocky"] == {"head": 2.0}
    assert summary["speed"] == {}
    assert summary["throughput"] == 80.0


def test_the_plan_pushes_whom_the_table_has_and_lets_two_walk_on(files):
    subjects = [read_subject(str(files / f"{name}.jostle")) for name in ("simbicon", "tall")]
    full = experiment.plan_jobs(subjects, {}, experiment.Plan(), 0)
    assert set(full) == {
        ("steady", "simbicon"), ("steady", "tall"), ("pushes", "simbicon"), ("pushes", "tall"), ("steps", "simbicon"),
    }  # fmt: skip
    other = experiment.plan_jobs(subjects, {}, experiment.Plan(), 1)
    assert full["steady", "tall"].key == other["steady", "tall"].key
    assert full["pushes", "tall"].key != other["pushes", "tall"].key
    assert len({job.key for job in full.values()}) == len(full)


def test_an_ablation_shows_its_figure_with_and_without_the_term():
    usual = {"power_share": [0.4, 0.05, 0.55], "seconds_walked": 100.0}
    without = {"power_share": [0.4, 0.2, 0.4], "seconds_walked": 12.0}
    shown = ablations.effect("no_ratio", without, usual)
    assert shown["knee_share"] == {"with": 0.05, "without": 0.2}
    assert shown["seconds_walked"]["without"] == 12.0


def test_ablations_stand_beside_the_walker_with_every_term(monkeypatch, tmp_path):
    def made(path, speed):
        path.parent.mkdir(exist_ok=True)
        values = WALKER.vector({"velocity.x": speed})
        save_controller(Walker("w", PEOPLE["stocky"], "walker", values), path)

    for name, speed in (("all_terms", 1.0), ("no_ratio", 1.1), ("no_ang", 1.2), ("arms", 1.3), ("no_land", 1.4)):
        made(tmp_path / "ablations" / f"{name}.jostle", speed)
    monkeypatch.setattr(assets, "_WALKERS", tmp_path)
    start = WALKER.index["velocity.x"]
    pairs = {name: [float(s.values[start]) for s in pair] for name, pair in ablations.find_pairs().items()}
    assert pairs == {"no_ratio": [1.1, 1.0], "no_ang": [1.2, 1.3], "no_land": [1.4, 1.0]}
    jobs = experiment.plan_jobs([], ablations.find_pairs(), experiment.Plan(), 0)
    assert set(jobs) == {(kind, name) for kind in ("with", "without") for name in pairs}
