"""Euler curves: the same rotations, without jumps, through gimbal lock and round and round."""

import numpy as np
import pytest

from jostle.clips.formats.euler import ORDERS, best_order, continuous_euler
from jostle.maths import quat


def smooth_angles(frames=400):
    """A path whose middle angle goes round twice, through lock, and rests there for a while."""
    t = np.linspace(0.0, 4.0 * np.pi, frames)
    middle = np.interp(t, [0, 1.5, 2.5, 12.6], [0.0, np.pi / 2, np.pi / 2, 8.0])
    return np.stack([0.7 * np.sin(t), middle, 0.3 * np.cos(2 * t)], axis=-1)[:, None]


@pytest.mark.parametrize("order", ORDERS)
def test_same_rotations_and_no_jumps(order):
    wxyz = quat.from_euler(smooth_angles(), order)
    angles = continuous_euler(wxyz, order)
    assert quat.angle(quat.inv_mul(wxyz, quat.from_euler(angles, order))).max() < 1e-5
    assert np.abs(np.diff(angles, axis=0)).max() < 0.6  # what c moved unseen during lock; a wrap would be 3 or 6


@pytest.mark.parametrize("order", ORDERS)
def test_any_rotations(order):
    wxyz = quat.normalise(np.random.default_rng(0).normal(size=(100, 5, 4)))
    angles = continuous_euler(wxyz, order)
    assert quat.angle(quat.inv_mul(wxyz, quat.from_euler(angles, order))).max() < 1e-7


def test_one_frame():
    assert continuous_euler(quat.identity((1, 2)), "ZXY").shape == (1, 2, 3)


@pytest.mark.parametrize("order", ORDERS)
def test_best_order_avoids_lock(order):
    """Turns by a right angle about an order's middle axis lock that order, and the ones that share the axis."""
    axis = np.eye(3)["XYZ".index(order[1])]
    wxyz = quat.from_axis_angle(axis, np.full((10, 1), np.pi / 2))
    chosen = best_order(wxyz)
    assert chosen[1] != order[1]
    assert np.abs(np.cos(quat.to_euler(wxyz, chosen)[..., 1])).min() > 0.5


def test_the_usual_order_where_nothing_speaks_against_it():
    assert best_order(quat.identity((3, 2))) == "ZXY"
