"""Pose <-> vector: what models learn from. Three ways, each with its way back to a clip."""

from jostle.features.features import Features, Placement, placement

__all__ = ["Features", "Placement", "placement"]
