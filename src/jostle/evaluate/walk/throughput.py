"""How many simulated seconds a second of the clock gives: 128 walkers in closed loop at 2 ms, on two threads."""

from __future__ import annotations

import time
from typing import Any

from jostle.evaluate.walk.subjects import Subject

WALKERS, THREADS, TIMESTEP = 128, 2, 0.002
_WARM = 50  # steps


def throughput(subject: Subject, seconds: float) -> dict[str, Any]:
    """Measured over about this many seconds of the clock, from the walk's own rhythm on; the best of three thirds.

    The best, because whatever else runs on the machine can only slow it down.
    """
    walk = subject.walk(WALKERS, TIMESTEP, THREADS)
    walk.start(subject.copies(WALKERS))
    for _ in range(_WARM):
        walk.step()
    rates = []
    for _ in range(3):
        begun, steps = time.perf_counter(), 0
        while time.perf_counter() - begun < seconds / 3.0:
            walk.step()
            steps += 1
        rates.append(len(walk.rows) * steps * walk.dt / (time.perf_counter() - begun))
    return {"walkers": WALKERS, "threads": THREADS, "timestep": TIMESTEP, "simulated_per_second": max(rates)}
