"""What an experiment gives: figures under the names by which they are known, and the paper's beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from jostle.types import Array


@dataclass(frozen=True)
class Report:
    """`summary` and `paper` are nested objects of numbers; `rows` is what the summary was made from.

    `notes` say in words what a reader must know to read the figures; `skipped` what was not measured, and why.
    """

    name: str
    seed: int
    seconds: float  # how long the experiment took
    data: str | None  # the folder of motion capture, where one was used
    summary: dict[str, Any]
    rows: list[dict[str, Any]] = field(default_factory=list)
    paper: dict[str, Any] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON. Numbers that are none (no cycle, no share) become null."""
        return {name: _plain(getattr(self, name)) for name in self.__dataclass_fields__}

    def tables(self) -> list[Table]:
        """Figures in rows, what they were measured of in columns, each with the paper's in brackets behind ours."""
        single = [(name, _beside(value, self.paper.get(name))) for name, value in self.summary.items()
                  if not isinstance(value, Mapping)]  # fmt: skip
        tables = [Table(("", ""), single)] if single else []
        grouped: list[tuple[list[str], dict[str, Any]]] = []
        for name, by_subject in self.summary.items():
            if isinstance(by_subject, Mapping) and by_subject:
                _join(grouped, name, by_subject)
        return tables + [self._pivot(subjects, figures) for subjects, figures in grouped]

    def _pivot(self, subjects: list[str], figures: dict[str, Any]) -> Table:
        rows: dict[str, list[str]] = {}
        for name, by_subject in figures.items():
            for column, subject in enumerate(subjects):
                ours = dict(_leaves(by_subject.get(subject), name))
                theirs = dict(_leaves(self.paper.get(name, {}).get(subject), name))
                for full, value in ours.items():
                    rows.setdefault(full, [""] * len(subjects))[column] = _beside(value, theirs.get(full))
        return Table(("", *subjects), [(name, *cells) for name, cells in rows.items()])


@dataclass(frozen=True)
class Table:
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def _join(grouped: list[tuple[list[str], dict[str, Any]]], name: str, by_subject: Mapping[str, Any]) -> None:
    """Into the table of the same subjects, or a new one."""
    for subjects, figures in grouped:
        if set(subjects) & set(by_subject):
            subjects += [subject for subject in by_subject if subject not in subjects]
            figures[name] = by_subject
            return
    grouped.append((list(by_subject), {name: by_subject}))


def _beside(ours: object, theirs: object) -> str:
    return f"{shown(ours)} [{shown(theirs)}]" if theirs is not None else shown(ours)


def shown(value: object) -> str:
    """A figure as a person reads it."""
    if value is None or (isinstance(value, float) and not np.isfinite(value)):
        return ""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ":".join(f"{item:.2f}" for item in value)
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return str(value)


def _leaves(tree: Any, name: str) -> Iterator[tuple[str, Any]]:
    if isinstance(tree, Mapping):
        for key, value in tree.items():
            yield from _leaves(value, f"{name}.{key}")
    elif tree is not None:
        yield name, tree


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, Array):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
