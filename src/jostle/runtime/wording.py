"""Pushes in words: "torso 300N back-left at 2.1s for 0.2s"; what else to do, "head towards 3 1 1.6"; and obstacles.

Directions are those of the one who is pushed: forward is where they go, whatever the world's axes are. A number of
degrees, such as 135deg, counts from forward to their left; "up" and "down" push along the vertical.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from jostle.controllers import Push
from jostle.controllers.compliant.objectives import LookAt, Objective, Reach, Upright
from jostle.controllers.obstacles import Block, Obstacle, Post
from jostle.errors import CommandError
from jostle.runtime.recording import TimedPush
from jostle.types import Array, Float

DURATION = 0.2  # seconds, where none is said
_AHEAD = {"forward": 0.0, "left": 90.0, "back": 180.0, "right": -90.0}  # degrees
_PUSH = re.compile(
    r"^(?P<part>\S+)\s+(?P<force>[\d.]+)\s*N\s+(?P<way>\S+)\s+at\s+(?P<time>[\d.]+)\s*s?"
    r"(?:\s+for\s+(?P<lasts>[\d.]+)\s*s?)?$"
)
_EXAMPLE = '"torso 300N back-left at 2.1s for 0.2s"'


def read_push(text: str, heading: float = 0.0) -> TimedPush:
    """The push that a sentence means, on somebody who goes that way (radians left of X)."""
    found = _PUSH.match(text.strip())
    if found is None:
        raise CommandError(f"'{text}' is no push; say it like {_EXAMPLE}.")
    try:
        newtons, time = float(found["force"]), float(found["time"])
        lasts = DURATION if found["lasts"] is None else float(found["lasts"])
    except ValueError:
        raise CommandError(f"'{text}' has a number that cannot be read; say it like {_EXAMPLE}.") from None
    return TimedPush(time, Push(found["part"], newtons * _direction(found["way"], heading), lasts))


def _direction(word: str, heading: float) -> Float[Array, "3"]:
    if word in ("up", "down"):
        return np.array([0.0, 0.0, 1.0 if word == "up" else -1.0])
    degrees = re.fullmatch(r"(-?[\d.]+)deg", word)
    if degrees is not None:
        angle = heading + np.radians(float(degrees[1]))
        return np.array([np.cos(angle), np.sin(angle), 0.0])
    parts = ["forward" if part == "front" else part for part in word.split("-")]
    known = all(part in _AHEAD for part in parts) and len(parts) in (1, 2)
    angles = heading + np.radians([_AHEAD[part] for part in parts]) if known else np.zeros(0)
    way = np.array([np.sum(np.cos(angles)), np.sum(np.sin(angles)), 0.0])
    if not np.linalg.norm(way) > 1e-6:
        raise CommandError(
            f"'{word}' is no direction; say forward, left, back, right, two of them (back-left), up, down or 135deg."
        )
    return way / np.linalg.norm(way)


_NUMBER = r"(-?[\d.]+)"
_PLACE = re.compile(rf"^(\S+)\s+(at|towards)\s+{_NUMBER}\s+{_NUMBER}\s+{_NUMBER}$")
_UPRIGHT = re.compile(r"^(\S+)\s+upright$")
_OBSTACLE = re.compile(r"^(post|block)((?:\s+-?[\d.]+)+)$")


def read_objective(text: str) -> Objective:
    """What a character that gives way should do besides."""
    upright, place = _UPRIGHT.match(text.strip()), _PLACE.match(text.strip())
    if upright is not None:
        return Upright(upright[1])
    if place is None:
        raise CommandError(
            f'\'{text}\' is nothing to keep; say it like "right_hand upright", "left_hand at 1 0.3 1.2" or '
            '"head towards 3 1 1.6" (metres: ahead, to the left, up).'
        )
    point = np.array(_floats(text, place.groups()[2:]))
    return Reach(point, place[1]) if place[2] == "at" else LookAt(point, place[1])


def read_obstacle(text: str) -> Obstacle:
    """A post, "post x y radius height", or a box, "block x y z length width height"; metres."""
    found = _OBSTACLE.match(text.strip())
    numbers = [] if found is None else _floats(text, found[2].split())
    if found is not None and found[1] == "post" and len(numbers) == 4:
        x, y, radius, height = numbers
        if height <= 0.0:
            raise CommandError(f"A post stands on the ground, so its height is above zero, not {height:g} m.")
        return Post(np.array([x, y, 0.0]), np.array([x, y, height]), radius)
    if found is not None and found[1] == "block" and len(numbers) == 6:
        return Block(np.array(numbers[:3]), 0.5 * np.array(numbers[3:]))
    raise CommandError(
        f"'{text}' is no obstacle; say \"post 1.5 0.3 0.05 1.7\" (place, radius, height) or "
        '"block 1.5 0.4 1.2 0.2 0.2 0.4" (middle, size); metres.'
    )


def _floats(text: str, words: Sequence[str]) -> list[float]:
    try:
        return [float(word) for word in words]
    except ValueError:
        raise CommandError(f"'{text}' has a number that cannot be read.") from None
