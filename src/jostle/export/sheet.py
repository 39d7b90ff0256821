"""A contact sheet: the poses that tell a clip's story, side by side with their times.

Poses are spread evenly over how much the body changes (not over time, so that standing still takes one picture), and
each then moves to a landing or a leaving foot where one is near.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from jaxtyping import UInt8

from jostle.clips.clip import Clip
from jostle.clips.contacts import find_contacts
from jostle.export.camera import Camera
from jostle.export.caption import caption, centred
from jostle.export.scene import build_figure
from jostle.export.stage import Stage, set_stage
from jostle.types import Array, Float, Int

Picture = UInt8[Array, "h w 3"]


def key_frames(clip: Clip, count: int) -> Int[Array, "k"]:
    """Up to `count` frames, the first and the last among them, that show how the clip goes."""
    count = min(count, clip.frame_count)
    if count < 3:
        return np.array([0, clip.frame_count - 1])[:count]
    way = _way(clip)  # (T,)
    even = np.searchsorted(way, np.linspace(0.0, way[-1], count)).clip(0, clip.frame_count - 1)
    even[0], even[-1] = 0, clip.frame_count - 1
    found = find_contacts(clip)
    changes = np.unique(np.concatenate([*found.strikes, *found.toe_offs, np.zeros(0, dtype=int)]))
    reach = 0.3 * way[-1] / (count - 1)
    for i in range(1, count - 1):
        near = changes[np.abs(way[changes] - way[even[i]]) < reach]
        if len(near):
            even[i] = near[np.argmin(np.abs(way[near] - way[even[i]]))]
    return _distinct(even, clip.frame_count)


def _way(clip: Clip) -> Float[Array, "T"]:
    """How much the pose has changed since the start: joint travel relative to the body, and a little of time itself."""
    points = clip.positions[:, np.unique(build_figure(clip.skeleton).joint)]
    points = points - points.mean(axis=1, keepdims=True)
    steps = np.linalg.norm(np.diff(points, axis=0), axis=-1).mean(axis=-1)
    steps += 0.12 * steps.mean() + 1e-9
    return np.concatenate([[0.0], np.cumsum(steps)])


def _distinct(frames: Int[Array, "k"], total: int) -> Int[Array, "k"]:
    """The same number of frames, rising strictly: the next free one where two fell together."""
    out = np.maximum.accumulate(frames - np.arange(len(frames))) + np.arange(len(frames))
    limit = total - np.arange(len(frames), 0, -1)
    return np.minimum(out, limit)


def layout(count: int, width: int, height: int) -> tuple[int, int]:
    """Rows and columns whose panels are nearest to the upright shape of a standing body, no row left empty."""
    grids = [(rows, -(-count // rows)) for rows in range(1, count + 1)]
    full = [(rows, columns) for rows, columns in grids if rows * columns - count < columns]
    return min(full, key=lambda grid: abs(np.log(width * grid[0] / (height * grid[1]) / 0.82)))


def sheet(
    clips: list[Clip], names: list[str], poses: int, width: int, height: int, camera: str | Camera, contacts: bool
) -> Iterator[tuple[int, int, Picture]]:
    """The panels: (row of pixels, column of pixels, picture). One clip fills the sheet; several get a band each."""
    band = height // len(clips)
    for i, (clip, name) in enumerate(zip(clips, names, strict=True)):
        frames = key_frames(clip, poses)
        rows, columns = layout(len(frames), width, band) if len(clips) == 1 else (1, len(frames))
        wide, tall = width // columns, band // rows
        stage = set_stage(clip, frames / clip.fps, wide / tall, camera=camera, contacts=contacts)
        for k in range(len(frames)):
            row, column = divmod(k, columns)
            yield i * band + row * tall, column * wide, _panel(stage, k, name if k == 0 else "", wide, tall)


def _panel(stage: Stage, k: int, name: str, wide: int, tall: int) -> Picture:
    picture = stage.picture(k, wide, tall)
    time = f"{stage.times[k]:.2f} s"
    return caption(picture, name, time) if name else centred(picture, time)
