"""Wind on the page: gusts from anywhere around, at chance moments, the same for everyone (Wang 2010, section 4.4.1)."""

from __future__ import annotations

import numpy as np

from jostle.controllers import Push
from jostle.skeleton import Skeleton, find_roles
from jostle.types import Array, Float
from jostle.viewer.drag import Drag, part_of

RATE = 0.6  # a second
SECONDS = 0.4  # that one lasts
_TRUNK = ("chest", "spine", "pelvis")  # where it blows: the first of these that a skeleton has


class Gusts:
    """Ask it once a step; from the same seed it blows the same."""

    def __init__(self, seed: int = 0) -> None:
        self._rng = np.random.default_rng(seed)

    def blow(self, newtons: float, dt: float) -> Float[Array, "3"] | None:
        """The force of a gust that begins now, if one does."""
        chance, angle = self._rng.random(), self._rng.uniform(0.0, 2.0 * np.pi)  # drawn in calm air as well
        if newtons <= 0.0 or chance >= RATE * dt:
            return None
        return newtons * np.array([np.cos(angle), np.sin(angle), 0.0])


def gust_on(index: int, skeleton: Skeleton, force: Float[Array, "3"]) -> tuple[Push, Drag]:
    """The push on the trunk of character `index`, and where its arrow is drawn."""
    roles = find_roles(skeleton)
    joint = next((roles[role] for role in _TRUNK if role in roles), 0)
    upwards = [skeleton.offsets[child] for child in skeleton.children[joint][:1]]
    at = 0.5 * sum(upwards, np.zeros(3))  # in the middle of the bone
    return Push(part_of(skeleton, joint), force, SECONDS), Drag(index, joint, at, np.zeros(3))
