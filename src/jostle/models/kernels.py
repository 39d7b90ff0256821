"""Covariance functions as a small algebra: what every model of this room is made of.

A kernel k(a, b) says how much two inputs have in common. A few pieces make all of them:

    Rbf()                 exp(-gamma/2 |a - b|^2)       near inputs are alike
    Dot()                 a'b                           linear functions
    Scale(k)              alpha k
    Sum(k, l, ...), Product(k, l, ...)
    On(first, last, k)    k of some columns of the inputs

A kernel holds no numbers. Its hyperparameters, all positive, come as one array in the order of `names`, so one kernel
serves learning, where they are traced by jax, and run time, where everything is NumPy: whichever arrays come in, their
own library computes. `slopes` are derivatives with respect to the first input, written by hand for run time; a test
holds them against jax. White noise is no kernel: it belongs to the measurements, and likelihoods add it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from operator import add, mul
from typing import Any, Protocol, runtime_checkable

from jaxtyping import Float


@runtime_checkable
class Kernel(Protocol):
    """k(a, b) for rows of a and b, with hyperparameters h."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of the hyperparameters, in the order in which they come."""
        ...

    def __call__(self, h: Float[Any, "H"], a: Float[Any, "n Q"], b: Float[Any, "m Q"]) -> Float[Any, "n m"]: ...

    def diagonal(self, h: Float[Any, "H"], a: Float[Any, "n Q"]) -> Float[Any, "n"]:
        """k(a, a) of each row with itself."""
        ...

    def slopes(self, h: Float[Any, "H"], a: Float[Any, "Q"], b: Float[Any, "m Q"]) -> Float[Any, "m Q"]:
        """The derivative of k(a, b_i) with respect to a."""
        ...


@dataclass(frozen=True)
class Rbf:
    """exp(-gamma/2 |a - b|^2)."""

    names = ("gamma",)

    def __call__(self, h: Float[Any, "1"], a: Float[Any, "n Q"], b: Float[Any, "m Q"]) -> Float[Any, "n m"]:
        xp = a.__array_namespace__()
        squared = xp.sum(a * a, axis=1)[:, None] + xp.sum(b * b, axis=1)[None, :] - 2.0 * a @ b.T
        return xp.exp(-0.5 * h[0] * xp.maximum(squared, 0.0))

    def diagonal(self, h: Float[Any, "1"], a: Float[Any, "n Q"]) -> Float[Any, "n"]:
        return a.__array_namespace__().ones_like(a[:, 0])

    def slopes(self, h: Float[Any, "1"], a: Float[Any, "Q"], b: Float[Any, "m Q"]) -> Float[Any, "m Q"]:
        apart = b - a
        return h[0] * apart * a.__array_namespace__().exp(-0.5 * h[0] * (apart * apart).sum(axis=1))[:, None]


@dataclass(frozen=True)
class Dot:
    """a'b."""

    names = ()

    def __call__(self, h: Float[Any, "0"], a: Float[Any, "n Q"], b: Float[Any, "m Q"]) -> Float[Any, "n m"]:
        return a @ b.T

    def diagonal(self, h: Float[Any, "0"], a: Float[Any, "n Q"]) -> Float[Any, "n"]:
        return (a * a).sum(axis=1)

    def slopes(self, h: Float[Any, "0"], a: Float[Any, "Q"], b: Float[Any, "m Q"]) -> Float[Any, "m Q"]:
        return b


@dataclass(frozen=True)
class Scale:
    """alpha k."""

    of: Kernel

    @property
    def names(self) -> tuple[str, ...]:
        return ("alpha", *self.of.names)

    def __call__(self, h: Float[Any, "H"], a: Float[Any, "n Q"], b: Float[Any, "m Q"]) -> Float[Any, "n m"]:
        return h[0] * self.of(h[1:], a, b)

    def diagonal(self, h: Float[Any, "H"], a: Float[Any, "n Q"]) -> Float[Any, "n"]:
        return h[0] * self.of.diagonal(h[1:], a)

    def slopes(self, h: Float[Any, "H"], a: Float[Any, "Q"], b: Float[Any, "m Q"]) -> Float[Any, "m Q"]:
        return h[0] * self.of.slopes(h[1:], a, b)


