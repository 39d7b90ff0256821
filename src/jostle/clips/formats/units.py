"""How many metres is one unit of a file that does not say?

A person's stature is measured along the bones, so that the pose does not matter: thigh and shin, pelvis to head, and
a share for what bones leave out. The unit is the one that makes a person of it: |log(stature / 1.70 m)| is least, with
a small handicap for units that are rare. Centimetre and inch lie a factor of 2.5 apart, the inch and CMU's 0.056444 m
(an inch scaled by 0.45) 2.2: both far more than grown people differ. A skeleton 31 units tall is 0.31 m in centimetres,
0.79 m in inches and 1.75 m in CMU's unit, so it is one of CMU's.

Animals come in all sizes, but their files seldom in inches: for what is no person only metre, centimetre and millimetre
count, whichever brings the largest extent of the rest pose nearest to a metre. Millimetres, the rarest, must make
it e times as near: a beast of 300 units is 3 m long rather than 0.3 m.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle.errors import MotionError
from jostle.skeleton import Skeleton, find_roles, is_humanoid

CMU_UNIT = 0.0254 / 0.45  # metres: CMU's skeletons count inches scaled by 0.45
UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "inch": 0.0254, "foot": 0.3048, "cmu": CMU_UNIT}
_HANDICAP = {"m": 0.0, "cm": 0.0, "mm": 0.0, "inch": 0.1, "foot": 0.2, "cmu": 0.1}  # in log of stature
_ANIMAL_HANDICAP = {"m": 0.0, "cm": 0.0, "mm": 1.0}
_STATURE = 1.70


@dataclass(frozen=True)
class UnitGuess:
    """`margin` is by what factor of stature the runner-up fits worse: 1 is a toss-up, 2 is sure."""

    name: str
    unit: float
    size: float  # metres: the stature of a person, the largest extent of anything else
    margin: float


def guess_unit(skeleton: Skeleton) -> float:
    """Metres per unit, for a skeleton whose offsets are in the file's unit."""
    return weigh_units(skeleton).unit


def checked_unit(unit: float) -> float:
    """A unit that a caller chose, or one sentence that says why it will not do."""
    if not 1e-6 <= unit <= 1e6:
        raise MotionError(f"A unit of {unit} metres makes no sense; centimetres are 0.01.")
    return unit


def weigh_units(skeleton: Skeleton) -> UnitGuess:
    """The same with its evidence."""
    if is_humanoid(skeleton):
        handicaps, size, goal = _HANDICAP, stature(skeleton), _STATURE
    else:
        handicaps, size, goal = _ANIMAL_HANDICAP, extent(skeleton), 1.0
    if not size > 0.0:
        return UnitGuess("m", 1.0, 0.0, 1.0)
    misfits = {name: abs(np.log(size * UNITS[name] / goal)) + handicap for name, handicap in handicaps.items()}
    best, second = sorted(misfits, key=misfits.__getitem__)[:2]
    margin = float(np.exp(min(misfits[second] - misfits[best], 50.0)))
    return UnitGuess(best, UNITS[best], size * UNITS[best], margin)


def stature(skeleton: Skeleton) -> float:
    """How tall a person is, along the bones: leg, trunk, neck and head, in the skeleton's unit."""
    roles = find_roles(skeleton)
    lengths = np.linalg.norm(skeleton.offsets, axis=-1)
    legs = [_along(skeleton, lengths, roles[f"{s}_thigh"], roles[f"{s}_foot"]) for s in ("left", "right")]
    trunk = _along(skeleton, lengths, roles["pelvis"], roles["head"])
    tips = skeleton.ends_of(roles["head"])
    crown = float(np.linalg.norm(tips, axis=-1).max()) if len(tips) else 0.0
    # Bones leave out the ankle's height (4 % of stature), the drop from pelvis to hips (5 %) and, where the head
    # has no tip, the head (13 %).
    seen = 1.0 - 0.04 - 0.05 - (0.13 if crown == 0.0 else 0.0)
    return (float(np.mean(legs)) + trunk + crown) / seen


def _along(skeleton: Skeleton, lengths: np.ndarray, top: int, joint: int) -> float:
    chain = skeleton.chain(joint)
    return float(sum(lengths[j] for j in chain[chain.index(top) + 1 :])) if top in chain else 0.0


def extent(skeleton: Skeleton) -> float:
    """The largest side of the box around the rest pose."""
    points = np.concatenate([skeleton.rest_positions, skeleton.rest_ends])
    return float(np.ptp(points, axis=0).max())
