"""What can be wrong with clips that a model is to learn from: one sentence each, the same for every model.

`check_clips` looks at clips before they are encoded, `check_latent` and `moving` at the rows that features made of
them. A column that never varies teaches nothing and makes its own scale infinite: it is left out, and the note that
`moving` returns says so in the model's `notes`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np

from jostle.clips import Clip
from jostle.errors import MotionError
from jostle.skeleton import Skeleton
from jostle.types import Array, Bool, Float

STILL = 1e-6  # radians or metres of standard deviation: a column below it does not move
_NAMED = 6  # columns that a note names


def check_clips(clips: Iterable[object] | Clip, *, least: int = 4, same_bones: bool = True) -> tuple[Clip, ...]:
    """The clips, or a sentence why no model can be learnt from them. Angles alone bear bones of other lengths."""
    if isinstance(clips, Clip):
        raise MotionError("A model is learnt from a list of clips; write [clip] where there is only one.")
    given: list[Clip] = []
    for clip in clips:
        if not isinstance(clip, Clip):
            raise MotionError(
                f"A model is learnt from clips, not from a {type(clip).__name__}; `load_clip` reads them."
            )
        _check_frames(clip, least)
        given.append(clip)
    if not given:
        raise MotionError("There is no clip to learn from; name at least one.")
    _check_skeletons(given, same_bones)
    _check_twins(given)
    return tuple(given)


def _check_frames(clip: Clip, least: int) -> None:
    if clip.frame_count < least:
        frames = "one frame" if clip.frame_count == 1 else f"{clip.frame_count} frames"
        raise MotionError(
            f"Clip '{clip.name}' has {frames}; a model needs at least {least} of each clip; give a longer one."
        )
    channels = [clip.root, clip.wxyz] + ([] if clip.offsets is None else [clip.offsets])
    for channel in channels:
        bad = ~np.isfinite(channel).reshape(clip.frame_count, -1).all(axis=1)
        if bad.any():
            raise MotionError(
                f"Clip '{clip.name}' holds values that are no numbers (first in frame {int(np.argmax(bad))}); "
                "`jostle clips check --fix` mends it."
            )


def _check_skeletons(clips: Sequence[Clip], same_bones: bool) -> None:
    first = clips[0]
    for clip in clips[1:]:
        if not _same_tree(clip.skeleton, first.skeleton):
            raise MotionError(
                f"Clips '{first.name}' and '{clip.name}' have different skeletons ({first.skeleton.joint_count} joints "
                f"against {clip.skeleton.joint_count}, or other names); bring them onto one with "
                "`jostle convert --retarget`."
            )
        if same_bones and not clip.skeleton.same_as(first.skeleton):
            raise MotionError(
                f"Clips '{first.name}' and '{clip.name}' have bones of different lengths, and this model sees where "
                "they are; bring them onto one skeleton with `jostle convert --retarget`, or fit a model of angles."
            )


def _same_tree(a: Skeleton, b: Skeleton) -> bool:
    return a.names == b.names and np.array_equal(a.parents, b.parents)


def _check_twins(clips: Sequence[Clip]) -> None:
    """Under whatever name: frames that are there twice would be trusted twice."""
    for a, b in combinations(clips, 2):
        if a.wxyz.shape == b.wxyz.shape and np.allclose(a.wxyz, b.wxyz, atol=1e-6) and np.allclose(a.root, b.root):
            names = f"'{a.name}' and '{b.name}'" if a.name != b.name else f"named '{a.name}'"
            raise MotionError(f"The two clips {names} are the same motion; give it once.")


def check_latent(dimensions: int, rows: int, columns: int, option: str = "latent") -> None:
    """Q can be no more than there are frames, nor than there are moving features."""
    if dimensions < 1:
        raise MotionError(f"A latent space needs at least one dimension, not {dimensions}; 3 is usual.")
    if dimensions >= rows:
        raise MotionError(
            f"A latent space of {dimensions} dimensions cannot be learnt from {rows} frames; "
            f"give more clips or a smaller {option} (3 is usual)."
        )
    if dimensions > columns:
        raise MotionError(
            f"A latent space of {dimensions} dimensions would hold more than the {columns} features that move; "
            f"give a smaller {option} (3 is usual)."
        )


def moving(rows: Float[Array, "N D"], names: Sequence[str], still: float = STILL) -> tuple[Bool[Array, "D"], list[str]]:
    """Which columns vary, and a note about those that do not; a sentence where nothing moves at all."""
    kept = rows.std(axis=0) > still
    if not kept.any():
        raise MotionError("Nothing moves in these clips: every feature is constant. Give clips of a motion.")
    lost = [name for name, keep in zip(names, kept, strict=True) if not keep]
    if not lost:
        return kept, []
    listed = ", ".join(lost[:_NAMED]) + (f" and {len(lost) - _NAMED} more" if len(lost) > _NAMED else "")
    many = (
        f"{len(lost)} features never change and stay as they are"
        if len(lost) > 1
        else "One feature never changes and stays as it is"
    )
    return kept, [f"{many}: {listed}."]
