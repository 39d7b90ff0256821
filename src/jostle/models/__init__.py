"""Gaussian-process models of motion: the only door to jax, which opens when a model is made."""

from __future__ import annotations

from jostle.models.fit import KNOWN, fit, options_of
from jostle.models.model import MotionModel

__all__ = ["KNOWN", "MotionModel", "fit", "options_of"]
