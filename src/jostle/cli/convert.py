"""`jostle convert`: any readable format to any writable one."""

from __future__ import annotations

from typing import Annotated

import tyro

from jostle.cli.common import load, say
from jostle.clips import Clip, save_clip


def convert(
    source: Annotated[str, tyro.conf.Positional],
    target: Annotated[str, tyro.conf.Positional],
    /,
    fps: float | None = None,
    start: float | None = None,
    end: float | None = None,
    mirror: bool = False,
    retarget: str | None = None,
    unit: float | None = None,
    animation: str | None = None,
) -> None:
    """Read a clip and write it in another format.

    Args:
        source: file to read: .bvh .amc .glb .gltf .txt .csv .npz .c3d, or a shipped clip's name
        target: file to write: .bvh .glb .gltf .usd .usda .usdc .txt .csv .npz .c3d
        fps: resample to this many frames a second
        start: cut before this time, in seconds
        end: cut after this time, in seconds
        mirror: swap left and right
        retarget: put the motion on the skeleton of this file
        unit: metres per unit of the source, where the guess is wrong (BVH)
        animation: which animation of the file to read, by name (glTF)
    """
    clip = _edited(load(source, unit=unit, animation=animation), fps, start, end, mirror)
    if retarget:
        from jostle.clips.retarget import retarget as put_on

        clip = put_on(clip, load(retarget).skeleton)
    save_clip(clip, target)
    say(f"{target}: {clip.frame_count} frames at {clip.fps:g} a second, {clip.skeleton.joint_count} joints.")


def _edited(clip: Clip, fps: float | None, start: float | None, end: float | None, mirror: bool) -> Clip:
    from jostle.clips import edit

    if start is not None or end is not None:
        clip = edit.trim(clip, start or 0.0, clip.duration if end is None else end)
    if fps is not None:
        clip = edit.resample(clip, fps)
    return edit.mirror(clip) if mirror else clip
