"""Where in its cycle a gait is: a phase that grows by the same step every frame.

Thighs swing against each other once a cycle, and hardly in any other way: so the angle between them is nearly a
sinusoid whatever the gait, the speed and the person, and a sinusoid fitted to it tells the phase (0 where the left
thigh is farthest ahead) and the step of a frame. Without this, learning of circle dynamics misses its optimum by
whole periods: half and double periods are local optima.

Creatures without two thighs are taken by the principal component of their features that a sinusoid explains best.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Num

from jostle.clips import Clip
from jostle.maths import quat
from jostle.skeleton import find_roles
from jostle.types import Array, Float

PERIODS = (0.35, 2.4)  # seconds a cycle, from a sprint to a stroll
_RATES, _FINE = 400, 60  # tried between them, and around the best of these
_MISSED, _LEANS = 0.2, 0.05  # radians: what a sinusoid leaves of a swing, as if frames erred on their own; its mean
_PACES = 3.0  # how many spreads to either side a pace is sought, in `_TRIED` steps
_TRIED = 121


@dataclass(frozen=True)
class Cycle:
    """theta_t = phase + t step."""

    phase: float
    step: float  # radians a frame
    explained: float  # the share of the swing's variance that the sinusoid has

    def at(self, frames: Num[Array, "n"]) -> Float[Array, "n"]:
        return self.phase + self.step * frames


def thigh_swing(clip: Clip) -> Float[Array, "T"] | None:
    """How far the left thigh is ahead of the right, in radians; None for who has no two thighs."""
    roles = find_roles(clip.skeleton)
    if not all(f"{side}_{limb}" in roles for side in ("left", "right") for limb in ("thigh", "shin")):
        return None
    facing = quat.from_yaw(quat.yaw(clip.wxyz[:, 0]))
    angles = []
    for side in ("left", "right"):
        along = clip.positions[:, roles[f"{side}_shin"]] - clip.positions[:, roles[f"{side}_thigh"]]
        ahead = quat.inv_apply(facing, along)
        angles.append(np.arctan2(ahead[:, 0], -ahead[:, 2]))
    return np.unwrap(angles[0] - angles[1])


def find_cycle(clip: Clip, rows: Float[Array, "T D"]) -> Cycle:
    """The cycle of a clip whose features are `rows`, frame for frame at the clip's rate."""
    swing = thigh_swing(clip)
    if swing is not None and np.ptp(swing) > 1e-6:
        return fit_sinusoid(swing, clip.fps)
    centred = rows - rows.mean(axis=0)
    spread = np.std(rows, axis=0)
    usable = spread > 1e-6 * max(float(spread.max()), 1e-12)
    parts = np.linalg.svd(centred[:, usable] / spread[usable], full_matrices=False)
    found = [fit_sinusoid(part, clip.fps) for part in (parts[0] * parts[1])[:, :3].T]
    return max(found, key=lambda cycle: cycle.explained)


def fit_sinusoid(swing: Float[Array, "T"], fps: float) -> Cycle:
    """The least-squares a + b cos(theta_t) of a signal: steps are scanned, then the best is refined."""
    t = np.arange(len(swing))
    slow, fast = (2.0 * np.pi / (period * fps) for period in PERIODS[::-1])
    steps = np.geomspace(slow, min(fast, 2.5), _RATES)
    misfits = np.array([_misfit(step, t, swing)[0] for step in steps])
    best = int(np.argmin(misfits))
    lower, upper = steps[max(best - 1, 0)], steps[min(best + 1, len(steps) - 1)]
    fine = np.linspace(lower, upper, _FINE)
    step = float(fine[np.argmin([_misfit(s, t, swing)[0] for s in fine])])
    misfit, (_, c, s) = _misfit(step, t, swing)
    total = float(np.sum((swing - swing.mean()) ** 2))
    return Cycle(float(np.arctan2(-s, c)), step, 1.0 - misfit / max(total, 1e-300))


def swung_pace(swing: Float[Array, "T"], pace: float, spread: float) -> float:
    """The likeliest ln step of a few frames, less than a cycle, where ln step ~ N(pace, spread^2) without them."""
    t, tried = np.arange(len(swing)), pace + spread * np.linspace(-_PACES, _PACES, _TRIED)
    ridge = np.diag([(_MISSED / _LEANS) ** 2, 1e-6, 1e-6])  # legs swing about the upright: else half a swing is a lean

    def unlikely(log_step: float) -> float:
        basis = np.stack([np.ones(len(t)), np.cos(np.exp(log_step) * t), np.sin(np.exp(log_step) * t)], axis=1)
        weights = np.linalg.solve(basis.T @ basis + ridge, basis.T @ swing)
        missed = np.sum((swing - basis @ weights) ** 2) + weights @ ridge @ weights
        return float(missed / _MISSED**2 + ((log_step - pace) / spread) ** 2)

    return float(tried[np.argmin([unlikely(log_step) for log_step in tried])])


def _misfit(step: float, t: Array, swing: Array) -> tuple[float, Array]:
    """Of a + c cos + s sin, which is a + b cos(step t + phase) with c = b cos(phase), s = -b sin(phase)."""
    basis = np.stack([np.ones(len(t)), np.cos(step * t), np.sin(step * t)], axis=1)
    weights = np.linalg.lstsq(basis, swing, rcond=1e-6)[0]
    return float(np.sum((swing - basis @ weights) ** 2)), weights
