"""Clips in their places, the figures that play them, and where to look at them from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jostle.clips import Clip
from jostle.clips.skin import Skin
from jostle.errors import MotionError
from jostle.skeleton import find_roles
from jostle.types import Array, Float
from jostle.viewer.frames import Figure, Frame, Track, build_figure, common_end
from jostle.viewer.layout import USUAL_ASPECT, View, arrange, first_view


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


def opening_view(
    tracks: Sequence[Track], figures: Sequence[Figure], follow: bool, aspect: float = USUAL_ASPECT, panel: bool = True
) -> View:
    """From where all are seen: where they begin when the world follows them, and their whole ways when not."""
    shown = [t.body.positions[:1] if follow else t.body.positions for t in tracks]
    low, high = box_of(shown, figures)
    height = max(t.clip.skeleton.height for t in tracks)
    if follow:
        middle = middle_of(moment(tracks, 0.0), tracks)
        low[:2], high[:2] = low[:2] - middle, high[:2] - middle
    return first_view(low, high, height, facing(tracks[0]), aspect, panel)


def box_of(
    shown: Sequence[Float[Array, "... 3"]], figures: Sequence[Figure]
) -> tuple[Float[Array, "3"], Float[Array, "3"]]:
    """The corners of a box on the ground around all joints and what is worn on them."""
    points = [p.reshape(-1, 3) for p in shown]
    low = np.min([p.min(axis=0) - f.beyond for p, f in zip(points, figures, strict=True)], axis=0)
    high = np.max([p.max(axis=0) + f.beyond for p, f in zip(points, figures, strict=True)], axis=0)
    low[2] = 0.0
    return low, high


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


def moment(tracks: Sequence[Track], time: float, repeat: bool = False) -> Frame:
    """All of them at `time`; the shorter ones hold their last frame, or with `repeat` begin anew."""
    at = [time % t.clip.duration if repeat and 0.0 < t.clip.duration < time else time for t in tracks]
    return Frame(time, tuple(track.at(seconds) for track, seconds in zip(tracks, at, strict=True)))


def hips_of(frame: Frame, tracks: Sequence[Track]) -> Float[Array, "N 2"]:
    """The points of the ground under everyone's hips."""
    joints = [find_roles(track.clip.skeleton).get("pelvis", 0) for track in tracks]
    return np.stack([figure.positions[joint, :2] for figure, joint in zip(frame.figures, joints, strict=True)])


def middle_of(frame: Frame, tracks: Sequence[Track]) -> Float[Array, "2"]:
    """The point of the ground in the middle of all."""
    return hips_of(frame, tracks).mean(axis=0)


def part_ways(tracks: Sequence[Track]) -> bool:
    """Whether some leave others behind: then no one view can follow them all."""
    ends = [hips_of(moment(tracks, t), tracks) for t in (0.0, common_end(tracks))]
    apart = ends[1] - ends[0]
    return bool(np.ptp(apart, axis=0).max() > 1.2 * max(track.clip.skeleton.height for track in tracks))


class Following:
    """Where the middle of the page is and how far each character goes back, at any moment of the clips."""

    def __init__(self, tracks: Sequence[Track]) -> None:
        self.tracks = tracks
        self.apart = part_ways(tracks)
        self.start = hips_of(moment(tracks, 0.0), tracks)

    def at(self, frame: Frame, follow: bool) -> tuple[Float[Array, "2"], Float[Array, "N 2"]]:
        none = np.zeros_like(self.start)
        if not follow:
            return np.zeros(2), none
        hips = hips_of(frame, self.tracks)
        return (self.start.mean(axis=0), hips - self.start) if self.apart else (hips.mean(axis=0), none)
