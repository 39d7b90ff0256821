"""A steered character: its actions, its values, and where it goes."""

from dataclasses import replace

import numpy as np
import pytest

from jostle.assets import clip_path
from jostle.clips import load_clip
from jostle.clips.edit import trim_frames
from jostle.controllers import Command, Controller, Start
from jostle.controllers.compliant.compliant import compliant_over
from jostle.controllers.policy import planning, refine
from jostle.controllers.policy.constants import USUAL, Constants
from jostle.controllers.policy.paths import Paths, learn_steps
from jostle.controllers.policy.planning import data_samples, make_plan
from jostle.controllers.policy.policy import plan_policy, task_of
from jostle.controllers.policy.tasks import Axis, Heading, Step, Task
from jostle.errors import CommandError
from jostle.maths import quat
from jostle.models.connected import fit_connected
from jostle.runtime import load_controller, save_controller


@pytest.fixture(scope="module")
def model():
    clips = [trim_frames(load_clip(clip_path(name)), 60, 130) for name in ("walk", "turn_left")]
    return fit_connected(clips, latent=3, mirrored=True, iterations=40)


@pytest.fixture(scope="module")
def paths(model):
    return Paths(learn_steps(model), model.latent_rows)


@pytest.fixture(scope="module")
def policy(model):
    return plan_policy(model, Heading(count=12), rounds=0)


def test_between_grid_points_values_are_linear():
    line, circle = Axis("a", 1.0, 3.0, 5), Axis("b", -np.pi, np.pi, 8, round=True)
    first, second, share = line.cells(np.array([1.0, 1.6, 3.0, 9.0]))
    np.testing.assert_allclose(
        (1 - share) * line.values[first] + share * line.values[second], [1.0, 1.6, 3.0, 3.0], atol=1e-5
    )
    first, second, share = circle.cells(np.array([-np.pi, 3.0, np.pi - 1e-9]))
    assert first.tolist() == [0, 7, 7]
    assert second.tolist() == [1, 0, 0]
    np.testing.assert_allclose(circle.values[7] + share[1] * 2 * np.pi / 8, 3.0)


def test_a_heading_pays_for_its_direction_and_turns_with_the_body():
    task = Heading(sharp=2.0)
    assert isinstance(task, Task)
    step = Step(np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]), 0.1)
    theta = np.array([[0.0], [np.pi / 2 + 0.1], [0.0]])
    np.testing.assert_allclose(task.reward(step, theta), [1.0, np.exp(-0.2), 0.0], atol=1e-12)
    np.testing.assert_allclose(task.after(step, theta)[:, 0], [-0.05, np.pi / 2 + 0.1, 0.0], atol=1e-12)


def test_actions_are_the_mean_and_points_beside_it(model, paths):
    x, before = model.latent_rows[20:30], model.latent_rows[19:29]
    actions = paths.actions(x, before)
    assert actions.shape == (10, 3 * (USUAL.ring + 1), 3)
    mean = paths.steps.next(np.stack([before, x], axis=1))
    np.testing.assert_allclose(actions[:, 0], mean)
    ahead = (mean - x)[:, None]
    size = np.linalg.norm(ahead, axis=-1)
    for pace, ring in zip(USUAL.paces, np.split(actions, 3, axis=1), strict=True):
        beside = ring - x[:, None] - pace * ahead
        np.testing.assert_allclose(beside[:, 0], 0.0, atol=1e-12)
        np.testing.assert_allclose(np.sum(ahead * beside, axis=-1), 0.0, atol=1e-9)
        assert np.all(np.linalg.norm(beside, axis=-1) <= USUAL.largest * size + 1e-12)


def test_values_keep_bellmans_equation(model, paths):
    """At samples, (7): the value is what the best action pays and leads to, computed one by one."""
    task, samples = Heading(count=12), data_samples(model)
    plan = make_plan(model, paths, task, samples)
    for i in range(5, 100, 17):
        for g, theta in enumerate(task.axes[0].values):
            _, backed = plan.best(samples.x[i], samples.step[i], np.array([theta]))
            assert float(backed) == pytest.approx(plan.values[i, g], abs=0.02)
    assert np.max(plan.values) <= 1.0 / (1.0 - USUAL.discount)


def test_the_best_action_is_the_best_of_all(policy):
    """Though variances of most are never asked for."""
    plan, rng = policy.plan, np.random.default_rng(0)
    which = rng.integers(0, len(plan.samples.x), 40)
    x, step = plan.samples.x[which], plan.samples.step[which] * rng.uniform(0.5, 1.5, (40, 1))
    theta = rng.uniform(-np.pi, np.pi, (40, 1))
    found, worth = plan.best(x, step, theta)
    following = plan.paths.actions(x, x - step)
    done, cost = plan.outcome(x, step, following)
    asked = np.broadcast_to(theta[:, None], (*following.shape[:2], 1))
    total = plan.task.reward(done, asked) - cost - USUAL.unsure * plan.doubt(following)
    total += USUAL.discount * plan.worth(following, following - x[:, None], plan.task.after(done, asked))
    np.testing.assert_allclose(worth, np.max(total, axis=1), atol=1e-9)
    sure = plan.doubt(found) < 20.0
    np.testing.assert_allclose(found[sure], following[np.arange(40), np.argmax(total, axis=1)][sure])


