"""Factors of motion: who moves, in which gait, and the state of the movement, each with a kernel of its own.

y = f(x1, ..., xM) + noise is linear in the Kronecker product of basis functions of each factor, and with Gaussian
weights a Gaussian process whose kernel is the product of kernels, one a factor: (6.12), (6.13) of Wang 2010. Factors
such as subject and gait are *tied*: a clip has one value of each, and clips with the same label share it. The last
factor is the state, which differs from frame to frame. `Factors` are settings, hashable, so that objectives can be
made of them; `Labels` say which clip has which value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from jostle.clips import Clip
from jostle.errors import MotionError
from jostle.models.kernels import Dot, Kernel, On, Product, Rbf
from jostle.skeleton import find_roles
from jostle.types import Array, Float, Int

_CMU = re.compile(r"^(\d{1,3})_\d{1,2}$")  # subject_trial
_RUNS = 0.5  # the Froude number v^2 / (g leg) at which people change from walking to running (Alexander 1989)


@dataclass(frozen=True)
class Factors:
    """Names and dimensions of the tied factors, and of the state, which comes last in a row of inputs."""

    names: tuple[str, ...]
    dims: tuple[int, ...]
    state: int
    kernels: tuple[Kernel, ...] = ()  # of the tied ones; linear unless given
    state_kernel: Kernel = field(default_factory=Rbf)

    @property
    def kernel(self) -> Kernel:
        """(6.13), and (6.15) with two linear factors: s's' g'g' exp(-gamma/2 |x - x'|^2)."""
        tied = self.kernels or tuple(Dot() for _ in self.names)
        spans = zip(self._starts, (*self.dims, self.state), (*tied, self.state_kernel), strict=True)
        return Product(*(On(start, start + size, kernel) for start, size, kernel in spans))

    @property
    def _starts(self) -> list[int]:
        return [0, *accumulate(self.dims)]

    @property
    def style(self) -> int:
        """How many columns are tied factors."""
        return sum(self.dims)

    def split(self, z: Any) -> dict[str, Any]:
        """Rows of inputs by factor; the state is called "state"."""
        spans = pairwise([*self._starts, self.style + self.state])
        return {name: z[..., a:b] for name, (a, b) in zip((*self.names, "state"), spans, strict=True)}


@dataclass(frozen=True)
class Labels:
    """What each clip is, by factor: `of["gait"]` has one label a clip."""

    of: Mapping[str, tuple[str, ...]]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.of)

    def values(self, factor: str) -> tuple[str, ...]:
        """The labels there are, in the order of a factor's table."""
        return tuple(sorted(set(self.of[factor])))

    def numbers(self, factor: str) -> Int[Array, "n"]:
        """Which row of the table each clip has."""
        values = self.values(factor)
        return np.array([values.index(label) for label in self.of[factor]], dtype=np.int64)

    def index(self, factor: str, label: str) -> int:
        if factor not in self.of:
            raise MotionError(f"This model has no factor '{factor}'; it has: {', '.join(self.of) or 'none'}.")
        values = self.values(factor)
        if label not in values:
            raise MotionError(f"This model has seen no {factor} '{label}'; it knows: {', '.join(values)}.")
        return values.index(label)


def label(
    clips: Sequence[Clip],
    subjects: Sequence[str] | None,
    gaits: Sequence[str] | None,
    more: Mapping[str, Sequence[str]] | None,
) -> tuple[Labels, list[str]]:
    """Labels as given, else as assumed, and notes that say what was assumed."""
    notes: list[str] = []
    if subjects is None:
        subjects = _guess_subjects(clips)
        notes.append(f"Subjects were assumed: {_told(clips, subjects)}.")
    if gaits is None:
        gaits = ["run" if _froude(clip) > _RUNS else "walk" for clip in clips]
        notes.append(f"Gaits were assumed by speed: {_told(clips, gaits)}.")
    of = {"subject": subjects, "gait": gaits, **(more or {})}
    for factor, labels in of.items():
        if isinstance(labels, str) or len(labels) != len(clips):
            raise MotionError(f"Give one {factor} for each clip, in a list: there are {len(labels)} for {len(clips)}.")
        if factor == "state":
            raise MotionError("'state' is the name of what varies within a clip; call that factor otherwise.")
    return Labels({factor: tuple(str(x) for x in labels) for factor, labels in of.items()}), notes


def first_styles(labels: Labels, dims: Sequence[int], rng: np.random.Generator) -> dict[str, Float[Array, "L d"]]:
    """Where learning begins: everybody alike for the most part, and each a little in a direction of their own."""
    out = {}
    for factor, size in zip(labels.names, dims, strict=True):
        count = len(labels.values(factor))
        own = 0.6 * np.eye(count, size) + 0.05 * rng.standard_normal((count, size))
        out[factor] = 0.7 / np.sqrt(size) + own
    return out


def _guess_subjects(clips: Sequence[Clip]) -> list[str]:
    """By the number before the underscore where all names are CMU's, else who has the same bones is the same."""
    numbers = [_CMU.match(clip.name) for clip in clips]
    if all(numbers):
        return [match[1] for match in numbers if match]
    known: list[Clip] = []
    out = []
    for clip in clips:
        same = next((i for i, other in enumerate(known) if clip.skeleton.same_as(other.skeleton)), len(known))
        if same == len(known):
            known.append(clip)
        out.append(str(same + 1))
    return out


def _froude(clip: Clip) -> float:
    roles, at = find_roles(clip.skeleton), clip.skeleton.rest_positions
    chain = [roles[role] for role in ("left_thigh", "left_shin", "left_foot") if role in roles]
    leg = float(np.sum(np.linalg.norm(np.diff(at[chain], axis=0), axis=1))) or 0.5 * clip.skeleton.height or 1.0
    way = np.linalg.norm(clip.root[-1, :2] - clip.root[0, :2])
    return float((way / max(clip.duration, 1e-9)) ** 2 / (9.81 * leg))


def _told(clips: Sequence[Clip], labels: Sequence[str]) -> str:
    groups = {x: [clip.name for clip, own in zip(clips, labels, strict=True) if own == x] for x in sorted(set(labels))}
    return "; ".join(f"{x} is {', '.join(names)}" for x, names in groups.items())
