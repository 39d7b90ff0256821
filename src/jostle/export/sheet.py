"""A contact sheet: the poses that tell a clip's story, side by side with their times.

Poses are spread over how much the body changes rather than over time, so that standing still takes one picture. Around
each even place the pose is taken that is least like those already shown (or six strides would show one moment six
times), a landing or leaving foot being preferred.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from jaxtyping import UInt8

from jostle.clips.clip import Clip
from jostle.clips.contacts import find_contacts
from jostle.errors import JostleError
from jostle.export.camera import Camera
from jostle.export.caption import caption, centred
from jostle.export.scene import build_figure
from jostle.export.stage import Stage, set_stage
from jostle.maths import quat
from jostle.skeleton import find_roles
from jostle.types import Array, Float, Int

SMALLEST = 24  # pixels a side of a pose; smaller, it cannot be made out
Picture = UInt8[Array, "h w 3"]


def key_frames(clip: Clip, count: int) -> Int[Array, "k"]:
    """Up to `count` frames, the first and the last among them, that show how the clip goes."""
    last = clip.frame_count - 1
    if count > last:
        return np.arange(clip.frame_count)
    if count < 3:
        return np.array([0, last])[:count]
    shapes = _shapes(clip)  # (T, D)
    way = _way(shapes)  # (T,)
    found = find_contacts(clip)
    changes = np.unique(np.concatenate([*found.strikes, *found.toe_offs, np.zeros(0, dtype=np.int64)]))
    bonus = np.zeros(clip.frame_count)
    bonus[changes] = 0.12 * float(np.linalg.norm(shapes - shapes.mean(axis=0), axis=1).mean())
    spacing = way[-1] / (count - 1)
    chosen = [0]
    for place in spacing * np.arange(1, count - 1):
        near = np.flatnonzero(np.abs(way - place) <= 0.42 * spacing)
        near = near[near > chosen[-1]] if np.any(near > chosen[-1]) else np.array([min(chosen[-1] + 1, last)])
        unlike = np.linalg.norm(shapes[near, None] - shapes[chosen], axis=-1).min(axis=1)
        chosen.append(int(near[np.argmax(unlike + bonus[near])]))
    return _distinct(np.array([*chosen, last]), clip.frame_count)


def _shapes(clip: Clip) -> Float[Array, "T D"]:
    """Each pose as seen by somebody who walks along and turns with the body."""
    points = clip.positions[:, np.unique(build_figure(clip.skeleton).joint)]
    points = points - points.mean(axis=1, keepdims=True)
    pelvis = find_roles(clip.skeleton).get("pelvis", 0)
    facing = quat.from_yaw(quat.yaw(clip.globals.wxyz[:, pelvis]))
    return quat.inv_apply(facing[:, None], points).reshape(clip.frame_count, -1)


def _way(shapes: Float[Array, "T D"]) -> Float[Array, "T"]:
    """How much the pose has changed since the start, and a little of time itself."""
    steps = np.linalg.norm(np.diff(shapes, axis=0), axis=1)
    steps += 0.12 * steps.mean() + 1e-9
    return np.concatenate([[0.0], np.cumsum(steps)])


def _distinct(frames: Int[Array, "k"], total: int) -> Int[Array, "k"]:
    """The same number of frames, rising strictly: the next free one where two fell together."""
    out = np.maximum.accumulate(frames - np.arange(len(frames))) + np.arange(len(frames))
    limit = total - np.arange(len(frames), 0, -1)
    return np.minimum(out, limit)


def layout(count: int, width: int, height: int, shape: float) -> tuple[int, int]:
    """Rows and columns, none empty, whose panels are nearest in shape (width over height) to the body's."""
    grids = [(rows, -(-count // rows)) for rows in range(1, count + 1)]
    full = [(rows, columns) for rows, columns in grids if rows * columns - count < columns]
    return min(full, key=lambda grid: abs(np.log(width * grid[0] / (height * grid[1]) / shape)))


def sheet(
    clips: list[Clip], names: list[str], poses: int, width: int, height: int, camera: str | Camera, contacts: bool
) -> Iterator[tuple[int, int, Picture]]:
    """The panels: (row of pixels, column of pixels, picture). One clip fills the sheet; several get a band each."""
    band = height // len(clips)
    for i, (clip, name) in enumerate(zip(clips, names, strict=True)):
        frames = key_frames(clip, poses)
        shape = _shape(clip, frames, camera)
        rows, columns = layout(len(frames), width, band, shape) if len(clips) == 1 else (1, len(frames))
        wide, tall = width // columns, band // rows
        if min(wide, tall) < SMALLEST:
            raise JostleError(
                f"A sheet of {width} by {height} pixels has no room for {len(frames)} poses of '{name}'; "
                f"each needs {SMALLEST} by {SMALLEST}, so ask for fewer poses or a larger size."
            )
        stage = set_stage(clip, frames / clip.fps, wide / tall, camera=camera, contacts=contacts)
        for k in range(len(frames)):
            row, column = divmod(k, columns)
            yield i * band + row * tall, column * wide, _panel(stage, k, name if k == 0 else "", wide, tall)


def _shape(clip: Clip, frames: Int[Array, "k"], camera: str | Camera) -> float:
    """Width over height of the bodies in these frames, as the camera sees them, with room for the time below."""
    stage = set_stage(clip, frames / clip.fps, 1.0, camera=camera)
    seen = []
    for k in range(len(frames)):
        xy, _ = stage.camera(k).project(stage.world.positions[k, np.unique(stage.figure.joint)], 1000, 1000)
        seen.append(np.ptp(xy, axis=0))
    wide, tall = np.max(seen, axis=0)
    return float(np.clip((wide + 0.15 * tall) / (1.35 * tall + 1e-9), 0.4, 2.5))


def _panel(stage: Stage, k: int, name: str, wide: int, tall: int) -> Picture:
    picture = stage.picture(k, wide, tall)
    time = f"{stage.times[k]:.2f} s"
    return caption(picture, name, time) if name else centred(picture, time)
