"""A steady beat: so many ticks a second, counted from one start, so that it neither drifts nor spins.

Each tick has its own due time, `start + n / rate`. A late tick shortens the next wait; a beat that fell behind by more
than a few ticks (a laptop that slept, a busy machine) drops them and starts counting anew.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

MOST_AT_ONCE = 4  # ticks made up for in one go; more would only fall further behind


class Beat:
    """`wait()` sleeps until the next tick is due and tells how many ticks are due by now."""

    def __init__(
        self,
        rate: float,
        clock: Callable[[], float] = time.perf_counter,
        stop: threading.Event | None = None,
    ) -> None:
        self.rate = rate
        self.stop = stop or threading.Event()
        self._clock = clock
        self._start = clock()
        self._count = 0  # ticks handed out since the start

    def wait(self) -> int:
        """At least 1, at most MOST_AT_ONCE; 0 once stopped."""
        left = self._start + (self._count + 1) / self.rate - self._clock()
        if left > 0.0:
            self.stop.wait(left)
        if self.stop.is_set():
            return 0
        due = max(1, int((self._clock() - self._start) * self.rate + 1e-6) - self._count)
        self._count += due
        if due > MOST_AT_ONCE:
            self._start, self._count = self._clock(), 0
        return min(due, MOST_AT_ONCE)
