"""Thousands of steps: does the rhythm last?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jostle.evaluate.walk.march import March
from jostle.evaluate.walk.subjects import Subject

_TICK = 10.0  # simulated seconds


def walk_on(subject: Subject, steps: int, tick: Callable[[float], None]) -> dict[str, Any]:
    """Walk until this many steps are done, or it falls; at 1 ms."""
    march = March(subject.walk(1), subject.copies(1), subject.person.fallen)
    told = 0.0
    while march.strikes[0] < steps and len(march.walk.rows):
        march.step()
        if march.time - told >= _TICK:
            told = march.time
            tick(1.0)
    gone = march.walk.many.com[0]
    return {
        "walker": subject.name,
        "steps": int(march.strikes[0]),
        "seconds": float(march.seconds[0]),
        "metres": float(gone[0]),
        "aside_m": float(gone[1]),
    }
