"""Everything jostle raises on purpose.

JostleError                 one sentence a user can act on
├── FileError               a file cannot be read or written: which, where in it, and what to do
│   ├── FormatError         the file's content is not what its format allows
│   ├── BundleError         a .jostle bundle is foreign, truncated or of an unknown version
│   └── MissingExtraError   the format needs an optional package that is not installed
├── MotionError             a clip, skeleton or pose does not fit what was asked of it
├── BodyError               a body cannot be built or simulated
└── CommandError            a push or command names something that does not exist, or makes no sense

JostleWarning               something was read, but not all of it could be kept
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from os import PathLike


class JostleError(Exception):
    """Base of everything jostle raises on purpose; its text is one sentence for the user."""


class FileError(JostleError):
    """A file cannot be read or written."""

    def __init__(self, path: str | PathLike[str], problem: str, *, line: int | None = None) -> None:
        self.path = str(path)
        self.line = line
        where = f"{self.path}, line {line}" if line is not None else self.path
        super().__init__(f"{where}: {problem}")

    def __reduce__(self) -> tuple[object, ...]:
        """As it is, so that it can be told by another process."""
        return _retold, (type(self), self.args, self.__dict__)


def _retold(kind: type[FileError], args: tuple[str, ...], about: dict[str, object]) -> FileError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(about)
    return error


class FormatError(FileError):
    """The file's content is not what its format allows."""


class MissingExtraError(FileError):
    """The format needs an optional package that is not installed."""

    def __init__(self, path: str | PathLike[str], format_name: str, extra: str) -> None:
        super().__init__(path, f"{format_name} needs an extra; install it with: pip install 'jostle[{extra}]'.")


class MotionError(JostleError):
    """A clip, skeleton or pose does not fit what was asked of it."""


class BodyError(JostleError):
    """A body cannot be built or simulated."""


class CommandError(JostleError):
    """A push or command names something that does not exist, or makes no sense."""


class BundleError(FileError):
    """A .jostle bundle is foreign, truncated or of an unknown version."""


class JostleWarning(UserWarning):
    """Something was read, but not all of it could be kept."""


def unknown_name(kind: str, given: str, known: Iterable[str]) -> str:
    """`No joint 'Hip'. Did you mean 'Hips'? Known: Hips, Spine, …` — the sentence for a name that is not there."""
    names = list(known)
    close = difflib.get_close_matches(given, names, n=1)
    hint = f" Did you mean '{close[0]}'?" if close else ""
    shown = ", ".join(names[:40]) + (", …" if len(names) > 40 else "")
    return f"No {kind} '{given}'.{hint} Known: {shown}."
