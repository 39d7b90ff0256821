"""Array aliases and shape letters.

Shapes are types: `Float[Array, "T J 3"]`. The letters mean the same everywhere (docs/notation.md):
T frames, J joints, E end sites, F feet, P labelled points, N training frames, Q latent dimensions, D feature
dimensions, B simulations in a batch, V generalised velocities. They are checked at run time in the tests only.
"""

import os

import numpy as np
from jaxtyping import Bool, Float, Int

Array = np.ndarray
PathLike = str | os.PathLike[str]

__all__ = ["Array", "Bool", "Float", "Int", "PathLike"]
