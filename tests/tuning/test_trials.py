"""What a candidate scores depends on itself alone."""

from dataclasses import replace

import numpy as np
import pytest

from jostle.body import Ground
from jostle.controllers.walker.parameters import WALKER
from jostle.controllers.walker.people import PEOPLE
from jostle.tuning import trials
from jostle.tuning.goal import Goal
from jostle.tuning.journal import SEEN
from jostle.tuning.recipe import Pushes, Recipe, Stage
from jostle.tuning.run import _flat
from jostle.tuning.trials import Bench, Job, job_of, push_plan, shoves

JOB = Job(PEOPLE["stocky"], "walker", Ground(), Goal(), 0.3)
PUSHED = Job(PEOPLE["stocky"], "walker", Ground(), Goal(), 0.3, Pushes(200.0, 0.2, 0.1, trials=2), (3, 0))


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    """Walks are short here, so pushes come early."""
    monkeypatch.setattr(trials, "SETTLING", 0.05)


def candidates(count):
    rng = np.random.default_rng(1)
    return WALKER.decode(WALKER.encode(WALKER.initial) + 0.3 * rng.standard_normal((count, len(WALKER))))


def same(a, b):
    np.testing.assert_array_equal(a.cost, b.cost)
    np.testing.assert_array_equal(a.survived, b.survived)
    for ours, theirs in ((a.terms, b.terms), (a.seen, b.seen)):
        assert ours.keys() == theirs.keys()
        for name in ours:
            np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)


def part(outcome, rows):
    cut = {key: {name: values[rows] for name, values in getattr(outcome, key).items()} for key in ("terms", "seen")}
    return replace(outcome, cost=outcome.cost[rows], survived=outcome.survived[rows], **cut)


@pytest.mark.parametrize("job", [JOB, PUSHED], ids=["alone", "pushed"])
def test_scores_are_the_same_in_any_company_and_on_any_number_of_threads(job):
    values = candidates(5)
    whole = Bench(threads=2).score(job, values)
    assert len(set(whole.cost)) == 5
    bench = Bench(threads=1)
    for first, last in ((0, 1), (1, 3), (3, 5)):
        same(bench.score(job, values[first:last]), part(whole, slice(first, last)))
    same(bench.score(job, values[::-1].copy()), part(whole, slice(None, None, -1)))


def test_large_populations_are_scored_in_pieces(monkeypatch):
    values = candidates(4)
    whole = Bench(threads=1).score(PUSHED, values)
    monkeypatch.setattr("jostle.tuning.trials._ROWS", 5)  # two candidates of two trials at a time
    same(Bench(threads=1).score(PUSHED, values), whole)


def test_a_bench_keeps_its_simulations_and_scores_alike_again():
    bench = Bench(threads=1)
    first = bench.score(JOB, candidates(2))
    kept = dict(bench._walks)
    bench.score(PUSHED, candidates(1))
    same(bench.score(JOB, candidates(2)), first)
    assert bench._walks == kept


def test_a_candidate_scores_the_mean_of_its_trials():
    values, times = candidates(1), push_plan(PUSHED)[0]
    assert times.shape == (2, 2)
    pushed, alone = Bench(threads=1).score(PUSHED, values), Bench(threads=1).score(JOB, values)
    assert pushed.cost != alone.cost
    assert pushed.survived in (0.0, 0.5, 1.0)


def test_every_figure_of_the_log_is_seen():
    seen = _flat(Bench(threads=1).score(JOB, candidates(1)).seen)
    assert set(SEEN) <= set(seen)


def test_a_calm_walk_is_what_a_gait_is_judged_by():
    """Of a walker that falls when pushed: its gait is that of the walk alone, its fall the mean of all walks."""
    hard = replace(PUSHED, pushes=replace(PUSHED.pushes, force=900.0))
    values, alone = candidates(3), replace(hard, pushes=None)
    bench = Bench(threads=1)
    calm = bench.score(replace(hard, pushes=replace(hard.pushes, calm=True)), values)
    pushed, usual = bench.score(hard, values), bench.score(alone, values)
    trials = hard.pushes.trials
    np.testing.assert_allclose(calm.terms["fail"], (trials * pushed.terms["fail"] + usual.terms["fail"]) / (trials + 1))
    for name in ("power", "ratio", "head", "land"):
        np.testing.assert_array_equal(calm.terms[name], usual.terms[name])
    fell = 120000.0 * (calm.terms["fail"] - usual.terms["fail"])
    assert fell.max() > 0.0
    np.testing.assert_allclose(calm.cost, usual.cost + fell)
    np.testing.assert_allclose(calm.survived, (trials * pushed.survived + usual.survived) / (trials + 1))


