"""Clips on the page: play, pause, scrub, step, slow down; trails, contacts, and a world that follows."""

from __future__ import annotations

import threading
import webbrowser
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from jostle.clips import Clip
from jostle.errors import MotionError
from jostle.skeleton import find_roles
from jostle.viewer.clock import Beat
from jostle.viewer.frames import Figure, Frame, Track, build_figure, common_end
from jostle.viewer.layout import View, arrange, first_view
from jostle.viewer.scene import Scene

if TYPE_CHECKING:
    from jostle.clips.skin import Skin
    from jostle.viewer.stage import Stage

RATE = 60.0  # updates a second
GUI_RATE = 10.0  # of the time slider, while it plays: more would only redraw the panel


class Page(Protocol):
    """A page that is open: it has an address, runs until stopped, and is closed in the end."""

    stage: Stage

    def run(self) -> None: ...

    def close(self) -> None: ...


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


def run_until_interrupted(page: Page, open_browser: bool, announce: Callable[[str], object]) -> None:
    announce(page.stage.url)
    if open_browser:
        webbrowser.open(page.stage.url)
    try:
        page.run()
    except KeyboardInterrupt:
        pass
    finally:
        page.close()


def open_clips(
    clips: Sequence[Clip],
    names: Sequence[str] | None = None,
    host: str = "127.0.0.1",
    port: int = 8080,
    skins: Sequence[Skin | None] | None = None,
    shadows: bool = True,
) -> Player:
    """The page of `view_clips`, opened but not yet running: call `run`, and `close` in the end."""
    from jostle.viewer.stage import open_stage

    tracks = place(clips)
    figures = figures_of(tracks, names, skins)
    stage = open_stage(" · ".join(f.name for f in figures) + " — jostle", host, port)
    return Player(stage, tracks, figures, shadows)


def place(clips: Sequence[Clip]) -> list[Track]:
    """Clips in their lanes."""
    if not clips:
        raise MotionError("There is no clip to show; name at least one file.")
    loose = [Track(clip, p) for clip, p in zip(clips, arrange(clips, [0.0] * len(clips)), strict=True)]
    grounds = [float(t.steps[1][..., 2].min()) if t.steps[1].size else 0.0 for t in loose]
    return [Track(clip, p) for clip, p in zip(clips, arrange(clips, grounds), strict=True)]


def figures_of(
    tracks: Sequence[Track], names: Sequence[str] | None, skins: Sequence[Skin | None] | None = None
) -> list[Figure]:
    names = names or [track.clip.name for track in tracks]
    skins = skins or [None] * len(tracks)
    if not len(tracks) == len(names) == len(skins):
        raise MotionError(
            f"There are {len(tracks)} clips, {len(names)} names and {len(skins)} skins; give one of each per clip."
        )
    return [
        build_figure(name, track.clip.skeleton, skin, track.steps[0].shape[1])
        for track, name, skin in zip(tracks, names, skins, strict=True)
    ]


def opening_view(tracks: Sequence[Track], follow: bool) -> View:
    """From where all are seen: where they begin when the world follows them, and their whole ways when not."""
    shown = [t.body.positions[:1] if follow else t.body.positions for t in tracks]
    points = np.concatenate([p.reshape(-1, 3) for p in shown])
    low, high = points.min(axis=0), points.max(axis=0)
    low[2] = 0.0
    height = max(t.clip.skeleton.height for t in tracks)
    if follow:
        middle = middle_of(Frame(0.0, tuple(t.at(0.0) for t in tracks)), tracks)
        low[:2], high[:2] = low[:2] - middle, high[:2] - middle
    return first_view(low, high, height, facing(tracks[0]))


def facing(track: Track) -> float:
    """Where the first character goes, or looks if it goes nowhere: radians about Z."""
    way = track.body.positions[-1, 0] - track.body.positions[0, 0]
    if np.hypot(way[0], way[1]) > 0.5 * track.clip.skeleton.height:
        return float(np.arctan2(way[1], way[0]))
    q = track.body.wxyz[0, 0]
    return float(2.0 * np.arctan2(q[3], q[0]))


def travels(tracks: Sequence[Track]) -> bool:
    """Whether anyone goes far enough to be worth following."""
    return any(float(np.ptp(t.body.positions[:, 0, :2], axis=0).max()) > t.clip.skeleton.height for t in tracks)


def middle_of(frame: Frame, tracks: Sequence[Track]) -> np.ndarray:
    """The point of the ground under the hips of all: (2,)."""
    hips = [
        f.positions[find_roles(t.clip.skeleton).get("pelvis", 0), :2]
        for f, t in zip(frame.figures, tracks, strict=True)
    ]
    return np.mean(hips, axis=0)


class Player:
    """The page of clips and its loop."""

    def __init__(self, stage: Stage, tracks: Sequence[Track], figures: Sequence[Figure], shadows: bool = True) -> None:
        from jostle.viewer.panel import ClipPanel

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
        self.panel = ClipPanel(self)
        self.scene.look_from(opening_view(tracks, self.panel.follow.value))

    def frame(self) -> Frame:
        return Frame(self.time, tuple(track.at(self.time) for track in self.tracks))

    def toggle(self) -> None:
        if not self.playing and self.time >= self.end:
            self.time = 0.0
        self.set_playing(not self.playing)

    def set_playing(self, playing: bool) -> None:
        self.playing = playing
        self.panel.play.label = "Pause" if playing else "Play"
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
        middle = middle_of(frame, self.tracks) if self.panel.follow.value else np.zeros(2)
        settled = float(np.hypot(*(middle - self.scene.offset))) < 1e-4
        if self.playing or self._changed or not settled:
            self._changed = False
            self.scene.show(frame, middle, dt)

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
