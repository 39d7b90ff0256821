"""Angles that go round."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from jostle.types import Array

A = TypeVar("A", float, Array)


def wrapped(angle: A) -> A:
    """The same direction, from -pi to pi."""
    return (angle + np.pi) % (2.0 * np.pi) - np.pi
