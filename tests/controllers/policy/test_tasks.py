"""What tasks see of a step, and tasks of one's own."""

from pathlib import Path

import numpy as np
import pytest

import jostle
from jostle.assets import clip_path
from jostle.clips import load_clip
from jostle.clips.edit import trim_frames
from jostle.controllers import Command, Start
from jostle.controllers.policy.policy import plan_policy
from jostle.controllers.policy.tasks import Step, checked
from jostle.errors import BundleError, CommandError
from jostle.features import Placement
from jostle.maths import quat
from jostle.maths.angles import wrapped
from jostle.models.connected import fit_connected
from jostle.runtime import load_controller, save_controller
from jostle.skeleton import find_roles, forward
from jostle.skeleton.pose import position_of


class Sneak(jostle.Task):
    """Go where asked, slowly."""

    name = "sneak"

    def reward(self, step, theta):
        off = np.abs(wrapped(theta[..., 0] - step.course))
        return np.exp(-2.0 * off) * np.exp(-(((step.speed - 0.6) / 0.3) ** 2))


class Broken(Sneak):
    name = "broken"

    def reward(self, step, theta):
        return step.travel


@pytest.fixture(scope="module")
def clip():
    return trim_frames(load_clip(clip_path("turn_left")), 60, 130)


@pytest.fixture(scope="module")
def model(clip):
    return fit_connected([clip], latent=3, iterations=20)


@pytest.fixture(scope="module")
def policy(model):
    return plan_policy(model, Sneak(), rounds=0)


def test_one_joint_is_where_forward_kinematics_has_it(clip):
    at = forward(clip.skeleton, clip.poses).positions
    for joint in range(clip.skeleton.joint_count):
        np.testing.assert_allclose(position_of(clip.skeleton, clip.poses, joint), at[:, joint], atol=1e-12)


def test_a_step_knows_joints_where_the_motion_had_them(model):
    """A hand and its velocity, against the motion that the same latent positions make, seen from the frame before."""
    x = model.latent_rows[10:40]
    motion, hand = model.motion(x), find_roles(model.features.skeleton)["right_hand"]
    at = forward(motion.skeleton, motion.poses).positions[:, hand]
    yaw = quat.yaw(motion.wxyz[:, 0])
    c, s = np.cos(yaw[:-1, None]), np.sin(yaw[:-1, None])

    def seen(d):
        return np.concatenate([c * d[:, :1] + s * d[:, 1:2], -s * d[:, :1] + c * d[:, 1:2], d[:, 2:]], axis=1)

    step = Step.between(model, x[:-1], x[1:])
    foot = motion.root[:-1] * [1.0, 1.0, 0.0]
    np.testing.assert_allclose(step.position("right_hand"), seen(at[1:] - foot), atol=1e-6)
    np.testing.assert_allclose(step.velocity("right_hand"), seen(at[1:] - at[:-1]) / step.dt, atol=1e-4)
    np.testing.assert_allclose(step.height, motion.root[1:, 2])
    points = np.array([[2.0, 1.0]]) + np.zeros((len(x) - 1, 1))
    here = seen(np.concatenate([points - motion.root[:-1, :2], np.zeros((len(points), 1))], axis=1))[:, :2]
    c, s = np.cos(yaw[1:, None]), np.sin(yaw[1:, None])
    d = np.concatenate([points - motion.root[1:, :2], np.zeros((len(points), 1))], axis=1)
    np.testing.assert_allclose(step.seen_after(here), seen(d)[:, :2], atol=1e-6)


def test_steps_broadcast_over_a_grid(model):
    x = model.latent_rows[:6, None]
    step = Step.between(model, x, np.repeat(model.latent_rows[1:7, None], 4, axis=1))
    wide = step.wider
    assert step.position("left_hand").shape == (6, 4, 3)
    np.testing.assert_allclose(wide.position("left_hand")[:, :, 0], step.position("left_hand"))
    np.testing.assert_allclose(wide.velocity("left_hand")[:, :, 0], step.velocity("left_hand"))
    assert wide.height.shape == (6, 4, 1)
    with pytest.raises(CommandError, match="no_such"):
        step.position("no_such")
    with pytest.raises(CommandError, match="nothing of the body"):
        _ = Step(step.travel, 0.1).height


def test_a_task_of_ones_own_is_planned_for(policy):
    assert policy.supports == {"heading", "target", "pushes", "settings"}  # who points, points at the target
    state = policy.init(Start(heading=0.4))
    assert state.wish == 0.4
    for _ in range(5):
        state = policy.step(state, Command(heading=-0.3))
    assert state.wish == -0.3
    np.testing.assert_allclose(policy.plan.task.seen(-0.3, Placement(1.0, 2.0, 3.0)), [wrapped(-3.3)])


def test_a_bundle_holds_no_code(policy, tmp_path: Path):
    save_controller(policy, tmp_path / "sneak.jostle")
    with pytest.raises(BundleError, match=r"'sneak'.*load_controller\(path, task="):
        load_controller(tmp_path / "sneak.jostle")
    back = load_controller(tmp_path / "sneak.jostle", task=Sneak())
    np.testing.assert_array_equal(back.plan.values, policy.plan.values)  # pyright: ignore[reportAttributeAccessIssue]


def test_tasks_that_cannot_be_planned_for_are_refused(model):
    with pytest.raises(CommandError, match=r"one finite number.*\(4, 3, 1, 3\)"):
        checked(Broken(), model)
    with pytest.raises(CommandError, match=r"jostle\.Task"):
        checked("heading", model)
