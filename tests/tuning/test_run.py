"""Runs go from duration to duration and from stage to stage, keep the best, and end for a reason."""

from itertools import pairwise

import numpy as np
import pytest
from bowl import Bowl

from jostle.controllers.walker.parameters import REACTIVE, WALKER
from jostle.errors import CommandError
from jostle.tuning import run as running
from jostle.tuning.chance import Chance
from jostle.tuning.checkpoint import load_run, save_run
from jostle.tuning.recipe import Pushes, Recipe, Stage
from jostle.tuning.run import begin, start_values


def recipe(*stages, **options):
    return Recipe(population=8, stages=stages, **options)


def distant():
    return WALKER.decode(WALKER.encode(WALKER.initial) + 1.0)


def all_of(run, most=1000):
    told = []
    while run.finished is None and len(told) < most:
        told.append(run.step())
    return told


def test_costs_fall_and_the_best_is_kept():
    bowl = Bowl()
    run = begin(recipe(Stage(seconds=(4.0,), generations=60)), distant(), bowl.score)
    told = all_of(run)
    assert len(told) == 60
    assert told[-1].lowest < 0.8 * told[0].lowest
    costs = np.concatenate([Bowl().score(job, values).cost for job, values in bowl.calls])
    everyone = np.concatenate([values for _, values in bowl.calls])
    assert told[-1].lowest == costs.min()
    np.testing.assert_array_equal(run.best, everyone[costs.argmin()])


def test_the_terms_of_a_generation_add_up_to_its_cost():
    told = begin(recipe(Stage()), distant(), Bowl().score).step()
    assert sum(told.weighted.values()) == pytest.approx(told.cost)


def test_walks_grow_longer_when_half_of_the_population_survives():
    bowl = Bowl(reach=13.6)  # from a distance of 13.6 at the start
    run = begin(recipe(Stage(generations=3)), distant(), bowl.score)
    told = all_of(run)
    asked = [t.seconds for t in told]
    for now, then in pairwise(told):
        assert (then.seconds > now.seconds) == (now.survived >= 0.5 and now.seconds < 10.0)
    assert asked[0] == 4.0
    assert asked[-3:] == [10.0] * 3
    assert run.finished == "every stage is done."


def test_the_best_walks_again_under_harder_conditions():
    bowl = Bowl()
    run = begin(recipe(Stage(seconds=(4.0, 6.0), generations=2), Stage(slope_deg=3.0)), distant(), bowl.score)
    run.step()  # everyone survives, so walks of 6 s are next
    best = run.best.copy()
    run.step()
    np.testing.assert_array_equal(bowl.calls[-1][1][-1], best)
    run.step()
    assert run.at.stage == 1
    best = run.best.copy()
    np.testing.assert_array_equal(run.origin, WALKER.encode(best))
    run.step()
    np.testing.assert_array_equal(bowl.calls[-1][1][-1], best)
    assert bowl.calls[-1][0].ground.slope > 0.0


def test_in_between_the_mean_walks_beside_the_population():
    bowl = Bowl()
    run = begin(recipe(Stage(seconds=(4.0,))), distant(), bowl.score)
    run.step()
    mean = WALKER.decode(run.search.mean)
    run.step()
    np.testing.assert_array_equal(bowl.calls[-1][1][-1], mean)


def test_a_stage_ends_when_nothing_better_comes(monkeypatch):
    monkeypatch.setattr(running, "STALLED", 4)

    def flat(job, values):
        outcome = Bowl().score(job, values)
        outcome.cost[:] = 1.0
        return outcome

    run = begin(recipe(Stage(seconds=(4.0,)), Stage(seconds=(4.0,))), distant(), flat)
    assert len(all_of(run)) == 2 * (1 + 4)
    assert run.finished == "every stage is done."


def test_a_stage_that_nobody_survives_ends_the_run(monkeypatch):
    monkeypatch.setattr(running, "LONGEST", 5)
    run = begin(recipe(Stage(generations=2), Stage()), distant(), Bowl(reach=0.0).score)
    assert len(all_of(run)) == 5
    assert "stage 1 found nothing better" in (run.finished or "")
    with pytest.raises(CommandError, match="over"):
        run.step()


def test_a_stage_goes_on_until_somebody_bears_every_push():
    """Of the pushed walks enough last, but at first nobody's do all."""
    bowl, calls = Bowl(), []

    def pushed(job, values):
        calls.append(job)
        outcome = bowl.score(job, values)
        outcome.survived[:] = 0.6 if len(calls) < 7 else 1.0
        return outcome

    run = begin(recipe(Stage(seconds=(4.0,), generations=2), Stage(seconds=(4.0,), generations=2)), distant(), pushed)
    told = all_of(run)
    assert [t.stage for t in told] == [0] * 7 + [1] * 2
    assert run.finished == "every stage is done."


def test_what_a_stage_holds_is_not_searched():
    bowl, at = Bowl(), WALKER.index["c_trans"]
    held = Stage(seconds=(4.0,), generations=5, hold={"c_trans": 0.123})
    run = begin(recipe(held, Stage(seconds=(4.0,), generations=5)), distant(), bowl.score)
    all_of(run)
    assert all((values[:, at] == 0.123).all() for _, values in bowl.calls[:5])
    assert np.ptp(bowl.calls[-1][1][:, at]) > 0.0


@pytest.mark.parametrize("drawn", [{"pushes": Pushes(50.0, fresh=True)}, {"chance": Chance(force=50.0, fresh=True)}])
def test_under_fresh_disturbances_the_mean_is_kept(drawn):
    bowl = Bowl()
    run = begin(recipe(Stage(seconds=(4.0,), **drawn)), distant(), bowl.score)
    for _ in range(3):
        run.step()
        np.testing.assert_array_equal(run.best, bowl.calls[-1][1][-1])
    assert len({job.seed for job, _ in bowl.calls}) == 3


def test_of_a_reactive_walker_only_the_recovery_is_searched(tmp_path):
    origin = REACTIVE.decode(REACTIVE.encode(REACTIVE.initial) + 1.0)
    run = begin(recipe(Stage(generations=9), machine="reactive"), origin, Bowl().score)
    for _ in range(8):
        run.step()
    assert run.search.mean.shape == REACTIVE.searched.shape
    given = np.setdiff1d(np.arange(len(REACTIVE)), REACTIVE.searched)
    np.testing.assert_allclose(run.best[given], origin[given], rtol=1e-12)
    assert (run.best[REACTIVE.searched] != origin[REACTIVE.searched]).all()
    save_run(run, tmp_path / "a.run")
    np.testing.assert_array_equal(load_run(tmp_path / "a.run", Bowl().score).search.mean, run.search.mean)


def test_heavier_bodies_start_with_stronger_servos():
    heavy = start_values(Recipe(body="overweight"))
    ratio = heavy / np.where(WALKER.initial == 0, 1.0, WALKER.initial)
    assert ratio[WALKER.index["kp0.back_y"]] == pytest.approx(86 / 70)
    assert ratio[WALKER.index["c_trans"]] == 1.0
    by_hand = start_values(Recipe(body="overweight", parameters={"kp0.lhip_y": 250.0}))
    assert by_hand[WALKER.index["kp0.lhip_y"]] == 250.0
    assert np.count_nonzero(by_hand != heavy) == 1
    same = start_values(Recipe(body="overweight"), heavy, mass=86.0)
    np.testing.assert_allclose(same, heavy)
