"""One way to time things: warm, repeated, median."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A job, our time, a peer's time for the same job in the same run."""

    job: str
    ours_s: float
    peer: str
    peer_s: float

    @property
    def ratio(self) -> float:
        """How many times faster we are."""
        return self.peer_s / self.ours_s


def median_seconds(job: Callable[[], object], repeats: int = 7) -> float:
    job()  # warm
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        job()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)
