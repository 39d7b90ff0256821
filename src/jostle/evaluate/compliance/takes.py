"""The clips that are measured, and one run of a character that gives way.

A take of somebody walking is one cycle, closed by `clips.loop`; so it goes on for ever, and what differs from it is the
controller's doing. What is no walk is played from its beginning to its end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from jostle import assets
from jostle.clips import Clip, load_clip
from jostle.clips.edit import lowpass, resample, trim
from jostle.clips.loop import loop, over_rounds
from jostle.controllers import NEUTRAL, Command, Push, Start
from jostle.controllers.compliant.compliant import FPS, Compliant, CompliantState, compliant_clip
from jostle.controllers.compliant.joints import Stops, upper_joints
from jostle.errors import MotionError
from jostle.maths import quat
from jostle.skeleton import Pose, find_roles, forward
from jostle.types import Array, Float

# name -> file in the folder of motion capture. The first eight are the ones that figures are given of.
TAKES = {
    "normal": "snu_ys2010/walk/wd2_WalkForwardNormal00.bvh",
    "backward": "snu_ys2010/walk/wd2_WalkBackward00.bvh",
    "sneaky": "snu_ys2010/walk/wd2_WalkSukiko01.bvh",
    "cmu_07": "cmu_bvh/07_01.bvh",
    "cmu_08": "cmu_bvh/08_01.bvh",
    "cmu_35": "cmu_bvh/35_02.bvh",
    "cmu_136": "cmu_bvh/136_21.bvh",
    "jabs": "snu_ys2010/other/boxing_boxman_stand_dir_zap_left.bvh",
    "normal_2": "snu_ys2010/walk/wd2_WalkForwardNormal01.bvh",
    "normal_3": "snu_ys2010/walk/wd2_WalkForwardNormal02.bvh",
    "backward_2": "snu_ys2010/walk/wd2_WalkBackward02.bvh",
    "backward_3": "snu_ys2010/walk/wd2_WalkBackward04.bvh",
    "sneaky_2": "snu_ys2010/walk/wd2_WalkSukiko03.bvh",
    "sneaky_3": "snu_ys2010/walk/wd2_WalkSukiko04.bvh",
}
MAIN = tuple(TAKES)[:8]
WALKS = MAIN[:7]
STYLES = {style: tuple(name for name in TAKES if name.startswith(style)) for style in ("normal", "backward", "sneaky")}
SMOOTH = 6.0  # hertz: a closed cycle has a kink in its accelerations where it was closed
SHIPPED = "walk"  # measured where there is no folder
_LEAD = 1.0  # seconds before anything happens
_LONGEST = 20.0  # seconds of what is no walk


def source_clip(path: str) -> Clip:
    """One closed cycle of a walk, smoothed, or what is no walk as it is."""
    clip = load_clip(path)
    try:
        return over_rounds(resample(loop(clip), FPS), lambda rounds: lowpass(rounds, SMOOTH))
    except MotionError:
        return trim(clip, 0.0, min(_LONGEST, clip.duration))


def path_of(name: str, data: Path | None) -> str:
    return str(assets.clip_path(SHIPPED) if data is None else data / TAKES[name])


@dataclass(frozen=True, eq=False)
class Run:
    """What a character did, beside what its source would have shown."""

    off: Float[Array, "T J"]  # degrees by which joints are turned off
    upper: Float[Array, "T U"]  # of the upper body alone
    pelvis: Float[Array, "T 3"]  # metres by which the pelvis is off, as the ground sees it
    states: list[CompliantState]

    @cached_property
    def poses(self) -> tuple[Pose, Pose]:
        """What is shown and what the source would show, all frames as one."""
        both = _poses(self.states)
        ours, theirs = (Pose(np.array([p.root for p in some]), np.array([p.wxyz for p in some])) for some in both)
        return ours, theirs

    @property
    def worst(self) -> Float[Array, "T"]:
        return np.max(self.off, axis=1)

    def seconds_back(self, since: int, dt: float, within: float = 2.0) -> float:
        """Seconds after frame `since` from which on all joints stay within so many degrees; inf: never."""
        away = np.flatnonzero(~(self.worst[since:] <= within))
        if not len(away):
            return 0.0
        return float("inf") if away[-1] == len(self.worst) - since - 1 else float((away[-1] + 1) * dt)


@dataclass(frozen=True, eq=False)
class Walker:
    """A character on a take, and the states from which pushes may begin: one for each frame of a cycle."""

    character: Compliant

    @cached_property
    def begun(self) -> list[CompliantState]:
        lead = round(_LEAD / self.character.dt)
        rounds = min(self.clip.frame_count - 1, round(8.0 / self.character.dt))
        return self.go(self.character.init(Start()), lead + rounds).states[lead:]

    @property
    def clip(self) -> Clip:
        return self.character.sources[0]

    def go(self, state: CompliantState, frames: int, commands: Mapping[int, Command] | None = None) -> Run:
        states = [state]
        for frame in range(frames):
            states.append(self.character.step(states[-1], (commands or {}).get(frame, NEUTRAL)))
        return self._run(states)

    def pushed(self, push: Push, phase: float = 0.0, seconds: float = 4.0) -> Run:
        """From a moment of the cycle, 0 to 1; the push begins with the second frame."""
        start = self.begun[min(int(phase * len(self.begun)), len(self.begun) - 1)]
        return self.go(start, round(seconds / self.character.dt), {0: Command(pushes=(push,))})

    def _run(self, states: list[CompliantState]) -> Run:
        ours, theirs = (np.array([pose.wxyz for pose in poses]) for poses in _poses(states))
        off = np.degrees(quat.angle(quat.inv_mul(theirs, ours)))
        roots = [np.array([pose.root for pose in poses]) for poses in _poses(states)]
        carried = np.array([state.sway.carried for state in states])
        return Run(off, off[:, upper_joints(self.character.skeleton)], roots[0] - roots[1] - carried, states)

    def excess(self, run: Run) -> float:
        """Degrees by which a joint was at most beyond its end."""
        stops = Stops(self.character.physics)
        qpos, motion = (np.array([getattr(state, name) for state in run.states]) for name in ("qpos", "target"))
        return float(np.degrees(np.max(stops.excess(qpos, motion), initial=-np.pi)))

    def feet(self, run: Run) -> tuple[Float[Array, "T F 3"], Float[Array, "T F 3"]]:
        """Where ankles are as the ground sees it, and where the source has them."""
        skeleton = self.character.skeleton
        joints = [joint for role, joint in find_roles(skeleton).items() if role.endswith("_foot")]
        ours, theirs = (forward(skeleton, poses).positions[:, joints] for poses in run.poses)
        return ours - np.array([state.sway.carried for state in run.states])[:, None], theirs


def _poses(states: list[CompliantState]) -> tuple[list[Pose], list[Pose]]:
    return [state.pose for state in states], [state.source.pose for state in states]


def walker(path: str, **options: Any) -> Walker:
    return Walker(compliant_clip(source_clip(path), **options))
