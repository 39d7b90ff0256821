"""The grid of what a task is asked for, flattened: values between its points are multilinear."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.controllers.policy.tasks import Axis
from jostle.types import Array, Float, Int


@dataclass(frozen=True)
class Grid:
    axes: tuple[Axis, ...]

    @property
    def points(self) -> Float[Array, "G d"]:
        lines = np.meshgrid(*(axis.values for axis in self.axes), indexing="ij")
        return np.stack(lines, axis=-1).reshape(-1, len(self.axes))

    def corners(self, theta: Float[Array, "*b d"]) -> tuple[Int[Array, "c *b"], Float[Array, "c *b"]]:
        """The points around, by number, and their shares."""
        shape = theta.shape[:-1]
        cells, shares = [np.zeros(shape, dtype=np.int64)], [np.ones(shape)]
        for i, axis in enumerate(self.axes):
            first, second, share = axis.cells(theta[..., i])
            cells = [own * axis.count + place for own in cells for place in (first, second)]
            shares = [own * part for own in shares for part in (1.0 - share, share)]
        return np.stack(cells), np.stack(shares)
