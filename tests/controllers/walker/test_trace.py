"""Rollouts: what is noted is what MuJoCo has, fallen walkers stop, nobody depends on neighbours or threads."""

from dataclasses import fields

import numpy as np
import pytest
from plain import moment

from jostle.body import Ground
from jostle.controllers.walker.parameters import SIMBICON, WALKER
from jostle.controllers.walker.people import PEOPLE, walker_physics
from jostle.controllers.walker.trace import PATIENCE, Shove, rollout
from jostle.controllers.walker.walk import Walk


@pytest.fixture(scope="module")
def physics():
    return walker_physics(PEOPLE["stocky"])


def limp(values):
    """Servos so weak that it falls at once."""
    return np.where([name.startswith("kp") for name in WALKER.names], 0.5, values)


@pytest.fixture(scope="module")
def values():
    """One that takes some steps, one that falls at once, one that differs a little from the first."""
    other = WALKER.decode(WALKER.encode(WALKER.initial) + 0.05)
    return np.stack([WALKER.initial, limp(WALKER.initial), other])


@pytest.fixture(scope="module")
def trace(physics, values):
    return rollout(Walk(physics, 3, threads=1), values, 0.6, 0.7, poses=True)


def arrays(trace):
    return {f.name: getattr(trace, f.name) for f in fields(trace) if isinstance(getattr(trace, f.name), np.ndarray)}


def test_threads_do_not_change_a_bit(physics, values, trace):
    again = rollout(Walk(physics, 3, threads=2), values, 0.6, 0.7, poses=True)
    for name, array in arrays(trace).items():
        assert np.array_equal(array, arrays(again)[name]), name


def test_a_batch_can_be_used_again(physics, values, trace):
    walk = Walk(physics, 3, threads=1)
    rollout(walk, values[::-1].copy(), 0.3, 0.7, [Shove(0.1, 0.5, np.full((3, 3), 50.0))])
    again = rollout(walk, values, 0.6, 0.7, poses=True)
    for name, array in arrays(trace).items():
        assert np.array_equal(array, arrays(again)[name]), name


def test_who_walks_beside_changes_nothing(physics, values, trace):
    """The second falls and is dropped on the way; without it the others walk the same, bit for bit."""
    assert trace.steps[1] < 0.8 * trace.steps[0]
    pair = rollout(Walk(physics, 2, threads=1), values[[0, 2]], 0.6, 0.7, poses=True)
    alone = rollout(Walk(physics, 1, threads=1), values[:1], 0.6, 0.7, poses=True)
    for name, array in arrays(trace).items():
        once = name in ("steps", "normal")  # not one a step
        both = array[[0, 2]] if once else array[:, [0, 2]]
        assert np.array_equal(both, arrays(pair)[name]), name
        assert np.array_equal(both[:1] if once else both[:, :1], arrays(alone)[name]), name


def test_what_is_noted_of_bodies_belongs_to_the_poses(physics, trace):
    for k in range(0, int(trace.steps[0]), 37):
        data = moment(physics, trace.qpos[k, 0])
        np.testing.assert_allclose(trace.com[k, 0], data.body("Hips").subtree_com, atol=1e-9)
        np.testing.assert_allclose(trace.head[k, 0], data.body("Head").xpos, atol=1e-9)
        frame = data.body("Head").xmat.reshape(3, 3)
        coronal, sagittal = np.arctan2(-frame[1, 2], frame[2, 2]), np.arctan2(frame[0, 2], frame[2, 2])
        transverse = np.arctan2(frame[1, 0], frame[0, 0])
        np.testing.assert_allclose(trace.head_angles[k, 0], [coronal, sagittal, transverse], atol=1e-9)
        np.testing.assert_allclose(trace.mug[k, 0], data.body("RightForeArm").xmat.reshape(3, 3)[:, 0], atol=1e-9)
        left, right = data.body("LeftFoot"), data.body("RightFoot")
        swing, stance = (left, right) if trace.phase[k, 0] < 2 else (right, left)
        assert trace.reach[k, 0] == pytest.approx(swing.xpos[0] - stance.xpos[0], abs=1e-9)
        assert trace.foot[k, 0] == pytest.approx(np.arcsin(-swing.xmat[6]), abs=1e-9)


