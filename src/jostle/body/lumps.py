"""Lumps of mass: how a published segment is cut where joints fall, and how lumps add up to a rigid body.

A lump has a mass, a centre and a *spread*, the covariance of its mass about the centre, S = ∫ r r' dm / m. Spreads
add by the parallel-axis rule and any positive one gives a physical inertia, I = m (tr(S) 1 - S); radii of gyration,
cut and added directly, need not. A spine of one joint or of five is then the same trunk, cut in other places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jostle.body.anthropometry import Segment
from jostle.types import Array, Float


@dataclass(frozen=True, eq=False)
class Lump:
    """Mass that moves with one joint; centre and spread in the world frame of the rest pose."""

    joint: int
    mass: float
    centre: Float[Array, "3"]
    spread: Float[Array, "3 3"]  # m2

    def scaled(self, factor: float) -> Lump:
        return Lump(self.joint, self.mass * factor, self.centre, self.spread)


def inertia_of(mass: float, spread: Float[Array, "3 3"]) -> Float[Array, "3 3"]:
    return mass * (np.trace(spread) * np.eye(3) - spread)


def combine(lumps: Sequence[Lump]) -> Lump:
    """One lump with the mass, centre and spread of all of them."""
    mass = sum(lump.mass for lump in lumps)
    centre = sum((lump.mass * lump.centre for lump in lumps), np.zeros(3)) / mass
    spread = np.zeros((3, 3))
    for lump in lumps:
        arm = lump.centre - centre
        spread += lump.mass / mass * (lump.spread + np.outer(arm, arm))
    return Lump(lumps[0].joint, mass, centre, spread)


def cut(
    part: Segment,
    start: Float[Array, "3"],
    end: Float[Array, "3"],
    low: float,
    high: float,
    joint: int,
    usual: float,
) -> Lump:
    """The slice between shares `low` and `high` of the line from `start` to `end`, with its share of the part's mass.

    Along the line the density is the linear one that has the published centre. Across it the mass spreads as in a
    person whose part is `usual` metres long: a short back is not a narrow one. A whole line of the usual length gives
    back the published mass, centre and radii exactly.
    """
    slope = np.clip(12.0 * (part.centre - 0.5), -2.0, 2.0)  # density 1 + slope (s - 1/2) has its mean at `centre`
    whole, whole_middle, whole_variance = _moments(slope, 0.0, 1.0)
    share, middle, variance = _moments(slope, low, high)
    middle += (part.centre - whole_middle) * (high - low)  # nothing unless the slope was clipped
    forward, sideways, along = _variances(part)
    frame = line_frame(start, end)
    length = float(np.linalg.norm(end - start))
    diagonal = [forward * usual**2, sideways * usual**2, along * length**2 * variance / whole_variance]
    spread = frame @ np.diag(diagonal) @ frame.T
    return Lump(joint, part.mass * share / whole, start + middle * (end - start), spread)


def _moments(slope: float, low: float, high: float) -> tuple[float, float, float]:
    """Mass, mean and variance of the density 1 + slope (s - 1/2) between two shares of the line."""
    flat, tilt = 1.0 - 0.5 * slope, slope
    powers = [(high**n - low**n) / n for n in (1, 2, 3, 4)]
    mass = flat * powers[0] + tilt * powers[1]
    mean = (flat * powers[1] + tilt * powers[2]) / mass
    return mass, mean, (flat * powers[2] + tilt * powers[3]) / mass - mean**2


def _variances(part: Segment) -> tuple[float, float, float]:
    """Spread forward, sideways and along the line, as shares of length squared, from the three radii of gyration."""
    about_x, about_y, about_z = part.sagittal**2, part.transverse**2, part.longitudinal**2
    found = (about_y + about_z - about_x, about_x + about_z - about_y, about_x + about_y - about_z)
    x, y, z = (max(0.5 * value, 1e-4) for value in found)
    return x, y, z


def line_frame(start: Float[Array, "3"], end: Float[Array, "3"]) -> Float[Array, "3 3"]:
    """Columns: forward and sideways across the line, and the line itself. Forward is X, or Z for a line along X."""
    along = (end - start) / np.linalg.norm(end - start)
    ahead = np.eye(3)[0] if abs(along[0]) < 0.9 else np.eye(3)[2]
    sideways = np.cross(along, ahead)
    sideways /= np.linalg.norm(sideways)
    return np.stack([np.cross(sideways, along), sideways, along], axis=1)
