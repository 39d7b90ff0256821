"""Reading with a limit and writing without leaving half a file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jostle.errors import FileError
from jostle.types import PathLike

MAX_BYTES = 256 * 2**20  # no motion file of this field is larger; beyond it memory would not be bounded


def read_bytes(path: PathLike, limit: int = MAX_BYTES) -> bytes:
    """The file's bytes, or one sentence that says why not."""
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size or limit  # a pipe has none
            data = file.read(min(size, limit) + 1)  # room is made for what is asked, so ask for no more than there is
    except FileNotFoundError:
        raise FileError(path, "there is no such file.") from None
    except IsADirectoryError:
        raise FileError(path, "this is a folder; name a file in it.") from None
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        raise FileError(path, f"it cannot be read ({_reason(error)}).") from None
    if len(data) > limit:
        raise FileError(path, f"it is larger than {limit // 2**20} MB; cut it into shorter takes first.")
    if not data:
        raise FileError(path, "it is empty; export it again.")
    return data


@contextmanager
def replacing(path: PathLike) -> Iterator[Path]:
    """Yield a temporary path beside `path`; on success it takes the place of `path`, on failure it is removed.

    A good file is therefore never replaced by half a file. Where `path` is a link, what it points to is replaced.
    """
    target = _target(path)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.stem}-", suffix=target.suffix, dir=target.parent)
    except FileNotFoundError:
        raise FileError(path, f"the folder '{target.parent}' does not exist; make it first.") from None
    except (OSError, ValueError) as error:
        raise FileError(path, f"it cannot be written ({_reason(error)}).") from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        _flush(temporary)
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)  # mkstemp made it private; a finished file is an ordinary one
        temporary.replace(target)
    except OSError as error:
        raise FileError(path, f"it cannot be written ({_reason(error)}).") from None
    finally:
        temporary.unlink(missing_ok=True)


def _target(path: PathLike) -> Path:
    """The ordinary file that is meant, at the end of any links. Devices and pipes cannot be replaced."""
    try:
        target = Path(os.path.realpath(path))
        special = target.exists() and not target.is_file()
    except (OSError, ValueError) as error:
        raise FileError(path, f"it cannot be written ({_reason(error)}).") from None
    if special:
        raise FileError(path, "this is a folder or a device; name an ordinary file.")
    return target


def _reason(error: OSError | ValueError) -> str:
    return str(getattr(error, "strerror", None) or error)


def _flush(path: Path) -> None:
    with open(path, "rb+") as file:
        os.fsync(file.fileno())


def write_bytes(path: PathLike, data: bytes) -> None:
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def write_text(path: PathLike, text: str) -> None:
    write_bytes(path, text.encode("utf-8"))
