"""Scores from a cluster are those of this machine, to the last bit."""

import sys

import numpy as np
import pytest

from jostle.body import Ground
from jostle.controllers.walker.parameters import WALKER
from jostle.controllers.walker.people import PEOPLE
from jostle.errors import CommandError
from jostle.tuning import workers
from jostle.tuning.chance import Chance
from jostle.tuning.goal import Goal
from jostle.tuning.recipe import Recipe, Stage
from jostle.tuning.run import begin, start_values
from jostle.tuning.trials import Bench, Job

JOB = Job(PEOPLE["stocky"], "walker", Ground(), Goal(), 0.2)


@pytest.fixture(scope="module")
def local():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with distributed.LocalCluster(**options) as made:
        yield made


def test_pieces_on_a_cluster_score_as_the_whole_does_here(local):
    rng = np.random.default_rng(1)
    values = WALKER.decode(WALKER.encode(WALKER.initial) + 0.3 * rng.standard_normal((3, len(WALKER))))
    with workers.cluster(local.scheduler_address) as there:
        assert there.threads == 2
        for _ in range(2):  # the second time with the simulations that the workers kept
            far = there.score(JOB, values)
    here = Bench(threads=1).score(JOB, values)
    np.testing.assert_array_equal(far.cost, here.cost)
    for name, term in here.terms.items():
        np.testing.assert_array_equal(far.terms[name], term)


def test_a_recipe_with_chance_makes_the_same_walker_there_and_here(local):
    chance = Chance(trials=2, force=80.0, gusts=3.0, turn=0.3, noise=20.0, fresh=True)
    stage = Stage(seconds=(0.3,), advance=0.0, chance=chance, objective="return")
    recipe = Recipe(machine="guided", population=5, covariance="diagonal", seed=2, stages=(stage,))
    with workers.cluster(local.scheduler_address) as there:
        runs = [begin(recipe, start_values(recipe), score) for score in (there.score, Bench(threads=1).score)]
        for run in runs:
            for _ in range(3):
                run.step()
    np.testing.assert_array_equal(runs[0].best, runs[1].best)
    np.testing.assert_array_equal(runs[0].costs, runs[1].costs)


def test_what_a_worker_dies_of_is_said_in_one_sentence(local):
    with workers.cluster(local.scheduler_address) as there, pytest.raises(CommandError, match="everything before"):
        there.score(JOB, np.zeros((2, 3)))


class Client:
    """A client of a cluster whose workers answer as they are told."""

    def __init__(self, answers):
        self.answers = answers

    def wait_for_workers(self, count, timeout):
        if not self.answers:
            raise TimeoutError

    def run(self, function):
        if isinstance(self.answers, Exception):
            raise self.answers
        return self.answers


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({}, "has no workers; start some with: dask worker tcp://head:1"),
        (ModuleNotFoundError("No module named 'jostle'"), "cannot run jostle .No module named 'jostle'"),
        ({"a": workers.versions(), "b": {**workers.versions(), "numpy": "0.1"}}, r"worker b has numpy 0\.1 \(here"),
    ],
)
def test_workers_that_cannot_score_alike_are_refused(answers, said):
    with pytest.raises(CommandError, match=said):
        workers._check_workers(Client(answers), "tcp://head:1")


def test_workers_like_this_machine_are_welcome():
    workers._check_workers(Client({"a": workers.versions()}), "tcp://head:1")


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(workers, "PATIENCE", 0.2)
    with (
        pytest.raises(CommandError, match="No Dask scheduler answers at 'tcp://127"),
        workers.cluster("tcp://127.0.0.1:9"),
    ):
        pass
    with pytest.raises(CommandError, match="No Dask scheduler"), workers.cluster("no address"):
        pass


def test_without_the_extra_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(CommandError, match=r"jostle\[cluster\]"), workers.cluster("tcp://head:8786"):
        pass
