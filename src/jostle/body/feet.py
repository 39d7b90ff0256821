"""Feet with heel, ball and toe: where a skeleton of joints stands on the ground.

Mocap skeletons end at the ankle or at the toes and float a few centimetres above the floor: the sole is flesh. It is
put below the joints by the clearances that the contact finder uses, so that a planted foot's sole lies on the ground
that `find_contacts` reports; the heel a little behind the ankle, and the toe tip where the skeleton says or where a
foot of this height would end. Some rest poses straddle (CMU's legs lean out by 20 degrees) and yet the foot stands flat
when the shin is upright, so the sole is level with respect to the shin, not to the rest pose's floor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from jostle.body import anthropometry
from jostle.body.shapes import Box, Sole
from jostle.clips.feet import CLEARANCE
from jostle.maths import quat
from jostle.skeleton import Skeleton
from jostle.types import Array, Float


@dataclass(frozen=True, eq=False)
class Foot:
    """One foot in the world frame of the rest pose."""

    name: str
    ankle: int
    toe: int | None  # the joint at the ball of the foot
    frame: Float[Array, "3 3"]  # columns: forward, left, up
    heel: Float[Array, "3"]  # on the sole, as are the next two
    ball: Float[Array, "3"]
    tip: Float[Array, "3"]
    breadth: float
    top: float  # the height of the ankle above the sole


def find_foot(skeleton: Skeleton, roles: Mapping[str, int], side: str, height: float) -> Foot:
    """Heel, ball and tip of one foot, from its joints and the figures for a person of this height."""
    ankle, toe = roles[f"{side}_foot"], roles.get(f"{side}_toe")
    at = skeleton.rest_positions
    below = skeleton.subtree(ankle)
    ends = skeleton.rest_ends[np.isin(skeleton.end_parents, below)]
    points = np.concatenate([at[below], ends]) - at[ankle]
    frame = _frame(points, at[roles[f"{side}_shin"]] - at[ankle])
    seen = points @ frame  # forward, left and up from the ankle
    ball = None if toe is None else (at[toe] - at[ankle]) @ frame
    reach, to_ball = _lengths(seen, ball, height)
    sole = _sole_height(seen, ball, height)
    places = ((-anthropometry.HEEL_BEHIND_ANKLE * height, 0.0, sole), (to_ball, 0.0, sole), (reach, 0.0, sole))
    heel, middle, tip = (at[ankle] + frame @ np.array(place) for place in places)
    breadth = anthropometry.FOOT_BREADTH * height
    return Foot(f"{side}_foot", ankle, toe, frame, heel, middle, tip, breadth, -sole)


def _frame(points: Float[Array, "n 3"], shin: Float[Array, "3"]) -> Float[Array, "3 3"]:
    """Forward is horizontal, from the ankle to the farthest point of the foot; up is the shin, square to forward."""
    flat = points * [1.0, 1.0, 0.0]
    farthest = flat[np.argmax(np.linalg.norm(flat, axis=1))]
    length = float(np.linalg.norm(farthest))
    forward = farthest / length if farthest[0] > max(0.3 * length, 1e-3) else np.array([1.0, 0.0, 0.0])
    up = shin - (shin @ forward) * forward
    up = up / np.linalg.norm(up) if up[2] > 0.3 * np.linalg.norm(up) else np.array([0.0, 0.0, 1.0])
    return np.stack([forward, np.cross(up, forward), up], axis=1)


def _lengths(seen: Float[Array, "n 3"], ball: Float[Array, "3"] | None, height: float) -> tuple[float, float]:
    """How far in front of the ankle the toe tip and the ball are."""
    usual = (anthropometry.FOOT_LENGTH - anthropometry.HEEL_BEHIND_ANKLE) * height
    reach = float(np.max(seen[:, 0]))
    if reach < 0.5 * usual or (ball is not None and reach < 1.2 * ball[0]):
        reach = usual  # the skeleton shows no toe tip
    to_ball = 0.62 * reach if ball is None else float(np.clip(ball[0], 0.3 * reach, 0.9 * reach))
    return reach, to_ball


def _sole_height(seen: Float[Array, "n 3"], ball: Float[Array, "3"] | None, height: float) -> float:
    """Of the sole, seen from the ankle: what ankle, ball and tip say, at the median."""
    says = [-CLEARANCE["heel"] * height]
    if ball is not None:
        says.append(float(ball[2]) - CLEARANCE["ball"] * height)
    if len(seen) > 1 and np.max(seen[:, 0]) > 0.02 * height:
        says.append(float(seen[np.argmax(seen[:, 0]), 2]) - CLEARANCE["tip"] * height)
    return min(float(np.median(says)), -0.01 * height)


def sole_of(skeleton: Skeleton, foot: Foot) -> Sole:
    """Six corners: heel and ball on the ankle's joint, toe tip on the toe's."""
    side = foot.name.removesuffix("_foot")
    inward = (-1.0 if side == "left" else 1.0) * 0.5 * foot.breadth * foot.frame[:, 1]
    toe = foot.ankle if foot.toe is None else foot.toe
    labels, joints, points = [], [], []
    for where, place, joint, width in (
        ("heel", foot.heel, foot.ankle, 0.7),
        ("ball", foot.ball, foot.ankle, 1.0),
        ("toe", foot.tip, toe, 0.7),
    ):
        for edge, sign in (("in", 1.0), ("out", -1.0)):
            labels.append(f"{side}_{where}_{edge}")
            joints.append(joint)
            points.append(place + sign * width * inward - skeleton.rest_positions[joint])
    return Sole(foot.name, tuple(labels), tuple(joints), np.array(points))


def boxes_of(skeleton: Skeleton, foot: Foot) -> list[Box]:
    """A box from heel to ball and a flatter one from ball to tip, both on the sole."""
    turn = quat.from_matrix(foot.frame)
    toe = foot.ankle if foot.toe is None else foot.toe
    thick = 0.5 * min(foot.top, 0.5 * foot.breadth)
    boxes = []
    for joint, back, front, lift in (
        (foot.ankle, foot.heel, foot.ball, thick),
        (toe, foot.ball, foot.tip, 0.7 * thick),
    ):
        centre = 0.5 * (back + front) + lift * foot.frame[:, 2] - skeleton.rest_positions[joint]
        half = np.array([0.5 * np.linalg.norm(front - back), 0.45 * foot.breadth, lift])
        boxes.append(Box(joint, centre, half, turn))
    return boxes