@dataclass(frozen=True)
class On:
    """k of the columns from `first` up to `last`."""

    first: int
    last: int
    of: Kernel

    @property
    def names(self) -> tuple[str, ...]:
        return self.of.names

    def __call__(self, h: Float[Any, "H"], a: Float[Any, "n Q"], b: Float[Any, "m Q"]) -> Float[Any, "n m"]:
        return self.of(h, a[:, self.first : self.last], b[:, self.first : self.last])

    def diagonal(self, h: Float[Any, "H"], a: Float[Any, "n Q"]) -> Float[Any, "n"]:
        return self.of.diagonal(h, a[:, self.first : self.last])

    def slopes(self, h: Float[Any, "H"], a: Float[Any, "Q"], b: Float[Any, "m Q"]) -> Float[Any, "m Q"]:
        xp = b.__array_namespace__()
        inner = self.of.slopes(h, a[self.first : self.last], b[:, self.first : self.last])
        nothing = xp.zeros_like(b)
        return xp.concatenate([nothing[:, : self.first], inner, nothing[:, self.last :]], axis=1)


class _Several:
    """Kernels side by side, each with its own stretch of the hyperparameters."""

    def __init__(self, *parts: Kernel) -> None:
        self.parts = parts
        self.names = tuple(f"{name}{i + 1}" for i, part in enumerate(parts) for name in part.names)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.parts == other.parts  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((type(self), self.parts))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.parts))})"

    def split(self, h: Float[Any, "H"]) -> list[Float[Any, "_"]]:
        starts = [0]
        for part in self.parts:
            starts.append(starts[-1] + len(part.names))
        return [h[i:j] for i, j in pairwise(starts)]


class Sum(_Several):
    """k + l + ..."""

    def __call__(self, h: Float[Any, "H"], a: Float[Any, "n Q"], b: Float[Any, "m Q"]) -> Float[Any, "n m"]:
        return reduce(add, (part(own, a, b) for part, own in zip(self.parts, self.split(h), strict=True)))

    def diagonal(self, h: Float[Any, "H"], a: Float[Any, "n Q"]) -> Float[Any, "n"]:
        return reduce(add, (part.diagonal(own, a) for part, own in zip(self.parts, self.split(h), strict=True)))

    def slopes(self, h: Float[Any, "H"], a: Float[Any, "Q"], b: Float[Any, "m Q"]) -> Float[Any, "m Q"]:
        return reduce(add, (part.slopes(own, a, b) for part, own in zip(self.parts, self.split(h), strict=True)))


class Product(_Several):
    """k l ..., one kernel a factor: (6.13) of Wang 2010."""

    def __call__(self, h: Float[Any, "H"], a: Float[Any, "n Q"], b: Float[Any, "m Q"]) -> Float[Any, "n m"]:
        return reduce(mul, (part(own, a, b) for part, own in zip(self.parts, self.split(h), strict=True)))

    def diagonal(self, h: Float[Any, "H"], a: Float[Any, "n Q"]) -> Float[Any, "n"]:
        return reduce(mul, (part.diagonal(own, a) for part, own in zip(self.parts, self.split(h), strict=True)))

    def slopes(self, h: Float[Any, "H"], a: Float[Any, "Q"], b: Float[Any, "m Q"]) -> Float[Any, "m Q"]:
        shared = self.split(h)
        values = [part(own, a[None], b)[0] for part, own in zip(self.parts, shared, strict=True)]  # each (m,)
        out = 0.0
        for i, (part, own) in enumerate(zip(self.parts, shared, strict=True)):
            others = [value for j, value in enumerate(values) if j != i]
            slope = part.slopes(own, a, b)
            out = out + (reduce(mul, others)[:, None] * slope if others else slope)
        return out


# The kernels of the papers.


def rbf() -> Kernel:
    """alpha exp(-gamma/2 |x - x'|^2): poses from latent positions (Ye & Liu 2010, Appendix A)."""
    return Scale(Rbf())


def linear_rbf() -> Kernel:
    """alpha_1 exp(-alpha_2/2 |x - x'|^2) + alpha_3 x'x': first-order dynamics (5.14)."""
    return Sum(Scale(Rbf()), Scale(Dot()))


def second_order(q: int) -> Kernel:
    """alpha exp(-gamma_1/2 |x_1 - x_1'|^2 - gamma_2/2 |x_2 - x_2'|^2) of two consecutive positions side by side."""
    return Scale(Product(On(0, q, Rbf()), On(q, 2 * q, Rbf())))


def linear_second_order(q: int) -> Kernel:
    """`second_order`, and a linear function of either position: the second-order GPDM (Wang et al. 2008)."""
    return Sum(second_order(q), Scale(On(0, q, Dot())), Scale(On(q, 2 * q, Dot())))


def velocity_product(q: int) -> Kernel:
    """beta_1 v'v' exp(-beta_2/2 |v - v'|^2 - beta_3/2 |x - x'|^2) of (v, x) side by side (Levine et al. 2012, 4.1).

    Linear for small steps, so that who stays in one latent place has no velocity.
    """
    return Scale(Product(On(0, q, Dot()), On(0, q, Rbf()), On(q, 2 * q, Rbf())))
