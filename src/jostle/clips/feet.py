"""Which points of a skeleton touch the ground, and how high each lies above it when it stands.

A person's foot has up to three points: the heel, for which the ankle joint stands, the ball (the toe joint) and the
tip of the toes. An animal's or an unknown rig's feet are judged over the clip: the outermost points that come lowest,
one per limb. A joint lies inside the body, so "on the ground" means "at the height at which this very point stands":
an ankle stands 7 to 14 cm up, and differently in every data set.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from jostle.clips.clip import Clip
from jostle.skeleton import Skeleton, find_roles, is_humanoid
from jostle.types import Array, Float

Kind = Literal["heel", "ball", "tip"]

LEG_SHARE = 0.491  # hip to ankle, as a share of a person's height (Winter 2009, figure 4.1: 0.530 - 0.039)
CLEARANCE = {"heel": 0.045, "ball": 0.02, "tip": 0.01}  # joint above the sole of a shod foot, as a share of height
_ANKLE, _REST_TOE = 0.2, 0.05  # a rest pose stands on the floor if ankles and toes are at most this high above it
_SAME_LEVEL = 0.03  # a person's feet stand at one level to this share of the height; more, and one hangs in the air
_PAWS_LEVEL = 0.12  # hands and feet of animals are built differently
_LOW = 0.12  # a foot of an animal comes at least this near to the lowest point, as a share of its height
_ONE_FOOT = 0.15  # tips nearer to each other than this share of the height are toes of one foot
_NO_FOOT = re.compile(r"tail|pole|head|jaw|tongue|(?<![a-z])ear|wing", re.IGNORECASE)


@dataclass(frozen=True)
class FootPoint:
    """A joint, or the end site `end` that it carries, that touches the ground."""

    foot: int  # row of Feet.names
    kind: Kind
    joint: int
    end: int | None = None

    def track(self, clip: Clip) -> Float[Array, "T 3"]:
        """Where the point is in every frame."""
        return clip.positions[:, self.joint] if self.end is None else clip.globals.ends[:, self.end]


@dataclass(frozen=True)
class Feet:
    """The feet of a skeleton: a name and a joint each (a person's ankles), and the points by which they touch."""

    names: tuple[str, ...]
    joints: tuple[int, ...]
    points: tuple[FootPoint, ...]


def body_size(skeleton: Skeleton) -> float:
    """A person's height by the length of the legs, which no odd rest pose spoils; else the skeleton's height."""
    if is_humanoid(skeleton):
        roles = find_roles(skeleton)
        legs = [
            _leg_length(skeleton, *(roles[f"{side}_{x}"] for x in ("thigh", "shin", "foot")))
            for side in ("left", "right")
            if f"{side}_foot" in roles
        ]
        if legs and max(legs) > 0:
            return float(np.mean(legs)) / LEG_SHARE
    points = np.concatenate([skeleton.rest_positions, skeleton.rest_ends])
    return max(skeleton.height, 0.5 * float(np.max(np.ptp(points, axis=0))), 1e-3)


def _leg_length(skeleton: Skeleton, thigh: int, shin: int, foot: int) -> float:
    """Along the bones from hip to ankle; in rigs whose feet hang from a control bone, straight by way of the knee."""
    chain = skeleton.chain(foot)
    if thigh in chain:
        return sum(float(np.linalg.norm(skeleton.offsets[j])) for j in chain[chain.index(thigh) + 1 :])
    hip, knee, ankle = skeleton.rest_positions[[thigh, shin, foot]]
    return float(np.linalg.norm(knee - hip) + np.linalg.norm(ankle - knee))


def find_feet(clip: Clip) -> Feet:
    """The feet of this clip's skeleton, by role for a person and by what comes lowest for everything else."""
    roles = find_roles(clip.skeleton)
    if "left_foot" in roles and "right_foot" in roles and is_humanoid(clip.skeleton):
        return _human_feet(clip.skeleton)
    return _lowest_feet(clip)


def _human_feet(skeleton: Skeleton) -> Feet:
    roles = find_roles(skeleton)
    points: list[FootPoint] = []
    for foot, side in enumerate(("left", "right")):
        ankle, ball = roles[f"{side}_foot"], roles.get(f"{side}_toe")
        points.append(FootPoint(foot, "heel", ankle))
        if ball is not None:
            points.append(FootPoint(foot, "ball", ball))
        tip = _tip(skeleton, foot, ankle if ball is None else ball)
        if tip is not None:
            points.append(tip)
    return Feet(("left_foot", "right_foot"), (roles["left_foot"], roles["right_foot"]), tuple(points))


def _tip(skeleton: Skeleton, foot: int, joint: int) -> FootPoint | None:
    """The foremost end site or joint beyond `joint`."""
    below = skeleton.subtree(joint)
    found = [FootPoint(foot, "tip", j) for j in below if j != joint]
    found += [FootPoint(foot, "tip", int(j), e) for e, j in enumerate(skeleton.end_parents) if j in below]
    reach = [float(np.linalg.norm(rest_place(skeleton, p) - skeleton.rest_positions[joint])) for p in found]
    if not found or max(reach) < 1e-3:  # an end site of no length is the joint itself
        return None
    return found[int(np.argmax(reach))]


def rest_place(skeleton: Skeleton, point: FootPoint) -> Float[Array, "3"]:
    """Where the point is in the rest pose."""
    return skeleton.rest_positions[point.joint] if point.end is None else skeleton.rest_ends[point.end]


def _lowest_feet(clip: Clip) -> Feet:
    """The outermost points that come near the lowest height, one (the lowest) for each group that lies together."""
    skeleton, size = clip.skeleton, body_size(clip.skeleton)
    tips = [FootPoint(0, "tip", int(j), e) for e, j in enumerate(skeleton.end_parents)]
    tips = [p for p in tips if np.linalg.norm(skeleton.end_offsets[p.end]) > 1e-3]
    carried = {p.joint for p in tips}
    tips += [FootPoint(0, "tip", j) for j, below in enumerate(skeleton.children) if not below and j not in carried]
    tips = [p for p in tips if not _NO_FOOT.search(skeleton.names[p.joint])] or tips
    tracks = [p.track(clip) for p in tips]
    lows = np.array([np.quantile(track[:, 2], 0.05) for track in tracks])
    chosen: list[int] = []
    for i in np.argsort(lows, kind="stable"):
        near = any(np.median(np.linalg.norm(tracks[i] - tracks[k], axis=-1)) < _ONE_FOOT * size for k in chosen)
        if lows[i] < lows.min() + _LOW * size and not near:
            chosen.append(int(i))
    chosen.sort(key=lambda i: tips[i].joint)
    points = tuple(FootPoint(foot, "tip", tips[i].joint, tips[i].end) for foot, i in enumerate(chosen))
    return Feet(tuple(skeleton.names[p.joint] for p in points), tuple(p.joint for p in points), points)


def standing_heights(
    points: Sequence[FootPoint], tracks: Float[Array, "T P 3"], speeds: Float[Array, "T P"], slow: float, size: float
) -> Float[Array, "P"]:
    """The height at which each point stands: the low end of where it is when it hardly moves.

    A foot held in the air all the time stands nowhere; it is given the level of its like on the other side.
    """
    heights = np.empty(len(points))
    for p in range(len(points)):
        still = speeds[:, p] < slow
        seldom = np.sum(still) < max(3, 0.05 * len(still))  # on a treadmill, or always in flight
        heights[p] = np.quantile(tracks[:, p, 2] if seldom else tracks[still, p, 2], 0.05 if seldom else 0.1)
    kinds = np.array([point.kind for point in points])
    level = (_SAME_LEVEL if "heel" in kinds else _PAWS_LEVEL) * size
    for kind in set(kinds):
        lowest = heights[kinds == kind].min()
        hangs = (kinds == kind) & (heights > lowest + level)
        heights[hangs] = lowest
    return heights


def ground_height(skeleton: Skeleton, points: Sequence[FootPoint], standing: Float[Array, "P"], size: float) -> float:
    """The floor under the soles: the points' standing heights less what lies between joint and sole, at the median."""
    return float(np.median(standing - clearances(skeleton, points, size)))


def clearances(skeleton: Skeleton, points: Sequence[FootPoint], size: float) -> Float[Array, "P"]:
    """How high each point lies above the sole: as in the rest pose where that stands on a floor, else as in people.

    A rest pose whose lowest joint lies on the floor itself was put there without a thought of soles.
    """
    rest = np.array([rest_place(skeleton, point)[2] for point in points])
    if 0.003 * size < np.min(rest) < _REST_TOE * size and np.max(rest) < _ANKLE * size:
        return rest
    return np.array([CLEARANCE[point.kind] * size for point in points])
