"""Pose <-> vector: what models learn from. Three ways, each with its way back to a clip."""

from jostle.features.angles import AngleFeatures
from jostle.features.bodies import BodyFeatures
from jostle.features.features import Features, Placement, placement

__all__ = ["AngleFeatures", "BodyFeatures", "Features", "Placement", "placement"]
