"""`evaluate compliance` on the shipped walk, and what its measures mean."""

import numpy as np
import pytest

from jostle.controllers import Push
from jostle.evaluate import Request
from jostle.evaluate.compliance import experiment, summary, takes, trials


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


def test_means_are_over_takes_and_spreads_too():
    """A take with more pushes counts as much as one with fewer; who never comes back counts as four seconds."""

    def rows(*peaks, part="chest", back=1.0):
        return [{"part": part, "way": "left", "peak": p, "moved_cm": 1.0, "back_s": back, "planted": ["left_foot"]}
                for p in peaks]  # fmt: skip

    others = [row for part in ("left_forearm", "left_upper_arm") for row in rows(9.0, part=part)]
    by = {"one": rows(1.0, 3.0) + others, "other": rows(6.0, back=np.inf) + others}
    chest = summary._parts(by)["by_part"]["chest"]["peak"]
    assert (chest["mean"], chest["spread"]) == pytest.approx((4.0, np.std([2.0, 6.0], ddof=1)))
    assert summary._parts(by)["by_part_ordered"] == 0.0
    assert summary._directions(by)["left"]["chest"]["back_s"]["mean"] == pytest.approx(2.5)
    assert summary._phases(by)["double support"] == {}
    assert summary._phases(by)["pushed on the bearing side"]["peak"]["mean"] == pytest.approx(9.0)


@pytest.mark.slow
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
