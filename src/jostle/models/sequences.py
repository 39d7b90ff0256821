"""Several trajectories in one matrix of rows: where each begins, and which rows follow which.

A seam between two clips is no transition. Everything here counts rows of the stacked matrix.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jostle.types import Array, Int


def slices(lengths: Sequence[int]) -> list[slice]:
    """The rows of each trajectory."""
    ends = np.cumsum(lengths)
    return [slice(int(end) - length, int(end)) for end, length in zip(ends, lengths, strict=True)]


def transitions(lengths: Sequence[int], order: int) -> tuple[Int[Array, "M order"], Int[Array, "M"]]:
    """Every row that has `order` rows before it in its own trajectory: those rows, the earliest first, and itself."""
    after = [np.arange(rows.start + order, rows.stop) for rows in slices(lengths)]
    out = np.concatenate(after) if after else np.zeros(0, dtype=np.int64)
    return out[:, None] - np.arange(order, 0, -1), out


def beginnings(lengths: Sequence[int], order: int) -> Int[Array, "S"]:
    """The first `order` rows of each trajectory: those that no dynamics explains."""
    return np.concatenate([np.arange(rows.start, min(rows.start + order, rows.stop)) for rows in slices(lengths)])
