"""What the readers of text formats share: bytes in any encoding, and blocks of numbers checked line by line.

A motion file is a short header and a long rectangle of numbers. The rectangle is checked first, by counting words, and
then read, both in blocks that stay in the processor's cache. Nothing is allocated for what a file only claims to hold.
What goes wrong in a block is looked for word by word: every refusal names its line, and good files never pay for it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from itertools import islice

import numpy as np

from jostle.clips.formats.decimals import parse_decimals
from jostle.errors import FormatError
from jostle.files import MAX_BYTES, read_bytes
from jostle.types import Array, Bool, Float, Int, PathLike

MAX_VALUES = 16_000_000  # 23 minutes of 96 channels at 120 frames a second; more would not fit in a few hundred MB
BLOCK = 2**16  # bytes
MAX_LINE = 4 * 2**20  # bytes; a frame of two thousand joints takes a tenth of it
MAX_NUMBER = 1e9  # no position, in any unit, and no angle is larger; arithmetic with larger ones would overflow
_LONGEST_NUMBER = 400  # characters: 1e308 written out has 309
_MSVC_NAN = re.compile(r"[+-]?1\.#(QNAN|SNAN|IND|INF|R)\w*$", re.IGNORECASE)  # how old C runtimes print NaN and inf


def read_text(path: PathLike, limit: int = MAX_BYTES) -> bytes:
    """The file's bytes without a byte-order mark; UTF-16 becomes UTF-8, every other encoding stays as it is."""
    data = read_bytes(path, limit)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        data = data.decode("utf-16", "replace").encode()
    data = data.removeprefix(b"\xef\xbb\xbf")
    return data if b"\n" in data else data.replace(b"\r", b"\n")  # old Macs ended lines with a bare CR


def decode(name: bytes) -> str:
    """A name in UTF-8 or, where it is not that, in Latin-1, which every byte string is."""
    try:
        return name.decode("utf-8")
    except UnicodeDecodeError:
        return name.decode("latin-1")


def line_at(data: bytes, position: int) -> int:
    """The number, from 1, of the line that holds this byte."""
    return data.count(b"\n", 0, position) + 1


def shown(word: bytes) -> str:
    """A piece of the file, short enough for an error sentence."""
    text = decode(word[:60])
    text = "".join(c if c.isprintable() else "?" for c in text)
    return text if len(text) <= 40 else text[:39] + "…"


def to_float(word: bytes) -> float | None:
    """The number that a word spells, NaN and infinity included, or None."""
    if len(word) > _LONGEST_NUMBER:
        return None
    text = decode(word)
    if _MSVC_NAN.match(text):
        return float("nan")
    try:
        return float(text) if "_" not in text else None
    except ValueError:
        return None


def read_table(
    path: PathLike, data: bytes, start: int, rows: int, columns: int, allow_nan: bool = False
) -> Float[Array, "rows columns"]:
    """The numbers after byte `start`: one row a line, `rows` of them, blank lines aside.

    Anything else is refused with the line that is to blame.
    """
    fault = _find_fault(path, data, start, rows, columns)
    if fault is not None:
        raise fault
    values = _parse(path, data, start, rows * columns)
    usable = is_usable(values, allow_nan)
    if not usable.all():
        raise _unusable_error(path, data, start, *divmod(int(np.argmin(usable)), columns))
    return values.reshape(rows, columns)


def is_usable(values: Float[Array, "*n"], allow_nan: bool = False) -> Bool[Array, "*n"]:
    """Which numbers are finite and of a size that positions and angles have; with `allow_nan` a gap will do."""
    fine = np.abs(values) <= MAX_NUMBER
    return fine | np.isnan(values) if allow_nan else fine


def unusable(word: bytes) -> str:
    """Why a word that should be a position or an angle is refused."""
    value = to_float(word)
    if value is None:
        return f"'{shown(word)}' is not a number; export the file again"
    if np.isfinite(value):
        return f"'{shown(word)}' is too large for a position or an angle; export the file again"
    if np.isinf(value):
        return f"'{shown(word)}' is not a finite number; export the file again"
    return f"'{shown(word)}' is not a finite number; 'jostle clips check --fix' fills such gaps"


