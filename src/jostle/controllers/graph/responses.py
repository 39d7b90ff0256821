"""Recorded answers to pushes: a piece of a take, when the push came in it, on what, which way and how hard.

Three sources: forces that were recorded beside the clip, the frames of a CSV, or nothing but the take (`clips.pushes`).
Without a recorded force the impulse is what the pushed joint gained of speed, times what it weighs to a push along
that way. That is the effective mass of a stiff body, about 45 kg at the chest: muscles hold who is pushed together for
longer than a push lasts. With limp joints (`Dynamics.effective_mass`) a chest weighs 8 kg, and a push that set 70 kg
going at 0.8 m/s would have had 5 N s. Mirrored, every response is one to the other side as well.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from jostle.body import Body, Dynamics, compile_body
from jostle.clips import Clip
from jostle.clips.balance import WINDOW
from jostle.clips.edit import mirror, trim_frames
from jostle.clips.flight import derivative
from jostle.clips.pushes import find_pushes
from jostle.controllers.compliant.footing import kick
from jostle.controllers.protocol import Push
from jostle.errors import FormatError
from jostle.features.features import fitted
from jostle.files import read_bytes
from jostle.skeleton.mirror import find_twins
from jostle.types import Array, Float, PathLike

FPS = 30.0
BEFORE = 0.2  # seconds of the take before the push
AFTER = 0.5, 2.5  # seconds after a push that one settles in, at least, and unless told otherwise at most
_GAIN = 0.3  # seconds in which the pushed joint is fastest
_LEAST = 0.05  # metres a second: who gains less was not pushed
_FLIP = np.array([1.0, -1.0, 1.0])


@dataclass(frozen=True, eq=False)
class Response:
    """What somebody did who was pushed."""

    clip: Clip
    onset: int  # the frame of the clip in which the push begins
    settle: int  # from here on it may go over into something else
    joint: int
    impulse: Float[Array, "3"]  # newton seconds, in the clip's own world
    weight: float  # kilograms that the joint weighs to it

    @property
    def gained(self) -> Float[Array, "3"]:
        """Metres a second that the push gives to the joint."""
        return self.impulse / self.weight

    @property
    def way(self) -> float:
        """Radians about the vertical."""
        return float(np.arctan2(self.impulse[1], self.impulse[0]))


@dataclass(frozen=True, eq=False)
class Told:
    """When a push came and when it was over, in seconds of its take; what is not known of it is None."""

    onset: float
    settle: float | None = None
    push: Push | None = None


def read_responses(clip: Clip, body: Body, told: Sequence[Told] | None = None) -> tuple[Response, ...]:
    """The responses of a take; its pushes are looked for, unless they are told."""
    take, instant = fitted(clip, body.skeleton, FPS), Dynamics(compile_body(body))
    seen = find_pushes(take) if told is None or any(one.push is None for one in told) else ()
    if told is None:
        spans = [(push.onset, push.settle, None) for push in seen]
    else:
        spans = [(round(one.onset * FPS), _settled(one, take), one.push) for one in told]
    out = []
    for i, (onset, settle, push) in enumerate(spans):
        until = spans[i + 1][0] if i + 1 < len(spans) else take.frame_count
        if not 0 <= onset < settle - 1 or settle >= until:
            continue  # somebody who is pushed again before it is over
        if push is None:
            nearest = min(seen, key=lambda one: abs(one.onset - onset), default=None)
            joint = body.part("torso") if nearest is None else nearest.joint
            impulse, gained = None, _gain(take, onset, joint)
            if float(np.linalg.norm(gained)) < _LEAST:
                continue
        else:
            joint, impulse, gained = body.part(push.part), push.impulse, push.impulse
        instant.set(instant.physics.to_qpos(take.pose(onset)))
        weight = weight_of(instant, joint, gained)
        first = max(0, onset - round(BEFORE * FPS))
        piece = trim_frames(take, first, until)
        given = weight * gained if impulse is None else impulse
        out.append(Response(piece, onset - first, settle - first, joint, given, weight))
    return tuple(out)


def weight_of(instant: Dynamics, joint: int, way: Float[Array, "3"]) -> float:
    """What a joint of a stiff body weighs to a push along `way`, in kilograms."""
    along = way / np.linalg.norm(way)
    arm = instant.coms()[joint] - instant.com()
    moved = kick(instant, along, np.cross(arm, along))
    return 1.0 / float(along @ (moved.velocity + np.cross(moved.spin, arm)))


def _settled(one: Told, take: Clip) -> int:
    least, most = (round(seconds * FPS) for seconds in AFTER)
    begins, last = round(one.onset * FPS), take.frame_count - 1
    if one.settle is None:
        return min(begins + most, last)
    return min(max(begins + least, round(one.settle * FPS)), last)


def _gain(take: Clip, onset: int, joint: int) -> Float[Array, "3"]:
    """What a joint gains of speed over the ground until it is fastest."""
    velocity = derivative(take.positions[:, joint], take.fps, 1, WINDOW) * [1.0, 1.0, 0.0]
    gained = velocity[onset : onset + round(_GAIN * take.fps) + 1] - velocity[onset]
    return gained[int(np.argmax(np.linalg.norm(gained, axis=1)))]


def mirrored(response: Response) -> Response:
    """The response of one who is pushed in the mirror."""
    twin = int(find_twins(response.clip.skeleton)[response.joint])
    return Response(
        mirror(response.clip), response.onset, response.settle, twin, response.impulse * _FLIP, response.weight
    )


def read_events(path: PathLike) -> Mapping[str, tuple[Told, ...]]:
    """Pushes by the name of their file: columns file, fps, onset_frame, settle_frame, and kind where not all are."""
    out: dict[str, list[Told]] = {}
    try:
        for row in csv.DictReader(io.StringIO(read_bytes(path).decode())):
            if row.get("kind", "push") == "push":
                fps = float(row["fps"])
                told = Told(int(row["onset_frame"]) / fps, int(row["settle_frame"]) / fps)
                out.setdefault(str(row["file"]), []).append(told)
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise FormatError(path, f"it tells no pushes ({error}): file, fps, onset_frame, settle_frame.") from None
    return {name: tuple(pushes) for name, pushes in out.items()}
