"""The clips that are learnt from, at 30 frames a second. CMU's first frames are T-poses that were added: cut off.

No setting of any method was chosen on sets whose names begin with "held out".
"""

from __future__ import annotations

from pathlib import Path

from jostle.assets import clip_path
from jostle.clips import Clip, load_clip
from jostle.clips.edit import resample, trim_frames
from jostle.clips.retarget import retarget

FPS = 30.0
_EDGE = 5  # frames of the source
# name -> files of cmu_bvh, or of them the frames from .. up to .. at 30 a second
SETS: dict[str, tuple[str | tuple[str, int, int], ...]] = {
    "walk 1": ("16_21", "16_27"),
    "walk 2": ("16_21", "16_23", "16_25", "16_27"),
    "run": ("16_35", "16_37", "16_39", "16_41", "16_43"),
    "mixed": ("16_21", "16_27", "16_35", "16_41", "69_52"),  # walks, runs, and somebody else walking backwards
    "held out 1": ("16_15", "16_17"),  # the same person, slower
    "held out 2": (("104_22", 80, 400),),  # somebody else, weaving
    "held out 3": ("38_03",),  # somebody else, running in a circle
}
SHIPPED = "shipped"  # what is measured without a folder of motion capture
_SHIPPED_CLIPS = (("walk", 60, 140), ("turn_left", 60, 140))


def clips_of(name: str, data: Path | None) -> list[Clip]:
    """A set by name; without `data` there is only the shipped one."""
    if data is None or name == SHIPPED:
        return [trim_frames(load_clip(clip_path(own)), first, last) for own, first, last in _SHIPPED_CLIPS]
    parts = [(own, 0, None) if isinstance(own, str) else own for own in SETS[name]]
    clips = [cmu_clip(data, *part) for part in parts]
    body = clips[0].skeleton
    return [clip if clip.skeleton.same_as(body) else retarget(clip, body) for clip in clips]


def cmu_clip(data: Path, name: str, first: int = 0, last: int | None = None) -> Clip:
    clip = trim_frames(load_clip(data / "cmu_bvh" / f"{name}.bvh"), _EDGE)
    return trim_frames(resample(clip, FPS), first, last).renamed(name)
