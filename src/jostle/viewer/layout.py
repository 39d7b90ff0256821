"""Where characters stand on the page, so that none walks through another, and where the camera looks from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from jostle.clips import Clip
from jostle.maths import quat
from jostle.types import Array, Float

GAP = 0.2  # body heights between the ways of two neighbours
HALF_WIDTH = 0.15  # of the body height: shoulders and elbows beyond the joints
PANEL_SHARE = 0.028  # of the distance, by which the view looks to the side of what it shows
USUAL_ASPECT = 1.6  # width over height of most windows; wider ones show more to the sides
NARROW_ASPECT = 1.2  # below it a window is a phone's or a column
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
    """Y of each start so that the spans (about their starts) lie side by side around zero.

    The first has the least Y: seen from the front, as the camera does, it stands on the left.
    """
    lanes, edge = [], 0.0
    for (low, high), height in zip(spans, heights, strict=True):
        margin = HALF_WIDTH * height
        lanes.append(edge + margin - low)
        edge = lanes[-1] + high + margin + GAP * height
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


def first_view(
    low: Float[Array, "3"],
    high: Float[Array, "3"],
    height: float,
    forward: float = 0.0,
    aspect: float = USUAL_ASPECT,
    panel: bool = True,
) -> View:
    """A three-quarter view from the front, as near as the box from `low` to `high` allows; `forward` is where it faces.

    The wider the box, the more the camera comes round to the front of it, so that nobody stands behind another. A
    `panel` stands to the right of the scene, except in a window of a phone's `aspect`, where it lies below.
    """
    wide = min(1.0, max(0.0, float(np.hypot(*(high - low)[:2])) / height - 1.0) / 2.0)
    angle = forward - np.radians(38.0 - 16.0 * wide)
    away = np.array([np.cos(angle), np.sin(angle), 0.22])
    top = np.array([high[0], high[1], max(high[2], low[2] + height)])
    look_at = np.array([0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), 0.5 * (low[2] + top[2])])
    view = View(look_at + away / np.linalg.norm(away), look_at)
    corners = np.array(np.meshgrid(*np.stack([low, top], axis=1))).reshape(3, -1).T
    beside = panel and aspect >= NARROW_ASPECT
    distance = _distance(view, corners, (0.72 if beside else 0.86) * min(aspect, USUAL_ASPECT))
    share = PANEL_SHARE * (1.0 + 1.5 * wide) if beside else 0.0
    aside = share * distance * np.array([-away[1], away[0], 0.0])  # everything a little to the left of the panel
    return View(look_at + (view.position - look_at) * distance + aside, look_at + aside)


def _distance(view: View, corners: Float[Array, "n 3"], across: float) -> float:
    """How far to stand back for all corners to fit into the middle of a window, `across` half its height to a side."""
    back = view.position - view.look_at
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    x, y, z = ((corners - view.look_at) @ np.stack([right, np.cross(back, right), back], axis=1)).T
    tan = np.tan(0.5 * view.fov)
    return float(np.max(np.concatenate([z + np.abs(y) / (0.78 * tan), z + np.abs(x) / (across * tan)])))
