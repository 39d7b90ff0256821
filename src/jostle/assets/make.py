"""Make the shipped clips: `python -m jostle.assets.make [FOLDER]` writes them, beside this file unless told where.

What a simulated walker can do, it walks (`walked`): normal walks, turns and pushes. Running and standing, which none
has learned, are drawn by rule.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from jostle.assets import walker_path
from jostle.assets.gait import make_gait, running
from jostle.assets.stand import make_stand
from jostle.assets.walked.write import write_walked
from jostle.clips import Clip, save_clip
from jostle.controllers.walker.walker import Walker
from jostle.runtime import load_controller
from jostle.types import PathLike

FOLDER = Path(__file__).parent / "clips"
WALKS = "relaxed"  # the shipped walker that walks


def drawn_clips() -> Mapping[str, Clip]:
    """Those that no walker walks. The same call gives the same clips, bit for bit."""
    return {
        "run": make_gait(running(), cycles=5, fps=60.0, name="run"),
        "stand": make_stand(seconds=8.0, fps=30.0, name="stand"),
    }


def write_clips(folder: PathLike = FOLDER, tell: Callable[[str], None] = lambda line: None) -> None:
    """All of them; takes a minute."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, clip in drawn_clips().items():
        save_clip(clip, Path(folder) / f"{name}.bvh")
    walker = load_controller(walker_path(WALKS))
    assert isinstance(walker, Walker)
    write_walked(walker, folder, tell=tell)


if __name__ == "__main__":
    write_clips(*sys.argv[1:2], tell=lambda line: print(line, file=sys.stderr, flush=True))
