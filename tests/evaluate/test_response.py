"""The measures of `evaluate response`, and the pushes it draws."""

import numpy as np
import pytest

from jostle.clips.edit import trim_frames
from jostle.controllers.dynamic.learn import Example, fit_dynamic
from jostle.evaluate.response import bases, cases, estimates, experiment, novel, runs


@pytest.fixture(scope="module")
def known():
    paths = cases.assets.pushed_clips()
    return [cases._recorded(*paths[i]) for i in (1, 15)]


@pytest.fixture(scope="module")
def person(known):
    return fit_dynamic([Example(cases.normal_walk()), *(cases.learnt_from(case) for case in known)], iterations=15)


def test_the_truth_is_seen_along_the_way(known):
    """Pushed forwards and to the left: so they go, beside those whom nobody pushed."""
    for case, axis in zip(known, (0, 1), strict=True):
        path = case.truth(cases.walking_body())
        assert path.shape == (60, 2)
        steady = path[0] * np.arange(1, 61)[:, None]
        assert np.max((path - steady)[:, axis]) > 0.15
        assert np.argmax(np.abs(case.impulse)) == axis


def test_a_miss_is_a_root_mean_square_in_centimetres():
    path = np.zeros((10, 2))
    assert cases.miss(path, path + np.array([0.03, 0.04])) == pytest.approx(5.0)
    assert cases.reach(path + np.array([0.0, 0.1]), path) == pytest.approx(0.1)


def test_the_nearest_answer_to_an_example_is_its_own(known):
    body = cases.walking_body()
    for case in known:
        assert cases.unlikeness(case, case) == 0.0
        np.testing.assert_array_equal(cases.replayed(case, known, body), case.truth(body))


def test_answers_begin_where_the_case_does(person, known):
    states = cases.answered(person, known[0])
    np.testing.assert_allclose(states[0].pose.root[:2], known[0].clip.root[known[0].onset, :2], atol=0.02)
    rows = cases.figures_of(person, known, known, lambda passed: None)
    assert all(row["cm"] < row["none_cm"] for row in rows)
    assert all(row["replay_cm"] == 0.0 for row in rows)


@pytest.mark.slow
def test_new_pushes_are_new(known, monkeypatch):
    monkeypatch.setattr(novel, "_SECONDS", 14.0)
    drawn = novel.novel_cases(known, 1, seed=3)
    angles = [np.arctan2(case.impulse[1], case.impulse[0]) for case in known]
    for kind, cases_ in drawn.items():
        for case in cases_:
            apart = np.abs(np.angle(np.exp(1j * (np.array(angles) - np.arctan2(*case.impulse[::-1])))))
            phase = np.abs((np.array([other.phase for other in known]) - case.phase + 0.5) % 1.0 - 0.5)
            if kind == "direction":
                assert np.min(apart) >= novel.ASIDE
            if kind == "phase":
                assert np.all(phase[apart < novel.ASIDE] >= novel.LATER)
            if kind == "part":
                assert case.part in novel.PARTS
            assert len(case.truth(cases.walking_body())) == 60
    assert len(drawn["direction"]) == 1


def test_a_wild_push_is_judged_and_the_same_for_a_seed(person):
    wild = runs.Wild(person, trim_frames(cases.normal_walk(), 300))
    first, again = wild.run(5), wild.run(5)
    assert first == again
    assert first["impulse"] <= runs.HARDEST * wild.hardest
    assert isinstance(first["recovered"], bool)


def test_what_stays_by_the_line_is_near(person):
    model = person.models[0]
    usual = model.model.poses.rows[model.usual]
    np.testing.assert_allclose(runs._apart(model, 0.5 * (usual[3:8] + usual[4:9]), usual), 0.0, atol=1e-9)
    off = usual[3:4].copy()
    off[:, model.features.now] += 0.02
    assert 0.0 < runs._apart(model, off, usual)[0] <= 0.02 * np.sqrt(3)


def test_ten_seconds_alone_are_like_the_clip(person):
    found = runs.endless(person, 20.0, lambda passed: None)
    assert found["cycle"] == pytest.approx(1.0, abs=0.06)
    assert found["steps_off"] < 1.5


def test_directions_are_summed_up():
    rows = [{"impulse": [x, y], "peak": peak} for x, y, peak in ((-1, 0, 0.8), (1, 0.2, 0.3), (0, 1, 0.5), (1, 0, 0.5))]
    assert experiment._by_direction(rows) == {"back": 0.8, "aside": 0.5, "forward": 0.4}


def test_every_part_of_the_plan_has_a_key_of_its_own():
    quick, full = experiment.plan_jobs(0, True), experiment.plan_jobs(0, False)
    keys = {job.key for job in (*quick.values(), *full.values())}
    assert len(keys) >= len(quick) + len(full) - 2


def test_a_run_goes_on_and_comes_back(monkeypatch):
    monkeypatch.setattr(bases, "SECONDS", 10.0)
    found = bases.unpushed_motion(str(cases.assets.clip_path("run")), 2, 0, lambda passed: None)
    assert found["cycle"] == pytest.approx(1.0, abs=0.03)
    assert found["stride"] == pytest.approx(1.0, abs=0.03)
    assert found["recovered"] == 1.0
    assert found["stuck"] == 0.0


@pytest.mark.slow
def test_another_walk_is_answered_after_four_pushes(monkeypatch):
    monkeypatch.setattr(bases, "SECONDS", 10.0)
    monkeypatch.setattr(bases, "_WALK", 14.0)
    found = bases.other_walk("brisk", 3, 1, 0, lambda passed: None)
    assert len(found["rows"]) == 3
    assert all(abs(np.linalg.norm(row["impulse"])) <= bases.HARDEST for row in found["rows"])
    assert found["cycle"] == pytest.approx(1.0, abs=0.05)


def test_estimates_are_held_against_the_true_forces(monkeypatch):
    monkeypatch.setattr(estimates, "PLAIN", ("walk",))
    found = estimates.found_pushes(30, 0, lambda passed: None)
    assert found["plain"] == 0
    summary = estimates.summarise(found, {"reproduce": [{"cm": 3.0}, {"cm": 5.0}]})
    assert summary["estimated_found"]["0 deg"] == 1.0
    assert summary["estimated_direction_deg"]["0 deg"] < 15.0
    assert summary["estimated_onset_s"]["0 deg"] < 0.1
    assert summary["estimated_reproduce_cm"] == 4.0
