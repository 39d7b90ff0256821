"""Pictures to files that move: MP4 through the ffmpeg that imageio-ffmpeg brings along, GIF through pillow."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path

import numpy as np
from jaxtyping import UInt8
from PIL import Image

from jostle.errors import FileError
from jostle.files import replacing
from jostle.types import Array, PathLike

Pictures = Iterable[UInt8[Array, "h w 3"]]


def write_mp4(pictures: Pictures, path: PathLike, fps: float, width: int, height: int) -> None:
    """H.264 in 4:2:0 with its index in front, which every browser plays. Width and height must be even."""
    with replacing(path) as temporary, tempfile.TemporaryFile() as complaints:
        encoder = subprocess.Popen(
            _command(temporary, fps, width, height),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=complaints,
            start_new_session=True,  # ctrl-C is ours to answer, not the encoder's
        )
        assert encoder.stdin is not None
        try:
            for picture in pictures:
                encoder.stdin.write(np.ascontiguousarray(picture).data)
            encoder.stdin.close()
            failed = encoder.wait() != 0
        except BrokenPipeError:
            failed = True
        finally:
            _stop(encoder)
        if failed:
            complaints.seek(0)
            said = complaints.read().decode("utf-8", "replace").strip().splitlines()
            raise FileError(path, f"the video encoder failed ({said[-1] if said else 'without a word'}).")


def _stop(encoder: subprocess.Popen[bytes]) -> None:
    """Whatever happened, leave no process and no open pipe behind."""
    if encoder.poll() is None:
        encoder.kill()
    encoder.wait()
    if encoder.stdin is not None:
        with suppress(BrokenPipeError):
            encoder.stdin.close()


def _command(path: Path, fps: float, width: int, height: int) -> list[str]:
    from imageio_ffmpeg import get_ffmpeg_exe

    return [
        get_ffmpeg_exe(), "-y", "-loglevel", "error", "-nostdin",
        "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", f"{fps:g}", "-i", "-",
        "-an", "-c:v", "libx264", "-preset", "fast", "-crf", "19", "-pix_fmt", "yuv420p", "-movflags", "+faststart",
        "-f", "mp4", str(path),
    ]  # fmt: skip


def write_gif(pictures: Pictures, path: PathLike, fps: float, count: int) -> None:
    """A looping GIF of `count` pictures with one palette for all."""
    frames = _quantised(iter(pictures))
    with replacing(path) as temporary, open(temporary, "wb") as file:
        lasts = durations(fps, count)
        next(frames).save(file, format="GIF", save_all=True, append_images=frames, loop=0, duration=lasts)


def durations(fps: float, count: int) -> list[int]:
    """Milliseconds for each frame, whole hundredths of a second as GIF wants them, the rounding carried along."""
    ends = np.round(100.0 * np.arange(count + 1) / fps)
    return [10 * int(step) for step in np.diff(ends)]


def _quantised(pictures: Iterator[UInt8[Array, "h w 3"]]) -> Iterator[Image.Image]:
    first = next(pictures)
    palette = Image.fromarray(first).quantize(255, method=Image.Quantize.MEDIANCUT)
    for picture in chain([first], pictures):
        yield Image.fromarray(picture).quantize(palette=palette, dither=Image.Dither.NONE)