def parse_numbers(block: bytes) -> Float[Array, "n"] | None:
    """All numbers at once, or None where something is not a number. (Text mode of fromstring is not deprecated.)"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # older numpy warns where newer raises
        try:
            return np.fromstring(block, sep=" ")
        except ValueError:
            return None


def blocks_of(path: PathLike, data: bytes, start: int = 0) -> Iterator[bytes]:
    """The rest of the file in pieces of whole lines, small enough for a processor's cache unless a line is longer."""
    while start < len(data):
        end = len(data) if start + BLOCK >= len(data) else data.rfind(b"\n", start, start + BLOCK) + 1
        if end <= start:
            end = data.find(b"\n", start, start + MAX_LINE) + 1 or len(data)
        if end - start > MAX_LINE:
            problem = f"this line is longer than {MAX_LINE // 2**20} MB, so it is no motion; export the file again."
            raise FormatError(path, problem, line=line_at(data, start))
        yield data[start:end]
        start = end


def lines_of(path: PathLike, data: bytes, start: int = 0) -> Iterator[tuple[int, list[bytes]]]:
    """(line number, words) of the lines after `start` that are not blank."""
    number = line_at(data, start)
    for block in blocks_of(path, data, start):
        lines = block.split(b"\n")
        for i, line in enumerate(lines):
            if line and (words := line.split()):
                yield number + i, words
        number += len(lines) - 1


def _find_fault(path: PathLike, data: bytes, start: int, rows: int, columns: int) -> FormatError | None:
    """The first line with too few or too many values, or frames that are missing or too many."""
    number, seen, last = line_at(data, start), 0, line_at(data, start)
    for block in blocks_of(path, data, start):
        counts = _words_per_line(block)
        filled = np.flatnonzero(counts)
        wrong = filled[counts[filled] != columns][:1]
        surplus = filled[rows - seen : rows - seen + 1]
        if len(wrong) and not (len(surplus) and surplus[0] < wrong[0]):
            return _width_error(path, int(counts[wrong[0]]), columns, number + int(wrong[0]))
        if len(surplus):
            problem = f"there are more frames than the {rows} declared; correct 'Frames:'."
            return FormatError(path, problem, line=number + int(surplus[0]))
        seen += len(filled)
        if seen * columns > MAX_VALUES:
            return FormatError(path, f"it holds more than {MAX_VALUES:,} values; cut it into shorter takes.")
        last = number + int(filled[-1]) if len(filled) else last
        number += len(counts) - 1
    if seen < rows:
        problem = f"it ends after {seen} of {rows} declared frames; export it again or correct 'Frames:'."
        return FormatError(path, problem, line=last)
    return None


def _width_error(path: PathLike, count: int, columns: int, line: int) -> FormatError:
    cut = " or is cut short; export it again" if count < columns else ""
    return FormatError(
        path, f"this frame has {count} value{'s' * (count != 1)} for {columns} channels{cut}.", line=line
    )


def _words_per_line(block: bytes) -> Int[Array, "n"]:
    letters = np.frombuffer(block + b"\n" if not block.endswith(b"\n") else block, np.uint8)
    blank = (letters == 32) | (letters - np.uint8(9) < 5)  # what bytes.split() splits at; the difference wraps
    begins = np.empty(len(letters), bool)
    begins[0] = not blank[0]
    np.greater(blank[:-1], blank[1:], out=begins[1:])
    upto = np.searchsorted(np.flatnonzero(begins), np.flatnonzero(letters == 10))
    return np.diff(upto, prepend=0, append=upto[-1])  # the last is the empty line after the last line's end


def _parse(path: PathLike, data: bytes, start: int, count: int) -> Float[Array, "n"]:
    """Block by block: plain decimals at once, else numpy's way, else word by word; what is no number is refused."""
    values, at = np.empty(count), 0
    for block in blocks_of(path, data, start):
        found = parse_decimals(block)
        if found is None:
            found = parse_numbers(block)
        if found is None or len(found) != int(_words_per_line(block).sum()):
            line = line_at(data, start) - 1
            found = np.array([_number(path, word, line + i) for i, words in lines_of(path, block) for word in words])
        values[at : at + len(found)] = found
        at, start = at + len(found), start + len(block)
    return values


def _number(path: PathLike, word: bytes, line: int) -> float:
    value = to_float(word)
    if value is None:
        raise FormatError(path, f"{unusable(word)}.", line=line)
    return value


def _unusable_error(path: PathLike, data: bytes, start: int, row: int, column: int) -> FormatError:
    number, words = next(islice(lines_of(path, data, start), row, None))
    return FormatError(path, f"{unusable(words[column])}.", line=number)
