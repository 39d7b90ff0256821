"""Where characters stand on the page, so that none walks through another, and where the camera looks from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from jostle.clips import Clip
from jostle.maths import quat
from jostle.types import Array, Float

GAP = 0.35  # body heights between the ways of two neighbours
HALF_WIDTH = 0.22  # of the body height: shoulders and elbows beyond the joints
NEAR_GROUND = 0.1  # metres: a clip whose floor is this near to zero is shown standing on it


@dataclass(frozen=True, eq=False)
class Placement:
    """A turn about Z and then a shift, both for show only."""

    turn: float = 0.0  # radians
    shift: Float[Array, "3"] = field(default_factory=lambda: np.zeros(3))


@dataclass(frozen=True, eq=False)
class View:
    """Where the camera is, what it looks at, and its vertical field of view in radians."""

    position: Float[Array, "3"]
    look_at: Float[Array, "3"]
    fov: float = np.radians(36.0)


def arrange(clips: Sequence[Clip], grounds: Sequence[float]) -> list[Placement]:
    """One clip stays where it is; several start on one line, facing X, each in a lane as wide as its way."""
    if len(clips) == 1:
        return [Placement(0.0, np.array([0.0, 0.0, -_near(grounds[0])]))]
    turns = [_turn(clip) for clip in clips]
    starts = [quat.apply(quat.from_yaw(t), clip.root[0]) for t, clip in zip(turns, clips, strict=True)]
    spans = [_span(clip, turn, start) for clip, turn, start in zip(clips, turns, starts, strict=True)]
    lanes = lanes_of(spans, [clip.skeleton.height for clip in clips])
    return [
        Placement(turn, np.array([-start[0], lane - start[1], -_near(ground)]))
        for turn, start, lane, ground in zip(turns, starts, lanes, grounds, strict=True)
    ]


def lanes_of(spans: Sequence[tuple[float, float]], heights: Sequence[float]) -> list[float]:
    """Y of each start, the first leftmost, so that the spans (about their starts) lie side by side around zero."""
    lanes, edge = [], 0.0
    for (low, high), height in zip(spans, heights, strict=True):
        margin = HALF_WIDTH * height
        lanes.append(edge - (high + margin))
        edge = lanes[-1] + low - margin - GAP * height
    middle = 0.5 * (lanes[0] + lanes[-1])
    return [lane - middle for lane in lanes]


def _turn(clip: Clip) -> float:
    """What turns the clip to X: its way as a whole where it travels, otherwise how it first faces."""
    way = clip.root[-1] - clip.root[0]
    if np.hypot(way[0], way[1]) > 0.5 * clip.skeleton.height:
        return -float(np.arctan2(way[1], way[0]))
    return -float(quat.yaw(clip.wxyz[0, 0]))


def _span(clip: Clip, turn: float, start: Float[Array, "3"]) -> tuple[float, float]:
    y = quat.apply(quat.from_yaw(turn), clip.positions)[..., 1] - start[1]
    return float(y.min()), float(y.max())


def _near(ground: float) -> float:
    return ground if abs(ground) < NEAR_GROUND else 0.0


def first_view(low: Float[Array, "3"], high: Float[Array, "3"], height: float, forward: float = 0.0) -> View:
    """A three-quarter view from the front that holds the box from `low` to `high`; `forward` is where it faces."""
    middle = 0.5 * (low + high)
    look_at = np.array([middle[0], middle[1], low[2] + 0.48 * height])
    spread = max(float(np.hypot(*(high - low)[:2])) + 0.4 * height, 1.1 * height)
    fov = View.__dataclass_fields__["fov"].default
    distance = max(0.72 * spread, 1.1 * height) / np.tan(0.5 * fov) * 0.78
    angle = forward - np.radians(38.0)
    away = np.array([np.cos(angle), np.sin(angle), 0.2])
    return View(look_at + distance * away / np.linalg.norm(away), look_at)
