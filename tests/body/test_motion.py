import numpy as np
import pytest
from figures import person

from jostle.body import Hinge, Hinges, build_body, compile_body, to_motion
from jostle.body.motion import low_pass
from jostle.clips import Clip
from jostle.errors import JostleWarning, MotionError
from jostle.maths import quat

T = 60
FPS = 50.0
TIME = np.arange(T) / FPS


def clip_of(skeleton, **changes):
    fields = {"root": np.zeros((T, 3)), "wxyz": quat.identity((T, skeleton.joint_count)), **changes}
    return Clip(skeleton, FPS, **fields)


def test_a_thrown_and_spinning_body_has_constant_derivatives():
    """Root on a parabola, turning about its own axis; the left arm turns about its own. Exact for differences."""
    skeleton = person()
    physics = compile_body(build_body(skeleton))
    arm, own = skeleton.index("LeftArm"), np.array([0.3, -0.5, 0.7])
    start = quat.exp(np.array([0.4, 0.2, -0.9]))
    wxyz = quat.identity((T, skeleton.joint_count))
    wxyz[:, 0] = quat.mul(start, quat.exp(TIME[:, None] * np.array([0.0, 0.0, 2.0])))
    wxyz[:, arm] = quat.exp(TIME[:, None] * own)
    root = np.stack([1.5 * TIME, 0 * TIME, 3.0 * TIME - 0.5 * 9.81 * TIME**2], axis=1)
    motion = to_motion(physics, clip_of(skeleton, root=root, wxyz=wxyz), cutoff=None)
    speed = np.stack([0 * TIME + 1.5, 0 * TIME, 3.0 - 9.81 * TIME], axis=1)
    np.testing.assert_allclose(motion.qvel[:, :3], speed, atol=1e-9)
    np.testing.assert_allclose(motion.qacc[:, :3], [[0, 0, -9.81]] * T, atol=1e-7)
    np.testing.assert_allclose(motion.qvel[:, 3:6], [[0, 0, 2.0]] * T, atol=1e-9)  # in the root's own frame
    at = physics.qvel_at[arm]
    np.testing.assert_allclose(motion.qvel[:, at : at + 3], [own] * T, atol=1e-9)
    np.testing.assert_allclose(motion.qacc[:, 3:], 0.0, atol=1e-7)


def test_quaternions_that_flip_sign_and_hinges_that_wrap_do_not_jump():
    skeleton = person()
    physics = compile_body(build_body(skeleton), dofs={"left_upper_arm": Hinges((Hinge((0.0, 1.0, 0.0)),))})
    wxyz = quat.identity((T, skeleton.joint_count))
    wxyz[:, skeleton.index("LeftArm")] = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), 8.0 * TIME)
    wxyz[:, skeleton.index("Spine")] = quat.from_axis_angle(np.array([1.0, 0.0, 0.0]), 5.0 * TIME)
    wxyz[20:, skeleton.index("Spine")] *= -1.0
    motion = to_motion(physics, clip_of(skeleton, wxyz=wxyz), cutoff=None)
    np.testing.assert_allclose(motion.qvel[:, physics.qvel_at[skeleton.index("LeftArm")]], 8.0, atol=1e-9)
    np.testing.assert_allclose(motion.qvel[:, physics.qvel_at[skeleton.index("Spine")]], 5.0, atol=1e-9)
    assert np.all(np.isfinite(to_motion(physics, clip_of(skeleton, wxyz=wxyz), cutoff=6.0).qacc))


@pytest.mark.parametrize(("frequency", "gain"), [(1.0, 1.0), (6.0, 0.5), (20.0, 0.0)])
def test_the_filter_halves_at_its_cutoff_and_does_not_delay(frequency, gain):
    time = np.arange(600) / 120.0
    wave = np.sin(2 * np.pi * frequency * time)
    passed = low_pass(wave, 120.0, 6.0)[150:-150]
    np.testing.assert_allclose(passed, gain * wave[150:-150], atol=0.02)


def test_a_cutoff_beyond_the_data_changes_nothing():
    x = np.random.default_rng(0).normal(size=(30, 2))
    assert np.array_equal(low_pass(x, 30.0, 15.0), x)


def test_what_cannot_be_differentiated_is_refused():
    physics = compile_body(build_body(person()))
    with pytest.raises(MotionError, match="another skeleton"):
        to_motion(physics, clip_of(person(spines=3)))
    short = Clip(person(), FPS, np.zeros((2, 3)), quat.identity((2, person().joint_count)))
    with pytest.raises(MotionError, match="at least three"):
        to_motion(physics, short)
    with pytest.raises(MotionError, match="positive cut-off"):
        to_motion(physics, clip_of(person()), cutoff=0.0)


def test_bones_that_move_are_reported():
    skeleton = person()
    moving = clip_of(skeleton, offsets=np.broadcast_to(skeleton.offsets, (T, skeleton.joint_count, 3)).copy())
    with pytest.warns(JostleWarning, match="bones of clip 'clip' move"):
        to_motion(compile_body(build_body(skeleton)), moving)
