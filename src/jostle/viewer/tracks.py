"""Clips in their places, the figures that play them, and where to look at them from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jostle.clips import Clip
from jostle.clips.skin import Skin
from jostle.errors import MotionError
from jostle.skeleton import find_roles
from jostle.viewer.frames import Figure, Frame, Track, build_figure
from jostle.viewer.layout import View, arrange, first_view


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
