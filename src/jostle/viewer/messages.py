"""What the page may say to us, shape by shape. Nothing received is evaluated; what has no shape here goes no further.

Two sockets come in: viser's own (msgpack, passed on to viser after `sift`) and our input channel (JSON, `read_held`).
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

MAX_INPUT_BYTES = 1024
MAX_PAGE_BYTES = 64 * 1024
KEYS = {
    "KeyW": (0.0, 1.0),
    "ArrowUp": (0.0, 1.0),
    "KeyS": (0.0, -1.0),
    "ArrowDown": (0.0, -1.0),
    "KeyA": (-1.0, 0.0),
    "ArrowLeft": (-1.0, 0.0),
    "KeyD": (1.0, 0.0),
    "ArrowRight": (1.0, 0.0),
}  # (right, up) on the stick
_NUMBERS = (int, float)


@dataclass(frozen=True)
class Held:
    """Where the stick points, from keys and gamepad together: right and up, at most 1 long. (0, 0) is let go."""

    right: float = 0.0
    up: float = 0.0

    @property
    def amount(self) -> float:
        return math.hypot(self.right, self.up)


def read_held(text: str) -> Held | None:
    """A message of the input channel, `{"keys": ["KeyW"], "pad": [0.0, 0.0]}`; None where it is anything else."""
    if len(text) > MAX_INPUT_BYTES:
        return None
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict):
        return None
    keys, pad = message.get("keys", []), message.get("pad", [0.0, 0.0])
    if not (isinstance(keys, list) and len(keys) <= 16 and all(isinstance(k, str) for k in keys)):
        return None
    if not (isinstance(pad, list) and len(pad) == 2 and all(_finite(v) for v in pad)):
        return None
    pressed = [KEYS[key] for key in set(keys) & KEYS.keys()]
    return clamp(sum((k[0] for k in pressed), float(pad[0])), sum((k[1] for k in pressed), float(pad[1])))


def clamp(right: float, up: float) -> Held:
    """Inside the unit circle, and nothing inside the dead zone of a worn stick."""
    length = math.hypot(right, up)
    if length < 0.12:
        return Held()
    scale = min(1.0, 1.0 / length)
    return Held(right * scale, up * scale)


def _finite(value: Any) -> bool:
    return isinstance(value, _NUMBERS) and not isinstance(value, bool) and math.isfinite(value)


def _vector(value: Any, length: int) -> bool:
    return isinstance(value, list | tuple) and len(value) == length and all(_finite(v) for v in value)


def _is_camera(m: dict) -> bool:
    sizes = {"wxyz": 4, "position": 3, "look_at": 3, "up_direction": 3}
    scalars = ("fov", "near", "far", "image_height", "image_width")
    return all(_vector(m.get(k), n) for k, n in sizes.items()) and all(_finite(m.get(k)) for k in scalars)


def _is_value(m: dict) -> bool:
    """A changed control: only its value, and only a plain one."""
    updates = m.get("updates")
    if not (isinstance(m.get("uuid"), str) and isinstance(updates, dict) and set(updates) <= {"value"}):
        return False
    value = updates.get("value")
    return isinstance(value, bool | str) or _finite(value)


def _is_drag(m: dict) -> bool:
    vectors = {"start_position": 3, "end_position": 3, "start_screen_pos": 2, "end_screen_pos": 2}
    return (
        m.get("phase") in ("start", "update", "end")
        and isinstance(m.get("name"), str)
        and isinstance(m.get("instance_index"), int | None)
        and m.get("button") in ("left", "middle", "right")
        and isinstance(m.get("modifier"), str | None)
        and all(_vector(m.get(k), n) for k, n in vectors.items())
    )


def _is_click(m: dict) -> bool:
    """On the scene: a ray; boxes drawn with the mouse are not asked for here."""
    at = m.get("screen_pos")
    return (
        m.get("event_type") == "click"
        and _vector(m.get("ray_origin"), 3)
        and _vector(m.get("ray_direction"), 3)
        and isinstance(at, list | tuple)
        and len(at) == 1
        and _vector(at[0], 2)
        and isinstance(m.get("modifier"), str | None)
    )


def _is_hold(m: dict) -> bool:
    return isinstance(m.get("uuid"), str) and _finite(m.get("frequency"))


def _is_command(m: dict) -> bool:
    return isinstance(m.get("uuid"), str)


SHAPES = {
    "ViewerCameraMessage": _is_camera,
    "GuiUpdateMessage": _is_value,
    "GuiButtonHoldMessage": _is_hold,
    "SceneNodeDragMessage": _is_drag,
    "ScenePointerMessage": _is_click,
    "CommandTriggerMessage": _is_command,
}
PASS, DROP, REFUSE = "pass", "drop", "refuse"


def sift(raw: bytes) -> str:
    """Pass on what the viewer uses, drop what viser's page also says, refuse what is no message of that page."""
    import msgspec

    if len(raw) > MAX_PAGE_BYTES:
        return REFUSE
    try:
        message = msgspec.msgpack.decode(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return REFUSE
    if not (isinstance(message, dict) and isinstance(message.get("type"), str)):
        return REFUSE
    shape = SHAPES.get(message["type"])
    if shape is None:
        return DROP
    return PASS if shape(message) else REFUSE
