"""The most likely pose under constraints, against a general solver."""

import numpy as np
import pytest
import scipy.optimize

from jostle.controllers.policy.constraints import inference
from jostle.controllers.policy.constraints.constraint import Anatomy
from jostle.controllers.policy.constraints.inference import Rows, at_least, equal, most_likely, nearest, stacked
from jostle.features import Placement


@pytest.mark.parametrize("seed", range(6))
def test_the_nearest_row_is_that_of_a_general_solver(seed, monkeypatch):
    monkeypatch.setattr(inference, "_FIRM", 1e-12)
    rng = np.random.default_rng(seed)
    mean, spread = rng.normal(size=9), rng.uniform(0.1, 2.0, 9)
    A, a, B, b = rng.normal(size=(2, 9)), rng.normal(size=2), rng.normal(size=(4, 9)), rng.normal(size=4)
    found = nearest(mean, spread, stacked([equal(A, a), at_least(B, b)]))
    oracle = scipy.optimize.minimize(
        lambda y: np.sum((y - mean) ** 2 / spread), mean, method="SLSQP", options={"ftol": 1e-14, "maxiter": 500},
        constraints=[{"type": "eq", "fun": lambda y: A @ (y - mean) - a},
                     {"type": "ineq", "fun": lambda y: B @ (y - mean) - b}],
    )  # fmt: skip
    np.testing.assert_allclose(found, oracle.x, atol=2e-5)


def test_inequalities_that_hold_ask_for_nothing(rng):
    mean, spread = rng.normal(size=5), np.ones(5)
    np.testing.assert_array_equal(nearest(mean, spread, at_least(rng.normal(size=(3, 5)), -np.ones(3))), mean)


def test_contradictions_are_met_halfway():
    """Two constraints pull one coordinate both ways, a third says both: nothing blows up."""
    rows = equal(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([1.0, -1.0]))
    found = nearest(np.zeros(2), np.ones(2), rows)
    np.testing.assert_allclose(found, 0.0, atol=1e-9)


def test_a_hand_comes_to_its_place_in_a_few_steps(walker_model):
    anatomy = Anatomy(walker_model)
    mean = anatomy.kinematics.at(walker_model.rows[20, : walker_model.features.pose_count], Placement())
    hand, spread = np.array([anatomy.part("right_hand")]), walker_model.scales[0] ** -2
    goal = mean.positions[hand[0]] + [0.15, 0.1, 0.2]

    def asked(here):
        return equal(here.jacobian(hand, here.positions[hand])[0], goal - here.positions[hand[0]])

    for steps, close in ((1, 0.06), (inference.ITERATIONS, 0.003)):
        found = most_likely(mean, mean, spread, asked, steps)
        assert np.linalg.norm(found.positions[hand[0]] - goal) < close
    np.testing.assert_allclose(found.positions[0, :2], mean.positions[0, :2])  # the root's place is given


def test_rows_tell_the_worst_miss():
    rows = Rows(np.zeros((3, 2)), np.array([0.1, -0.4, -0.9]), np.array([False, False, True]))
    assert rows.missed == pytest.approx(0.4)
