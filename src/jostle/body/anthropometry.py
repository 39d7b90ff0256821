"""What a person's parts weigh, where their centres lie and how far their mass spreads.

The figures are those of P. de Leva, "Adjustments to Zatsiorsky-Seluyanov's segment inertia parameters", Journal of
Biomechanics 29 (1996) 1223-1230, table 4: 100 young men and 15 young women, scanned alive. Every part is a straight
line between two landmarks; lengths are in metres for the mean woman (1.735 m) and man (1.741 m), everything else is a
share. Where a figure is ours and not published, the comment beside it says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Sex = Literal["female", "male"]


@dataclass(frozen=True)
class Segment:
    """One part of a body. Radii of gyration about the axes through its centre, as shares of its length."""

    mass: float  # share of the whole body's
    centre: float  # share of the length, from the near end (the upper end of trunk and head, the heel of a foot)
    sagittal: float  # about the axis that points forward
    transverse: float  # about the axis that points sideways
    longitudinal: float  # about its own line
    length: float  # metres, of the mean person


# name: (female, male). Landmarks: trunk from cervicale (C7) to mid-hip, head from vertex to cervicale, limbs from joint
# centre to joint centre, hand from wrist to the third knuckle, foot from heel to toe tip.
_TABLE: dict[str, tuple[Segment, Segment]] = {
    "head": (
        Segment(0.0668, 0.4841, 0.271, 0.295, 0.261, 0.2437),
        Segment(0.0694, 0.5002, 0.303, 0.315, 0.261, 0.2429),
    ),
    "upper_trunk": (
        Segment(0.1545, 0.5050, 0.466, 0.314, 0.449, 0.2280),
        Segment(0.1596, 0.5066, 0.505, 0.320, 0.465, 0.2421),
    ),
    "middle_trunk": (
        Segment(0.1465, 0.4512, 0.433, 0.354, 0.415, 0.2053),
        Segment(0.1633, 0.4502, 0.482, 0.383, 0.468, 0.2155),
    ),
    "lower_trunk": (
        Segment(0.1247, 0.4920, 0.433, 0.402, 0.444, 0.1815),
        Segment(0.1117, 0.6115, 0.615, 0.551, 0.587, 0.1457),
    ),
    "upper_arm": (
        Segment(0.0255, 0.5754, 0.278, 0.260, 0.148, 0.2751),
        Segment(0.0271, 0.5772, 0.285, 0.269, 0.158, 0.2817),
    ),
    "forearm": (
        Segment(0.0138, 0.4559, 0.261, 0.257, 0.094, 0.2643),
        Segment(0.0162, 0.4574, 0.276, 0.265, 0.121, 0.2689),
    ),
    "hand": (
        Segment(0.0056, 0.7474, 0.531, 0.454, 0.335, 0.0780),
        Segment(0.0061, 0.7900, 0.628, 0.513, 0.401, 0.0862),
    ),
    "thigh": (
        Segment(0.1478, 0.3612, 0.369, 0.364, 0.162, 0.3685),
        Segment(0.1416, 0.4095, 0.329, 0.329, 0.149, 0.4222),
    ),
    "shin": (
        Segment(0.0481, 0.4352, 0.267, 0.263, 0.092, 0.4386),
        Segment(0.0433, 0.4395, 0.251, 0.246, 0.102, 0.4403),
    ),
    "foot": (
        Segment(0.0129, 0.4014, 0.299, 0.279, 0.139, 0.2283),
        Segment(0.0137, 0.4415, 0.257, 0.245, 0.124, 0.2581),
    ),
}
NAMES = tuple(_TABLE)
PAIRED = ("upper_arm", "forearm", "hand", "thigh", "shin", "foot")  # a body has two of each
MEAN_STATURE = 1.738  # metres

# Shares of the height for what a skeleton of joints does not show. Foot length and breadth from
# D. A. Winter, Biomechanics and Motor Control of Human Movement (after Drillis and Contini 1966).
FOOT_LENGTH = 0.152
FOOT_BREADTH = 0.055
HEEL_BEHIND_ANKLE = 0.030  # ours
CLAVICLE_SHARE = 0.08  # ours: of the upper trunk, each, where the skeleton has collar bones
DENSITY = 1000.0  # kg/m3, for the thickness of shapes and for animals


def segment(name: str, sex: Sex | None = None) -> Segment:
    """The figures of one part, of a woman, of a man, or the mean of both."""
    female, male = _TABLE[name]
    if sex is not None:
        return female if sex == "female" else male
    both = zip(vars(female).values(), vars(male).values(), strict=True)
    return Segment(*(0.5 * (f + m) for f, m in both))
