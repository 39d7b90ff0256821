"""The ways of joints as coloured line segments."""

from __future__ import annotations

import numpy as np

from jostle.types import Array, Float
from jostle.viewer import look


def segments(way: Float[Array, "N T d"]) -> Float[Array, "S 2 d"]:
    """Points in a row to pairs of neighbours, for all rows."""
    return np.stack([way[:, :-1], way[:, 1:]], axis=2).reshape(-1, 2, way.shape[-1])


def way_colours(way: Float[Array, "N T 3"], oldest: float = 0.7) -> Array:
    """Each joint in its colour; what is older leans towards the ground's, the oldest by `oldest` of the way."""
    n, t = way.shape[:2]
    share = np.linspace(oldest, 0.0, t)[None, :, None]
    base = np.array([look.TRAILS[i % len(look.TRAILS)] for i in range(n)], dtype=float)[:, None]
    colour = (1 - share) * base + share * np.array(look.GROUND)  # (N, T, 3)
    return segments(colour).astype(np.uint8)
