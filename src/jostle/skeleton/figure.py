"""The artist's mannequin: a person sculpted from lofts, every measure a share of stature or of the bone it lies on.

The trunk is laid out along the line from the middle of the hips (t = 0) to the middle of the shoulders (t = 1),
whichever joints a skeleton has in between: the pelvis carries the hips, the highest joint with t < 0.7 the ribcage,
the one below it the waist, and a chest joint above that the shoulder girdle.
"""

from __future__ import annotations

import numpy as np

from jostle.skeleton.build import AHEAD, Build, Piece, measure
from jostle.skeleton.cones import plumpness
from jostle.skeleton.limbs import sculpt_foot, sculpt_hand, sculpt_limbs
from jostle.skeleton.loft import frame_along, loft
from jostle.skeleton.roles import find_roles
from jostle.skeleton.skeleton import Skeleton

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
    (0.07, 0.190, 0.15, 0.24, 0.18),
    (0.22, 0.280, 0.27, 0.37, 0.10),
    (0.42, 0.327, 0.35, 0.42, 0.04),
    (0.60, 0.342, 0.395, 0.44, 0.0),
    (0.76, 0.320, 0.37, 0.41, -0.02),
]
_VISOR = [(0.450, 0.316, 0.382, 0.05, 0.032), (0.525, 0.330, 0.408, 0.05, 0.018), (0.600, 0.330, 0.412, 0.05, 0.004)]


def sculpt_person(skeleton: Skeleton) -> list[Piece]:
    """All pieces of a person's mannequin."""
    build = measure(skeleton)
    pieces = [*_trunk(build), *_head(build)]
    for side in ("left", "right"):
        pieces += [*sculpt_limbs(build, side), *sculpt_hand(build, side), *sculpt_foot(build, side)]
    return pieces


def _trunk(build: Build) -> list[Piece]:
    roles, at = find_roles(build.skeleton), build.skeleton.rest_positions
    chain = [j for j in build.skeleton.chain(roles["chest"]) if j > roles["pelvis"]]
    height = {j: float((at[j] - build.hips) @ build.frame.along) / build.trunk for j in chain}
    low = [j for j in chain if height[j] <= 0.7]
    ribs = low[-1] if low else roles["chest"]
    waist = low[-2] if len(low) > 1 else roles["pelvis"]
    if height.get(ribs, 1.0) < 0.3:  # the spine bends below the waist, which therefore moves with the ribs
        waist = ribs
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
    into_skull = build.at("head") + 0.018 * tall * build.frame.along
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
        mesh = loft(
            base, frame_along(top - bottom, AHEAD), rows, caps=(0.024 * tall, 0.022 * tall), rings=2, segments=12
        )
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
    visor = loft(base, build.frame, band[:, :4], caps=(0.03 * size, 0.03 * size), rings=3, segments=18, bend=band[:, 4])
    return [Piece(joint, skull, "trunk"), Piece(joint, visor, "visor")]
