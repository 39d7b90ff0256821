"""Values that keep Bellman's equation: (7) of Levine et al. 2012, repeated until nothing changes.

A sweep asks every action at every sample and grid point. Most sweeps would choose what the one before chose, so in
between the chosen actions are kept, and only what they are worth is brought up to date, at a seventeenth of the cost:
modified policy iteration (Puterman and Shin 1978). What it settles at is the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from jostle.types import Array, Float, Int

SETTLED, SWEEPS = 1e-4, 200
KEPT = 30  # sweeps with the same actions


def settle(
    paid: Float[Array, "S A G"],
    near: Int[Array, "S A k"],
    weights: Float[Array, "S A k"],
    corners: Sequence[Int[Array, "S A G"]],
    shares: Sequence[Float[Array, "S A G"]],
    discount: float,
) -> Float[Array, "S G"]:
    """What every sample is worth at every grid point. Actions pay, lead near samples and between grid points."""
    count, actions, points = paid.shape
    values = np.zeros((count, points))
    rows = np.arange(near.size // near.shape[2] + 1) * near.shape[2]
    leads = sp.csr_array((weights.ravel(), near.ravel(), rows), shape=(count * actions, count))
    for _ in range(SWEEPS):
        there = (leads @ values).reshape(count, actions, points)  # at the grid points of where actions lead
        total = paid.copy()
        for at, share in zip(corners, shares, strict=True):
            total += discount * share * np.take_along_axis(there, at, axis=2)
        chosen = np.argmax(total, axis=1)[:, None]  # (S, 1, G)
        new = np.take_along_axis(total, chosen, axis=1)[:, 0]
        change = float(np.max(np.abs(new - values)))
        values = new
        if change < SETTLED:
            break
        values = _kept(values, paid, near, weights, corners, shares, chosen, discount)
    return values


def _kept(
    values: Float[Array, "S G"],
    paid: Float[Array, "S A G"],
    near: Int[Array, "S A k"],
    weights: Float[Array, "S A k"],
    corners: Sequence[Int[Array, "S A G"]],
    shares: Sequence[Float[Array, "S A G"]],
    chosen: Int[Array, "S 1 G"],
    discount: float,
) -> Float[Array, "S G"]:
    """Some sweeps with these actions: each state leads to 2^d k others, with weights that are known."""

    def of(each: Array) -> Array:
        return np.take_along_axis(each, chosen, axis=1)[:, 0]  # (S, G)

    count, points = values.shape
    sample = np.arange(count)[:, None]
    who, w = near[sample, chosen[:, 0]], weights[sample, chosen[:, 0]]  # (S, G, k)
    columns = np.stack([who * points + of(at)[..., None] for at in corners], axis=-1)  # (S, G, k, c)
    parts = np.stack([w * of(share)[..., None] for share in shares], axis=-1)
    each = columns.shape[2] * columns.shape[3]
    rows = np.arange(count * points + 1) * each
    flow = sp.csr_array((discount * parts.ravel(), columns.ravel(), rows), shape=(count * points,) * 2)
    reward, v = of(paid).ravel(), values.ravel()
    for _ in range(KEPT):
        v = reward + flow @ v
    return v.reshape(count, points)
