"""Figure 4.4: walkers by the number of walks that judged them."""

import shutil

import pytest

from jostle import assets
from jostle.evaluate.robustness import counts, experiment
from jostle.evaluate.robustness.plots import draw_counts


def test_spread_is_that_of_the_walkers():
    spread = counts.by_count({"n10_0": 0.9, "n10_1": 0.7, "n1_0": 0.2, "stocky": 1.0})
    assert list(spread) == ["N = 1", "N = 10"]
    assert spread["N = 10"] == pytest.approx({"mean": 0.8, "error": 0.1, "deviation": 0.02**0.5, "walkers": 2})
    assert spread["N = 1"]["error"] == 0.0


def test_walkers_are_found_by_their_names(monkeypatch, tmp_path):
    (tmp_path / "counts").mkdir()
    for name in ("n3_1", "n3_0", "n1_0", "notes"):
        shutil.copy(assets.walker_path("relaxed"), tmp_path / "counts" / f"{name}.jostle")
    monkeypatch.setattr(counts.assets, "walker_folder", lambda: tmp_path)
    found = counts.find_counted()
    assert {n: [subject.name for subject in group] for n, group in found.items()} == {1: ["n1_0"], 3: ["n3_0", "n3_1"]}
    jobs = experiment.plan_counts(experiment.Plan(trials=5), seed=2)
    assert [name for _, name, _ in jobs] == ["n1_0", "n3_0", "n3_1"]
    assert all(job.cost == 5 * 10.0 for job in jobs.values())


def test_picture(tmp_path):
    draw_counts(tmp_path / "counts.png", counts.by_count({"n1_0": 0.1, "n1_1": 0.3, "n5_0": 0.8}))
    assert (tmp_path / "counts.png").read_bytes().startswith(b"\x89PNG")
