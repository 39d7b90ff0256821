"""Walkers that take turns in one body."""

from dataclasses import replace

import numpy as np
import pytest

from jostle import assets
from jostle.body import Ground
from jostle.controllers import NEUTRAL, Command, Controller, Push, Start
from jostle.controllers.walker.parameters import GUIDED, WALKER
from jostle.controllers.walker.people import PEOPLE
from jostle.controllers.walker.troupe import Troupe, with_others
from jostle.controllers.walker.walker import STAND_UP, Walker
from jostle.errors import CommandError
from jostle.runtime import load_controller, save_controller


def shipped(name: str) -> Walker:
    return load_controller(assets.walker_path(name))


def run(controller, seconds, state=None, command=NEUTRAL):
    """The command counts at the first step."""
    state = controller.init(Start()) if state is None else state
    for _ in range(round(seconds * 60)):
        state, command = controller.step(state, command), NEUTRAL
    return state


def test_it_keeps_the_protocol_and_begins_as_its_first_walker(stocky):
    troupe = Troupe((stocky, replace(stocky, title="other")))
    assert isinstance(troupe, Controller)
    assert troupe.tasks == (STAND_UP, "stocky", "other")
    assert troupe.name == stocky.name
    np.testing.assert_array_equal(run(troupe, 0.5).pose.root, run(stocky, 0.5).pose.root)


def test_a_change_in_mid_stride_is_the_other_walkers_next_step(stocky):
    slower = replace(stocky, title="slower", values=WALKER.for_mass(stocky.values, 0.97))
    troupe = Troupe((stocky, slower))
    before = run(troupe, 1.0)
    changed = run(troupe, 0.3, before, Command(task="slower"))
    assert changed.who == changed.by == "slower"
    alone = run(slower, 0.3, before.walking)
    np.testing.assert_array_equal(changed.pose.wxyz, alone.pose.wxyz)
    assert np.abs(changed.pose.wxyz - run(stocky, 0.3, before.walking).pose.wxyz).max() > 1e-4


def test_a_push_goes_on_through_a_change(stocky):
    troupe = Troupe((stocky, replace(stocky, title="other")))
    begun = run(troupe, 0.1, command=Command(pushes=(Push("chest", np.array([0.0, 60.0, 0.0]), 0.4),)))
    changed = run(troupe, 0.1, begun, Command(task="other"))
    np.testing.assert_array_equal(changed.pose.root, run(stocky, 0.1, begun.walking).pose.root)


def test_a_transition_takes_over_where_there_is_one(stocky):
    names = ("stocky", "brisk", "stocky_to_brisk")
    troupe = Troupe(tuple(replace(stocky, title=name) for name in names))
    assert troupe.tasks == (STAND_UP, "stocky", "brisk")
    first = troupe.step(troupe.init(Start()), Command(task="brisk"))
    assert (first.who, first.by) == ("brisk", "stocky_to_brisk")
    again = troupe.step(first, Command(task="brisk"))
    assert again.by == "stocky_to_brisk"
    back = troupe.step(again, Command(task="stocky"))
    assert (back.who, back.by) == ("stocky", "stocky")


def test_walkers_of_two_kinds_take_turns(stocky):
    guided = Walker("guided", stocky.person, "guided", GUIDED.adopt(WALKER.named(stocky.values)), stocky.ground)
    troupe = Troupe((stocky, guided))
    state = run(troupe, 0.5, run(troupe, 0.5), Command(task="guided", heading=0.3))
    assert (state.by, state.time) == ("guided", pytest.approx(1.0))
    assert run(troupe, 0.2, state, Command(task=STAND_UP)).by == "guided"


def test_it_is_kept_in_a_file(stocky, tmp_path):
    troupe = Troupe((stocky, replace(stocky, title="other")))
    save_controller(troupe, tmp_path / "both.jostle")
    loaded = load_controller(tmp_path / "both.jostle")
    assert isinstance(loaded, Troupe)
    np.testing.assert_array_equal(run(loaded, 0.2).pose.wxyz, run(troupe, 0.2).pose.wxyz)


def test_only_one_body_has_others(stocky):
    assert with_others(stocky, [stocky, shipped("tall")]) is stocky
    found = with_others(stocky, [shipped(name) for name in assets.walker_names()])
    assert isinstance(found, Troupe)
    assert all(walker.person == PEOPLE["stocky"] for walker in found.walkers)
    assert found.walkers[0] is stocky


def test_what_makes_no_sense_gets_one_sentence(stocky):
    with pytest.raises(CommandError, match="There is no walker"):
        Troupe(())
    with pytest.raises(CommandError, match="different bodies"):
        Troupe((stocky, shipped("tall")))
    with pytest.raises(CommandError, match="Two walkers are called 'stocky'"):
        Troupe((stocky, stocky))
    troupe = Troupe((stocky, replace(stocky, title="other")))
    begun = troupe.init(Start())
    with pytest.raises(CommandError, match="No task 'fly'"):
        troupe.step(begun, Command(task="fly"))


def test_nobody_steps_from_the_plain_onto_a_beam(stocky):
    beam = replace(stocky, title="beam", ground=Ground(width=0.5))
    with pytest.raises(CommandError, match="needs a beam"):
        Troupe((stocky, beam))
    assert with_others(stocky, [beam]) is stocky
