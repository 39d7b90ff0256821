"""Scores on a GPU against those on the processor (the same code runs on the processor where there is no GPU)."""

import numpy as np
import pytest

from jostle.assets import walker_path
from jostle.body import Ground
from jostle.cli.optimising import Limits, Order, follow
from jostle.controllers.walker.parameters import GUIDED, WALKER
from jostle.errors import CommandError
from jostle.runtime import load_controller
from jostle.tuning.chance import Chance
from jostle.tuning.goal import Goal
from jostle.tuning.gpu import Gpu
from jostle.tuning.recipe import Pushes
from jostle.tuning.trials import Bench, Job


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_scores_are_those_of_the_processor():
    pytest.importorskip("warp", reason="needs the extra 'gpu'")
    walker = load_controller(walker_path("stocky"))
    noise = 0.02 * np.random.default_rng(0).standard_normal((3, len(WALKER)))
    values = WALKER.decode(WALKER.encode(walker.values) + noise)
    pushes = Pushes(force=20.0, every=1.0, duration=0.2, trials=2)
    job = Job(walker.person, "walker", Ground(), Goal(), 1.6, pushes)
    found, wanted = Gpu("cpu").score(job, values), Bench(1).score(job, values)
    np.testing.assert_allclose(found.cost, wanted.cost, rtol=1e-3)
    np.testing.assert_array_equal(found.survived, wanted.survived)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_returns_are_those_of_the_processor():
    pytest.importorskip("warp", reason="needs the extra 'gpu'")
    walker = load_controller(walker_path("thin"))
    noise = 0.02 * np.random.default_rng(1).standard_normal((3, len(GUIDED)))
    values = GUIDED.decode(GUIDED.encode(GUIDED.adopt(WALKER.named(walker.values))) + noise)
    chance = Chance(trials=2, force=15.0, gusts=1.0, turn=0.15, turns=1.0)
    for goal in (Goal(objective="return"), Goal(1.1, 0.5, objective="return")):
        job = Job(walker.person, "guided", Ground(), goal, 2.0, seed=(4, 0), chance=chance)
        found, wanted = Gpu("cpu").score(job, values), Bench(1).score(job, values)
        for name, term in wanted.terms.items():
            near = (
                0.1 if name in ("stance", "swing", "foot") else 0.02
            )  # cycles that turns disturb are cut a little otherwise
            np.testing.assert_allclose(found.terms[name], term, rtol=near, atol=2e-3, err_msg=name)
        np.testing.assert_array_equal(found.survived, wanted.survived)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_someone_steers_to_the_middle_as_on_the_processor():
    pytest.importorskip("warp", reason="needs the extra 'gpu'")
    walker = load_controller(walker_path("heading"))
    gpu, bench, facing = Gpu("cpu"), Bench(1), []
    for middle in (0.5, None):  # on a plane, where contacts are the same; what was asked before is forgotten
        chance = Chance(trials=2, force=40.0, gusts=2.0, middle=middle)
        job = Job(walker.person, "guided", Ground(), Goal(objective="return"), 1.5, seed=(7, 0), chance=chance)
        found, wanted = gpu.score(job, walker.values[None]), bench.score(job, walker.values[None])
        for name in ("facing", "head", "power"):
            np.testing.assert_allclose(found.terms[name], wanted.terms[name], rtol=1e-2, err_msg=name)
        facing.append(float(found.terms["facing"][0]))
    assert facing[0] > 3.0 * facing[1]


def test_a_gpu_and_a_cluster_exclude_each_other(tmp_path):
    order = Order(None, {}, {}, str(tmp_path / "a.jostle"), cluster="tcp://head:8786", gpu=True)
    with pytest.raises(CommandError, match="leave out --cluster or --gpu"):
        follow(order, Limits())


def test_without_the_extra_or_a_gpu_one_sentence_says_what_to_do(tmp_path):
    order = Order(None, {}, {}, str(tmp_path / "a.jostle"), gpu=True)
    with pytest.raises(CommandError, match=r"jostle\[gpu\]|no 'cuda:0' on this machine"):
        follow(order, Limits(generations=1))
