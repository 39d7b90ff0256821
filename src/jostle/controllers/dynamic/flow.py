"""Where a latent position goes on to: the dynamics of Ye & Liu 2010, section 3.1, as a push needs them.

The model's own dynamics (`models.responsive`) are learnt from what was recorded. For a character that is pushed anew
that is not enough, in four ways; each is a departure of ours:

- **No push in the targets.** In the frames in which somebody was pushed, the recorded step holds the push. A model that
  learnt it would push itself, and be pushed twice where it is. So what the push did (`forced`, from the equations of
  motion) is taken out of those steps.
- **A noisier process.** The hyperparameters that make recorded steps likeliest go through every one of them, and are
  steep between clips. `NOISY` times the noise leaves the clips as they are and bears more between them.
- **Never lost.** Where nothing was learnt, the mean step of a Gaussian process is zero, and the character would freeze.
  It is blended there with the step of the nearest pair, beside which it stays: `KEPT` of what it is off by is left
  after a frame. So what nobody showed dies away within a second, and does not snap back.
- **Called home.** Clips are cut, and what recovers in four seconds is not shown to its end. A while after a push the
  position is drawn towards where the nearest pair of the normal motion goes on to: `home` says how much.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.models import gp
from jostle.models.kernels import second_order
from jostle.models.responsive import Responsive
from jostle.models.sequences import slices
from jostle.types import Array, Float, Int

NOISY = 10.0
KEPT = 0.95


@dataclass(frozen=True, eq=False)
class Flow:
    """Pairs (x_{t-2}, x_{t-1}) and the steps that follow them, as a Gaussian process that runs at every frame."""

    inputs: Float[Array, "M P"]  # P = 2 Q
    steps: Float[Array, "M Q"]
    scaled: Float[Array, "M P"]  # inputs in lengths of the kernel
    half: Float[Array, "M"]  # half their squares
    alpha: float
    weights: Float[Array, "M Q"]
    shrink: Float[Array, "M M"]
    lengths: Float[Array, "P"]
    stride: float  # the median step of the normal motion
    base: Int[Array, "n"]  # which pairs are of the normal motion

    @classmethod
    def of(cls, model: Responsive, normal: int, forced: Float[Array, "N Q"]) -> Flow:
        """The dynamics of a model whose rows were displaced by pushes by `forced`."""
        q = model.poses.x.shape[1]
        inputs, steps, base = [], [], np.zeros(0, dtype=np.int64)
        for clip, rows in enumerate(slices(model.lengths)):
            x, dx = model.poses.x[rows], forced[rows]
            if clip == normal:
                base = np.arange(len(x) - 2) + sum(len(part) for part in steps)
            inputs.append(np.concatenate([x[:-2], x[1:-1]], axis=1))
            steps.append(x[2:] - dx[2:] - x[1:-1])
        pairs, going = np.concatenate(inputs), np.concatenate(steps)
        stride = float(np.median(np.linalg.norm(going[base], axis=1)))
        alpha, before, now, noise = np.exp(model.log_alpha).tolist()
        hypers = np.array([alpha, before, now])
        known = gp.condition(second_order(q), hypers, NOISY * noise, pairs, going)
        lengths = np.repeat(np.sqrt(hypers[1:]), q)
        scaled = pairs * lengths
        half = 0.5 * np.sum(scaled**2, axis=1)
        shrink, weights = known.shrink.astype(np.float32), known.weights
        return cls(pairs, going, scaled, half, alpha, weights, shrink, lengths, stride, base)

    def next(self, before: Float[Array, "Q"], now: Float[Array, "Q"]) -> tuple[Float[Array, "Q"], float]:
        """The position after these two, and how lost we are: 0 on the data, 1 far from all of it."""
        at = np.concatenate([before, now]) * self.lengths
        exponents = self.scaled @ at - self.half
        k = self.alpha * np.exp(exponents - 0.5 * (at @ at))
        lost = min(max(1.0 - explained(self.shrink, k) / self.alpha, 0.0), 1.0)
        step = k @ self.weights
        nearest = int(np.argmax(exponents))
        aside = now - self.inputs[nearest, len(now) :]
        return now + (1.0 - lost) * step + lost * (self.steps[nearest] - (1.0 - KEPT) * aside), lost

    def home(self, before: Float[Array, "Q"], now: Float[Array, "Q"]) -> Float[Array, "Q"]:
        """Where the nearest pair of the normal motion goes on to."""
        at = np.concatenate([before, now]) * self.lengths
        nearest = self.base[np.argmax(self.scaled[self.base] @ at - self.half[self.base])]
        return self.inputs[nearest, len(now) :] + self.steps[nearest]

    def distance(self, x: Float[Array, "*b Q"]) -> Float[Array, "*b"]:
        """Median steps from the nearest position that was learnt."""
        flat = x.reshape(-1, x.shape[-1])
        apart = np.linalg.norm(flat[:, None] - self.inputs[None, :, flat.shape[1] :], axis=-1)
        return np.min(apart, axis=1).reshape(x.shape[:-1]) / self.stride


def explained(shrink: Float[Array, "M M"], k: Float[Array, "M"]) -> float:
    """k' S k, of the variance at a point what the data explain. In single precision, for every frame reads all of S,
    and that takes longer than all else; six digits are enough to say how lost somebody is.
    """
    narrow = k.astype(np.float32)
    return float(narrow @ (shrink @ narrow))
