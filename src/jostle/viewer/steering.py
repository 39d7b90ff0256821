"""What the held keys, the gamepad and the pad on the page ask for: a heading in the world and a speed.

Up means away from the camera, whichever way it looks. Before anyone steers, nothing is asked for; once someone has,
letting go means: stand.
"""

from __future__ import annotations

import math
import threading

from jostle.viewer.messages import Held, clamp


class Steering:
    """Collects what every open page holds; any thread may tell it, any may ask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[int, Held] = {}
        self.used = False

    def hold(self, client: int, held: Held) -> None:
        with self._lock:
            if held == Held():
                self._held.pop(client, None)
            else:
                self._held[client] = held
                self.used = True

    def forget(self) -> None:
        """As if nobody had ever steered."""
        with self._lock:
            self._held.clear()
            self.used = False

    def stick(self) -> Held:
        """All pages together."""
        with self._lock:
            held = list(self._held.values())
        return clamp(sum((h.right for h in held), 0.0), sum((h.up for h in held), 0.0))

    def wish(self, camera_yaw: float, speed: float) -> tuple[float | None, float | None]:
        """Heading in radians about Z and speed in metres a second; None where nothing is asked."""
        stick = self.stick()
        if stick.amount == 0.0:
            return None, (0.0 if self.used else None)
        return heading_of(stick, camera_yaw), speed * stick.amount


def heading_of(stick: Held, camera_yaw: float) -> float:
    """The stick's direction in the world, in (-pi, pi]; Y is left, so right on the stick is a turn to minus."""
    angle = camera_yaw + math.atan2(-stick.right, stick.up)
    return math.atan2(math.sin(angle), math.cos(angle))


def yaw_of_camera(position: tuple[float, ...], look_at: tuple[float, ...]) -> float:
    """Where the camera looks, as a turn about Z; 0 where it looks straight down."""
    x, y = look_at[0] - position[0], look_at[1] - position[1]
    return math.atan2(y, x) if math.hypot(x, y) > 1e-6 else 0.0
