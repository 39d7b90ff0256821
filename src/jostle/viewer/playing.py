"""Clips on the page: play, pause, scrub, step, slow down; trails, contacts, and a world that follows."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np

from jostle.clips import Clip
from jostle.clips.skin import Skin
from jostle.viewer.clock import Beat
from jostle.viewer.frames import Figure, Frame, Track, common_end
from jostle.viewer.panel import ClipPanel
from jostle.viewer.scene import Scene
from jostle.viewer.stage import RATE, Stage, open_stage, run_until_interrupted
from jostle.viewer.tracks import Following, figures_of, moment, opening_view, place

GUI_RATE = 10.0  # of the time slider, while it plays: more would only redraw the panel


def view_clips(
    clips: Sequence[Clip],
    names: Sequence[str] | None = None,
    host: str = "127.0.0.1",
    port: int = 8080,
    open_browser: bool = True,
    skins: Sequence[Skin | None] | None = None,
    shadows: bool = True,
    announce: Callable[[str], object] = print,
) -> None:
    """Show clips side by side in the browser until interrupted; `announce` is told the page's address."""
    player = open_clips(clips, names, host, port, skins, shadows)
    run_until_interrupted(player, open_browser, announce)


def open_clips(
    clips: Sequence[Clip],
    names: Sequence[str] | None = None,
    host: str = "127.0.0.1",
    port: int = 8080,
    skins: Sequence[Skin | None] | None = None,
    shadows: bool = True,
) -> Player:
    """The page of `view_clips`, opened but not yet running: call `run`, and `close` in the end."""
    tracks = place(clips)
    figures = figures_of(tracks, names, skins)
    stage = open_stage(" · ".join(f.name for f in figures) + " — jostle", host, port)
    return Player(stage, tracks, figures, shadows)


class Player:
    """The page of clips and its loop."""

    def __init__(self, stage: Stage, tracks: Sequence[Track], figures: Sequence[Figure], shadows: bool = True) -> None:
        self.stage = stage
        self.tracks = list(tracks)
        self.end = common_end(tracks)
        self.step_size = min(track.clip.dt for track in tracks)
        self.time = 0.0
        self.playing = True
        self.stop = threading.Event()
        self._changed = True
        self.scene = Scene(stage.server, figures, shadows)
        self.scene.draw_ways([track.trails for track in tracks])
        self.following = Following(tracks)
        self.panel = ClipPanel(self)
        self.scene.look_from(lambda aspect: opening_view(tracks, figures, self.panel.follow.value, aspect))

    def frame(self) -> Frame:
        return moment(self.tracks, self.time, self.panel.loop.value)

    def toggle(self) -> None:
        if not self.playing and self.time >= self.end:
            self.time = 0.0
        self.set_playing(not self.playing)

    def set_playing(self, playing: bool) -> None:
        self.playing = playing
        self.panel.play.label = "Pause" if playing else "Play"
        if not playing:
            self.panel.time.value = self.time  # while it plays the slider lags by a few frames
        self._changed = True

    def seek(self, seconds: float) -> None:
        self.time = float(np.clip(seconds, 0.0, self.end))
        self._changed = True

    def step(self, frames: int) -> None:
        """Pause on a whole frame, `frames` from the one shown."""
        self.set_playing(False)
        self.seek((round(self.time / self.step_size) + frames) * self.step_size)
        self.panel.time.value = self.time

    def refresh(self) -> None:
        """Something in the panel changed what is shown."""
        self._changed = True

    def advance(self, seconds: float) -> None:
        """Move the playhead on by `seconds` of wall time."""
        self.time += seconds * self.panel.rate
        if self.time > self.end:
            if self.panel.loop.value and self.end > 0.0:
                self.time %= self.end
            else:
                self.time = self.end
                self.set_playing(False)

    def tick(self, ticks: int) -> None:
        """One update of the page, `ticks` beats after the last."""
        dt = ticks / RATE
        if self.playing:
            self.advance(dt)
        frame = self.frame()
        middle, lanes = self.following.at(frame, self.panel.follow.value)
        if self.playing or self._changed or not self.scene.rests(middle, lanes):
            self._changed = False
            self.scene.show(frame, middle, dt, lanes)

    def run(self) -> None:
        """Until `stop` is set."""
        beat, shown = Beat(RATE, stop=self.stop), 0
        while ticks := beat.wait():
            self.tick(ticks)
            shown += ticks
            if self.playing and shown >= RATE / GUI_RATE:
                self.panel.time.value = self.time
                shown = 0

    def close(self) -> None:
        self.stop.set()
        self.stage.close()
