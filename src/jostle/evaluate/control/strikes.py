"""Punches and kicks at random targets, and how near they come: section 7.1 of Levine et al. 2012.

    policy = train_policy(clips, Striking("right_hand"))
    found = strike(policy, seed=0)                        # 200 targets, two seconds for each
    hit_rate(found, 0.08), median_seconds(found)

A target can be *reached* where strikes of the training motions hit: in the sector around the character, from its
nearest to its farthest hit and from the rightmost to the leftmost, at the height at which they hit. Directions are
seen from where it stands on average around a strike, for its hips turn with every one. A target *is hit* in a frame
in which the joint comes so near to it, in space, and goes away from the body at two fifths of the fastest speed of the
training strikes or more (where these hit, they have half). Runs go on from target to target; a new one is seen from
where the character stood in the second before.

How much of that is owed to the task and not to any strike at all: `by_chance`, what strikes of the training motions
hit, thrown at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import KDTree

from jostle.clips import Clip
from jostle.controllers import Command, Start
from jostle.controllers.policy.constraints import Toggle
from jostle.controllers.policy.planning import data_samples
from jostle.controllers.policy.policy import Policy
from jostle.controllers.policy.strikes import Strike, strikes_in
from jostle.controllers.policy.tasks.step import joint_of
from jostle.controllers.policy.tasks.strike import Striking, learnt_clips, passed
from jostle.controllers.policy.tasks.target import flat, polar, seen_from
from jostle.errors import CommandError
from jostle.features import Placement
from jostle.maths import quat
from jostle.skeleton import Pose, forward
from jostle.types import Array, Float

TARGETS, HOLD, PER_RUN = 200, 2.0, 10  # seconds for each target; targets in a row
RAW, PRECISE = 0.08, 0.05  # metres


@dataclass(frozen=True)
class Sector:
    """From where a character stands."""

    right: float
    left: float
    near: float
    far: float
    height: float

    def draw(self, rng: np.random.Generator) -> Float[Array, "2"]:
        """Any point of it is as likely as any other: ahead, left."""
        far = np.sqrt(rng.uniform(self.near**2, self.far**2))
        return flat(np.array([rng.uniform(self.right, self.left), far]))


@dataclass(frozen=True, eq=False)
class Strikes:
    """n targets: how near the joint came at speed, and after how long it first was so near."""

    far: Float[Array, "n F"]  # metres in each frame; inf in frames in which it was not at speed
    dt: float
    clips: tuple[Clip, ...]
    targets: Float[Array, "n 3"]
    paid: Float[Array, "n F"]  # by the task, frame by frame
    latent: Float[Array, "m Q"]  # where the runs came by

    @property
    def nearest(self) -> Float[Array, "n"]:
        return np.min(self.far, axis=1)


def hit_rate(found: Strikes, near: float) -> float:
    return float(np.mean(found.nearest <= near))


def median_seconds(found: Strikes, near: float) -> float:
    """From a target's appearance until it is hit, of those that are."""
    hit = found.far <= near
    first = np.argmax(hit, axis=1)[np.any(hit, axis=1)]
    return float(np.median(first + 1) * found.dt) if len(first) else float("inf")


def sector_of(policy: Policy, from_guard: bool = False) -> Sector:
    """Where the training strikes hit, from where the character stood; or from its place as each began."""
    places = np.array([_stood(clip, own, from_guard) for clip, own in _thrown(policy)])
    turn = polar(places)
    low, high = np.min(turn, axis=0), np.max(turn, axis=0)
    height = _task(policy).height
    return Sector(float(low[0]), float(high[0]), float(low[1]), float(high[1]), float(height or 0.0))


