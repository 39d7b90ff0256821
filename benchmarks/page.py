"""A frame of one character to the page, beside viser's own setters and beside what 60 frames a second allow;
and how many updates a second a page really gets, with trails, contacts and following on."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time

from benchmarks.timing import Row, median_seconds
from jostle import assets
from jostle.clips import load_clip
from jostle.viewer.playing import Player, open_clips

LISTENING = 5.0  # seconds
HEADER = 16  # bytes of lengths before a compressed batch


def rows() -> list[Row]:
    player = open_clips([load_clip(assets.clip_path("walk"))], port=0, shadows=False)
    try:
        ours = median_seconds(lambda: [player.tick(1) for _ in range(60)]) / 60
        peer = median_seconds(lambda: [_by_setters(player) for _ in range(60)]) / 60
        threading.Thread(target=player.run, daemon=True).start()
        arriving = LISTENING / asyncio.run(_updates(player))
    finally:
        player.close()
    job = "a frame of one character to the page"
    return [
        Row(job, ours, "viser's own setters", peer),
        Row(job, ours, "what 60 a second allow", 1 / 60),
        Row("between two updates that reach a page", arriving, "60 a second", 1 / 60),
    ]


async def _updates(player: Player) -> int:
    """How many updates reach a client that connects as a browser does, while it listens.

    Every frame that moves is flushed as one message; the panel's time slider sends a few more, which do not count.
    """
    from websockets.asyncio.client import connect

    stage = player.stage
    uri, origin = f"ws://127.0.0.1:{stage.port}/?token={stage.guard.token}", f"http://127.0.0.1:{stage.port}"
    arrived = 0
    async with connect(uri, origin=origin, subprotocols=["viser-v1.1.1"], proxy=None, max_size=None) as page:  # type: ignore[arg-type,list-item]
        await _until_quiet(page)
        end = time.perf_counter() + LISTENING
        while (left := end - time.perf_counter()) > 0:
            with contextlib.suppress(TimeoutError):
                arrived += _moves(await asyncio.wait_for(page.recv(decode=False), left))
    return arrived


async def _until_quiet(page) -> None:
    """Past the scene itself, which arrives first."""
    end = time.perf_counter() + 1.0
    while time.perf_counter() < end:
        await page.recv()


def _moves(message: bytes) -> bool:
    """Whether a batch moves a body: it turns joints."""
    import zstandard

    return b"SetOrientationMessage" in zstandard.ZstdDecompressor().decompressobj().decompress(message[HEADER:])


def _by_setters(player: Player) -> None:
    """The same frame, every joint by its handle."""
    player.advance(1 / 60)
    figure = player.frame().figures[0]
    limbs = player.scene.puppets[0].limbs
    assert limbs is not None
    with player.stage.server.atomic():
        for handle, joint in zip(limbs.handles, limbs.joints, strict=True):
            handle.position, handle.wxyz = figure.positions[joint], figure.wxyz[joint]
    with contextlib.suppress(RuntimeError):
        player.stage.server.flush()
