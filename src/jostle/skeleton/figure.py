"""The artist's mannequin: a person sculpted from lofts, every measure a share of stature or of the bone it lies on.

The trunk is laid out along the line from the middle of the hips (t = 0) to the middle of the shoulders (t = 1),
whichever joints a skeleton has in between: the pelvis carries the hips, the highest joint with t < 0.7 the ribcage,
the one below it the waist, and a chest joint above that the shoulder girdle.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.skeleton.cones import limb_reach, person_cones, plumpness, stature
from jostle.skeleton.loft import Frame, Mesh, ball, frame_along, join, loft
from jostle.skeleton.roles import find_roles
from jostle.skeleton.skeleton import Skeleton
from jostle.types import Array, Float

_X = np.array([1.0, 0.0, 0.0])
_Z = np.array([0.0, 0.0, 1.0])

# Along a limb (0 to 1): radius to the sides, the front and the back, as multiples of the cone's own radius there.
_SHAPES = {
    "thigh": [(0.0, 1.06, 1.06, 1.12), (0.25, 1.06, 1.12, 1.08), (0.65, 0.98, 1.06, 0.98), (1.0, 0.96, 1.0, 0.94)],
    "shin": [(0.0, 0.94, 0.98, 0.96), (0.26, 1.16, 0.94, 1.50), (0.58, 0.98, 0.84, 1.16), (1.0, 0.96, 0.96, 1.0)],
    "upper_arm": [(0.0, 1.10, 1.10, 1.10), (0.3, 1.08, 1.14, 1.08), (0.7, 0.98, 1.04, 1.0), (1.0, 0.98, 1.0, 1.0)],
    "forearm": [(0.0, 0.96, 0.98, 0.98), (0.24, 1.18, 1.18, 1.18), (0.6, 1.0, 1.0, 1.0), (1.0, 1.04, 0.94, 0.94)],
}
# The ball at the near end of a limb, as a share of stature.
_BALLS = {"thigh": 0.0400, "shin": 0.0245, "foot": 0.0170, "upper_arm": 0.0290, "forearm": 0.0185, "hand": 0.0130}

_SEGMENTS = {"thigh": 18, "shin": 16, "upper_arm": 14, "forearm": 12}

# Where a limb begins, in radii of its ball from the joint: the thigh covers its own.
_START = {"thigh": -1.0}

# t along the trunk; half-width, depth to the front, depth to the back as shares of stature.
_PELVIS = [
    (-0.07, 0.060, 0.044, 0.052),
    (0.0, 0.078, 0.052, 0.062),
    (0.11, 0.090, 0.055, 0.063),
    (0.27, 0.079, 0.051, 0.050),
]
_WAIST = [(0.20, 0.062, 0.042, 0.040), (0.36, 0.059, 0.041, 0.038), (0.54, 0.062, 0.044, 0.040)]
_RIBS = [
    (0.44, 0.068, 0.050, 0.045),
    (0.62, 0.083, 0.060, 0.052),
    (0.84, 0.096, 0.062, 0.057),
    (1.00, 0.080, 0.044, 0.052),
]
_GIRDLE = [(0.86, 0.090, 0.054, 0.052), (1.00, 0.078, 0.042, 0.050)]

# From chin (0) to crown (1): half-width, front, back as shares of the head's height, and how far forward its middle is.
_HEAD = [
    (0.07, 0.190, 0.14, 0.14, 0.19),
    (0.22, 0.275, 0.26, 0.27, 0.11),
    (0.42, 0.325, 0.35, 0.39, 0.04),
    (0.60, 0.342, 0.395, 0.44, 0.0),
    (0.76, 0.320, 0.37, 0.41, -0.02),
]
_VISOR = [(0.450, 0.316, 0.382, 0.05, 0.032), (0.525, 0.330, 0.408, 0.05, 0.018), (0.600, 0.330, 0.412, 0.05, 0.004)]


@dataclass(frozen=True, eq=False)
class Piece:
    """A sculpted piece: whose joint it belongs to, its mesh in that joint's frame, and which tone it has."""

    joint: int
    mesh: Mesh
    tone: str
    side: str | None = None


@dataclass(frozen=True, eq=False)
class Build:
    """What the sculptor measures first."""

    skeleton: Skeleton
    tall: float
    hips: Float[Array, "3"]
    shoulders: Float[Array, "3"]
    frame: Frame  # up the trunk, to the left, ahead

    @property
    def trunk(self) -> float:
        return float(np.linalg.norm(self.shoulders - self.hips))

    def at(self, role: str) -> Float[Array, "3"]:
        return self.skeleton.rest_positions[find_roles(self.skeleton)[role]]

    def half(self, limb: str) -> float:
        """Half of the distance between the left and the right joint of a pair."""
        return 0.5 * float(np.linalg.norm(self.at(f"left_{limb}") - self.at(f"right_{limb}")))


