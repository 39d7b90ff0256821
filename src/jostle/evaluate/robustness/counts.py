"""How many walks must be averaged for an expected return? Figure 4.4 of Wang 2010.

Walkers made by one recipe, changes of heading met N times in each judgement, with N = 1, 3, 5 and 10 and several seeds
each, lie in the folder of shipped walkers under `counts`: nN_SEED.jostle.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from jostle import assets
from jostle.evaluate.walk.subjects import Subject, read_subject

_NAME = re.compile(r"n(\d+)_(\d+)")


def find_counted() -> dict[int, list[Subject]]:
    """The walkers that are shipped, by N."""
    found: dict[int, list[Subject]] = {}
    for path in (assets.walker_folder() / "counts").glob("*.jostle"):
        if (named := _NAME.fullmatch(path.stem)) is not None:
            found.setdefault(int(named[1]), []).append(read_subject(str(path)))
    return {count: sorted(found[count], key=lambda subject: subject.name) for count in sorted(found)}


def by_count(success: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Figure 4.4 from the success of each walker: the mean of each N, its standard error and the walkers' deviation."""
    grouped: dict[int, list[float]] = {}
    for name, share in success.items():
        if (named := _NAME.fullmatch(name)) is not None:
            grouped.setdefault(int(named[1]), []).append(share)
    return {f"N = {count}": _spread(grouped[count]) for count in sorted(grouped)}


def _spread(shares: list[float]) -> dict[str, float]:
    deviation = float(np.std(shares, ddof=1)) if len(shares) > 1 else 0.0
    error = deviation / np.sqrt(len(shares))
    return {"mean": float(np.mean(shares)), "error": error, "deviation": deviation, "walkers": float(len(shares))}
