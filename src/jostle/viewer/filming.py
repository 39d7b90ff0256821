"""A film made in a process of its own, so that the characters on the page go on at sixty updates a second meanwhile.

Drawing is NumPy from end to end and would hold this process's interpreter most of the time. The clips travel as plain
arrays in a folder, the film comes back in it, and the lines in between say how far it is:

    this process ── clips.npz, clips.json ──> python -m jostle.viewer.filming FOLDER
                 <── "12 82\\n" … film.mp4 ──
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import astuple, fields
from pathlib import Path

import numpy as np

from jostle.clips import Clip
from jostle.clips.pack import pack_clip, unpack_clip
from jostle.controllers import Floor
from jostle.errors import JostleError
from jostle.runtime import Recording
from jostle.types import Array, Float

FILM = "film.mp4"
FLOORS = "floors"
POLITE = 10  # of nice: a page that is being watched comes first


def film(
    clips: Sequence[Clip],
    folder: Path,
    progress: Callable[[int, int], None] | None = None,
    stop: threading.Event | None = None,
) -> bytes:
    """The content of an MP4 of `clips`, drawn next door; `stop` gives it up with a JostleError."""
    _put(clips, folder)
    command = [sys.executable, "-m", "jostle.viewer.filming", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        ended = threading.Event()
        threading.Thread(target=_watch, args=(child, stop, ended), daemon=True).start()
        try:
            for line in child.stdout:
                done, total = (int(word) for word in line.split())
                if progress is not None:
                    progress(done, total)
            problem = child.stderr.read().strip()
        finally:
            ended.set()
            child.kill()  # nothing to an ended one
    if stop is not None and stop.is_set():
        raise JostleError("The page was closed before its film was done.")
    if child.returncode != 0:
        raise JostleError(problem.rpartition("\n")[2] or "The film could not be made: its process ended early.")
    return (folder / FILM).read_bytes()


def _watch(child: subprocess.Popen[str], stop: threading.Event | None, ended: threading.Event) -> None:
    while stop is not None and not ended.wait(0.2):
        if stop.is_set():
            child.kill()
            return


def _put(clips: Sequence[Clip], folder: Path) -> None:
    packed = [pack_clip(clip) for clip in clips]
    (folder / "clips.json").write_text(json.dumps([data for data, _ in packed]), encoding="utf-8")
    arrays = {f"{i}/{name}": array for i, (_, part) in enumerate(packed) for name, array in part.items()}
    arrays |= {f"{i}/{FLOORS}": _floors(clip) for i, clip in enumerate(clips)}
    np.savez(folder / "clips.npz", allow_pickle=False, **arrays)


def _take(folder: Path) -> list[Clip]:
    described = json.loads((folder / "clips.json").read_text(encoding="utf-8"))
    with np.load(folder / "clips.npz", allow_pickle=False) as held:
        arrays = {name: held[name] for name in held.files}
    parts = [
        {name.partition("/")[2]: array for name, array in arrays.items() if name.startswith(f"{i}/")}
        for i in range(len(described))
    ]
    return [_standing(unpack_clip(data, part), part[FLOORS]) for data, part in zip(described, parts, strict=True)]


def _floors(clip: Clip) -> Float[Array, "n 5"]:
    """What a recording stood on; nothing for a clip."""
    floors = clip.floors if isinstance(clip, Recording) else ()
    return np.array([astuple(floor) for floor in floors]).reshape(-1, 5)


def _standing(clip: Clip, floors: Float[Array, "n 5"]) -> Clip:
    """The clip on its ground again."""
    if not len(floors):
        return clip
    own = {field.name: getattr(clip, field.name) for field in fields(Clip) if field.init}
    return Recording(**own, floors=tuple(Floor(*row) for row in floors.tolist()))


def main(folder: Path) -> int:
    """In the other process: draw what lies in `folder`."""
    from jostle.export import render

    with contextlib.suppress(OSError, AttributeError):  # Windows has no such manners
        os.nice(POLITE)
    try:
        render(_take(folder), folder / FILM, progress=lambda done, total: print(done, total, flush=True))
    except JostleError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
