"""Kernels against formulas written out for two rows at a time, their slopes against jax, and their algebra."""

from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jostle.models import kernels
from jostle.models.backend import float64
from jostle.models.kernels import Dot, On, Product, Rbf, Scale, Sum

Q = 4


def _far(a, b):
    return float(np.sum((a - b) ** 2))


# On paper, for one row a and one row b of Q = 4 (two positions of 2 where a kernel takes two).
PAPERS = {
    "rbf": (kernels.rbf(), lambda h, a, b: h[0] * np.exp(-h[1] / 2 * _far(a, b))),
    "linear_rbf": (
        kernels.linear_rbf(),  # (5.14)
        lambda h, a, b: h[0] * np.exp(-h[1] / 2 * _far(a, b)) + h[2] * a @ b,
    ),
    "second_order": (
        kernels.second_order(2),
        lambda h, a, b: h[0] * np.exp(-h[1] / 2 * _far(a[:2], b[:2]) - h[2] / 2 * _far(a[2:], b[2:])),
    ),
    "linear_second_order": (
        kernels.linear_second_order(2),
        lambda h, a, b: (
            h[0] * np.exp(-h[1] / 2 * _far(a[:2], b[:2]) - h[2] / 2 * _far(a[2:], b[2:]))
            + h[3] * a[:2] @ b[:2]
            + h[4] * a[2:] @ b[2:]
        ),
    ),
    "velocity_product": (
        kernels.velocity_product(2),  # v first, then x
        lambda h, a, b: h[0] * (a[:2] @ b[:2]) * np.exp(-h[1] / 2 * _far(a[:2], b[:2]) - h[2] / 2 * _far(a[2:], b[2:])),
    ),
}
OTHERS = {
    "dot": (Dot(), lambda h, a, b: a @ b),
    "scaled dot": (Scale(Dot()), lambda h, a, b: h[0] * a @ b),
    "one column": (On(1, 2, Rbf()), lambda h, a, b: np.exp(-h[0] / 2 * (a[1] - b[1]) ** 2)),
    "sum in a product": (
        Product(Sum(Scale(Rbf()), Dot()), On(2, 4, Dot())),
        lambda h, a, b: (h[0] * np.exp(-h[1] / 2 * _far(a, b)) + a @ b) * (a[2:] @ b[2:]),
    ),
    "on within on": (On(1, 4, On(1, 3, Rbf())), lambda h, a, b: np.exp(-h[0] / 2 * _far(a[2:4], b[2:4]))),
    "three factors": (
        Scale(Product(On(0, 1, Dot()), On(1, 3, Rbf()), On(3, 4, Scale(Rbf())))),
        lambda h, a, b: (
            h[0]
            * (a[0] * b[0])
            * np.exp(-h[1] / 2 * _far(a[1:3], b[1:3]))
            * (h[2] * np.exp(-h[3] / 2 * (a[3] - b[3]) ** 2))
        ),
    ),
}
ALL = PAPERS | OTHERS


def _drawn(kernel, n=5, m=7, seed=0):
    rng = np.random.default_rng(seed)
    h = np.exp(0.5 * rng.normal(size=len(kernel.names)))
    return h, rng.normal(size=(n, Q)), rng.normal(size=(m, Q))


@pytest.mark.parametrize("name", ALL)
def test_a_kernel_is_its_formula_row_by_row(name):
    kernel, paper = ALL[name]
    h, a, b = _drawn(kernel)
    dense = np.array([[paper(h, x, y) for y in b] for x in a])
    np.testing.assert_allclose(kernel(h, a, b), dense, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(kernel.diagonal(h, a), [paper(h, x, x) for x in a], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", ALL)
def test_slopes_are_those_of_jax(name):
    kernel, _ = ALL[name]
    h, a, b = _drawn(kernel, seed=1)

    @float64
    def by_jax(x):
        return np.asarray(
            jax.jacobian(lambda row: kernel(jnp.asarray(h), row[None], jnp.asarray(b))[0])(jnp.asarray(x))
        )

    for x in a:
        np.testing.assert_allclose(kernel.slopes(h, x, b), by_jax(x), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", ALL)
def test_jax_and_numpy_compute_the_same(name):
    kernel, _ = ALL[name]
    h, a, b = _drawn(kernel, seed=2)

    @float64
    def by_jax():
        return np.asarray(jax.jit(kernel)(jnp.asarray(h), jnp.asarray(a), jnp.asarray(b)))

    np.testing.assert_allclose(by_jax(), kernel(h, a, b), rtol=1e-12, atol=1e-13)


PIECES = [Rbf(), Dot(), Scale(Rbf()), Scale(Dot()), On(0, 2, Rbf()), On(1, 4, Dot()), Sum(Rbf(), Dot())]


@pytest.mark.parametrize(("make", "reduce"), [(Sum, np.add), (Product, np.multiply)], ids=["sum", "product"])
def test_any_two_kernels_combine(make, reduce):
    for k, l in product(PIECES, PIECES):  # noqa: E741
        both = make(k, l)
        h, a, b = _drawn(both, seed=3)
        first, second = h[: len(k.names)], h[len(k.names) :]
        np.testing.assert_allclose(both(h, a, b), reduce(k(first, a, b), l(second, a, b)), rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(both.diagonal(h, a), np.diag(both(h, a, a)), rtol=1e-12, atol=1e-14)
        step = 1e-6
        for i in range(Q):
            up, down = a[:1].copy(), a[:1].copy()
            up[0, i] += step
            down[0, i] -= step
            slope = (both(h, up, b) - both(h, down, b))[0] / (2 * step)
            np.testing.assert_allclose(both.slopes(h, a[0], b)[:, i], slope, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", ALL)
def test_covariances_are_symmetric_and_bear_a_cholesky(name):
    kernel, _ = ALL[name]
    h, a, _ = _drawn(kernel, n=12, seed=4)
    K = kernel(h, a, a)
    np.testing.assert_allclose(K, K.T, rtol=1e-12, atol=1e-14)
    assert np.linalg.eigvalsh(K).min() > -1e-10


def test_hyperparameters_are_named_in_the_order_in_which_they_come():
    assert kernels.linear_rbf().names == ("alpha1", "gamma1", "alpha2")
    assert kernels.second_order(2).names == ("alpha", "gamma1", "gamma2")
    assert kernels.velocity_product(3).names == ("alpha", "gamma2", "gamma3")


def test_equal_kernels_are_equal_keys():
    assert kernels.linear_second_order(3) == kernels.linear_second_order(3)
    assert hash(kernels.linear_second_order(3)) == hash(kernels.linear_second_order(3))
    assert kernels.second_order(3) != kernels.second_order(2)
    assert Sum(Rbf(), Dot()) != Product(Rbf(), Dot())


def test_who_stays_has_no_velocity():
    """Levine's kernel vanishes with v: the mean step at rest is zero, whatever the data."""
    kernel = kernels.velocity_product(2)
    h, _, b = _drawn(kernel)
    assert np.all(kernel(h, np.array([[0.0, 0.0, 0.3, -0.2]]), b) == 0.0)


def test_near_rows_far_from_the_origin_keep_their_distance():
    """|a|^2 + |b|^2 - 2a'b loses digits there, but never the sign: no covariance above 1."""
    a = 1e4 + 1e-7 * np.arange(8.0).reshape(4, 2)
    K = Rbf()(np.array([1.0]), a, a)
    assert np.all(K <= 1.0)
    np.testing.assert_allclose(K, 1.0, atol=1e-6)
