"""A latent space seen along its widest directions, for pictures: two or three numbers where there may be more."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree

from jostle.types import Array, Float


@dataclass(frozen=True, eq=False)
class Projection:
    centre: Float[Array, "Q"]
    axes: Float[Array, "k Q"]  # orthonormal

    def __call__(self, x: Float[Array, "*b Q"]) -> Float[Array, "*b k"]:
        return (x - self.centre) @ self.axes.T

    def lift(self, p: Float[Array, "n k"], rows: Float[Array, "N Q"], near: int = 1) -> Float[Array, "n near Q"]:
        """Points of the picture in the latent space: what is not seen is as it is at each of the nearest rows."""
        seen = self(rows)
        which = np.reshape(KDTree(seen).query(p, near)[1], (len(p), near))
        return rows[which] + (p[:, None] - seen[which]) @ self.axes


def widest(rows: Float[Array, "N Q"], count: int) -> Projection:
    """Onto the principal axes of these rows; as many as there are, at most `count`. Signs are fixed, so that two
    pictures of one model show it from one side.
    """
    centre = rows.mean(axis=0)
    _, _, axes = np.linalg.svd(rows - centre, full_matrices=False)
    axes = axes[: min(count, rows.shape[1])]
    largest = np.argmax(np.abs(axes), axis=1)
    return Projection(centre, axes * np.sign(axes[np.arange(len(axes)), largest])[:, None])
