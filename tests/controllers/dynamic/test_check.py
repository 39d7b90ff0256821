"""What a model is told of itself."""

import numpy as np

from jostle.controllers.dynamic.check import DIRECTIONS, PHASES, Verification, _round, verify


def test_a_sound_character_closes_and_its_clips_lead_back(person):
    found = verify(person)
    assert found.closes
    assert found.leads_back
    assert [lead.clip for lead in found.leads] == [1, 2, 3]
    assert found.lost.shape == (DIRECTIONS, PHASES)
    assert np.all((found.lost >= 0) & (found.lost <= 1))


def test_what_was_shown_is_known_better_than_what_was_not(person):
    """Pushed forwards, backwards and to the left; never to the right."""
    lost = verify(person).lost.mean(axis=1)
    known, unknown = lost[[0, 6]].mean(), lost[[8, 9]].mean()
    assert unknown > 1.5 * known


def test_a_round_is_a_gait_cycle(person, walk):
    from jostle.clips.cycle import find_cycle

    assert abs(_round(person.models[0]) - 30.0 * find_cycle(walk).period) <= 2


def test_the_next_capture_is_where_it_is_most_lost():
    lost = np.zeros((DIRECTIONS, PHASES))
    lost[9, 2] = 0.9
    lost[8:11, 1:4] += 0.3
    assert Verification((0.1,), (), 40.0, lost).capture_next() == (-90.0, 0.25)
    assert not Verification((2.0,), (), 40.0, lost).closes
