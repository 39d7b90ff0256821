"""`jostle evaluate` on the command line."""

import json

import pytest

from jostle import evaluate as room
from jostle.cli.evaluate import _columns
from jostle.evaluate import Report
from jostle.evaluate.report import Table
from terminal import run


@pytest.fixture
def asked(monkeypatch):
    requests = []

    def measured(name, request):
        requests.append(request)
        request.progress(0.5, 1.0)
        report = {"speed": {"stocky": 1.2}}
        return Report(name, request.seed, 0.1, None, report, [], {"speed": {"stocky": 1.48}}, ["gait_sd: no data."])

    monkeypatch.setattr(room, "evaluate", measured)
    monkeypatch.delenv("JOSTLE_DATA", raising=False)
    return requests


def test_list_names_the_experiments(capsys):
    assert run("evaluate", "list", "--json") == 0
    assert "walk" in json.loads(capsys.readouterr().out)["experiments"]
    assert run("evaluate", "list") == 0
    assert "walk" in capsys.readouterr().out


def test_json_is_all_there_is_on_standard_output(asked, capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("JOSTLE_DATA", str(tmp_path))
    assert run("evaluate", "walk", "--quick", "--seed", "3", "--json", "--walker", "a", "--walker", "b") == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["name"], printed["seed"], printed["summary"]) == ("walk", 3, {"speed": {"stocky": 1.2}})
    assert (asked[0].quick, asked[0].subjects, asked[0].data) == (True, ("a", "b"), tmp_path)


def test_the_table_has_the_papers_figure_and_says_what_is_missing(asked, capsys):
    assert run("evaluate", "walk") == 0
    shown = capsys.readouterr().out
    assert "1.2 [1.48]" in shown
    assert "not measured: gait_sd: no data." in shown
    assert asked[0].data is None


def test_an_unknown_experiment_is_one_sentence(capsys, monkeypatch):
    monkeypatch.delenv("JOSTLE_DATA", raising=False)
    assert run("evaluate", "wlak") == 1
    said = capsys.readouterr().err.strip()
    assert said.startswith("jostle: No experiment 'wlak'. Did you mean 'walk'? Known: walk, robustness, ")


def test_wide_tables_are_broken_into_columns_that_fit():
    table = Table(("", "one", "two", "three"), [("speed", "1", "2", "3"), ("a long name", "10 [12]", "", "30")])
    (whole,) = _columns(table, 200)
    assert whole[0].split() == ["one", "two", "three"]
    parts = list(_columns(table, 25))
    assert [part[0].split() for part in parts] == [["one"], ["two", "three"]]
    assert all(len(line) <= 25 for part in parts for line in part)
    assert [part[2].split()[-1] for part in parts] == ["[12]", "30"]
