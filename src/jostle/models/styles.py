"""Styles of circle dynamics: pairs of subject and gait that nobody recorded, people who do not exist, and the way from
one gait to another. Wang 2010, 6.4.2.

Poses follow from a style and a phase. What a new style lacks is its pace: a multilinear function of the tied factors,
the bilinear one of the thesis where these are subject and gait,

    dtheta = sum_ij B_ij s_i g_j,

fitted to the steps that were learnt. With three dimensions each, B has more entries than there are clips, so of all
that fit the smallest is taken: B = sum_n c_n s_n g_n', (s_n's_m g_n'g_m) c = dtheta, the mean of a Gaussian process
with the poses' kernel of styles. Paces beyond those of training by more than a quarter are held there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import numpy as np

from jostle.clips import Clip
from jostle.errors import MotionError
from jostle.features import Placement
from jostle.models.circle import Circle
from jostle.types import Array, Float

_BEYOND = 1.25  # how far paces may be from the slowest and the fastest of training
_RIDGE = 1e-6  # of the mean diagonal: clips of one subject in one gait have one pace


def missing(model: Circle) -> list[dict[str, str]]:
    """Every combination of labels that no training clip has."""
    of = model.labels.of
    known = set(zip(*(of[name] for name in model.names), strict=True))
    every = product(*(model.labels.values(name) for name in model.names))
    return [dict(zip(model.names, one, strict=True)) for one in every if one not in known]


def pace(model: Circle, style: Float[Array, "*b S"]) -> Float[Array, "*b"]:
    """dtheta of these styles, in radians a frame."""
    own = np.concatenate([model.styles[name][model.labels.numbers(name)] for name in model.names], axis=1)
    K = _product(model, own, own)
    weights = np.linalg.solve(K + _RIDGE * np.mean(np.diag(K)) * np.eye(len(K)), model.step)
    asked = style.reshape(-1, own.shape[1])
    found = _product(model, asked, own) @ weights
    found = np.clip(found, model.step.min() / _BEYOND, model.step.max() * _BEYOND)
    return found.reshape(style.shape[:-1])


def drawn(model: Circle, count: int, seed: int | np.random.Generator = 0) -> Float[Array, "count S"]:
    """New styles: of each factor a sample of the Gaussian that its labels make."""
    rng, parts = np.random.default_rng(seed), []
    for name in model.names:
        table = model.styles[name]
        apart = (table - table.mean(axis=0)) / np.sqrt(max(len(table) - 1, 1))  # apart' apart is the covariance
        parts.append(table.mean(axis=0) + rng.standard_normal((count, len(table))) @ apart)
    return np.concatenate(parts, axis=1)


def motion(
    model: Circle, style: Float[Array, "S"], frames: int, *, phase: float = 0.0, at: Placement | None = None
) -> Clip:
    """So many frames in one style."""
    if frames < 1:
        raise MotionError(f"A motion has at least one frame; {frames} were asked for.")
    theta = phase + float(pace(model, style)) * np.arange(frames)
    return model.motion(model.at(style, theta), at)


def completed(model: Circle, frames: int, **labels: str) -> Clip:
    """Somebody in a gait, whether there was a clip of it or not: completed(model, 90, subject="ann", gait="run")."""
    clip = motion(model, model.style(**labels), frames)
    return replace(clip, name=" ".join(labels.values()) or "mean")


def transition(
    model: Circle,
    first: Mapping[str, str],
    last: Mapping[str, str],
    *,
    cycles: tuple[float, float, float] = (1.0, 2.0, 1.0),
    at: Placement | None = None,
) -> Clip:
    """From one style to another: cycles before, during and after the change, in which factors go straight from one
    to the other with the phase."""
    if min(cycles) < 0 or sum(cycles) <= 0:
        raise MotionError(f"A transition takes some cycles before, during and after it, not {cycles}.")
    begin, end = model.style(**first), model.style(**last)
    before, during, after = (2.0 * np.pi * count for count in cycles)
    theta, styles = [0.0], []
    while theta[-1] < before + during + after:
        share = np.clip((theta[-1] - before) / max(during, 1e-9), 0.0, 1.0)
        styles.append((1.0 - share) * begin + share * end)
        theta.append(theta[-1] + float(pace(model, styles[-1])))
    clip = model.motion(model.at(np.array(styles), np.array(theta[:-1])), at)
    return replace(clip, name=f"{' '.join(first.values())} to {' '.join(last.values())}")


def _product(model: Circle, a: Float[Array, "n S"], b: Float[Array, "m S"]) -> Float[Array, "n m"]:
    """The product over factors of a'b."""
    out, at = np.ones((len(a), len(b))), 0
    for size in model.gp.factors.dims:
        out = out * (a[:, at : at + size] @ b[:, at : at + size].T)
        at += size
    return out