def test_rows_after_a_fall_are_zero(trace):
    end = int(trace.steps[1])
    assert 0 < end < len(trace.phase)
    for name, array in arrays(trace).items():
        if name not in ("steps", "normal"):
            assert not array[end:, 1].any(), name
            zero = name in ("wish", "recovering")  # it goes straight on and is not reactive
            assert zero or array[:end, 0].any(), name
    assert trace.walked.sum(axis=0).tolist() == trace.steps.tolist()
    np.testing.assert_allclose(trace.seconds, trace.steps * 0.002)


def test_a_walker_has_fallen_when_its_centre_of_mass_is_low(physics, values):
    """The last state that is noted is above, and where that step led is not."""
    walk = Walk(physics, 1, threads=1)
    trace = rollout(walk, values[1:2], 2.0, 0.8)
    assert trace.com[trace.steps[0] - 1, 0, 2] > 0.8 >= walk.many.com[0, 2]
    assert not walk.many.running[0]
    assert len(walk.rows) == 0


def test_height_is_counted_from_the_ground_below():
    """Up a slope the ground rises beneath the walker, so that it falls at a higher place."""
    walk = Walk(walker_physics(PEOPLE["stocky"], Ground(0.2)), 1, threads=1)
    trace = rollout(walk, limp(WALKER.initial)[None], 2.0, 0.8)
    x, _, z = walk.many.com[0]
    assert z - np.tan(0.2) * x <= 0.8
    x, _, z = trace.com[trace.steps[0] - 1, 0]
    assert z - np.tan(0.2) * x > 0.8


def test_who_takes_no_step_for_long_has_stopped(physics):
    trace = rollout(Walk(physics, 1, threads=1), limp(WALKER.initial)[None], 3.0, -np.inf)
    last = np.flatnonzero(trace.struck[:, 0]).max(initial=0)
    assert (trace.steps[0] - 1 - last) * trace.dt == pytest.approx(PATIENCE, abs=0.003)


def test_a_shove_lasts_as_long_as_it_should(physics):
    walk, calls = Walk(physics, 2, "simbicon", threads=1), []
    step, torso = walk.step, int(physics.bodies[physics.body.skeleton.index("Spine")])
    walk.step = lambda: calls.append(walk.many.read("xfrc_applied")[:, torso, :3].copy()) or step()
    force = np.array([[0.0, 40.0, 0.0], [0.0, 0.0, 0.0]])
    trace = rollout(walk, np.stack([SIMBICON.initial] * 2), 0.5, 0.7, [Shove(0.2, 0.1, force)], poses=True)
    pushed = [k for k, applied in enumerate(calls) if applied[0, 1] == 40.0]
    assert pushed == list(range(100, 150))
    assert not any(applied[1].any() for applied in calls)
    assert np.array_equal(trace.qpos[:101, 0], trace.qpos[:101, 1])
    assert trace.com[-1, 0, 1] > trace.com[-1, 1, 1] + 0.01  # to the left


def test_a_mug_is_level_with_the_elbow_at_a_right_angle():
    start = {"angle.relbow_y": -np.pi / 2, "angle.rarm_y": 0.0, "pitch": 0.0, "angle.back_y": 0.0, "angle.back_z": 0.0}
    values = WALKER.vector(start)[None]
    trace = rollout(Walk(walker_physics(PEOPLE["stocky"], timestep=0.002), 1), values, 0.002, 0.7)
    np.testing.assert_allclose(trace.mug[0, 0], [0.0, 0.0, 1.0], atol=1e-9)
