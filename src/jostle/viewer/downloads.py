"""A recording as a file's bytes, in the formats that the page offers."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from jostle.clips import Clip, save_clip
from jostle.viewer.filming import film

FORMATS = ("BVH", "GLB", "MP4")


def pack(
    clips: Sequence[Clip],
    form: str,
    progress: Callable[[int, int], None] | None = None,
    stop: threading.Event | None = None,
) -> list[tuple[str, bytes]]:
    """(file name, content) for each clip; a film shows all of them together and tells `progress` (done, total)."""
    ending = form.lower()
    with tempfile.TemporaryDirectory(prefix="jostle-") as folder:
        if ending == "mp4":
            return [("recording.mp4", film(clips, Path(folder), progress, stop))]
        out = []
        for name, clip in zip(file_names([c.name for c in clips]), clips, strict=True):
            path = Path(folder) / f"{name}.{ending}"
            save_clip(clip, path)
            out.append((path.name, path.read_bytes()))
        return out


def file_names(names: Sequence[str]) -> list[str]:
    """Names that any file system takes, all different."""
    plain = [
        "".join(c if c.isalnum() or c in "-_." else "-" for c in name).strip("-.") or "recording" for name in names
    ]
    return [n if plain.count(n) == 1 else f"{n}-{plain[:i].count(n) + 1}" for i, n in enumerate(plain)]
