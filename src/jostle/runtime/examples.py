"""What a character learns to answer pushes from: a clip, and the forces that a .json beside it tells."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jostle.clips import load_clip
from jostle.errors import FormatError
from jostle.runtime.recording import Recording, load_recording
from jostle.types import PathLike

if TYPE_CHECKING:
    from jostle.controllers.dynamic.learn import Example


def load_example(path: PathLike) -> Example:
    """A clip in any readable format; with its pushes, where it is a recording."""
    from jostle.controllers.dynamic.learn import Example

    if not Path(path).with_suffix(".json").exists():
        return Example(load_clip(path))
    try:
        recorded = load_recording(path)
    except FormatError:  # a .json of something else
        return Example(load_clip(path))
    return example_of(recorded)


def example_of(recorded: Recording) -> Example:
    from jostle.controllers.dynamic.learn import Example

    return Example(recorded, tuple((timed.time, timed.push) for timed in recorded.pushes))
