"""The mannequin's limbs: muscles between ball joints, mitts with thumbs, feet with flat soles and toes of their own."""

from __future__ import annotations

import numpy as np

from jostle.skeleton.build import AHEAD, UP, Build, Piece
from jostle.skeleton.cones import SOLE, limb_reach, person_cones, plumpness
from jostle.skeleton.loft import Frame, Mesh, ball, frame_along, join, loft
from jostle.skeleton.roles import find_roles
from jostle.types import Array

# Along a limb (0 to 1): radius to the sides, the front and the back, as multiples of the cone's own radius there.
_SHAPES = {
    "thigh": [(0.0, 1.06, 1.06, 1.12), (0.25, 1.06, 1.12, 1.08), (0.65, 0.98, 1.06, 0.98), (1.0, 0.96, 1.0, 0.94)],
    "shin": [(0.0, 0.94, 0.98, 0.96), (0.26, 1.16, 0.94, 1.50), (0.58, 0.98, 0.84, 1.16), (1.0, 0.96, 0.96, 1.0)],
    "upper_arm": [(0.0, 1.10, 1.10, 1.10), (0.3, 1.08, 1.14, 1.08), (0.7, 0.98, 1.04, 1.0), (1.0, 0.98, 1.0, 1.0)],
    "forearm": [(0.0, 0.96, 0.98, 0.98), (0.24, 1.18, 1.18, 1.18), (0.6, 1.0, 1.0, 1.0), (1.0, 1.04, 0.94, 0.94)],
}
# The ball at the near end of a limb, as a share of stature.
_BALLS = {"thigh": 0.0400, "shin": 0.0245, "foot": 0.0170, "upper_arm": 0.0272, "forearm": 0.0185, "hand": 0.0130}

_SEGMENTS = {"thigh": 18, "shin": 16, "upper_arm": 14, "forearm": 12}

# Where a limb begins, in radii of its ball from the joint: the thigh covers its own.
_START = {"thigh": -1.0}


def sculpt_limbs(build: Build, side: str) -> list[Piece]:
    """Thigh, shin, upper arm and forearm between their balls; the shoulder's yoke where a clavicle moves it."""
    pieces = []
    cones = {cone.name: cone for cone in person_cones(build.skeleton)}
    for limb in ("thigh", "shin", "upper_arm", "forearm"):
        cone = cones[f"{side}_{limb}"]
        length = float(np.linalg.norm(cone.b))
        radius = min(_BALLS[limb] * build.tall * plumpness(build.skeleton) ** 0.6, 1.08 * cone.radius_a)
        if limb != "thigh":  # the thigh's own dome turns in the pelvis
            pieces.append(Piece(cone.joint, ball(np.zeros(3), np.full(3, radius)), "joint", side))
        rows = np.array(_SHAPES[limb])
        rows[:, 1:] *= cone.radius_a + (cone.radius_b - cone.radius_a) * rows[:, :1]
        start, stop = _START.get(limb, 0.5) * radius, length - 0.5 * _far_ball(build, limb, cone.radius_b)
        caps = (0.95 * rows[0, 1] if limb in _START else 0.5 * rows[0, 1], 0.5 * rows[-1, 1])
        rows[:, 0] = start + caps[0] + (stop - start - caps[0] - caps[1]) * rows[:, 0]
        mesh = loft(np.zeros(3), frame_along(cone.b, AHEAD), rows, caps=caps, rings=6, segments=_SEGMENTS[limb])
        pieces.append(Piece(cone.joint, mesh, "limb", side))
    return [*pieces, _yoke(build, side)]


def _far_ball(build: Build, limb: str, radius: float) -> float:
    after = {"thigh": "shin", "shin": "foot", "upper_arm": "forearm", "forearm": "hand"}[limb]
    return min(_BALLS[after] * build.tall * plumpness(build.skeleton) ** 0.6, 1.08 * radius)


def _yoke(build: Build, side: str) -> Piece:
    """From the clavicle's joint (or the side of the neck) to the shoulder; the chest carries it where there is none."""
    roles, tall = find_roles(build.skeleton), build.tall
    joint = roles.get(f"{side}_clavicle", roles["chest"])
    end = build.at(f"{side}_upper_arm")
    inner = build.shoulders + 0.42 * (end - build.shoulders)
    line = end - inner
    length = float(np.linalg.norm(line))
    rows = [(0.0, 0.034, 0.032, 0.036), (0.5, 0.034, 0.033, 0.035), (0.75, 0.029, 0.029, 0.029)]
    base = inner - build.skeleton.rest_positions[joint]
    profile = np.array(rows) * [length, tall, tall, tall]
    mesh = loft(base, frame_along(line, AHEAD), profile, caps=(0.02 * tall, 0.02 * tall), rings=3, segments=12)
    return Piece(joint, mesh, "trunk")


