"""A Cholesky factor that repairs itself and says so, and a damped Gauss-Newton step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from jostle.errors import JostleError
from jostle.types import Array, Float


def solve(a: Float[Array, "n n"], b: Float[Array, "n"]) -> Float[Array, "n"]:
    """A x = b for what runs at every frame: LAPACK without what NumPy puts around it. A singular A is refused."""
    _, _, x, info = scipy.linalg.lapack.dgesv(a, b)  # pyright: ignore[reportAttributeAccessIssue]
    if info:
        raise np.linalg.LinAlgError("Singular matrix")
    return x


@dataclass(frozen=True)
class Factor:
    """L with L L' = A + jitter I. `jitter` is 0 where A was positive definite as given."""

    lower: Float[Array, "n n"]
    jitter: float

    def solve(self, b: Float[Array, "n *m"]) -> Float[Array, "n *m"]:
        return scipy.linalg.cho_solve((self.lower, True), b)

    @property
    def log_determinant(self) -> float:
        return 2.0 * float(np.sum(np.log(np.diag(self.lower))))


def cholesky(a: Float[Array, "n n"], max_tries: int = 10) -> Factor:
    """Factor A; where rounding made it indefinite, add the smallest share of its mean diagonal that helps."""
    if not np.all(np.isfinite(a)):
        raise JostleError("A matrix to be factored holds NaN or infinity; check the inputs it was made from.")
    scale = float(np.mean(np.diag(a))) or 1.0
    for jitter in (0.0, *(abs(scale) * 10.0 ** (i - 12) for i in range(max_tries))):
        try:
            return Factor(scipy.linalg.cholesky(a + jitter * np.eye(len(a)), lower=True), jitter)
        except scipy.linalg.LinAlgError:
            continue
    raise JostleError(
        "A matrix that should be positive definite is not, even with jitter; its inputs contradict each other."
    )


def gauss_newton(
    residual: Callable[[Float[Array, "n"]], tuple[Float[Array, "m"], Float[Array, "m n"]]],
    x: Float[Array, "n"],
    iterations: int = 50,
    damping: float = 1e-6,
    tolerance: float = 1e-10,
) -> Float[Array, "n"]:
    """Minimise |r(x)|^2 by Levenberg-Marquardt; `residual` returns r and its Jacobian."""
    r, jacobian = residual(x)
    cost = float(r @ r)
    for _ in range(iterations):
        normal = jacobian.T @ jacobian
        gradient = jacobian.T @ r
        diagonal = np.diag(np.diag(normal) + 1e-12)
        step = -np.linalg.solve(normal + damping * diagonal, gradient)
        r_next, jacobian_next = residual(x + step)
        cost_next = float(r_next @ r_next)
        if cost_next < cost:
            x, r, jacobian, damping = x + step, r_next, jacobian_next, max(damping * 0.3, 1e-12)
            if cost - cost_next < tolerance * max(cost, 1e-300):
                break
            cost = cost_next
        else:
            damping *= 10.0
            if damping > 1e12:
                break
    return x
