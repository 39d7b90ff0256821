"""Where jax and BLAS are set up: float64 and one thread, and only while something of this room runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from typing import ParamSpec, TypeVar

import jax
from threadpoolctl import ThreadpoolController

P = ParamSpec("P")
R = TypeVar("R")


def float64(function: Callable[P, R]) -> Callable[P, R]:
    """Run with double precision; the jax of whoever called is left as it was."""

    @wraps(function)
    def precise(*args: P.args, **kwargs: P.kwargs) -> R:
        with jax.enable_x64(True):
            return function(*args, **kwargs)

    return precise


@contextmanager
def one_thread() -> Iterator[None]:
    """Linear algebra on one thread. A covariance of some hundred rows is factored in a third of a millisecond; with two
    threads on a machine whose second core is busy they wait for each other, and it takes two hundred.
    """
    with _controller().limit(limits=1, user_api="blas"):
        yield


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()