def sculpt_hand(build: Build, side: str) -> list[Piece]:
    """A mitt with a thumb that points ahead, and the ball of the wrist."""
    roles, tall = find_roles(build.skeleton), build.tall
    if f"{side}_hand" not in roles:
        return []
    joint = roles[f"{side}_hand"]
    reach = limb_reach(build.skeleton, side, "hand", tall)
    plump = plumpness(build.skeleton) ** 0.6
    length = float(np.linalg.norm(reach))
    frame = frame_along(reach, AHEAD)
    # Across the mitt: `front` is the width of the palm, `side` its thickness.
    rows = [
        (0.12, 0.010, 0.013, 0.012),
        (0.32, 0.0115, 0.022, 0.021),
        (0.55, 0.0105, 0.024, 0.023),
        (0.85, 0.0075, 0.018, 0.018),
    ]
    palm = loft(
        np.zeros(3),
        frame,
        np.array(rows) * [length, tall, tall, tall],
        caps=(0.01 * tall, 0.011 * tall),
        rings=4,
        segments=12,
    )
    root = reach * 0.25 + frame.front * 0.014 * tall
    line = (reach / length * 0.8 + frame.front * 0.62) * 0.034 * tall
    stem = np.array([[0.0, 0.009, 0.009, 0.009], [float(np.linalg.norm(line)) / tall, 0.0065, 0.0065, 0.0065]]) * tall
    thumb = loft(root, frame_along(line, UP), stem, caps=(0.009 * tall, 0.0065 * tall), rings=3, segments=8)
    wrist = ball(np.zeros(3), np.full(3, _BALLS["hand"] * tall * plump), segments=10)
    return [Piece(joint, join([palm, thumb]), "limb", side), Piece(joint, wrist, "joint", side)]


def sculpt_foot(build: Build, side: str) -> list[Piece]:
    """Heel to ball of the foot, the toes apart, soles flat on the ground the person stands on."""
    roles, tall = find_roles(build.skeleton), build.tall
    ankle = roles[f"{side}_foot"]
    reach = limb_reach(build.skeleton, side, "foot", tall)
    plump = plumpness(build.skeleton) ** 0.6
    ahead = np.array([reach[0], reach[1], 0.0])
    length = max(float(np.linalg.norm(ahead)), 0.03 * tall)
    frame = frame_along(ahead, UP)  # front of the ring is up, so its back is the sole
    sole = min(float(reach[2]), -0.004 * tall) - SOLE * tall
    high = -sole / tall  # the ankle above the ground
    back = -0.033 * tall
    rows = np.array(
        [
            (back, 0.0175, 0.55 * high, 0.0),
            (0.0, 0.0215, 0.98 * high, 0.0),
            (0.45 * length, 0.0265, 0.68 * high, 0.0),
            (length, 0.0300, 0.026, 0.0),
        ]
    )
    mesh = _wedge(rows, sole, frame, tall, caps=(0.014 * tall, 0.012 * tall), segments=16)
    pieces = [
        Piece(ankle, mesh, "limb", side),
        Piece(ankle, ball(np.zeros(3), np.full(3, _BALLS["foot"] * tall * plump), segments=10), "joint", side),
    ]
    if f"{side}_toe" in roles:
        joint = roles[f"{side}_toe"]
        tip = limb_reach(build.skeleton, side, "toe", tall)
        far = float(np.linalg.norm(tip))
        rows = np.array(
            [(0.004 * tall, 0.0290, 0.0245, 0.0), (0.5 * far, 0.0275, 0.0205, 0.0), (0.8 * far, 0.0225, 0.0165, 0.0)]
        )
        mesh = _wedge(
            rows, -SOLE * tall, frame_along(tip, UP), tall, caps=(0.010 * tall, 0.2 * far + 0.006 * tall), segments=12
        )
        pieces.append(Piece(joint, mesh, "limb", side))
    return pieces


def _wedge(rows: Array, sole: float, frame: Frame, tall: float, caps: tuple[float, float], segments: int) -> Mesh:
    """A loft along the ground: rows of distance, half-width and height (shares of stature); squarer below."""
    height = rows[:, 2] * tall
    profile = np.column_stack([rows[:, 0], rows[:, 1] * tall, 0.62 * height, 0.38 * height])
    base = np.array([0.0, 0.0, sole])
    return loft(base, frame, profile, caps=caps, rings=4, segments=segments, squareness=(2.2, 3.6), bend=0.38 * height)
