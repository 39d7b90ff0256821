"""Quaternions, exponential maps, springs, and the two solvers everything leans on. Modules are namespaces."""

from jostle.maths import linalg, quat, spring

__all__ = ["linalg", "quat", "spring"]
