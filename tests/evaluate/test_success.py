"""Trials by chance: who falls has failed, the same fates come again, and harder worlds are survived less often."""

import numpy as np
import pytest

from jostle.evaluate.robustness.success import survived
from jostle.evaluate.walk.subjects import read_subject
from jostle.tuning.chance import Chance

DT = 0.002


@pytest.fixture(scope="module")
def stocky():
    return read_subject("stocky")


def test_nothing_happens_and_everybody_walks(stocky):
    assert survived(stocky, Chance(trials=3), seconds=2.0, timestep=DT).all()


def test_a_storm_fells_everybody_and_a_breeze_nobody(stocky):
    storm, breeze = (
        survived(stocky, Chance(trials=6, force=force, gusts=4.0), seconds=2.0, timestep=DT) for force in (900.0, 5.0)
    )
    assert storm.mean() < 0.3  # one may come too late to be seen
    assert breeze.all()


def test_the_same_fates_come_again_and_others_with_another_seed(stocky):
    chance = Chance(trials=6, force=150.0, gusts=2.0)
    first, again, other = (survived(stocky, chance, seed, 2.0, DT) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert first.any()
    assert not (first.all() and other.all())