def strike(
    policy: Policy, seed: int = 0, targets: int = TARGETS, hold: float = HOLD, from_guard: bool = False
) -> Strikes:
    """Random targets, one after the other; or each from guard, where a training strike begins."""
    sector, task, dt = sector_of(policy, from_guard), _task(policy), policy.dt
    frames, joint = round(hold / dt), joint_of(policy.skeleton, _task(policy).joint)
    guards, per_run = _guards(policy), 1 if from_guard else PER_RUN
    far, clips, places, paid, latent = [], [], [], [], []
    for run in range(-(-targets // per_run)):
        rng = np.random.default_rng([seed, run, 3])
        state = policy.init(Start(seed=guards[run % len(guards)] if from_guard else int(rng.integers(2**31))))
        poses = [state.pose]
        for _ in range(0 if from_guard else round(1.0 / dt)):
            state = policy.step(state, Command())
            poses.append(state.pose)
        for _ in range(min(per_run, targets - run * per_run)):
            target = _placed(sector, poses[-round(1.0 / dt) :], rng)
            for _ in range(frames):
                state = policy.step(state, Command(target=target))
                poses.append(state.pose)
                latent.append(state.x)
            own = _stacked(poses[-frames - 1 :])
            at = forward(policy.skeleton, own).positions[:, joint]
            far.append(_distances(own, at, target, task, dt))
            paid.append(task.worth * np.exp(-task.sharp * far[-1]))
            places.append(target)
        stack = _stacked(poses)
        clips.append(Clip(policy.skeleton, 1.0 / dt, stack.root, stack.wxyz, stack.offsets, name=f"strikes {run}"))
    return Strikes(np.array(far), dt, tuple(clips), np.array(places), np.array(paid), np.array(latent))


def by_chance(policy: Policy, near: float, seed: int = 0, targets: int = 2000) -> float:
    """The share of random targets that a random strike of the training motions hits, for as many tries as fit."""
    sector, rng = sector_of(policy), np.random.default_rng([seed, 4])
    found = [(own, _stood(clip, own)) for clip, own in _thrown(policy)]
    every = np.mean([own.end - own.begin for own, _ in found]) * policy.dt
    tries = max(1, round(HOLD / every))
    hits = 0
    for _ in range(targets):
        target = sector.draw(rng)
        thrown = [found[int(rng.integers(len(found)))] for _ in range(tries)]
        off = [np.linalg.norm([*(place - target), own.place[2] - sector.height]) for own, place in thrown]
        hits += min(off) <= near
    return hits / targets


def unhelped(policy: Policy) -> Policy:
    """The policy without inverse kinematics at the strike."""
    return replace(
        policy, constraints=tuple(b for b in policy.bounds if not (isinstance(b, Toggle) and b.name == "hit"))
    )


def reached(policy: Policy, found: Strikes) -> float:
    """The share of training frames near which runs came by: nearer than one frame is to the next on average."""
    X, steps = policy.model.latent_rows, np.linalg.norm(data_samples(policy.model).step, axis=1)
    far, _ = KDTree(found.latent).query(X)
    return float(np.mean(far <= np.mean(steps)))


def _task(policy: Policy) -> Striking:
    task = policy.plan.task
    if not isinstance(task, Striking):
        raise CommandError(f"This character does '{task.name}'; give one that was trained to strike.")
    return task


def _thrown(policy: Policy) -> list[tuple[Clip, Strike]]:
    """The training strikes."""
    return strikes_in(learnt_clips(policy.model), _task(policy).joint)


def _guards(policy: Policy) -> list[int]:
    """Seeds with which the character begins where a training strike does."""
    clips, X = learnt_clips(policy.model), policy.model.latent_rows
    begins = KDTree(policy.plan.paths.samples)  # where characters begin
    first = dict(zip((id(clip) for clip in clips), np.cumsum([0, *policy.model.lengths[:-1]]).tolist(), strict=True))
    frames = [first[id(clip)] + own.begin for clip, own in strikes_in(clips, _task(policy).joint)]
    wanted = set(np.asarray(begins.query(X[frames])[1]).tolist())
    seeds: dict[int, int] = {}
    for seed in range(50 * len(X)):
        seeds.setdefault(int(np.random.default_rng(seed).integers(begins.n)), seed)
        if wanted <= seeds.keys():
            break
    return [seeds[frame] for frame in sorted(wanted & seeds.keys())]


def _stood(clip: Clip, own: Strike, from_guard: bool = False) -> Float[Array, "2"]:
    """Where a strike hits, ahead and left of where the character stood within half a second of it, or as it began."""
    half, yaw = round(0.5 * clip.fps), np.unwrap(quat.yaw(clip.wxyz[:, 0]))
    hit = Placement(float(clip.root[own.hit, 0]), float(clip.root[own.hit, 1]), float(yaw[own.hit]))
    around = slice(own.begin, own.begin + 1) if from_guard else slice(max(own.hit - half, 0), own.hit + half)
    x, y = np.mean(clip.root[around, :2], axis=0).tolist()
    return seen_from(_world(np.array(own.place[:2]), hit), Placement(x, y, float(np.mean(yaw[around]))))


def _placed(sector: Sector, poses: Sequence[Pose], rng: np.random.Generator) -> Float[Array, "3"]:
    stack = _stacked(poses)
    facing = float(np.mean(np.unwrap(quat.yaw(stack.wxyz[:, 0]))))
    x, y = np.mean(stack.root[:, :2], axis=0).tolist()
    return np.append(_world(sector.draw(rng), Placement(x, y, facing)), sector.height)


def _world(point: Float[Array, "2"], at: Placement) -> Float[Array, "2"]:
    c, s = np.cos(at.heading), np.sin(at.heading)
    return np.array([at.x + c * point[0] - s * point[1], at.y + s * point[0] + c * point[1]])


def _distances(
    poses: Pose, at: Float[Array, "R 3"], target: Float[Array, "3"], task: Striking, dt: float
) -> Float[Array, "F"]:
    """Of each frame but the first, the beginning."""
    way = target[:2] - poses.root[:-1, :2]
    v = np.diff(at, axis=0)[:, :2] / dt
    away = np.sum(v * way, axis=1) / np.maximum(np.linalg.norm(way, axis=1), 1e-6)
    far = passed(at[:-1], at[1:], target)
    return np.where(away >= (task.speed or 0.0), far, np.inf)


def _stacked(poses: Sequence[Pose]) -> Pose:
    offsets = [pose.offsets for pose in poses if pose.offsets is not None]
    return Pose(
        np.array([pose.root for pose in poses]),
        np.array([pose.wxyz for pose in poses]),
        np.array(offsets) if offsets else None,
    )