def test_pushes_from_the_sides_can_be_harder_than_those_ahead():
    round_job = replace(PUSHED, pushes=replace(PUSHED.pushes, force=1.0))
    times, unit = push_plan(round_job)
    same_times, forces = push_plan(replace(round_job, pushes=replace(PUSHED.pushes, force=(50.0, 150.0))))
    np.testing.assert_array_equal(same_times, times)
    np.testing.assert_allclose(forces, unit * [50.0, 150.0, 0.0])


def test_pushes_come_from_all_sides_at_moments_of_their_own():
    job = Job(PEOPLE["stocky"], "walker", Ground(), Goal(), 9.0, Pushes(100.0, 3.0, trials=4), (1,))
    times, forces = push_plan(job)
    assert times.shape == (4, 3)
    np.testing.assert_allclose(np.diff(times, axis=1), 3.0)
    np.testing.assert_array_equal(
        np.floor(4 * (times[:, 0] - trials.SETTLING) / 3.0), range(4)
    )  # one a quarter of the period
    np.testing.assert_allclose(np.linalg.norm(forces, axis=2), 100.0)
    angles = np.sort(np.arctan2(forces[..., 1], forces[..., 0]).ravel() % (2 * np.pi))
    np.testing.assert_array_equal(np.floor(12 * angles / (2 * np.pi)), range(12))  # one a twelfth of the circle


def test_pushes_of_different_trials_do_not_disturb_each_other():
    """Oracle: the plan read at every time step."""
    job = Job(PEOPLE["stocky"], "walker", Ground(), Goal(), 6.0, Pushes(100.0, 1.0, 0.7, trials=3), (2,))
    dt, (times, forces) = 0.002, push_plan(job)
    felt, now = [], np.zeros((6, 3))
    made = shoves(job, 6, dt)
    for k in range(3000):
        for shove in made:  # as `rollout` does
            if abs(k * dt - shove.time) < 0.5 * dt:
                now = shove.force
            elif abs(k * dt - shove.time - shove.duration) < 0.5 * dt:
                now = np.zeros((6, 3))
        felt.append(now)
    steps = np.arange(3000)[:, None, None]
    begin = np.round(times / dt)
    acting = (begin <= steps) & (steps < begin + 350)
    expected = (acting[..., None] * forces).sum(axis=2)  # (K, trials, 3)
    np.testing.assert_array_equal(np.array(felt), np.tile(expected, (1, 2, 1)))


def test_only_fresh_pushes_change_from_one_generation_to_the_next():
    for fresh in (False, True):
        recipe = Recipe(stages=(Stage(pushes=Pushes(10.0, fresh=fresh)), Stage(pushes=Pushes(10.0, fresh=fresh))))
        jobs = [job_of(recipe, stage, 4.0, generation) for stage, generation in ((0, 0), (0, 1), (1, 2))]
        plans = [push_plan(job)[1] for job in jobs]
        assert np.array_equal(plans[0], plans[1]) == (not fresh)
        assert not np.array_equal(plans[0], plans[2])


def test_a_candidate_may_walk_at_several_time_steps():
    values, bench = candidates(3), Bench(threads=1)
    fine, coarse, both = (replace(JOB, timesteps=steps) for steps in ((0.001,), (0.002,), (0.002, 0.001)))
    one, two = bench.score(fine, values).cost, bench.score(coarse, values).cost
    assert not np.array_equal(one, two)
    np.testing.assert_array_equal(bench.score(both, values).cost, (two + one) / 2)


def test_a_slope_is_walked_on():
    uphill = Job(PEOPLE["stocky"], "walker", Ground(0.2), Goal(), 0.3)
    bench = Bench(threads=1)
    values = candidates(2)
    assert not np.array_equal(bench.score(uphill, values).cost, bench.score(JOB, values).cost)
