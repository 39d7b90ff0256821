"""Motion graphs: distances, transitions, what is kept, and the policy that walks them."""

import numpy as np
import pytest

from jostle.assets import clip_path
from jostle.clips import load_clip
from jostle.clips.edit import move, trim_frames, turn
from jostle.clips.motion_graph import build_graph, find_jumps, fit, window_distances
from jostle.controllers import Command, Controller, Start
from jostle.controllers.policy.peers.graph import GraphPolicy, GraphSettings, train_graph
from jostle.controllers.policy.tasks import Heading, Step
from jostle.errors import CommandError, MotionError
from jostle.maths import quat
from jostle.runtime import load_controller, save_controller


@pytest.fixture(scope="module")
def clips():
    return [trim_frames(load_clip(clip_path("walk")), 60, 120), trim_frames(load_clip(clip_path("weave")), 60, 180)]


@pytest.fixture(scope="module")
def steered(clips):
    return train_graph(clips, Heading(count=12))


def points(clip):
    return np.concatenate([clip.globals.positions, clip.globals.ends], axis=1).reshape(-1, 3)


def test_distances_are_those_of_the_best_fit(clips):
    """The closed form against windows that are laid onto each other point by point."""
    window = 6
    distances = window_distances(clips, window)
    for a, b in ((3, 20), (10, 41)):
        one, other = trim_frames(clips[0], a, a + window), trim_frames(clips[1], b, b + window)
        flat = [points(clip)[:, :2] @ np.array([1.0, 1.0j]) for clip in (one, other)]
        (radians,), (shift,) = fit(*(each.reshape(1, window, -1) for each in flat))
        shift = np.array([*shift, 0.0])
        laid = move(turn(other, float(radians)), shift)
        apart = np.sqrt(np.mean(np.sum((points(one) - points(laid)) ** 2, axis=1)))
        assert distances[a, 60 + b] == pytest.approx(apart, abs=1e-9)
        worse = move(turn(other, float(radians) + 0.02), shift)
        assert np.sqrt(np.mean(np.sum((points(one) - points(worse)) ** 2, axis=1))) > apart
    assert np.isinf(distances[57, 3])


def test_place_and_heading_do_not_count(clips):
    moved = move(turn(clips[0], 1.2), np.array([3.0, -2.0, 0.0]))
    distances = window_distances([clips[0], moved], 6)
    np.testing.assert_allclose(np.diag(distances[:50, 60:110]), 0.0, atol=1e-6)


def test_jumps_are_minima_that_lead_to_the_end_of_a_window():
    distances = np.full((20, 20), 1.0)
    distances[4, 13], distances[5, 13], distances[8, 9] = 0.1, 0.2, 0.05
    jumps = find_jumps(distances, (10, 10), 3, 0.5)
    assert [(jump.start, jump.end) for jump in jumps] == [(3, 15)]  # 4, 13: frames 4..6 become 13..15


def test_whoever_is_in_the_graph_never_comes_to_an_end(clips):
    graph = build_graph(clips, threshold=0.15)
    assert 0.3 < graph.share < 1.0
    assert graph.jumps
    for frame in np.flatnonzero(graph.kept):
        assert graph.goes_on(int(frame)) or any(jump.start == frame for jump in graph.jumps)
    assert not np.any(build_graph(clips, threshold=1e-6).kept)


def test_a_blend_begins_in_one_clip_and_ends_in_the_other(clips):
    graph = build_graph(clips, threshold=0.15)
    jump = next(jump for jump in graph.jumps if graph.place(jump.start)[0] != graph.place(jump.end)[0])
    blend = graph.blended([jump]).rows(0)
    (a, start), (b, end) = graph.place(jump.start), graph.place(jump.end)
    assert len(blend.root) == graph.window
    joints = slice(1, None)
    np.testing.assert_allclose(np.abs(np.sum(blend.wxyz[-1, joints] * graph.clips[b].wxyz[end, joints], axis=1)), 1.0)
    usual = np.linalg.norm(np.diff(graph.clips[a].root[start - 3 : start + 1, :2], axis=0), axis=1).mean()
    path = np.concatenate([graph.clips[a].root[start : start + 1], blend.root])
    assert np.max(np.linalg.norm(np.diff(path[:, :2], axis=0), axis=1)) < 2.0 * usual


def test_values_are_what_the_best_way_on_pays(steered):
    """At nodes, frame by frame along each edge."""
    web, task, values = steered.web, steered.task, steered.values
    jumped = [node for node, which in web.edges.of.items() if len(which) > 2][:3]
    for node in jumped:
        for g, theta in enumerate(task.axes[0].values):
            worth = []
            for edge in web.edges.of[node]:
                total, at = 0.0, np.array([[theta]])
                for i in range(web.edges.count[edge]):
                    step = Step(web.strip.travel[[web.edges.first[edge] + i]] / steered.dt, steered.dt)
                    total += steered.web.discount**i * float(task.reward(step, at)[0])
                    at = task.after(step, at)
                first, second, share = task.axes[0].cells(at[:, 0])
                end = values[web.edges.end[edge]]
                worth.append(
                    total + web.discount ** web.edges.count[edge] * ((1 - share) * end[first] + share * end[second])
                )
            assert max(worth) == pytest.approx(values[node, g], abs=0.01)


def test_a_graph_goes_where_it_is_asked_to(steered):
    assert isinstance(steered, Controller)
    for wish in (0.6, -0.6):
        states = [steered.init(Start())]
        for _ in range(150):
            states.append(steered.step(states[-1], Command(heading=wish)))
        before, state = states[-40], states[-1]
        assert abs(np.arctan2(*(state.pose.root - before.pose.root)[1::-1]) - wish) < 0.5
        assert np.linalg.norm(state.pose.root[:2]) > 2.0


def test_bundles_keep_a_graph(steered, tmp_path):
    save_controller(steered, tmp_path / "a.jostle")
    back = load_controller(tmp_path / "a.jostle")
    assert isinstance(back, GraphPolicy)
    assert back.web.graph.jumps == steered.web.graph.jumps
    states = [one.init(Start((1.0, 2.0), 0.5, seed=3)) for one in (back, steered)]
    np.testing.assert_allclose(states[0].pose.root[:2], [1.0, 2.0])
    assert float(quat.yaw(states[0].pose.wxyz[0])) == pytest.approx(0.5)
    for _ in range(20):
        states = [one.step(own, Command(heading=0.2)) for one, own in zip((back, steered), states, strict=True)]
    np.testing.assert_allclose(states[0].pose.wxyz, states[1].pose.wxyz, atol=1e-9)


def test_what_a_graph_refuses(clips):
    with pytest.raises(CommandError, match="threshold"):
        GraphSettings(threshold=0.0)
    with pytest.raises(MotionError, match="one skeleton"):
        build_graph([clips[0], clips[1].with_poses(clips[1].poses, fps=60.0)], 0.1)
