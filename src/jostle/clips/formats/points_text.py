"""Labelled points as text: bare columns (.txt) and columns with a header (.csv).

Bare columns are what the dog recordings of Zhang et al. (2018) come as: one frame a line, x y z of each joint, Y up.
Lines that begin with # are comments; two of them, `# fps: 60` and `# labels: Hips, Spine, …`, are read and written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from jostle.clips.formats.text import MAX_LINE, MAX_VALUES, decode, is_usable, read_text, shown, to_float, unusable
from jostle.clips.points import Points, RawPoints, check_labels, default_labels
from jostle.errors import FormatError
from jostle.files import write_text
from jostle.types import Array, Float, PathLike

_MAX_BYTES = 128 * 2**20
_LONGEST_LABEL = 200  # characters; longer is no label, and would keep the pattern below busy
_TIME = ("time", "t", "seconds", "time_s", "timestamp", "time (seconds)", "time(s)", "time [s]")
_FRAME = ("frame", "frames", "index", "frame#", "")
# Hips.x, Hips_x, Hips x, Hips[x]; without anything between only where the case changes: LASIx, HeadX, but not sex
_CELL = re.compile(r"^(.*?)(?:[\s._:\-\[(]+|(?<=[A-Z0-9])(?=[xyz])|(?<=[a-z0-9])(?=[XYZ]))([xyzXYZ])[\])]?$")


def read_txt(path: PathLike) -> RawPoints:
    rate, labels, rows, width = None, None, [], 0
    for number, line in _lines(path, read_text(path, _MAX_BYTES)):
        if line.startswith(b"#"):
            key, _, value = decode(line[1:]).partition(":")
            if key.strip().lower() == "fps":
                rate = _positive(path, value, number)
            elif key.strip().lower() == "labels":
                labels = tuple(label.strip() for label in value.split(","))
            continue
        row = _numbers(path, _cells(line), number)
        width = width or len(row)
        if len(row) % 3:
            raise FormatError(
                path,
                f"this frame has {len(row)} values, which is no multiple of 3 (x, y, z); it may be cut short.",
                line=number,
            )
        _check_width(path, len(row), width, number)
        rows.append(row)
        _check_size(path, len(rows) * width)
    if not rows:
        raise FormatError(path, "there is no frame in it; each line must hold x, y, z of every point.")
    names = labels or default_labels(width // 3)
    check_labels(path, names, width // 3)
    return RawPoints(names, np.array(rows).reshape(len(rows), -1, 3), rate)


def read_csv(path: PathLike) -> RawPoints:
    lines = (item for item in _lines(path, read_text(path, _MAX_BYTES)) if not item[1].startswith(b"#"))
    first = next(lines, None)
    if first is None:
        raise FormatError(
            path, "there is no header in it; the first line must name the columns: time, Hips.x, Hips.y, Hips.z."
        )
    separator = b";" if first[1].count(b";") > first[1].count(b",") else b","
    header = [decode(cell.strip().strip(b'"')) for cell in first[1].split(separator)]
    labels, columns, time = _columns(path, header, first[0])
    rows = []
    for number, line in lines:
        row = _numbers(path, line.split(separator), number, keep=len(header))
        _check_width(path, len(row), len(header), number)
        rows.append(row)
        _check_size(path, len(rows) * len(header))
    if not rows:
        raise FormatError(path, "there is a header but no frame after it; export it again.")
    table = np.array(rows)
    rate = None if time is None else _rate_of(path, table[:, time], first[0] + 1)
    return RawPoints(labels, table[:, columns], rate)


def _lines(path: PathLike, data: bytes) -> Iterator[tuple[int, bytes]]:
    """(number, line) of the lines that are not blank, in bounded memory."""
    start, number = 0, 1
    while start < len(data):
        end = data.find(b"\n", start, start + MAX_LINE)
        if end < 0 and len(data) - start > MAX_LINE:
            raise FormatError(
                path,
                f"this line is longer than {MAX_LINE // 2**20} MB, so it is no frame of points; export it again.",
                line=number,
            )
        end = len(data) if end < 0 else end
        if line := data[start:end].strip():
            yield number, line
        start, number = end + 1, number + 1


def _cells(line: bytes) -> list[bytes]:
    if b"," not in line:
        return line.split()
    cells = [cell.strip() for cell in line.split(b",")]
    return cells[:-1] if cells[-1] == b"" else cells  # many writers end a line with a comma


def _numbers(path: PathLike, cells: list[bytes], line: int, keep: int | None = None) -> list[float]:
    """The numbers of a line; an empty cell is a gap. Cells beyond `keep` may be empty and are dropped."""
    while keep is not None and len(cells) > keep and not cells[-1].strip():
        cells = cells[:-1]
    try:
        row = [float(cell) for cell in cells]
    except ValueError:  # gaps, quotes, or what is no number
        row = [_number(path, cell.strip().strip(b'"'), line) for cell in cells]
    fine = is_usable(np.array(row), allow_nan=True)
    if not fine.all():
        raise FormatError(path, f"{unusable(cells[int(np.argmin(fine))].strip())}.", line=line)
    return row


def _number(path: PathLike, word: bytes, line: int) -> float:
    value = to_float(word) if word else float("nan")
    if value is None:
        raise FormatError(path, f"{unusable(word)}.", line=line)
    return value


def _check_width(path: PathLike, got: int, wanted: int, line: int) -> None:
    if got != wanted:
        raise FormatError(
            path,
            f"this frame has {got} values where others have {wanted}; it may be cut short, so export it again.",
            line=line,
        )


def _check_size(path: PathLike, values: int) -> None:
    if values > MAX_VALUES:
        raise FormatError(path, f"it holds more than {MAX_VALUES:,} values; cut it into shorter takes.")


def _positive(path: PathLike, text: str, line: int) -> float:
    value = to_float(text.strip().encode())
    if value is None or not (np.isfinite(value) and value > 0):
        raise FormatError(path, f"'{text.strip()[:40]}' is no frame rate; write a positive number.", line=line)
    return value


def _columns(path: PathLike, header: list[str], line: int) -> tuple[tuple[str, ...], Array, int | None]:
    """Labels, the columns (P, 3) of their x, y, z, and the column of time if there is one."""
    found: dict[str, dict[str, int]] = {}
    time = None
    for column, cell in enumerate(header):
        if cell.strip().lower() in _TIME:
            time = column
            continue
        match = _CELL.match(cell.strip()) if len(cell) <= _LONGEST_LABEL else None
        if cell.strip().lower() in _FRAME or not match:
            continue
        axes = found.setdefault(match[1] or "Point", {})
        if match[2].lower() in axes:
            raise FormatError(path, f"two columns are called '{cell[:60]}'; rename one of them.", line=line)
        axes[match[2].lower()] = column
    if not found:
        raise FormatError(
            path,
            f"no columns named like Hips.x, Hips.y, Hips.z were found in '{shown(', '.join(header).encode())}'.",
            line=line,
        )
    for label, axes in found.items():
        if len(axes) < 3:
            missing = ", ".join(f"{label[:60]}.{axis}" for axis in "xyz" if axis not in axes)
            raise FormatError(path, f"the column {missing} is missing; each point needs x, y and z.", line=line)
    return tuple(found), np.array([[axes[a] for a in "xyz"] for axes in found.values()]), time


def _rate_of(path: PathLike, time: Float[Array, "T"], line: int) -> float | None:
    """Frames a second, from seconds that rise evenly."""
    if len(time) < 2:
        return None
    steps = np.diff(time)
    middle = float(np.median(steps))
    if not middle > 0 or not np.all(np.abs(steps - middle) < 0.5 * middle):
        raise FormatError(path, "its times do not rise evenly; give every frame its time in seconds.", line=line)
    rate = (len(time) - 1) / float(time[-1] - time[0])
    return float(round(rate)) if abs(rate - round(rate)) < 1e-3 * rate else rate


def write_txt(points: Points, path: PathLike) -> None:
    table = points.positions[..., [1, 2, 0]].reshape(len(points.positions), -1)  # Y up: left, up, forward
    head = [f"# fps: {points.fps:.10g}", "# labels: " + ", ".join(label.replace(",", " ") for label in points.labels)]
    write_text(path, "\n".join([*head, *(",\t".join(_written(v) for v in row) for row in table)]) + "\n")


def write_csv(points: Points, path: PathLike) -> None:
    labels = [label.replace(",", " ") for label in points.labels]
    header = ",".join(["time", *(f"{label}.{axis}" for label in labels for axis in "xyz")])
    table = points.positions.reshape(len(points.positions), -1)
    rows = (",".join([f"{i / points.fps:.6f}", *(_written(v, "") for v in row)]) for i, row in enumerate(table))
    write_text(path, "\n".join([header, *rows]) + "\n")


def _written(value: float, gap: str = "nan") -> str:
    return f"{value:.6f}" if np.isfinite(value) else gap