def test_who_has_left_the_motions_comes_back(policy):
    plan = policy.plan
    x, step = plan.model.latent_rows[30:31] + 4.0, plan.samples.step[30:31]
    far = []
    for _ in range(60):
        following, _ = plan.best(x, step, np.zeros((1, 1)))
        x, step = following, following - x
        far.append(plan.doubt(x)[0])
    assert far[0] > 20.0
    assert max(far[-10:]) < 20.0


def test_a_step_off_the_way_of_the_dynamics_costs_its_square(policy):
    plan = replace(policy.plan, paths=replace(policy.plan.paths, constants=Constants(jolt=0.0)))
    x, step = plan.samples.x[20:22], plan.samples.step[20:22]
    following = plan.paths.actions(x, x - step)
    _, cost = plan.outcome(x, step, following)
    np.testing.assert_allclose(cost[:, 0], 0.0)
    slower = 1 + USUAL.ring  # the mean at the second pace
    np.testing.assert_allclose(cost[:, slower], USUAL.stray * (1.0 - USUAL.paces[1]) ** 2, rtol=1e-6)


def test_the_value_of_a_state_is_that_of_samples_near_by(model, policy):
    samples, plan = policy.plan.samples, policy.plan
    near, w = samples.weights(samples.x[7], samples.step[7])
    assert near[0] == 7
    assert w[0] > 0.9
    theta = np.array([plan.task.axes[0].values[3]])
    assert float(plan.worth(samples.x[7], samples.step[7], theta)) == pytest.approx(plan.values[7, 3], rel=0.2)
    assert len(w) == USUAL.neighbours


def test_clusters_lie_where_errors_do():
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0, 0.2, 0.0], [3.0, 1.0, 0.2, 0.0], [-2.0, 2.0, 0.0, 0.2]])
    states = np.concatenate([c + 0.01 * rng.normal(size=(40, 4)) for c in centres])
    weights = np.repeat([1.0, 1.0, 0.0], 40)
    found = refine.clusters(states, weights, 6, rng)
    far = np.min(np.linalg.norm(found[:, None] - centres[None, :2], axis=-1), axis=1)
    assert np.all(far < 0.2)


def test_refining_adds_samples_that_the_policy_passes(model, paths, monkeypatch):
    monkeypatch.setattr(refine, "FRAMES", 20)
    monkeypatch.setattr(refine, "RUNS", 10)
    plan = refine.refined(model, paths, Heading(count=8), data_samples(model), rounds=1)
    assert len(plan.samples.x) == pytest.approx(1.5 * len(model.latent_rows), abs=1)
    assert plan.values.shape == (len(plan.samples.x), 8)


def test_it_goes_where_it_is_asked_to(policy):
    assert isinstance(policy, Controller)
    ends = []
    for wish in (0.6, -0.6):
        state = policy.init(Start())
        for _ in range(120):
            state = policy.step(state, Command(heading=wish))
        assert np.all(np.isfinite(state.pose.wxyz))
        assert state.observed.quality["variance"] < 50.0
        ends.append(state.pose.root)
    assert np.linalg.norm(ends[0][:2]) > 1.0
    assert ends[0][1] > ends[1][1] + 0.5


def test_steps_are_pure_and_bundles_keep_them(policy, tmp_path):
    state = policy.init(Start((1.0, 2.0), 0.5, seed=3))
    np.testing.assert_allclose(state.pose.root[:2], [1.0, 2.0])
    assert float(quat.yaw(state.pose.wxyz[0])) == pytest.approx(0.5, abs=0.05)
    save_controller(policy, tmp_path / "a.jostle")
    back = load_controller(tmp_path / "a.jostle")
    assert back.plan.task == policy.plan.task
    for one in (policy, back):
        again = one.step(state, Command(heading=0.2))
        np.testing.assert_allclose(again.pose.wxyz, policy.step(state, Command(heading=0.2)).pose.wxyz, atol=1e-9)


def test_a_steered_character_can_give_way(policy):
    over = compliant_over(policy, seconds=2.0)
    assert over.supports >= {"heading", "pushes"}
    assert over.step(over.init(Start()), Command(heading=0.3)).source.wish == 0.3


def test_what_is_refused():
    with pytest.raises(CommandError, match="heading"):
        task_of("jump")


def test_first_frames_that_flew_off_are_no_samples(model):
    every = planning.data_samples(model)
    flown = planning.Samples(every.x.copy(), every.step.copy())
    flown.step[70] *= 30.0
    kept = planning.steady(flown)
    assert len(kept.x) == len(planning.steady(every).x) - 1
    assert not np.any(np.all(kept.x == every.x[70], axis=1))


def test_constants_are_said_in_words():
    assert Constants().told(["jolt=0.02", "ring=8"]) == Constants(jolt=0.02, ring=8)
    for word, why in (("jolts=1", "jolt"), ("ring=x", "ring=16"), ("reach=-1", "0 or more"), ("discount=1", "below 1")):
        with pytest.raises(CommandError, match=why):
            Constants().told([word])
