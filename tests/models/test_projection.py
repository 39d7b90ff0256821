"""A latent space in two or three numbers: the widest, the same from every side, and back."""

import numpy as np
from sklearn.decomposition import PCA

from jostle.models.projection import widest


def _rows(n=60, q=5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, q)) * np.array([5.0, 0.1, 3.0, 1.0, 0.5])[:q] + 7.0


def test_it_is_the_principal_components():
    rows = _rows()
    peer = PCA(3).fit(rows)
    view = widest(rows, 3)
    np.testing.assert_allclose(np.abs(view(rows)), np.abs(peer.transform(rows)), atol=1e-9)


def test_a_picture_is_always_seen_from_one_side():
    rows = _rows()
    np.testing.assert_allclose(widest(rows[::-1], 2)(rows), widest(rows, 2)(rows), atol=1e-9)


def test_fewer_dimensions_than_asked_are_all():
    assert widest(_rows(q=2), 3)(_rows(q=2)).shape == (60, 2)


def test_a_frame_s_own_point_leads_back_to_it():
    rows = _rows()
    view = widest(rows, 2)
    np.testing.assert_allclose(view.lift(view(rows), rows)[:, 0], rows, atol=1e-9)


def test_lifted_points_are_seen_where_they_were():
    rows = _rows()
    view = widest(rows, 2)
    points = np.random.default_rng(1).normal(size=(20, 2))
    lifted = view.lift(points, rows, near=4)
    assert lifted.shape == (20, 4, 5)
    np.testing.assert_allclose(view(lifted), np.repeat(points[:, None], 4, axis=1), atol=1e-9)
