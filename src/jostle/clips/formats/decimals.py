"""Plain decimals, such as motion files are full of, read at numpy's speed.

`-12.3456` is two runs of digits. All runs of a block are found by comparing neighbouring bytes, and eight bytes that
end with each run are taken as one 64-bit word. Three multiplications turn eight digits into a number (pairs, then
fours, then eight), for all runs at once. A number is then (integer run · 10^n + fraction run) / 10^n: both parts
are whole, their sum is below 2^53, and one division rounds once, so the result is the very double that `float` gives.

Worked: b"0012.3456" has the runs 0012 and 3456, n = 4, and 123456 / 10000 = 12.3456.

Anything else (exponents, NaN, runs of more than eight digits, sums beyond 2^53, rubbish) makes the whole block None:
the caller has slower ways.
"""

from __future__ import annotations

import sys

import numpy as np
from jaxtyping import UInt8, UInt64

from jostle.types import Array, Float, Int

_DIGIT, _BLANK, _DOT, _SIGN = 1, 2, 4, 8
_KIND = bytes(
    _DIGIT * (c in b"0123456789") | _BLANK * (c in b" \t\n\v\f\r") | _DOT * (c in b".") | _SIGN * (c in b"+-")
    for c in range(256)
)
_TENS = 10.0 ** np.arange(9)
_EXACT = 2.0**53  # whole numbers below it are doubles


def parse_decimals(block: bytes) -> Float[Array, "n"] | None:
    """All numbers of a block of plain decimals, or None where there is anything else in it."""
    padded = b" " * 8 + block + b" "
    letters = np.frombuffer(padded, np.uint8)
    kind = np.frombuffer(padded.translate(_KIND), np.uint8)
    if sys.byteorder != "little" or not _is_plain(kind):
        return None
    digit = kind == _DIGIT
    turns = np.flatnonzero(digit[1:] != digit[:-1]) + 1
    begins, ends = turns[0::2], turns[1::2]
    if len(begins) == 0 or np.max(ends - begins) > 8:
        return None
    fraction = kind[begins - 1] == _DOT
    if np.any(kind[ends[fraction]] == _DOT):  # 1.2.3
        return None
    follows = fraction & (kind[begins - 2] == _DIGIT)
    values = _whole(letters, begins, ends).astype(float)
    first = np.flatnonzero(~follows)  # the run that each number begins with
    scale = np.where(fraction, _TENS[ends - begins], 1.0)
    has_tail = np.append(follows, False)[first + 1]
    tail = first[has_tail] + 1
    numbers, scales = values[first], scale[first]
    numbers[has_tail] = numbers[has_tail] * scale[tail] + values[tail]
    scales[has_tail] = scale[tail]
    if np.max(numbers) >= _EXACT:
        return None
    before = letters[begins[first] - 1 - fraction[first]]
    return np.where(before == ord("-"), -numbers, numbers) / scales


def _is_plain(kind: UInt8[Array, "n"]) -> bool:
    """Only digits, blanks, signs before numbers, and dots with a digit beside them."""
    if not kind.all():
        return False
    signs, dots = np.flatnonzero(kind == _SIGN), np.flatnonzero(kind == _DOT)
    if np.any(kind[signs - 1] != _BLANK) or np.any((kind[signs + 1] & (_DIGIT | _DOT)) == 0):
        return False
    starts_number = (kind[dots - 1] & (_BLANK | _SIGN)) != 0
    return bool(np.all((kind[dots - 1] == _DIGIT) | (starts_number & (kind[dots + 1] == _DIGIT))))


def _whole(letters: UInt8[Array, "m"], begins: Int[Array, "n"], ends: Int[Array, "n"]) -> UInt64[Array, "n"]:
    """The whole number that each run of one to eight digits spells."""
    windows = np.ndarray((len(letters) - 7,), "<u8", letters, strides=(1,))  # eight bytes from every byte on
    unused = (8 * (8 - (ends - begins))).astype(np.uint64)  # bits of the window before the run
    words = windows[ends - 8] >> unused << unused & np.uint64(0x0F0F0F0F0F0F0F0F)  # digits, the first lowest
    words = words * np.uint64(2561) >> np.uint64(8) & np.uint64(0x00FF00FF00FF00FF)  # 10 a + b
    words = words * np.uint64(6553601) >> np.uint64(16) & np.uint64(0x0000FFFF0000FFFF)  # 100 a + b
    return words * np.uint64(42949672960001) >> np.uint64(32)  # 10000 a + b
