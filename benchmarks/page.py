"""A frame of one character to the page, beside viser's own setters and beside what 60 frames a second allow."""

from __future__ import annotations

import contextlib

from benchmarks.timing import Row, median_seconds
from jostle import assets
from jostle.clips import load_clip
from jostle.viewer.playing import open_clips


def rows() -> list[Row]:
    player = open_clips([load_clip(assets.clip_path("walk"))], port=0, shadows=False)
    try:
        ours = median_seconds(lambda: [player.tick(1) for _ in range(60)]) / 60
        peer = median_seconds(lambda: [_by_setters(player) for _ in range(60)]) / 60
    finally:
        player.close()
    job = "a frame of one character to the page"
    return [Row(job, ours, "viser's own setters", peer), Row(job, ours, "what 60 a second allow", 1 / 60)]


def _by_setters(player) -> None:
    """The same frame, every joint by its handle."""
    player.advance(1 / 60)
    figure = player.frame().figures[0]
    limbs = player.scene.puppets[0].limbs
    with player.stage.server.atomic():
        for handle, joint in zip(limbs.handles, limbs.joints, strict=True):
            handle.position, handle.wxyz = figure.positions[joint], figure.wxyz[joint]
    with contextlib.suppress(RuntimeError):
        player.stage.server.flush()
