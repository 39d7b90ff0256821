"""`jostle convert`: any readable format to any writable one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from jostle.cli.common import GLTF, find_skin, load, say
from jostle.clips import Clip, save_clip

if TYPE_CHECKING:
    from jostle.clips.skin import Skin

POINTS = (".txt", ".csv", ".npz", ".c3d")


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
    up: Literal["y", "z"] | None = None,
    asf: Path | None = None,
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
        unit: metres per unit of the source, where the guess is wrong (BVH, AMC, points)
        up: which axis of the source points up, where the guess is wrong (BVH, points)
        asf: the skeleton of an AMC file, where it does not lie beside it
        animation: which animation of the file to read, by name (glTF)
    """
    given = {"unit": unit, "up": up, "asf": asf, "animation": animation}
    clip, onto = load(source, **given), load(retarget).skeleton if retarget else None
    if onto is not None and Path(source).suffix.lower() in POINTS and set(onto.names) <= set(clip.skeleton.names):
        clip = load(source, skeleton=onto, **given)  # other points of the same body
    clip = _edited(clip, fps, start, end, mirror)
    if onto is not None and not clip.skeleton.same_as(onto):
        from jostle.clips.retarget import retarget as put_on

        clip = put_on(clip, onto)
    save_clip(clip, target, **_look(retarget or source, target, kept=retarget is not None or not mirror))
    say(f"{target}: {clip.frame_count} frames at {clip.fps:g} a second, {clip.skeleton.joint_count} joints.")


def _look(source: str, target: str, kept: bool) -> dict[str, Skin]:
    """From glTF to glTF a figure keeps its own skin, or has that of the figure that it is put on; everything else is
    shown as a mannequin."""
    skin = find_skin(source) if kept and Path(target).suffix.lower() in GLTF else None
    return {} if skin is None else {"skin": skin}


def _edited(clip: Clip, fps: float | None, start: float | None, end: float | None, mirror: bool) -> Clip:
    from jostle.clips import edit

    if start is not None or end is not None:
        clip = edit.trim(clip, start or 0.0, clip.duration if end is None else end)
    if fps is not None:
        clip = edit.resample(clip, fps)
    return edit.mirror(clip) if mirror else clip
