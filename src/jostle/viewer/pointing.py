"""A click on the ground: where characters are asked to go, or what to strike. A ring marks it, and a ball above the
ground where strikes aim.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from jostle.controllers import Controller
from jostle.types import Array, Float
from jostle.viewer import look
from jostle.viewer.handles import ViserServer
from jostle.viewer.scene import Scene

_RING = (0.11, 0.14)  # metres, for a person
_BALL = 0.05


class Pointing:
    """`target` is what was pointed at last, in the world. Any page may point; the loop picks it up."""

    def __init__(self, server: ViserServer, scene: Scene, controllers: Sequence[Controller]) -> None:
        self.scene = scene
        self.heights = [float(getattr(c, "aims_at", 0.0)) for c in controllers if "target" in c.supports]
        self._lock = threading.Lock()
        self._target: Float[Array, "3"] | None = None
        self._marks: list[Any] = []
        if not self.heights:
            return
        self._add_marks(server)

        @server.scene.on_click()
        def _(event: Any) -> None:
            self.point(event.ray_origin, event.ray_direction)

    @property
    def target(self) -> Float[Array, "3"] | None:
        with self._lock:
            return self._target

    def point(self, origin: Sequence[float], direction: Sequence[float]) -> None:
        """Along a ray of the page, to the ground in its middle; what looks up points nowhere."""
        place = on_ground(np.asarray(origin, dtype=float), np.asarray(direction, dtype=float))
        if place is None:
            return
        with self._lock:
            self._target = place + self.scene.shift
        self._show()

    def forget(self) -> None:
        with self._lock:
            self._target = None
        self._show()

    def _add_marks(self, server: ViserServer) -> None:
        size = self.scene.size
        vertices, faces = look.ring(_RING[0] * size, _RING[1] * size)
        self._marks.append(server.scene.add_mesh_simple("/world/target", vertices, faces, color=look.BRAND))
        if max(self.heights) > 0.0:
            ball = server.scene.add_icosphere("/world/target/ball", radius=_BALL * size, color=look.BRAND)
            ball.position = (0.0, 0.0, max(self.heights))
            self._marks.append(ball)
        self._show()

    def _show(self) -> None:
        place = self.target
        for mark in self._marks:
            mark.visible = place is not None
        if place is not None and self._marks:
            self._marks[0].position = (float(place[0]), float(place[1]), float(place[2]) + 0.01)


def on_ground(origin: Float[Array, "3"], direction: Float[Array, "3"]) -> Float[Array, "3"] | None:
    """Where a ray meets the page's ground; None where it never does."""
    if direction[2] > -1e-3 or origin[2] <= 0.0:
        return None
    return origin - origin[2] / direction[2] * direction
