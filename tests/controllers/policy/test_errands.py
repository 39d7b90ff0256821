"""Go to a point, follow a path; and value iteration against its plain form."""

import numpy as np
import pytest

from jostle.controllers import Command
from jostle.controllers.policy.tasks import Axis, Follow, GoTo, Step
from jostle.controllers.policy.value_iteration import settle
from jostle.errors import CommandError
from jostle.features import Placement

CIRCLE = tuple((2.0 * np.sin(a), 2.0 - 2.0 * np.cos(a)) for a in np.linspace(0.0, 2.0 * np.pi, 49)[:-1])


def going(ahead: float, aside: float = 0.0, turn: float = 0.0) -> Step:
    return Step(np.array([[ahead, aside, turn]]), 1.0 / 30.0)


def test_uneven_points_are_interpolated_too():
    line, circle = Axis.at("a", np.array([0.0, 1.0, 3.0])), Axis.at("b", np.array([-1.0, 0.0, 0.5]), end=2 * np.pi - 1)
    first, second, share = line.cells(np.array([0.5, 2.5, 9.0]))
    np.testing.assert_allclose(
        (1 - share) * line.values[first] + share * line.values[second], [0.5, 2.5, 3.0], atol=1e-5
    )
    first, second, share = circle.cells(np.array([0.25, 0.5 + 0.25 * (2 * np.pi - 1.5), -1.0 - np.pi]))
    assert first.tolist() == [1, 2, 2]
    assert second.tolist() == [2, 0, 0]
    np.testing.assert_allclose(share[:2], [0.5, 0.25])


def test_going_there_pays_and_standing_there_pays_more():
    task = GoTo()
    far = np.array([[0.0, 3.0]])
    assert task.reward(going(1.4), far) == pytest.approx(1.0, abs=1e-6)
    assert task.reward(going(-1.4), far) < 0.01
    there = np.array([[0.3, 0.02]])
    assert task.reward(going(0.0), there) > task.reward(going(1.0), there) > 1.0
    np.testing.assert_allclose(task.after(going(1.5), np.array([[0.0, 1.0]])), [[0.0, 0.95]])
    wish = task.heard(task.begin(Placement(1.0, 2.0, 0.3)), Command(target=np.array([3.0, 2.0, 0.0])), Placement())
    np.testing.assert_allclose(task.seen(wish, Placement(1.0, 2.0, np.pi / 2)), [-np.pi / 2, 2.0])
    assert task.seen(task.begin(Placement(1.0, 2.0, 0.3)), Placement(1.0, 2.0, 0.3))[1] == 0.0


def test_a_path_is_followed_from_where_it_is_nearest():
    task = Follow(CIRCLE, closed=True)
    wish = task.begin(Placement())
    for turn in np.linspace(0.0, 6.0 * np.pi, 300):  # three times round, 10 cm outside
        at = Placement(2.1 * np.sin(turn), 2.0 - 2.1 * np.cos(turn), turn)
        wish = task.heard(wish, Command(), at)
        aside, course = task.seen(wish, at)
        assert aside == pytest.approx(0.1, abs=0.05)
        assert course == pytest.approx(0.125, abs=0.1)  # of the half metre ahead
    assert wish.along == pytest.approx(12.0 * np.pi, rel=0.02)


def test_being_on_the_path_and_going_along_it_pays():
    task = Follow(((0.0, 0.0), (5.0, 0.0)))
    best = task.reward(going(1.2), np.array([[0.0, 0.0]]))
    assert best == pytest.approx(1.0)
    assert task.reward(going(1.2), np.array([[0.5, 0.0]])) < 0.5
    assert task.reward(going(1.2), np.array([[0.0, 1.0]])) < 0.2
    np.testing.assert_allclose(task.after(going(0.0, 3.0, 0.6), np.array([[0.5, 0.0]])), [[0.4, -0.02]])
    with pytest.raises(CommandError, match="two points or more"):
        Follow(((0.0, 1.0),))


def test_points_are_named_one_by_one():
    task, at = Follow(), Placement(1.0, 0.0, 0.0)
    wish = task.begin(at)
    for point in ((4.0, 0.0, 0.0), (4.0, 0.0, 0.0), (4.0, 3.0, 0.0)):
        wish = task.heard(wish, Command(target=np.array(point)), at)
    np.testing.assert_allclose(wish.points, [[1.0, 0.0], [4.0, 0.0], [4.0, 3.0]], atol=0.02)
    np.testing.assert_allclose(task.seen(wish, at), [0.0, 0.0], atol=1e-6)


def test_values_settle_where_plain_value_iteration_does():
    rng = np.random.default_rng(0)
    S, A, G, k, discount = 12, 4, 6, 3, 0.9
    paid, near = rng.uniform(size=(S, A, G)), rng.integers(0, S, (S, A, k))
    w = rng.uniform(size=(S, A, k))
    w /= w.sum(axis=2, keepdims=True)
    corners = [rng.integers(0, G, (S, A, G)) for _ in range(2)]
    part = rng.uniform(size=(S, A, G))
    shares = [part, 1.0 - part]
    values = np.zeros((S, G))
    for _ in range(300):
        total = paid.copy()
        for s, a, g in np.ndindex(S, A, G):
            for corner, share in zip(corners, shares, strict=True):
                total[s, a, g] += discount * share[s, a, g] * (w[s, a] @ values[near[s, a], corner[s, a, g]])
        values, last = total.max(axis=1), values
        if np.max(np.abs(values - last)) < 1e-6:
            break
    np.testing.assert_allclose(settle(paid, near, w, corners, shares, discount), values, atol=2e-3)
