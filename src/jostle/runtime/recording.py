"""A recording: the poses, contacts, pushes and quality figures of a run. It is a clip, with channels."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from jostle.clips import Clip, load_clip, save_clip
from jostle.controllers import LEVEL, NEUTRAL, Command, Floor, Push, Start
from jostle.errors import FormatError, MotionError
from jostle.files import read_bytes, write_text
from jostle.runtime.character import Character, CharacterState
from jostle.skeleton import Pose, Skeleton
from jostle.types import Array, Float, PathLike


@dataclass(frozen=True, eq=False)
class TimedPush:
    time: float  # seconds since the start, when the push began
    push: Push


@dataclass(frozen=True, eq=False)
class Recording(Clip):
    """Everything that works on a clip works on it; an edit of it is a plain clip."""

    contacts: dict[str, Array] = field(default_factory=dict)  # name -> (T,) booleans
    pushes: tuple[TimedPush, ...] = ()
    quality: dict[str, Array] = field(default_factory=dict)  # name -> (T,) numbers
    floors: tuple[Floor, ...] = ()  # what it stood on, frame by frame; none: level ground at zero

    def __post_init__(self) -> None:
        super().__post_init__()
        channels = {**self.contacts, **self.quality} | ({"floors": self.floors} if self.floors else {})
        for name, channel in channels.items():
            if len(channel) != self.frame_count:
                raise MotionError(f"Channel '{name}' has {len(channel)} values for {self.frame_count} frames.")


class Recorder:
    """Collects frames as they are shown; `finish` gives the recording."""

    def __init__(self, skeleton: Skeleton, fps: float) -> None:
        self.skeleton = skeleton
        self.fps = fps
        self._poses: list[Pose] = []
        self._observed: list = []
        self._pushes: list[TimedPush] = []

    def __len__(self) -> int:
        return len(self._poses)

    def add(self, state: CharacterState, pushes: tuple[Push, ...] = ()) -> None:
        self._pushes += [TimedPush(len(self._poses) / self.fps, push) for push in pushes]
        self._poses.append(state.pose)
        self._observed.append(state.observed)

    def finish(self, name: str = "recording") -> Recording:
        if not self._poses:
            raise MotionError("Nothing was recorded yet; let the character run first.")
        moving = any(pose.offsets is not None for pose in self._poses)
        return Recording(
            self.skeleton,
            self.fps,
            np.stack([pose.root for pose in self._poses]),
            np.stack([pose.wxyz for pose in self._poses]),
            np.stack([self._offsets(pose) for pose in self._poses]) if moving else None,
            name,
            contacts=self._channel("contacts", False, bool),
            pushes=tuple(self._pushes),
            quality=self._channel("quality", np.nan, float),
            floors=self._floors(),
        )

    def _floors(self) -> tuple[Floor, ...]:
        floors = tuple(observed.floor for observed in self._observed)
        return floors if any(floor != LEVEL for floor in floors) else ()

    def _offsets(self, pose: Pose) -> Float[Array, "J 3"]:
        return self.skeleton.offsets if pose.offsets is None else pose.offsets

    def _channel(self, kind: str, missing: object, dtype: type) -> dict[str, Array]:
        values = [getattr(observed, kind) for observed in self._observed]
        names = sorted(set().union(*values))
        return {name: np.array([v.get(name, missing) for v in values], dtype=dtype) for name in names}


def due(pushes: Iterable[TimedPush], time: float, rate: float) -> tuple[Push, ...]:
    """Those that begin in the display frame at this time."""
    return tuple(timed.push for timed in pushes if time - 0.5 / rate < timed.time <= time + 0.5 / rate)


def record(
    character: Character,
    seconds: float,
    command: Callable[[float], Command] = lambda time: NEUTRAL,
    start: Start | None = None,
    name: str = "recording",
) -> Recording:
    """Run a character from `start`; `command(time)` is what the user wants at each display frame."""
    recorder = Recorder(character.skeleton, character.rate)
    state = character.init(start)
    for _ in range(round(seconds * character.rate)):
        wish = command(state.time)
        recorder.add(state, wish.pushes)
        state = character.step(state, wish)
    recorder.add(state)
    return recorder.finish(name)


def save_recording(
    recording: Recording, path: PathLike, about: Mapping[str, Any] | None = None, **options: object
) -> None:
    """The motion in any writable format, and beside it a JSON of the same name with pushes, contacts and quality.

    What is known `about` the recording beyond that goes into the JSON as well; options are the format's own.
    """
    save_clip(recording, path, **options)
    channels = {
        "format": "jostle-recording",
        "version": 1,
        "fps": recording.fps,
        "pushes": [_push_to_json(timed) for timed in recording.pushes],
        "contacts": {name: channel.astype(int).tolist() for name, channel in recording.contacts.items()},
        "quality": {name: [_number(x) for x in channel] for name, channel in recording.quality.items()},
        "floors": [astuple(floor) for floor in recording.floors],
    } | ({"about": dict(about)} if about else {})
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in channels.items()]  # not one for each number
    write_text(Path(path).with_suffix(".json"), "{\n " + ",\n ".join(lines) + "\n}\n")


def load_recording(path: PathLike) -> Recording:
    clip = load_clip(path)
    side = Path(path).with_suffix(".json")
    try:
        channels = json.loads(read_bytes(side))
        if channels["format"] != "jostle-recording" or channels["version"] != 1:
            raise FormatError(
                side,
                f"it holds {channels['format']} version {channels['version']}, not a recording's channels.",
            )
        return Recording(
            clip.skeleton, clip.fps, clip.root, clip.wxyz, clip.offsets, clip.name, clip.unit,
            contacts={name: np.array(values, dtype=bool) for name, values in channels["contacts"].items()},
            pushes=tuple(_push_from_json(entry) for entry in channels["pushes"]),
            quality={name: np.array(values, dtype=float) for name, values in channels["quality"].items()},
            floors=tuple(Floor(*map(float, floor)) for floor in channels.get("floors", ())),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise FormatError(side, f"it does not hold a recording's channels ({error}); record again.") from None


def _number(x: float) -> float | None:
    return float(x) if np.isfinite(x) else None  # JSON has no word for the others


def _push_to_json(timed: TimedPush) -> dict:
    push = timed.push
    return {
        "time": timed.time,
        "part": push.part,
        "force": push.force.tolist(),
        "duration": push.duration,
        "point": None if push.point is None else push.point.tolist(),
    }


def _push_from_json(entry: dict) -> TimedPush:
    point = None if entry["point"] is None else np.array(entry["point"], dtype=float)
    push = Push(str(entry["part"]), np.array(entry["force"], dtype=float), float(entry["duration"]), point)
    return TimedPush(float(entry["time"]), push)
