"""The character: endless, pushed, recovering, packed."""

from dataclasses import replace

import numpy as np
import pytest

from jostle.controllers import Command, Controller, Push, Start
from jostle.controllers.dynamic.dynamic import Dynamic
from jostle.errors import CommandError, MotionError
from jostle.runtime import Character, load_controller, save_controller


def run(person, frames, pushes=(), start=None):
    state = person.init(start or Start())
    out = []
    for frame in range(frames):
        state = person.step(state, Command(pushes=tuple(push for at, push in pushes if at == frame)))
        out.append(state)
    return out


def test_it_is_a_controller_that_answers_pushes(person):
    assert isinstance(person, Controller)
    assert person.supports == {"pushes"}
    assert person.dt == pytest.approx(1 / 30)


def test_it_begins_where_it_is_told(person):
    state = person.init(Start((2.0, -1.0), 1.0))
    np.testing.assert_allclose(state.pose.root[:2], [2.0, -1.0], atol=1e-4)
    walked = run(person, 60, start=Start((2.0, -1.0), 1.0))[-1].pose.root[:2] - [2.0, -1.0]
    assert np.arctan2(walked[1], walked[0]) == pytest.approx(1.0, abs=0.1)


def test_unpushed_it_walks_as_the_clip_does(person, walk):
    states = run(person, 600)
    speed = np.linalg.norm(states[-1].pose.root[:2] - states[0].pose.root[:2]) / (599 / 30)
    recorded = np.linalg.norm(walk.root[-1, :2] - walk.root[0, :2]) / walk.duration
    assert speed == pytest.approx(recorded, rel=0.05)
    heights = [state.pose.root[2] for state in states]
    assert np.ptp(heights) < 1.5 * np.ptp(walk.root[:, 2])


@pytest.mark.parametrize("way", [(1, 0, 0), (-1, 0, 0), (0, 1, 0)])
def test_a_push_moves_it_that_way_and_it_comes_back(person, way):
    calm = run(person, 150)
    pushed = run(person, 150, [(10, Push("torso", 200.0 * np.array(way, dtype=float), 0.2))])
    model = person.models[0]
    aside = np.array([(b.pose.root - a.pose.root) @ np.array(way) for a, b in zip(calm, pushed, strict=True)])
    assert np.max(aside[10:55]) > 0.08
    usual = model.model.poses.x[model.usual]
    gap = [np.min(np.linalg.norm(usual - state.latent, axis=1)) / model.flow.stride for state in pushed[-20:]]
    assert np.max(gap) < 1.5


def test_before_a_push_nothing_differs_and_it_is_pure(person):
    push = [(30, Push("head", np.array([0.0, 150.0, 0.0]), 0.3))]
    calm, pushed, again = run(person, 45), run(person, 45, push), run(person, 45, push)
    for a, b in zip(calm[:30], pushed[:30], strict=True):
        np.testing.assert_array_equal(a.pose.wxyz, b.pose.wxyz)
    np.testing.assert_array_equal(pushed[-1].pose.wxyz, again[-1].pose.wxyz)
    assert np.max(np.abs(calm[-1].pose.wxyz - pushed[-1].pose.wxyz)) > 1e-3


def test_pushes_add_up(person):
    """Two at once are pushed further than one."""
    one = Push("torso", np.array([0.0, 90.0, 0.0]), 0.2)
    once, twice = run(person, 40, [(5, one)]), run(person, 40, [(5, one), (5, one)])
    calm = run(person, 40)
    far = [max(b.pose.root[1] - a.pose.root[1] for a, b in zip(calm, x, strict=True)) for x in (once, twice)]
    assert far[1] > 1.3 * far[0]


def test_a_bundle_brings_back_the_same_character(person, tmp_path):
    save_controller(person, tmp_path / "me.jostle")
    same = load_controller(tmp_path / "me.jostle")
    assert isinstance(same, Dynamic)
    push = [(8, Push("pelvis", np.array([150.0, 100.0, 0.0]), 0.3))]
    for a, b in zip(run(person, 30, push), run(same, 30, push), strict=True):
        np.testing.assert_allclose(a.pose.wxyz, b.pose.wxyz, atol=1e-9)
    assert len((tmp_path / "me.jostle").read_bytes()) < 2**20


def test_a_damaged_bundle_says_so(person):
    data, arrays = person.pack()
    data["models"][0]["pushes"][1][0]["joint"] = 400
    with pytest.raises(MotionError, match="do not fit the skeleton"):
        Dynamic.unpack(data, arrays)


def test_the_papers_scheme_goes_the_same_way(person):
    """A frame of it, unpushed and pushed: within a centimetre, and moved less by the push."""
    exact = replace(person, exact=True)
    push = [(0, Push("torso", np.array([0.0, 300.0, 0.0]), 0.2))]
    calm, paper = run(person, 1)[0], run(exact, 1)[0]
    np.testing.assert_allclose(calm.pose.root, paper.pose.root, atol=0.015)
    moved, literally = run(person, 1, push)[0], run(exact, 1, push)[0]
    assert np.linalg.norm(literally.latent - paper.latent) < np.linalg.norm(moved.latent - calm.latent)
    assert literally.pose.root[1] > paper.pose.root[1]


def test_a_part_that_is_none_is_refused(person):
    runner = Character(person)
    with pytest.raises(CommandError):
        runner.step(runner.init(), Command(pushes=(Push("tail", np.array([10.0, 0.0, 0.0]), 0.2),)))


def test_quality_falls_where_nothing_was_learnt(person):
    calm = run(person, 30)[-1].observed.quality
    thrown = run(person, 30, [(15, Push("head", np.array([0.0, 0.0, 900.0]), 0.4))])[-1].observed.quality
    assert thrown["log_likelihood"] < calm["log_likelihood"]
    assert set(calm) == {"lost", "variance", "log_likelihood", "model"}
