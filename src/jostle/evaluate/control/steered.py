"""A character that is steered, and what its run is worth. The same code measures every method, from what it shows.

    from jostle.evaluate.control.steered import acceleration_ratio, reward_of, run, turn_times

    found = run(controller, seed=0, frames=1000)     # asked for a new direction every two seconds
    reward_of(found), acceleration_ratio([found], clips)
    turn_times(controller, 90.0, seed=0, trials=20)  # seconds, inf where a command was missed

Reward is the task's, of the root's travel between two poses that are shown, without what a method charges for quality.
Accelerations are second differences of world positions of all joints, at 30 frames a second; those of the data are of
the training clips at that rate. Agility that is bought by jerk is none, so neither stands without the other.

Whether a command is met is told by the direction in which the root travels over a third of a second around a frame:
from frame to frame it sways with every step, by more than what is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from jostle.clips import Clip
from jostle.clips.edit import resample
from jostle.controllers import Command, Controller, Start
from jostle.controllers.policy.tasks import Heading, Step
from jostle.maths import quat
from jostle.maths.angles import wrapped
from jostle.skeleton import Pose, Skeleton, forward
from jostle.types import Array, Float

FRAMES, EVERY = 1000, 2.0  # of a run; seconds from one direction to the next
NEAR = np.radians(15.0)
AROUND = 1.0 / 3.0  # seconds over which travel has a direction
BEFORE, AFTER = 2.0, 4.0  # seconds straight on, and after a turn


@dataclass(frozen=True, eq=False)
class Run:
    """T steps; poses and what a state tells of itself have one row more, the beginning."""

    skeleton: Skeleton
    dt: float
    asked: Float[Array, "T"]  # direction, radians left of X
    poses: Pose
    variance: Float[Array, "R"]  # of poses over its mean at the data; nan where a method has none
    latent: Float[Array, "R Q"]  # no columns where a method has none

    @cached_property
    def clip(self) -> Clip:
        return Clip(self.skeleton, 1.0 / self.dt, self.poses.root, self.poses.wxyz, self.poses.offsets, name="steered")

    @cached_property
    def facing(self) -> Float[Array, "R"]:
        return quat.yaw(self.poses.wxyz[:, 0])

    @cached_property
    def travel(self) -> Float[Array, "T 3"]:
        """Ahead, aside and turn a second, as seen before each step."""
        moved = np.diff(self.poses.root, axis=0) * [1.0, 1.0, 0.0]
        seen = quat.apply(quat.from_yaw(-self.facing[:-1]), moved)
        turned = wrapped(np.diff(self.facing))
        return np.concatenate([seen[:, :2], turned[:, None]], axis=1) / self.dt

    @cached_property
    def off(self) -> Float[Array, "T"]:
        """Radians between where it travels and where it is asked to."""
        half = max(1, round(0.5 * AROUND / self.dt))
        frames = np.arange(len(self.asked))
        before, after = np.maximum(frames - half, 0), np.minimum(frames + half, len(self.asked))
        way = (self.poses.root[after] - self.poses.root[before])[:, :2]
        return np.abs(wrapped(np.arctan2(way[:, 1], way[:, 0]) - self.asked))


def run(controller: Controller, seed: int, frames: int = FRAMES, every: float = EVERY) -> Run:
    """Random directions, a new one every so many seconds: the same ones for every controller."""
    return follow(controller, random_headings(seed, frames, controller.dt, every), seed)


def random_headings(seed: int, frames: int, dt: float, every: float = EVERY) -> Float[Array, "T"]:
    wishes = np.random.default_rng([seed, 1]).uniform(-np.pi, np.pi, int(frames * dt / every) + 2)
    return wishes[(np.arange(frames) * dt / every + 1e-9).astype(int)]


def follow(controller: Controller, asked: Float[Array, "T"], seed: int = 0, heading: float = 0.0) -> Run:
    """A run that is asked for these directions."""
    state = controller.init(Start(heading=heading, seed=seed))
    states = [state]
    for wish in asked:
        state = controller.step(state, Command(heading=float(wish)))
        states.append(state)
    poses = [state.pose for state in states]
    offsets = [pose.offsets for pose in poses if pose.offsets is not None]
    stack = Pose(
        np.array([pose.root for pose in poses]),
        np.array([pose.wxyz for pose in poses]),
        np.array(offsets) if offsets else None,
    )
    told = [getattr(getattr(state, "observed", None), "quality", {}) for state in states]
    latent = np.array([getattr(state, "latent", ()) for state in states], dtype=float).reshape(len(states), -1)
    variance = np.array([quality.get("variance", np.nan) for quality in told])
    return Run(controller.skeleton, controller.dt, asked, stack, variance, latent)


def rewards(found: Run, task: Heading | None = None) -> Float[Array, "T"]:
    theta = wrapped(found.asked - found.facing[:-1])[:, None]
    return (task or Heading()).reward(Step(found.travel, found.dt), theta)


def reward_of(found: Run, task: Heading | None = None) -> float:
    """A step, on average: 1 is straight on, always."""
    return float(np.mean(rewards(found, task)))


def acceleration(clip: Clip) -> float:
    """Of its joints, rms over frames and joints, metres per second squared."""
    return float(np.sqrt(np.mean(_accelerations(clip))))


def acceleration_ratio(runs: Sequence[Run], clips: Sequence[Clip]) -> float:
    """The rms joint acceleration of runs, over that of the clips at their rate."""
    fps = 1.0 / runs[0].dt
    ours = np.mean(np.concatenate([_accelerations(found.clip) for found in runs]))
    theirs = np.mean(np.concatenate([_accelerations(at_rate(clip, fps)) for clip in clips]))
    return float(np.sqrt(ours / theirs))


def acceleration_of(clips: Sequence[Clip]) -> float:
    """Of several clips, each frame counting alike."""
    return float(np.sqrt(np.mean(np.concatenate([_accelerations(clip) for clip in clips]))))


def _accelerations(clip: Clip) -> Float[Array, "T"]:
    """Squared, the mean over joints, frame by frame."""
    at = forward(clip.skeleton, clip.poses).positions
    change = (at[2:] - 2.0 * at[1:-1] + at[:-2]) * clip.fps**2
    return np.mean(np.sum(change**2, axis=-1), axis=-1)


def at_rate(clip: Clip, fps: float) -> Clip:
    return clip if np.isclose(clip.fps, fps, rtol=1e-3) else resample(clip, fps)


def turns(controller: Controller, degrees: float, seed: int = 0, trials: int = 20) -> list[Run]:
    """Straight on, then a turn of so many degrees: to the left and to the right in turn, from random beginnings."""
    before, after = (round(seconds / controller.dt) for seconds in (BEFORE, AFTER))
    found = []
    for trial in range(trials):
        corner = np.radians(degrees) * (1.0 if trial % 2 == 0 else -1.0)
        late = int(np.random.default_rng([seed, trial, 2]).integers(round(1.0 / controller.dt)))  # any phase of a step
        asked = np.concatenate([np.zeros(before + late), np.full(after, corner)])
        found.append(follow(controller, asked, seed=seed * 1000 + trial))
    return found


def after_turn(found: Run) -> Float[Array, "after"]:
    """Radians off the way from the moment of the turn on."""
    return found.off[len(found.asked) - round(AFTER / found.dt) :]


def settled(found: Run) -> float:
    """Seconds from a turn's command until it travels within 15 degrees for good; inf where it does not."""
    wide = np.flatnonzero(after_turn(found) > NEAR)
    last = wide[-1] + 1 if len(wide) else 0
    return float(last * found.dt) if last < round(AFTER / found.dt) else float(np.inf)


def turn_times(controller: Controller, degrees: float, seed: int = 0, trials: int = 20) -> Float[Array, "trials"]:
    return np.array([settled(found) for found in turns(controller, degrees, seed, trials)])
