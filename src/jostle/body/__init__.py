"""Bodies with mass: anthropometry, MuJoCo, mass matrices, Jacobians, inverse dynamics, batches of simulations."""

from jostle.body.body import Body, build_body
from jostle.body.shapes import Box, Capsule, Shape, Sole

__all__ = ["Body", "Box", "Capsule", "Shape", "Sole", "build_body"]
