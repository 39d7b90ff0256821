"""`playback`: a clip, over and over. It answers no push and says so."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from jostle.clips import Clip
from jostle.clips.contacts import Contacts, find_contacts
from jostle.clips.pack import pack_clip, unpack_clip
from jostle.controllers.protocol import Command, Observed, Start
from jostle.maths import quat
from jostle.skeleton import Pose, Skeleton
from jostle.types import Array, Float


@dataclass(frozen=True, eq=False)
class PlaybackState:
    pose: Pose
    frame: int
    time: float
    position: Float[Array, "2"]  # where this round of the clip began
    heading: float
    observed: Observed


@dataclass(frozen=True, eq=False)
class Playback:
    """Loops `clip` and carries its travel on: the next round starts where and in the direction in which the last ended.

    The last frame of a cyclic clip is the first of the next round (see `clips.loop`), so it is shown once.
    """

    clip: Clip

    kind = "playback"
    supports = frozenset[str]()

    @property
    def name(self) -> str:
        return f"playback:{self.clip.name}"

    @property
    def skeleton(self) -> Skeleton:
        return self.clip.skeleton

    @property
    def dt(self) -> float:
        return self.clip.dt

    @property
    def sources(self) -> tuple[Clip, ...]:
        return (self.clip,)

    def pack(self) -> tuple[dict[str, Any], dict[str, Array]]:
        return pack_clip(self.clip)

    @classmethod
    def unpack(cls, data: dict[str, Any], arrays: dict[str, Array]) -> Playback:
        return cls(unpack_clip(data, arrays))

    def init(self, start: Start) -> PlaybackState:
        return self._at(0, 0.0, np.array(start.position, dtype=float), start.heading)

    def step(self, state: PlaybackState, command: Command) -> PlaybackState:
        frame, position, heading = state.frame + 1, state.position, state.heading
        last = self.clip.frame_count - 1
        if frame >= max(last, 1):
            end = self._placed(last, position, heading)
            frame, position, heading = 0, end.root[:2], heading + self._turn
        return self._at(frame, state.time + self.dt, position, heading)

    def _at(self, frame: int, time: float, position: Float[Array, "2"], heading: float) -> PlaybackState:
        contacts = dict(zip(self._contacts.names, self._contacts.planted[frame].tolist(), strict=True))
        return PlaybackState(self._placed(frame, position, heading), frame, time, position, heading, Observed(contacts))

    @cached_property
    def _contacts(self) -> Contacts:
        return find_contacts(self.clip)

    @cached_property
    def _yaw(self) -> Float[Array, "T"]:
        return np.unwrap(quat.yaw(self.clip.wxyz[:, 0]))

    @property
    def _turn(self) -> float:
        """How far one round turns, in radians."""
        return float(self._yaw[-1] - self._yaw[0])

    @cached_property
    def _facing(self) -> float:
        """Where the clip heads when it begins, without the wobble of the pelvis within a step."""
        steady = self._turn * np.linspace(0.0, 1.0, self.clip.frame_count)
        return float(np.mean(self._yaw - steady))

    def _placed(self, frame: int, position: Float[Array, "2"], heading: float) -> Pose:
        """The clip's frame, with its beginning moved to `position` and turned to `heading`."""
        pose = self.clip.pose(frame)
        turn = quat.from_yaw(heading - self._facing)
        root = quat.apply(turn, pose.root - self.clip.root[0] * [1, 1, 0])
        root[:2] += position
        wxyz = pose.wxyz.copy()
        wxyz[0] = quat.mul(turn, wxyz[0])
        return Pose(root, wxyz, pose.offsets)
