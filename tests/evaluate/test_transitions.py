"""Changes of walker in mid-stride: who fell, and what stands beside it."""

import numpy as np
import pytest

from jostle.controllers.walker.parameters import GUIDED, WALKER, reactive
from jostle.controllers.walker.people import PEOPLE
from jostle.errors import CommandError
from jostle.evaluate.robustness import transitions
from jostle.evaluate.robustness.transitions import plain, switched, transition_failures
from jostle.evaluate.walk.subjects import Subject, read_subject

DT = 0.002


@pytest.fixture(scope="module")
def stocky():
    return transitions.guided(read_subject("stocky"))


def faller(like: Subject) -> Subject:
    return Subject("faller", like.person, "guided", GUIDED.initial, like.ground)


def test_who_takes_over_from_itself_walks_on_and_who_cannot_walk_falls(stocky, monkeypatch):
    monkeypatch.setattr(transitions, "SECONDS", 3.5)
    times = np.array([0.4, 0.55, 0.7])
    assert switched(stocky, stocky, times, DT).all()
    assert not switched(stocky, faller(stocky), times, DT).any()


def test_the_plain_switch_stands_beside_the_transition(stocky, monkeypatch):
    """One whose recovery never acts and whose plain walk is none: both fall. Nobody falls who is as before."""
    monkeypatch.setattr(transitions, "SECONDS", 5.0)
    habits = np.array([0.06, 0.1, 1.35, 0.0]), np.array([0.18, 0.045, 0.08, 0.24])
    same = Subject("same", stocky.person, "reactive", reactive(stocky.values, *habits), stocky.ground)
    np.testing.assert_array_equal(plain(same).values, stocky.values)
    found = transition_failures(stocky, same, 3, timestep=DT)
    assert found["failures"] == {"with": 0.0, "direct": 0.0}
    assert found["trials"] == 3
    other = transition_failures(stocky, faller(stocky), 2, timestep=DT)
    assert other["failures"] == {"with": 1.0}


def test_bodies_are_not_exchanged(stocky):
    tall = Subject("tall", PEOPLE["tall"], "guided", stocky.values, stocky.ground)
    with pytest.raises(CommandError, match="different bodies"):
        switched(stocky, tall, np.array([1.0]), DT)
    with pytest.raises(CommandError, match="is a simbicon"):
        transitions.guided(read_subject("simbicon"))
    np.testing.assert_array_equal(
        transitions.guided(read_subject("stocky")).values, GUIDED.adopt(WALKER.named(read_subject("stocky").values))
    )
