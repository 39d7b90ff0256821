"""Quaternions: the group axioms, every conversion there and back, and scipy as an independent oracle."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from jostle.maths import quat

ORDERS = ["".join(order) for order in itertools.permutations("XYZ")]
REPEATED = ["XYX", "XZX", "YXY", "YZY", "ZXZ", "ZYZ"]


def _random(n=50, seed=0):
    return quat.normalise(np.random.default_rng(seed).normal(size=(n, 4)))


def _same(a, b, atol=1e-9):
    """Equal as rotations: q and -q are one."""
    np.testing.assert_allclose(quat.angle(quat.inv_mul(a, b)), 0.0, atol=atol)


def _scipy(q):
    return Rotation.from_quat(q[..., [1, 2, 3, 0]])


def test_group_axioms():
    a, b, c = _random(seed=1), _random(seed=2), _random(seed=3)
    np.testing.assert_allclose(quat.mul(quat.mul(a, b), c), quat.mul(a, quat.mul(b, c)), atol=1e-12)
    np.testing.assert_allclose(quat.mul(a, quat.IDENTITY), a, atol=1e-15)
    np.testing.assert_allclose(quat.mul(quat.identity(), a), a, atol=1e-15)
    np.testing.assert_allclose(quat.mul(a, quat.inv(a)), np.tile(quat.IDENTITY, (50, 1)), atol=1e-12)
    np.testing.assert_allclose(quat.inv_mul(a, b), quat.mul(quat.inv(a), b), atol=1e-15)


def test_products_and_rotations_agree_with_scipy():
    a, b, v = _random(seed=4), _random(seed=5), np.random.default_rng(6).normal(size=(50, 3))
    np.testing.assert_allclose(quat.to_matrix(quat.mul(a, b)), (_scipy(a) * _scipy(b)).as_matrix(), atol=1e-12)
    np.testing.assert_allclose(quat.apply(a, v), _scipy(a).apply(v), atol=1e-12)
    np.testing.assert_allclose(quat.inv_apply(a, v), _scipy(a).inv().apply(v), atol=1e-12)
    np.testing.assert_allclose(quat.apply(quat.mul(a, b), v), quat.apply(a, quat.apply(b, v)), atol=1e-12)


def test_everything_broadcasts():
    a, v = _random(6).reshape(2, 3, 4), np.random.default_rng(0).normal(size=(5, 1, 1, 3))
    assert quat.apply(a, v).shape == (5, 2, 3, 3)
    assert quat.mul(a[:, None], a[None]).shape == (2, 2, 3, 4)
    assert quat.slerp(a, a, np.full((4, 1, 1), 0.5)).shape == (4, 2, 3, 4)


def test_matrix_round_trip_for_every_dominant_component():
    q = np.concatenate([_random(), np.eye(4), quat.normalise(np.eye(4) + 1e-9)])
    _same(quat.from_matrix(quat.to_matrix(q)), q)


def test_exp_and_log_are_inverse():
    rng = np.random.default_rng(7)
    axis = rng.normal(size=(40, 3))
    axis /= np.linalg.norm(axis, axis=-1, keepdims=True)
    v = axis * rng.uniform(0, np.pi - 1e-6, size=(40, 1))
    np.testing.assert_allclose(quat.log(quat.exp(v)), v, atol=1e-8)
    tiny = 1e-14 * axis
    np.testing.assert_allclose(quat.log(quat.exp(tiny)), tiny, rtol=1e-9)
    np.testing.assert_array_equal(quat.exp(np.zeros(3)), quat.IDENTITY)
    np.testing.assert_array_equal(quat.log(quat.IDENTITY), np.zeros(3))
    np.testing.assert_allclose(quat.log(-quat.exp(v)), v, atol=1e-8)


def test_half_turns_have_logarithms():
    for axis in np.eye(3):
        half_turn = np.concatenate([[0.0], axis])
        np.testing.assert_allclose(np.abs(quat.log(half_turn)), np.pi * axis, atol=1e-12)
        assert quat.angle(half_turn) == pytest.approx(np.pi)


@pytest.mark.parametrize("order", ORDERS)
def test_euler_round_trip(order):
    rng = np.random.default_rng(8)
    angles = rng.uniform([-np.pi, -np.pi / 2, -np.pi], [np.pi, np.pi / 2, np.pi], size=(100, 3))
    np.testing.assert_allclose(quat.to_euler(quat.from_euler(angles, order), order), angles, atol=1e-7)


@pytest.mark.parametrize("order", ORDERS)
def test_euler_is_intrinsic_as_in_scipy(order):
    angles = np.random.default_rng(9).uniform(-3, 3, size=(20, 3))
    expected = Rotation.from_euler(order, angles).as_matrix()
    np.testing.assert_allclose(quat.to_matrix(quat.from_euler(angles, order)), expected, atol=1e-12)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("middle", [np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9, -np.pi / 2 + 1e-7])
def test_gimbal_lock_keeps_the_rotation(order, middle):
    angles = np.array([[0.3, middle, 1.1], [-2.0, middle, 0.4], [0.0, middle, 0.0]])
    q = quat.from_euler(angles, order)
    back = quat.to_euler(q, order)
    assert np.all(np.isfinite(back))
    _same(quat.from_euler(back, order), q, atol=1e-6)


@pytest.mark.parametrize("order", REPEATED)
def test_euler_about_one_axis_twice(order):
    rng = np.random.default_rng(10)
    angles = rng.uniform([-np.pi, 0.01, -np.pi], [np.pi, np.pi - 0.01, np.pi], size=(50, 3))
    q = quat.from_euler(angles, order)
    np.testing.assert_allclose(quat.to_matrix(q), Rotation.from_euler(order, angles).as_matrix(), atol=1e-12)
    np.testing.assert_allclose(quat.to_euler(q, order), angles, atol=1e-7)


@pytest.mark.parametrize("order", REPEATED)
@pytest.mark.parametrize("middle", [0.0, np.pi, 1e-8])
def test_gimbal_lock_about_one_axis_twice(order, middle):
    q = quat.from_euler(np.array([[0.3, middle, 1.1], [-2.0, middle, 0.4]]), order)
    _same(quat.from_euler(quat.to_euler(q, order), order), q, atol=1e-6)


def test_euler_of_one_or_two_channels():
    q = quat.from_euler(np.array([0.4]), "Y")
    _same(q, quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), 0.4))
    both = quat.from_euler(np.array([0.4, -0.2]), "YX")
    _same(both, quat.mul(q, quat.from_axis_angle(np.array([1.0, 0.0, 0.0]), -0.2)))


def test_slerp_has_constant_speed_and_goes_the_short_way():
    a, b = _random(seed=11), _random(seed=12)
    whole = quat.angle(quat.inv_mul(a, b))
    for t in (0.0, 0.25, 0.5, 1.0):
        part = quat.slerp(a, b, t)
        np.testing.assert_allclose(quat.angle(quat.inv_mul(a, part)), t * whole, atol=1e-7)
        _same(quat.slerp(a, -b, t), part, atol=1e-7)


def test_between_takes_one_direction_to_the_other_by_the_smallest_turn():
    rng = np.random.default_rng(13)
    a, b = rng.normal(size=(2, 60, 3))
    q = quat.between(a, b)
    unit = lambda v: v / np.linalg.norm(v, axis=-1, keepdims=True)  # noqa: E731
    np.testing.assert_allclose(quat.apply(q, unit(a)), unit(b), atol=1e-9)
    expected = np.arccos(np.clip(np.sum(unit(a) * unit(b), axis=-1), -1, 1))
    np.testing.assert_allclose(quat.angle(q), expected, atol=1e-7)


def test_between_of_equal_and_opposite_directions():
    for v in (*np.eye(3), np.array([1.0, 2.0, -3.0])):
        np.testing.assert_allclose(quat.between(v, 2 * v), quat.IDENTITY, atol=1e-12)
        np.testing.assert_allclose(quat.apply(quat.between(v, -v), v), -v, atol=1e-9)
        nearly = -v + 1e-7 * np.roll(v, 1)
        turned = quat.apply(quat.between(v, nearly), v)
        np.testing.assert_allclose(turned / np.linalg.norm(v), nearly / np.linalg.norm(nearly), atol=1e-6)


def test_yaw_splits_off_the_turn_about_the_vertical():
    rng = np.random.default_rng(14)
    turn = rng.uniform(-3, 3, size=30)
    lean = rng.normal(size=(30, 3)) * [0.5, 0.5, 0.0]  # a swing: its axis is level
    q = quat.mul(quat.from_yaw(turn), quat.exp(lean))
    _same(quat.from_yaw(quat.yaw(q)), quat.from_yaw(turn))
    assert quat.yaw(quat.from_yaw(0.7)) == pytest.approx(0.7)


def test_yaw_adds_up_under_turns_of_the_world():
    q = _random(seed=15)
    _same(quat.from_yaw(quat.yaw(quat.mul(quat.from_yaw(0.9), q))), quat.from_yaw(quat.yaw(q) + 0.9))


def test_continuous_removes_sign_flips_only():
    t = np.linspace(0, 6, 60)
    q = quat.from_axis_angle(np.array([0.3, 0.8, 0.5]), t)[:, None]
    flipped = q * np.where(np.random.default_rng(16).random(60) < 0.5, -1.0, 1.0)[:, None, None]
    smooth = quat.continuous(flipped)
    assert np.all(np.sum(smooth[1:] * smooth[:-1], axis=-1) > 0)
    _same(smooth, q)
    np.testing.assert_array_equal(smooth[0], flipped[0])


def test_mean_ignores_signs_and_centres():
    centre = _random(1, seed=17)[0]
    spread = quat.exp(0.2 * np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1.0]]))
    q = quat.mul(centre, spread) * np.array([1, -1, 1, 1, -1, 1])[:, None]
    _same(quat.mean(q), centre, atol=1e-7)
    _same(quat.mean(q, np.array([1.0, 0, 0, 0, 0, 0])), q[0], atol=1e-7)


def test_angular_velocity_of_a_steady_spin():
    axis, rate, dt = np.array([0.6, 0.0, 0.8]), 2.0, 1 / 60
    q = quat.mul(quat.from_axis_angle(axis, rate * dt * np.arange(20)), quat.exp(np.array([0.3, -0.2, 0.9])))
    np.testing.assert_allclose(quat.angular_velocity(q, dt), np.tile(rate * axis, (20, 1)), atol=1e-9)
    np.testing.assert_array_equal(quat.angular_velocity(q[:1], dt), np.zeros((1, 3)))


@given(st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3))
@settings(max_examples=60, deadline=None)
def test_exp_is_always_a_unit_quaternion(v):
    assert np.linalg.norm(quat.exp(np.array(v))) == pytest.approx(1.0)


def test_one_rotation_is_that_of_a_stack_bit_by_bit():
    a, b, v = (np.random.default_rng(0).normal(size=(50, n)) for n in (4, 4, 3))
    assert all(np.array_equal(quat.mul(p, q), one) for p, q, one in zip(a, b, quat.mul(a, b), strict=True))
    assert all(np.array_equal(quat.apply(p, u), one) for p, u, one in zip(a, v, quat.apply(a, v), strict=True))
