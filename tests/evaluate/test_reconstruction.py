"""`evaluate reconstruction`: its measures where the answer is known, its plan and its summary."""

import numpy as np
import pytest

from jostle.errors import FileError
from jostle.evaluate import Request, evaluate
from jostle.evaluate.reconstruction import angles, experiment, rollouts
from jostle.evaluate.reconstruction.angles import Pair


def around(phases, columns=6, noise=0.0, seed=0):
    """Rows on a curve of three dimensions."""
    rng = np.random.default_rng(0)
    basis = np.stack([np.cos(phases), np.sin(phases), 0.3 * np.cos(2.0 * phases)], axis=1)
    rows = basis @ rng.normal(size=(3, columns))
    return rows + noise * np.random.default_rng(seed).normal(size=rows.shape)


def test_figures_of_rows_whose_truth_is_known():
    """A curve in three dimensions: PCA-3 loses nothing, the nearest frame half a gap, and both maps next to nothing."""
    trained, unseen = around(np.linspace(0, 4 * np.pi, 60)), around(np.linspace(0.05, 4 * np.pi - 0.05, 40))
    pair = Pair(np.c_[trained, 0.1 * trained[:, :5]], np.c_[unseen, 0.1 * unseen[:, :5]])
    found = angles.reconstruct(pair, 0)
    nearest = np.linalg.norm(pair.unseen[:, None] - pair.trained[None], axis=-1).min(axis=1)
    assert np.isclose(found["nearest_deg"], np.degrees(np.sqrt(np.mean(nearest**2) / pair.trained.shape[1])))
    assert found["pca3_deg"] < 1e-9
    assert found["back_deg"] < found["nearest_deg"]
    assert found["deg"] < found["nearest_deg"]


def test_whole_turns_are_no_error():
    trained = around(np.linspace(0, 6, 20))
    pair = Pair(trained, trained + 2.0 * np.pi * np.array([0, 1, 0, -1, 0, 2]))
    assert np.allclose(pair.unseen - pair.turns, trained)
    assert np.isclose(angles.degrees(trained + 0.02, trained), np.degrees(0.02))


def test_drift_is_how_much_farther_a_path_ends():
    ring = np.stack([np.cos(t := np.linspace(0, 2 * np.pi, 400)), np.sin(t)], axis=1)
    at = np.linspace(0, 30, 1000)
    growing = np.linspace(1.1, 1.4, 1000)[:, None] * np.stack([np.cos(at), np.sin(at)], axis=1)
    ratio = (np.linspace(1.1, 1.4, 1000)[-100:] - 1).mean() / (np.linspace(1.1, 1.4, 1000)[:100] - 1).mean()
    assert np.isclose(rollouts.drift(growing, ring), ratio, rtol=0.02)
    assert np.isclose(rollouts.drift(ring * 1.1, ring), 1.0, rtol=0.02)


def test_the_plan_says_what_is_left_out(monkeypatch):
    monkeypatch.setattr(experiment, "has_peer", lambda: False)
    jobs, skipped = experiment.plan_jobs(None, 0, quick=True)
    assert set(jobs) == {("shipped", "walk"), ("rollout", "walk")}
    assert "cmu_bvh" in skipped[0]
    jobs, skipped = experiment.plan_jobs("data", 0, quick=False)
    assert ("heldout", "07_02") in jobs
    assert ("rollout", "16_15") in jobs
    assert skipped == ["gpy: not installed."]


def test_a_folder_without_the_clips_is_one_sentence(tmp_path):
    with pytest.raises(FileError, match="this experiment needs it"):
        evaluate("reconstruction", Request(data=tmp_path, workers=1, quick=True))


def test_the_summary_names_its_figures():
    rolled = {"drift": 1.5, "skate": 0.0, "source_skate": 0.1, "slide_cm": 3.0, "source_slide_cm": 2.0}
    found = {
        ("shipped", "walk"): {"back_deg": 1.0, "deg": 2.0, "nearest_deg": 3.0},
        ("heldout", "07_02"): {"back_deg": 3.0, "deg": 2.5},
        ("rollout", "walk"): rolled,
        ("rollout", "16_15"): rolled | {"drift": 1.2},
    }
    s = experiment.summarise(found)
    assert (s["heldout_back_deg"], s["heldout_deg"], s["shipped_deg"]) == (3.0, 2.5, 2.0)
    assert (s["rollout_drift"], s["rollout_skate"], s["source_skate"]) == (1.5, 0.0, 0.1)
    assert s["cmu_drift"] == {"16_15": 1.2}


def test_a_rollout_of_the_shipped_walk():
    found = rollouts.roll(rollouts.SHIPPED, None, 250, 1, 0)
    assert found["frames"] == 301
    assert found["drift"] < 3.0
    assert found["skate"] <= found["source_skate"] + 0.05
