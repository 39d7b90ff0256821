"""The search is pycma's, and it comes back by replay."""

import cma
import numpy as np

from jostle.tuning.search import Search, check_sum


def bowl(units):
    return np.square(units - 1.0).sum(axis=1)


def advance(search, generations):
    costs, checks = [], []
    for _ in range(generations):
        units = search.ask()
        costs.append(bowl(units))
        checks.append(check_sum(units))
        search.tell(units, costs[-1])
    return np.array(costs), np.array(checks)


def test_it_is_pycma_with_a_generator_of_its_own():
    """Oracle: pycma driven by hand with the same normal numbers."""
    rng = np.random.default_rng((3, 4))
    options = {"popsize": 8, "verbose": -9, "seed": np.nan, "randn": lambda *shape: rng.standard_normal(shape)}
    oracle = cma.CMAEvolutionStrategy(np.zeros(5), 0.3, options)
    search = Search(np.zeros(5), 0.3, 8, (3, 4))
    for _ in range(5):
        units, expected = search.ask(), oracle.ask()
        np.testing.assert_array_equal(units, np.array(expected))
        search.tell(units, bowl(units))
        oracle.tell(expected, bowl(np.array(expected)).tolist())
    assert search.sigma == oracle.sigma


def test_it_leaves_numpy_s_global_numbers_alone():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    advance(Search(np.zeros(5), 0.3, 8, (0,)), 2)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_replayed_it_goes_on_as_if_it_had_not_stopped():
    whole, part = Search(np.zeros(40), 0.3, 8, (1,)), Search(np.zeros(40), 0.3, 8, (1,))
    costs, checks = advance(whole, 30)
    assert part.replay(costs, checks)
    np.testing.assert_array_equal(part.mean, whole.mean)
    np.testing.assert_array_equal(part.ask(), whole.ask())


def test_a_diagonal_covariance_learns_scales_sooner():
    def ellipse(units):
        return np.square((units - 1.0) * np.geomspace(0.1, 10.0, 60)).sum(axis=1)

    costs = {}
    for diagonal in (False, True):
        search = Search(np.zeros(60), 0.3, 12, (1,), diagonal)
        for _ in range(120):
            units = search.ask()
            search.tell(units, ellipse(units))
        costs[diagonal] = ellipse(search.mean[None])[0]
    assert costs[True] < 0.5 * costs[False]


def test_a_diagonal_search_is_replayed_too():
    whole, part = (Search(np.zeros(40), 0.3, 8, (1,), diagonal=True) for _ in range(2))
    assert part.replay(*advance(whole, 30))
    np.testing.assert_array_equal(part.ask(), whole.ask())


def test_a_replay_that_differs_is_noticed():
    costs, checks = advance(Search(np.zeros(5), 0.3, 8, (1,)), 4)
    assert not Search(np.zeros(5), 0.3, 8, (2,)).replay(costs, checks)
    assert not Search(np.zeros(5), 0.3, 8, (1,)).replay(costs[::-1].copy(), checks)