def measure(skeleton: Skeleton) -> Build:
    roles, at = find_roles(skeleton), skeleton.rest_positions
    hips = 0.5 * (at[roles["left_thigh"]] + at[roles["right_thigh"]])
    shoulders = 0.5 * (at[roles["left_upper_arm"]] + at[roles["right_upper_arm"]])
    return Build(skeleton, stature(skeleton), hips, shoulders, frame_along(shoulders - hips, _X))


def sculpt_person(skeleton: Skeleton) -> list[Piece]:
    """All pieces of a person's mannequin."""
    build = measure(skeleton)
    pieces = [*_trunk(build), *_head(build)]
    for side in ("left", "right"):
        pieces += [*_limbs(build, side), *_hand(build, side), *_foot(build, side)]
    return pieces


# --- trunk -----------------------------------------------------------------------------------------------------------


def _trunk(build: Build) -> list[Piece]:
    roles, at = find_roles(build.skeleton), build.skeleton.rest_positions
    chain = [j for j in build.skeleton.chain(roles["chest"]) if j > roles["pelvis"]]
    height = {j: float((at[j] - build.hips) @ build.frame.along) / build.trunk for j in chain}
    low = [j for j in chain if height[j] <= 0.7]
    ribs = low[-1] if low else roles["chest"]
    waist = low[-2] if len(low) > 1 else roles["pelvis"]
    wide_hips = np.clip(build.half("thigh") / (0.052 * build.tall), 0.8, 3.0) ** 0.75
    wide_chest = np.clip(build.half("upper_arm") / (0.108 * build.tall), 0.75, 1.5) ** 0.7
    pieces = [
        _slab(build, roles["pelvis"], _PELVIS, wide_hips, (0.030, 0.034), "trunk"),
        _slab(build, waist, _WAIST, min(wide_hips, wide_chest), (0.03, 0.03), "joint", rings=3),
        _slab(build, ribs, _RIBS, wide_chest, (0.038, 0.034), "trunk"),
        *_neck(build),
    ]
    if ribs != roles["chest"]:
        pieces.append(_slab(build, roles["chest"], _GIRDLE, wide_chest, (0.012, 0.036), "trunk", rings=3))
    return pieces


def _slab(
    build: Build,
    joint: int,
    rows: list[tuple[float, float, float, float]],
    wide: float,
    caps: tuple[float, float],
    tone: str,
    rings: int = 7,
) -> Piece:
    """A stretch of the trunk, carried by `joint`."""
    profile = np.array(rows)
    profile[:, 0] *= build.trunk
    profile[:, 1] *= build.tall * wide
    profile[:, 2:] *= build.tall * wide**0.5
    base = build.hips - build.skeleton.rest_positions[joint]
    rounded = (caps[0] * build.tall, caps[1] * build.tall)
    mesh = loft(
        base, build.frame, profile, caps=rounded, rings=rings, segments=24 if rings > 3 else 18, squareness=(2.3, 2.3)
    )
    return Piece(joint, mesh, tone)


def _neck(build: Build) -> list[Piece]:
    """From inside the ribcage to inside the skull: the chest carries it up to the first joint of the neck, if any."""
    skeleton, roles, tall = build.skeleton, find_roles(build.skeleton), build.tall
    into_skull = build.at("head") + 0.03 * tall * build.frame.along
    way = skeleton.chain(roles["head"])
    joints = way[way.index(roles["neck"]) : -1] if "neck" in roles else []
    points = [skeleton.rest_positions[j] for j in joints] + [into_skull]
    if (points[0] - build.shoulders) @ build.frame.along > 0.02 * tall:
        joints, points = [roles["chest"], *joints], [build.shoulders, *points]
    pieces = []
    for joint, bottom, top in zip(joints, points[:-1], points[1:], strict=True):
        length = float(np.linalg.norm(top - bottom))
        if length < 0.01 * tall:
            continue
        rows = np.array([(0.0, 0.031, 0.031, 0.032), (1.0, 0.029, 0.029, 0.030)]) * [length, tall, tall, tall]
        base = bottom - skeleton.rest_positions[joint]
        mesh = loft(base, frame_along(top - bottom, _X), rows, caps=(0.024 * tall, 0.022 * tall), rings=2, segments=14)
        pieces.append(Piece(joint, mesh, "trunk"))
    return pieces


def _head(build: Build) -> list[Piece]:
    """An egg with a chin, and a visor that says where it looks."""
    tall, joint = build.tall, find_roles(build.skeleton)["head"]
    neck = float((build.at("head") - build.shoulders) @ build.frame.along)
    size = max(0.130 * tall * plumpness(build.skeleton) ** 1.8, 0.95 * neck)
    chin = min(0.055 * tall - neck, 0.01 * tall)
    base = build.frame.along * max(chin, -0.27 * size) + build.frame.front * 0.004 * tall
    rows = np.array(_HEAD) * size
    skull = loft(base, build.frame, rows[:, :4], caps=(0.06 * size, 0.24 * size), rings=7, segments=22, bend=rows[:, 4])
    band = np.array(_VISOR) * size
    visor = loft(base, build.frame, band[:, :4], caps=(0.03 * size, 0.03 * size), rings=3, segments=20, bend=band[:, 4])
    return [Piece(joint, skull, "trunk"), Piece(joint, visor, "visor")]


