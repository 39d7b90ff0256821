"""Strict reading of small tables: every key is known, every value is of its kind, and an error says where it stands."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from jostle.errors import FormatError, unknown_name
from jostle.types import PathLike


@dataclass(frozen=True)
class Field:
    """What may stand behind a key: `read` gives the value, or raises ValueError."""

    allowed: str
    read: Callable[[Any], Any]


@dataclass(frozen=True)
class Where:
    """A place in a file. `section` counts the tables of an array, such as the second [[stage]]; -1 is before them."""

    path: PathLike
    text: str = ""
    section: int = -1
    title: str = "the recipe"

    def within(self, section: int, title: str) -> Where:
        return replace(self, section=section, title=title)

    def fail(self, problem: str, key: str | None = None) -> NoReturn:
        raise FormatError(self.path, problem, line=None if key is None else self.line(key))

    def line(self, key: str) -> int | None:
        """The line on which the key stands; None where the text is not at hand."""
        section = -1
        for number, line in enumerate(self.text.splitlines(), start=1):
            section += line.lstrip().startswith("[[")
            if section == self.section and re.search(rf"(^|[{{,\[.\s\"']){re.escape(key)}[\"']?\s*(=|\]|\.)", line):
                return number
        return None


def read_table(given: object, fields: Mapping[str, Field], where: Where) -> dict[str, Any]:
    """The values of a table; what is not given is left out."""
    if not isinstance(given, dict):
        where.fail(f"{where.title} must be a table, not {shown(given)}.")
    values = {}
    for key, value in given.items():
        if key not in fields:
            where.fail(unknown_name(f"key of {where.title}", str(key), fields), str(key))
        try:
            values[key] = fields[key].read(value)
        except (ValueError, TypeError):
            where.fail(f"'{key}' of {where.title} must be {fields[key].allowed}, not {shown(value)}.", key)
    return values


def shown(value: object) -> str:
    """A value as it may stand in a sentence."""
    text = {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def number(low: float, high: float) -> Field:
    def read(value: object) -> float:
        if (
            isinstance(value, bool) or not isinstance(value, int | float) or not (low <= value <= high)
        ):  # not NaN either
            raise ValueError
        return float(value)

    return Field(_range("a number", low, high), read)


def whole(low: int, high: int) -> Field:
    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not (low <= value <= high):
            raise ValueError
        return value

    return Field(_range("a whole number", low, high), read)


def _range(kind: str, low: float | int, high: float | int) -> str:
    return f"{kind} from {low:g} to {high:g}" if math.isfinite(high) else f"{kind} of at least {low:g}"


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError
    return value


FLAG = Field("true or false", _flag)


def table(allowed: str) -> Field:
    """A table that is read further elsewhere."""

    def read(value: object) -> dict:
        if not isinstance(value, dict):
            raise ValueError
        return value

    return Field(allowed, read)


def text(allowed: str, check: Callable[[str], bool] = bool) -> Field:
    def read(value: object) -> str:
        if not isinstance(value, str) or not check(value):
            raise ValueError
        return value

    return Field(allowed, read)


def word(choices: Collection[str]) -> Field:
    return text("one of " + ", ".join(f'"{choice}"' for choice in choices), choices.__contains__)


def some(one: Field, least: int = 0, most: int | None = None) -> Field:
    """A list of such values."""

    def read(value: object) -> tuple:
        if not isinstance(value, list | tuple) or not least <= len(value) <= (most or len(value)):
            raise ValueError
        return tuple(one.read(entry) for entry in value)

    return Field(f"a list, each {one.allowed}", read)


def either(first: Field, second: Field) -> Field:
    def read(value: object) -> Any:
        try:
            return first.read(value)
        except (ValueError, TypeError):
            return second.read(value)

    return Field(f"{first.allowed}, or {second.allowed}", read)


def each(names: Iterable[str], one: Field) -> Field:
    """A table whose keys are some of these names."""
    known = tuple(names)

    def read(value: object) -> dict:
        if not isinstance(value, dict) or not set(value) <= set(known):
            raise ValueError
        return {key: one.read(entry) for key, entry in value.items()}

    return Field(f"a table of {', '.join(known)}, each {one.allowed}", read)
