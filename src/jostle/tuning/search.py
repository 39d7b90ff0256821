"""CMA-ES by ask and tell, and how it is brought back after an interruption.

pycma keeps its state in objects that only pickle can write, and pickle runs whatever a file tells it to. So the state
is not written at all: the search is deterministic, and `replay` asks and tells again what was told before, four
milliseconds a generation, until the search is where it was. A check sum of every generation's candidates proves it.
"""

from __future__ import annotations

import zlib

import numpy as np

from jostle.types import Array, Float, Int


class Search:
    """A Gaussian over parameter vectors that moves to where costs are low."""

    def __init__(
        self, origin: Float[Array, "P"], sigma: float, population: int, seed: tuple[int, ...], diagonal: bool = False
    ) -> None:
        import cma  # here, because it takes two seconds

        rng = np.random.default_rng(seed)
        options = {
            "popsize": population,
            "CMA_diagonal": diagonal,  # learns a scale for each parameter, not how they go together
            "randn": lambda *shape: rng.standard_normal(shape),  # ~ N(0, I), apart from NumPy's global generator
            "seed": np.nan,
            "verbose": -9,
        }
        self._strategy = cma.CMAEvolutionStrategy(origin, sigma, options)

    @property
    def mean(self) -> Float[Array, "P"]:
        return np.array(self._strategy.mean)

    @property
    def sigma(self) -> float:
        return float(self._strategy.sigma)

    def ask(self) -> Float[Array, "n P"]:
        return np.array(self._strategy.ask())

    def tell(self, units: Float[Array, "n P"], cost: Float[Array, "n"]) -> None:
        self._strategy.tell(list(units), cost.tolist())

    def replay(self, costs: Float[Array, "g n"], checks: Int[Array, "g"]) -> bool:
        """Tell again what was told; False where the candidates are not those of then, as on another machine."""
        for cost, check in zip(costs, checks, strict=True):
            units = self.ask()
            if check_sum(units) != check:
                return False
            self.tell(units, cost)
        return True


def check_sum(units: Float[Array, "n P"]) -> int:
    return zlib.crc32(np.ascontiguousarray(units).tobytes())