# --- limbs -----------------------------------------------------------------------------------------------------------


def _limbs(build: Build, side: str) -> list[Piece]:
    """Thigh, shin, upper arm and forearm between their balls; the shoulder's yoke where a clavicle moves it."""
    pieces = []
    cones = {cone.name: cone for cone in person_cones(build.skeleton)}
    for limb in ("thigh", "shin", "upper_arm", "forearm"):
        cone = cones[f"{side}_{limb}"]
        length = float(np.linalg.norm(cone.b))
        radius = min(_BALLS[limb] * build.tall * plumpness(build.skeleton), 1.08 * cone.radius_a)
        if limb != "thigh":  # the thigh's own dome turns in the pelvis
            pieces.append(Piece(cone.joint, ball(np.zeros(3), np.full(3, radius)), "joint", side))
        rows = np.array(_SHAPES[limb])
        rows[:, 1:] *= cone.radius_a + (cone.radius_b - cone.radius_a) * rows[:, :1]
        start, stop = _START.get(limb, 0.5) * radius, length - 0.5 * _far_ball(build, limb, cone.radius_b)
        caps = (0.95 * rows[0, 1] if limb in _START else 0.5 * rows[0, 1], 0.5 * rows[-1, 1])
        rows[:, 0] = start + caps[0] + (stop - start - caps[0] - caps[1]) * rows[:, 0]
        mesh = loft(np.zeros(3), frame_along(cone.b, _X), rows, caps=caps, rings=6, segments=_SEGMENTS[limb])
        pieces.append(Piece(cone.joint, mesh, "limb", side))
    return [*pieces, _yoke(build, side)]


def _far_ball(build: Build, limb: str, radius: float) -> float:
    after = {"thigh": "shin", "shin": "foot", "upper_arm": "forearm", "forearm": "hand"}[limb]
    return min(_BALLS[after] * build.tall * plumpness(build.skeleton), 1.08 * radius)


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
    mesh = loft(base, frame_along(line, _X), profile, caps=(0.02 * tall, 0.02 * tall), rings=3, segments=12)
    return Piece(joint, mesh, "trunk")


def _hand(build: Build, side: str) -> list[Piece]:
    """A mitt with a thumb that points ahead, and the ball of the wrist."""
    roles, tall = find_roles(build.skeleton), build.tall
    if f"{side}_hand" not in roles:
        return []
    joint = roles[f"{side}_hand"]
    reach = limb_reach(build.skeleton, side, "hand", tall)
    plump = plumpness(build.skeleton)
    length = float(np.linalg.norm(reach))
    frame = frame_along(reach, _X)
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
    thumb = loft(root, frame_along(line, _Z), stem, caps=(0.009 * tall, 0.0065 * tall), rings=3, segments=8)
    wrist = ball(np.zeros(3), np.full(3, _BALLS["hand"] * tall * plump), segments=10)
    return [Piece(joint, join([palm, thumb]), "limb", side), Piece(joint, wrist, "joint", side)]


def _foot(build: Build, side: str) -> list[Piece]:
    """Heel to ball of the foot, the toes apart, soles flat on the ground the person stands on."""
    roles, tall = find_roles(build.skeleton), build.tall
    ankle = roles[f"{side}_foot"]
    reach = limb_reach(build.skeleton, side, "foot", tall)
    plump = plumpness(build.skeleton)
    ahead = np.array([reach[0], reach[1], 0.0])
    length = max(float(np.linalg.norm(ahead)), 0.03 * tall)
    frame = frame_along(ahead, _Z)  # front of the ring is up, so its back is the sole
    sole = min(float(reach[2]), -0.004 * tall) - 0.0155 * tall
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
    mesh = _wedge(rows, sole, frame, tall, caps=(0.014 * tall, 0.012 * tall))
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
        mesh = _wedge(rows, -0.0155 * tall, frame_along(tip, _Z), tall, caps=(0.010 * tall, 0.2 * far + 0.006 * tall))
        pieces.append(Piece(joint, mesh, "limb", side))
    return pieces


def _wedge(rows: Array, sole: float, frame: Frame, tall: float, caps: tuple[float, float]) -> Mesh:
    """A loft along the ground: rows of distance, half-width and height (shares of stature); squarer below."""
    height = rows[:, 2] * tall
    profile = np.column_stack([rows[:, 0], rows[:, 1] * tall, 0.62 * height, 0.38 * height])
    base = np.array([0.0, 0.0, sole])
    return loft(base, frame, profile, caps=caps, rings=4, segments=14, squareness=(2.2, 3.6), bend=0.38 * height)
