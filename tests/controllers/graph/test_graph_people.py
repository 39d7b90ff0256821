"""The character: endless, pushed again and again, without seams, on feet that stay, packed."""

from itertools import pairwise

import numpy as np
import pytest

from jostle.clips.clip import Clip
from jostle.clips.skate import slide_cm
from jostle.controllers import Command, Controller, Push, Start
from jostle.controllers.graph.build import build_people
from jostle.controllers.graph.people import NUDGE, People
from jostle.errors import CommandError, MotionError
from jostle.maths import quat
from jostle.runtime import load_controller, save_controller

LEFT = Push("torso", np.array([0.0, 250.0, 0.0]), 0.2)


def run(people, frames, pushes=(), start=None):
    state = people.init(start or Start())
    out = [state]
    for frame in range(frames):
        state = people.step(state, Command(pushes=tuple(push for at, push in pushes if at == frame)))
        out.append(state)
    return out


def filmed(people, states):
    poses = [state.pose for state in states]
    root, wxyz = np.array([pose.root for pose in poses]), np.array([pose.wxyz for pose in poses])
    return Clip(people.skeleton, 1.0 / people.dt, root, wxyz)


def jolt(clip, share=1.0):
    """By how much a joint's step differs from its last one, in this share of the frames at most: metres a frame."""
    return np.quantile(np.max(np.linalg.norm(np.diff(clip.positions, 2, axis=0), axis=-1), axis=1), share)


def test_it_is_a_controller_that_answers_pushes(people):
    assert isinstance(people, Controller)
    assert people.supports == {"pushes"}
    assert people.dt == pytest.approx(1 / 30)


def test_it_begins_where_it_is_told(people):
    state = people.init(Start((2.0, -1.0), 1.0, seed=3))
    np.testing.assert_allclose(state.pose.root[:2], [2.0, -1.0])
    assert quat.yaw(state.pose.wxyz[0]) == pytest.approx(1.0)


def test_unpushed_it_goes_on_for_ever_without_a_seam_and_enters_no_response(people, stroll):
    states = run(people, 300)
    assert sum(b.since < a.since for a, b in pairwise(states)) > 2  # it does jump
    assert all(state.serving == -1 and state.node < len(people.normal.kept) for state in states)
    film = filmed(people, states)
    assert jolt(film, 0.9) < jolt(stroll, 0.9) + 0.01
    assert jolt(film) < jolt(stroll) + 0.1  # legs that were held let go: more than it should be
    assert slide_cm(film) < 1.5 * slide_cm(stroll)


def test_pushed_it_gives_way_and_walks_on(people):
    calm, pushed = run(people, 60), run(people, 150, [(20, LEFT)])
    assert all(np.array_equal(a.pose.wxyz, b.pose.wxyz) for a, b in zip(calm[:21], pushed[:21], strict=True))
    assert pushed[21].serving >= 0
    assert pushed[-1].serving == -1
    aside = [b.pose.root[1] - a.pose.root[1] for a, b in zip(calm, pushed, strict=False)]
    assert max(aside[25:60]) > 0.08
    again = run(people, 30, [(20, LEFT)])
    assert np.array_equal(again[-1].pose.wxyz, pushed[30].pose.wxyz)


def test_pushed_again_while_it_staggers_it_goes_over_without_a_leap(people, answers):
    right = Push("left_arm", np.array([0.0, -200.0, 0.0]), 0.2)
    states = run(people, 120, [(20, LEFT), (28, right), (40, LEFT)])
    film = filmed(people, states)
    assert np.all(np.isfinite(film.positions))
    assert jolt(film) < max(jolt(answer.clip) for answer in answers) + 1.0 / 30.0 + 0.01  # m is 1 m/s at most


def test_feet_of_a_pushed_one_slide_no_more_than_recorded_ones(people, answers):
    slides = [slide_cm(filmed(people, run(people, 70, [(at, LEFT)]))) for at in (15, 30)]
    assert np.mean(slides) < 1.5 * np.mean([slide_cm(answer.clip) for answer in answers])


def test_a_nudge_bends_and_is_forgotten(people):
    weakest = min(np.linalg.norm(answer.impulse) for answer in people.responses)
    nudge = Push("torso", np.array([0.0, 0.5 * NUDGE * weakest / 0.2, 0.0]), 0.2)
    calm, pushed = run(people, 90, [], Start(seed=1)), run(people, 90, [(10, nudge)], Start(seed=1))
    assert [state.node for state in calm] == [state.node for state in pushed]
    chest = people.body.part("torso")
    off = np.linalg.norm(filmed(people, calm).positions - filmed(people, pushed).positions, axis=-1)[:, chest]
    assert 0.002 < np.max(off) < 0.07
    assert off[-1] < 0.005


def test_a_push_without_force_and_two_that_cancel_change_nothing(people):
    none, back = Push("torso", np.zeros(3), 0.2), Push("torso", -LEFT.force, LEFT.duration)
    calm, pushed = run(people, 30), run(people, 30, [(5, none), (9, LEFT), (9, back)])
    assert np.array_equal(calm[-1].pose.root, pushed[-1].pose.root)


def test_a_bundle_brings_it_back(people, tmp_path):
    save_controller(people, tmp_path / "people.jostle")
    back = load_controller(tmp_path / "people.jostle")
    assert isinstance(back, People)
    a, b = (run(one, 60, [(20, LEFT)])[-1].pose for one in (people, back))
    np.testing.assert_allclose(a.root, b.root)
    np.testing.assert_allclose(a.wxyz, b.wxyz)


def test_what_cannot_be_a_graph_is_refused(stroll, answers):
    with pytest.raises(MotionError, match="at least one response"):
        build_people([stroll], [])
    with pytest.raises(CommandError, match="No choice 'best'"):
        build_people([stroll], answers, choice="best")
    with pytest.raises(MotionError, match="leads back to itself"):
        build_people([stroll], answers, threshold=1e-6)


def test_a_damaged_bundle_is_refused(people):
    data, arrays = people.pack()
    with pytest.raises(ValueError, match="jumps"):
        People.unpack(data, arrays | {"kept": np.append(arrays["kept"], True)})
    with pytest.raises(ValueError, match="ways_out"):
        People.unpack(data, arrays | {"ways_out": arrays["ways_out"][1:]})
    with pytest.raises(ValueError, match="lengths"):
        People.unpack(data | {"normal": 0}, arrays)


@pytest.mark.slow
def test_pushed_all_the_time_it_stays_on_its_feet_and_among_the_living(people):
    chance, state = np.random.default_rng(0), people.init(Start())
    for frame in range(2000):
        hit = Push("torso", 300.0 * chance.normal(size=3) * [1.0, 1.0, 0.2], 0.2)
        state = people.step(state, Command(pushes=(hit,) if frame % 25 == 0 else ()))
        assert np.all(np.isfinite(state.pose.wxyz))
        assert 0.6 < state.pose.root[2] < 1.2
