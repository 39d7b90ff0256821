"""Where a body of points faces, in every frame, before it has a skeleton."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jostle.skeleton.roles import split_side
from jostle.types import Array, Float

_TRAVEL = 0.3  # metres: who goes less far does not show where forward is
_SLACK = 0.01  # metres: how much a distance inside the trunk may change


def body_yaw(labels: Sequence[str], positions: Float[Array, "T J 3"], first: float | None = None) -> Float[Array, "T"]:
    """Radians left of X in which the body faces, in every frame.

    Where labels tell left from right, forward is to the right of the line from right-hand points to their left-hand
    twins, hips and shoulders counting most: pairs that keep their distance. Otherwise the turning is that of the root
    and the points that keep their distance from it, and forward is where the body travels.
    """
    across = _across(labels, positions)
    yaw = _turning(positions) if across is None else np.unwrap(np.angle(across * -1j))
    if first is not None:
        return yaw - yaw[0] + first
    return yaw if across is not None else yaw + _travel(positions, yaw)


def _across(labels: Sequence[str], positions: Float[Array, "T J 3"]) -> Array | None:
    """From right to left, seen from above, as complex numbers; None where labels have no sides."""
    pairs: dict[str, dict[str, int]] = {}
    for i, label in enumerate(labels):
        side, word = split_side(label)
        if side:
            pairs.setdefault(word + "".join(c for c in label if c.isdigit()), {})[side] = i
    twins = [(p["left"], p["right"]) for p in pairs.values() if len(p) == 2]
    if not twins:
        return None
    left, right = np.array(twins).T
    apart = positions[:, left] - positions[:, right]  # (T, pairs, 3)
    steady = 1.0 / (np.std(np.linalg.norm(apart, axis=-1), axis=0) ** 2 + _SLACK**2)
    total = np.einsum("tp,p->t", apart[..., 0] + 1j * apart[..., 1], steady)
    return None if np.any(np.abs(total) < 1e-9) else total


def _turning(positions: Float[Array, "T J 3"], rounds: int = 3) -> Float[Array, "T"]:
    """The turn about the vertical from the mean shape to each frame; complex numbers make it one line."""
    flat = positions[..., 0] + 1j * positions[..., 1]
    near = np.linalg.norm(positions - positions[:, :1], axis=-1)
    weight = 1.0 / (np.std(near, axis=0) ** 2 + _SLACK**2)
    flat = flat - (flat @ weight / weight.sum())[:, None]  # (T, J)
    shape = flat[0]
    turn = np.ones(len(flat), dtype=complex)
    for _ in range(rounds):
        turn = flat @ (weight * shape.conj())
        turn = np.where(np.abs(turn) > 1e-12, turn / np.maximum(np.abs(turn), 1e-12), 1.0)
        shape = np.mean(flat * turn.conj()[:, None], axis=0)
    return np.unwrap(np.angle(turn))


def _travel(positions: Float[Array, "T J 3"], yaw: Float[Array, "T"]) -> float:
    """The direction of travel as seen from the body; 0 where it goes nowhere."""
    middle = positions.mean(axis=1)
    steps = np.diff(middle[:, 0] + 1j * middle[:, 1])
    total = np.sum(steps * np.exp(-1j * yaw[:-1]))
    return float(np.angle(total)) if np.abs(steps).sum() > _TRAVEL else 0.0
