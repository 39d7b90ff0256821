"""Quaternions, exponential maps, springs, filters, and the two solvers everything leans on. Modules are namespaces."""

from jostle.maths import filters, linalg, quat, spring

__all__ = ["filters", "linalg", "quat", "spring"]
