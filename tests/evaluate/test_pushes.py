"""The push experiment: the search for the first failure, and pushes that reach the right walker at the right time."""

import numpy as np
import pytest

from jostle.body import Ground
from jostle.controllers.walker.parameters import SIMBICON
from jostle.controllers.walker.people import PEOPLE
from jostle.evaluate.walk import pushes
from jostle.evaluate.walk.pushes import Protocol, first_failure, push_tolerance, pushed, tolerance
from jostle.evaluate.walk.subjects import Subject


def subject() -> Subject:
    return Subject("simbicon", PEOPLE["stocky"], "simbicon", SIMBICON.initial, Ground())


def silent(ticks: float) -> None:
    pass


@pytest.mark.parametrize("rungs", [1, 3, 8])
def test_the_grid_stops_at_the_first_failure(rungs):
    """Case 1 passes at 200 N again, by luck; case 3 is never felled."""
    limits = np.array([70.0, 130.0, 20.0, 9e9])

    def survives(rows, newtons):
        return (newtons < limits[list(rows)]) | ((np.array(rows) == 1) & (newtons == 200.0))

    passed, failed = first_failure(4, survives, Protocol(rungs=rungs, most=400.0), silent)
    np.testing.assert_array_equal(passed[:3], [50, 100, 0])
    np.testing.assert_array_equal(failed[:3], [100, 150, 50])
    assert passed[3] >= 400


def test_tolerance_is_found_by_bisection_for_every_direction_and_offset(monkeypatch):
    """With a rule in place of the simulation: tolerated is 80 N, and 10 N more for every second of offset."""

    def rule(who, forces, first, protocol, usual):
        assert np.all(np.isin(forces, [0.0, *np.abs(forces).ravel(), *-np.abs(forces).ravel()]))
        return np.abs(forces).max(axis=1) < 80.0 + 10.0 * (first - protocol.first)

    monkeypatch.setattr(pushes, "pushed", rule)
    monkeypatch.setattr(pushes, "_usual_speed", lambda who, protocol: 1.0)
    protocol = Protocol(offsets=(0.0, 2.0), directions=("forward", "back_left"))
    row = push_tolerance(subject(), protocol, 0, silent)
    for newtons in row["newtons"].values():
        np.testing.assert_allclose(newtons, [80.0, 100.0], atol=3.2)
    assert tolerance(row)["back_left"] == pytest.approx(90.0, abs=3.2)


def test_the_seed_shifts_the_pushes(monkeypatch):
    seen = []
    monkeypatch.setattr(pushes, "_usual_speed", lambda who, protocol: 1.0)
    monkeypatch.setattr(pushes, "pushed", lambda who, f, first, *rest: seen.append(first) or np.zeros(len(f), bool))
    for seed in (0, 1, 1, 2):
        seen.clear()
        push_tolerance(subject(), Protocol(offsets=(0.0,), directions=("left",)), seed, silent)
        shift = seen[0][0] - Protocol().first
        assert 0.0 <= shift < 1.0
        assert (shift == 0.0) == (seed == 0)


def test_each_walker_has_its_own_force_and_its_own_clock(monkeypatch):
    """Where the centre of mass is a moment after each push tells when it came, and from where."""
    places = []
    march = pushes.March

    class Watched(march):
        def step(self):
            places.append(self.walk.many.com.copy())
            super().step()

    monkeypatch.setattr(pushes, "March", Watched)
    forces = np.array([[0.0, 0, 0], [0, 100.0, 0], [0, -100.0, 0]])
    first = np.array([0.1, 0.1, 0.3])
    protocol = Protocol(seconds=0.5, every=0.4, duration=0.1, timestep=0.002)
    pushed(subject(), forces, first, protocol, 0.0)
    aside = np.array(places)[:, :, 1]  # (250, 3)
    apart = aside[:, 1:] - aside[:, :1]
    assert np.all(apart[:51] == 0.0)
    assert np.all(apart[60:150, 0] > 0.0)
    assert np.all(apart[:151, 1] == 0.0)
    assert np.all(apart[160:, 1] < 0.0)
    # 100 N for 0.1 s moves a body of 70 kg by 1/7 m/s, as long as its feet have not answered
    assert (apart[101, 0] - apart[96, 0]) / 0.01 == pytest.approx(10.0 / 70.0, rel=0.4)


def test_who_is_thrown_over_or_falls_behind_does_not_pass():
    protocol = Protocol(seconds=1.2, every=0.6, duration=0.4, first=0.4, timestep=0.002)
    forces = np.array([[0.0, 0, 0], [2000.0, 0, 0]])
    assert pushed(subject(), forces, np.array([0.4, 0.4]), protocol, 0.2).tolist() == [True, False]
    assert pushed(subject(), forces[:1], np.array([0.4]), protocol, 20.0).tolist() == [False]
