"""Constraints at run time: the most likely pose that has its feet, hands and limbs where they should be."""

from jostle.controllers.policy.constraints.constraint import Anatomy, Constraint, Moment
from jostle.controllers.policy.constraints.footlock import FootLock
from jostle.controllers.policy.constraints.hits import Hit
from jostle.controllers.policy.constraints.inference import Rows, at_least, equal
from jostle.controllers.policy.constraints.places import HandsOnHips, Hold, Place, PointAt
from jostle.controllers.policy.constraints.solids import Clear
from jostle.controllers.policy.constraints.synthesis import Held, Synthesis
from jostle.controllers.policy.constraints.toggles import Toggle, pack_constraints, standard, unpack_constraints

__all__ = [
    "Anatomy",
    "Clear",
    "Constraint",
    "FootLock",
    "HandsOnHips",
    "Held",
    "Hit",
    "Hold",
    "Moment",
    "Place",
    "PointAt",
    "Rows",
    "Synthesis",
    "Toggle",
    "at_least",
    "equal",
    "pack_constraints",
    "standard",
    "unpack_constraints",
]
