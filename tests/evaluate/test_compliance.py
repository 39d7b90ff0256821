"""`evaluate compliance` on the shipped walk, and what its measures mean."""

import numpy as np
import pytest

from jostle.controllers import Push
from jostle.evaluate import Request
from jostle.evaluate.compliance import experiment, takes, trials


@pytest.fixture(scope="module")
def shipped():
    return takes.path_of(takes.SHIPPED, None)


@pytest.fixture(scope="module")
def on(shipped):
    return takes.walker(shipped)


def test_unpushed_the_shipped_walk_is_played(shipped):
    found = trials.idle(shipped, 6.0)
    assert found["rms"] < 0.3
    assert abs(found["first"] - found["last"]) < 0.1


def test_disturbances_die_out_and_to_the_letter_it_falls(shipped):
    assert trials.growth(shipped, 0)["per_s"] < -0.5
    assert trials.literal(shipped)["lost_s"] < 3.0


def test_seconds_until_it_is_back(on):
    run = on.pushed(Push("left_forearm", np.array([0.0, 100.0, 0.0]), 0.1), 0.3)
    back = run.seconds_back(7, on.character.dt)
    frame = 7 + round(back / on.character.dt)
    assert 0.1 < back < 2.0
    assert run.worst[frame - 1] > 2.0
    assert np.all(run.worst[frame:] <= 2.0)
    run.off[-1] = 5.0
    assert run.seconds_back(7, on.character.dt) == np.inf


def test_every_figure_has_its_place(tmp_path, monkeypatch):
    """One job of each kind, with next to no trials, and a summary of them."""
    monkeypatch.setattr(trials, "WAYS", {"left": (0.0, 1.0)})
    monkeypatch.setattr(trials, "PHASES", (0.0,))
    monkeypatch.setattr(trials, "RESPONSES", 1)
    monkeypatch.setattr(experiment, "SWEEP", (8,))
    monkeypatch.setattr(experiment, "QUICK", (1.0, 2, 1))
    jobs = experiment.plan_jobs(0, True, None)
    report = experiment.run(Request(quick=True, workers=1, plots=tmp_path))
    assert len(jobs) < 30
    for figure in ("idle_deg", "growth_per_s", "k_sweep", "wrong_basis_ratio", "by_part", "by_phase", "by_direction",
                   "by_style", "swapped_basis", "recovered", "recover_s", "beyond_deg", "root_return_s", "slide_cm",
                   "ground_below_cm", "cup_deg", "cup_trunk_share", "cycles_apart"):  # fmt: skip
        assert figure in report.summary, figure
    assert report.summary["recovered"] > 0.9
    assert report.summary["k_sweep"]["k=8"]["walk"]["peak"] > 3.0
    assert (
        report.summary["by_part"]["left_forearm"]["peak"]["mean"] > report.summary["by_part"]["chest"]["peak"]["mean"]
    )
    assert (tmp_path / "literal.png").exists()
    assert (tmp_path / "sweep.png").exists()
