"""`render`: clips to a film or a sheet of key poses, without a window, a GPU or anything but NumPy.

The ending of the path says what is made. Several clips stand side by side, each with a camera of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from jaxtyping import UInt8
from PIL import Image

from jostle.clips.clip import Clip
from jostle.errors import FileError, JostleError, MotionError
from jostle.export.camera import Camera
from jostle.export.caption import caption
from jostle.export.sheet import sheet
from jostle.export.stage import Stage, set_stage
from jostle.export.video import write_gif, write_mp4
from jostle.files import replacing
from jostle.types import Array, PathLike

ENDINGS = (".mp4", ".gif", ".png")
SMALLEST, LARGEST = 48, 8192  # pixels a side
LONGEST = 20_000  # frames of a film: a quarter of an hour
Progress = Callable[[int, int], None]


def render(
    clips: Clip | Sequence[Clip],
    path: PathLike,
    *,
    fps: float = 30.0,
    size: tuple[int, int] = (960, 540),
    follow: bool = True,
    camera: str | Camera | None = None,
    progress: Progress | None = None,
    names: Sequence[str] | None = None,
    contacts: bool = False,
    poses: int = 8,
) -> None:
    """Draw clips to `path`: a film (.mp4, .gif) or a sheet of key poses (.png).

    `camera` is a view by name (`jostle.export.VIEWS`) or a Camera that stands still; `follow` lets a view travel with
    the body; `contacts` rings planted feet; `poses` is the number of poses a clip has on a sheet. `progress` is
    called with (done, total). An existing file is replaced only by a whole one.
    """
    given = [clips] if isinstance(clips, Clip) else list(clips)
    ending = _check(given, path, fps, size, names, poses)
    labels = list(names) if names is not None else [clip.name for clip in given]
    report = progress or (lambda done, total: None)
    if ending == ".png":
        _write_sheet(given, labels, path, size, camera or "side", contacts, poses, report)
        return
    width, height = (side + side % 2 for side in size) if ending == ".mp4" else size  # 4:2:0 wants even sides
    count = int(np.floor(max(clip.duration for clip in given) * fps + 1e-6)) + 1
    if count > LONGEST:
        raise MotionError(
            f"A film of {count} frames is too long to draw (the most is {LONGEST}); cut the clip or lower fps."
        )
    pictures = _film(given, labels, count, fps, (width, height), follow, camera or "three-quarter", contacts, report)
    if ending == ".mp4":
        write_mp4(pictures, path, fps, width, height)
    else:
        write_gif(pictures, path, fps, count)


def _check(
    clips: list[Clip], path: PathLike, fps: float, size: tuple[int, int], names: Sequence[str] | None, poses: int
) -> str:
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise FileError(path, f"files ending in '{ending}' cannot be rendered; these can: {', '.join(ENDINGS)}.")
    if not clips:
        raise MotionError("There is no clip to render; give at least one.")
    if names is not None and len(names) != len(clips):
        raise JostleError(f"{len(names)} names were given for {len(clips)} clips; give one for each.")
    if not 1 <= fps <= 240:
        raise JostleError(f"A film cannot have {fps:g} frames a second; give a rate from 1 to 240.")
    if poses < 1:
        raise JostleError(f"A sheet cannot show {poses} poses; give at least 1.")
    panel = size[0] // len(clips) if ending != ".png" else size[0]
    if min(panel, size[1]) < SMALLEST or max(size) > LARGEST:
        raise JostleError(
            f"A picture of {size[0]} by {size[1]} pixels has no room for {len(clips)} clips or is beyond {LARGEST}; "
            f"every clip needs {SMALLEST} by {SMALLEST}."
        )
    return ending


def _film(
    clips: list[Clip],
    names: list[str],
    count: int,
    fps: float,
    size: tuple[int, int],
    follow: bool,
    camera: str | Camera,
    contacts: bool,
    report: Progress,
) -> Iterator[UInt8[Array, "h w 3"]]:
    """The film's pictures, one clip a column."""
    edges = np.round(np.linspace(0, size[0], len(clips) + 1)).astype(int)
    stages: list[Stage] = []
    for i, clip in enumerate(clips):
        own = int(np.floor(clip.duration * fps + 1e-6)) + 1
        aspect = float(edges[i + 1] - edges[i]) / size[1]
        stages.append(set_stage(clip, np.arange(own) / fps, aspect, camera=camera, follow=follow, contacts=contacts))
    for frame in range(count):
        panels = [
            caption(
                stage.picture(frame, int(edges[i + 1] - edges[i]), size[1]),
                name,
                f"{stage.times[min(frame, len(stage.times) - 1)]:.2f} s",
            )
            for i, (stage, name) in enumerate(zip(stages, names, strict=True))
        ]
        yield np.concatenate(panels, axis=1)
        report(frame + 1, count)


def _write_sheet(
    clips: list[Clip],
    names: list[str],
    path: PathLike,
    size: tuple[int, int],
    camera: str | Camera,
    contacts: bool,
    poses: int,
    report: Progress,
) -> None:
    width, height = size
    total = sum(min(poses, clip.frame_count) for clip in clips)
    page = np.full((height, width, 3), 236, dtype=np.uint8)
    for done, (row, column, picture) in enumerate(sheet(clips, names, poses, width, height, camera, contacts), start=1):
        page[row : row + picture.shape[0], column : column + picture.shape[1]] = picture
        report(done, total)
    with replacing(path) as temporary:
        Image.fromarray(page).save(temporary, format="PNG", optimize=True)
