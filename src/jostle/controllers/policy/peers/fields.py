"""Motion fields: Lee, Wampler, Bernstein, Popovic, Popovic 2010, "Motion fields for interactive character locomotion".

The character is in any state at all, a pose and its velocity. It moves as the data near by does: the velocities that
follow in the k nearest frames are blended, and which of them prevails is the action. What an action is worth is found
by value iteration at the frames of the data, over the grid of the task; between frames values are blended likewise.

    distance      root velocity and turn (0.5 each); of every joint, weighted by the length of its bones, where a unit
                  vector points that is turned by the joint, now and after its velocity
    weights       w_i ~ 1 / d_i^2, k = 15
    actions       k of them: w with w_i = 1, normalised
    integration   x' = x + v,   v' = (1 - delta) sum_i w_i y_i + delta ((x* + v* + y*) - x')
                  y_i: the velocity that follows in frame i; *: the nearest frame, which pulls against drift
    value         U(m, theta) = max_a r(v'_a, theta') + gamma U(m'_a, theta'), theta' as seen after v

Departures, in favour of the method: * is the frame that the action is for, where the paper has the nearest, and delta
0.3, where it has 0.1. From a few seconds of data an action that only blends velocities, and is pulled back to where it
came from, hardly steers: of CMU's turning walks, 9 s, the field of the paper can go round at 34 degrees a second where
the data turns at 90, and its reward is 0.25 a step, where 0.16 is chance's (`FieldSettings(drift=0.1, chosen=False)`).
The root's height and tilt, which the paper leaves out of its poses, count as those of a joint, or they
would drift; rotations are blended as rotation vectors, small as they are. Contacts are not annotated, and feet are not
cleaned up. The data is not compressed: a few seconds need no anchors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.spatial import KDTree

from jostle.clips import Clip
from jostle.controllers.policy.constants import Constants
from jostle.controllers.policy.peers.frames import (
    Frames,
    Rush,
    Stance,
    between,
    frames_of,
    moved,
    of_travel,
    placed,
    unpack_frames,
    walked,
)
from jostle.controllers.policy.peers.grid import Grid
from jostle.controllers.policy.policy import packed, task_of, unpacked
from jostle.controllers.policy.tasks import Step, Task
from jostle.controllers.policy.value_iteration import settle
from jostle.controllers.protocol import Command, Observed, Start
from jostle.errors import CommandError
from jostle.features import Placement
from jostle.maths import quat
from jostle.skeleton import Pose, Skeleton
from jostle.types import Array, Float, Int

ROOT = 0.5  # weight of the root's velocity and of its turn
_PROBE = np.ones(3) / np.sqrt(3.0)  # the unit vector: along no axis, so that no joint turns about it alone
_LEAST = 1e-6  # squared distance


@dataclass(frozen=True)
class FieldSettings:
    near: int = 15  # k
    drift: float = 0.3  # delta
    discount: float = Constants().discount  # a frame, as ours has
    chosen: bool = True  # pulled to the frame that the action is for; else, as in the paper, to the nearest

    def __post_init__(self) -> None:
        if self.near < 2 or not 0.0 <= self.drift <= 1.0:
            raise CommandError(
                f"A motion field blends 2 frames or more with a pull of 0 to 1, not {self.near} and {self.drift}."
            )


@dataclass(frozen=True, eq=False)
class Field:
    """States of the data: frame t with the velocity to frame t+1 and the one after, y."""

    frames: Frames
    settings: FieldSettings = FieldSettings()

    @cached_property
    def at(self) -> Int[Array, "M"]:
        """The frames that two more follow."""
        return np.concatenate([np.arange(own.start, own.stop - 2) for own in self.frames.slices])

    @cached_property
    def _rushes(self) -> Rush:
        """From every frame to the next; seams are never read."""
        stances, travel = self.frames.stances, self.frames.steps
        following = np.minimum(np.arange(len(travel)) + 1, len(travel) - 1)
        return between(stances, stances.rows(following), travel[following])

    @cached_property
    def states(self) -> tuple[Stance, Rush, Rush]:
        """x, v and y."""
        return self.frames.stances.rows(self.at), self._rushes.rows(self.at), self._rushes.rows(self.at + 1)

    @cached_property
    def _bones(self) -> Float[Array, "J"]:
        """The root of a joint's weight: the mean length of the bones that it turns."""
        skeleton = self.frames.features.skeleton
        lengths: list[list[float]] = [[] for _ in skeleton.names]
        for parent, offset in zip(skeleton.parents[1:], skeleton.offsets[1:], strict=True):
            lengths[int(parent)].append(float(np.linalg.norm(offset)))
        for parent, offset in zip(skeleton.end_parents, skeleton.end_offsets, strict=True):
            lengths[int(parent)].append(float(np.linalg.norm(offset)))
        weights = np.array([np.mean(own) if own else 0.0 for own in lengths])
        weights[0] = ROOT
        return np.sqrt(weights)

    def _seen(self, x: Stance, v: Rush) -> Float[Array, "*b D"]:
        """Where distances are Euclidean."""
        root = np.sqrt(ROOT)
        turn = quat.apply(quat.from_yaw(v.travel[..., 2]), _PROBE)
        now = quat.apply(x.wxyz, _PROBE) * self._bones[:, None]
        soon = quat.apply(quat.mul(x.wxyz, quat.exp(v.spin)), _PROBE) * self._bones[:, None]
        flat = [part.reshape(*part.shape[:-2], -1) for part in (now, soon)]
        return np.concatenate([root * v.travel[..., :2], root * turn, root * x.line, root * v.line, *flat], axis=-1)

    @cached_property
    def _tree(self) -> KDTree:
        x, v, _ = self.states
        return KDTree(self._seen(x, v))

    def near(self, x: Stance, v: Rush) -> tuple[Int[Array, "*b k"], Float[Array, "*b k"]]:
        """The nearest states, and how much each counts."""
        far, which = self._tree.query(self._seen(x, v), k=min(self.settings.near, len(self.at)))
        w = 1.0 / np.maximum(far**2, _LEAST)
        return np.asarray(which), w / np.sum(w, axis=-1, keepdims=True)

    def actions(self, x: Stance, v: Rush, near: Int[Array, "*b k"], w: Float[Array, "*b k"]) -> tuple[Stance, Rush]:
        """What each action leads to: the one pose, and a velocity of each, (*b, k)."""
        k = near.shape[-1]
        shares = np.repeat(w[..., None, :], k, axis=-2)  # (*b, k, k)
        shares[..., np.arange(k), np.arange(k)] = 1.0
        shares /= np.sum(shares, axis=-1, keepdims=True)
        following = moved(x, v)
        homes = near if self.settings.chosen else near[..., :1]
        data, rush, onward = self.states
        goal = moved(moved(data.rows(homes), rush.rows(homes)), onward.rows(homes))
        home = between(_spread(following, homes.shape[-1]), goal, onward.rows(homes).travel)  # (*b, k or 1, …)
        delta, y = self.settings.drift, onward.rows(near)
        spin = (1.0 - delta) * np.einsum("...ak,...kjc->...ajc", shares, y.spin) + delta * home.spin
        line = (1.0 - delta) * np.einsum("...ak,...kc->...ac", shares, y.line) + delta * home.line
        travel = np.einsum("...ak,...kc->...ac", shares, y.travel)  # the place on the ground has no home
        return following, Rush(spin, line, travel)


def _spread(x: Stance, count: int) -> Stance:
    """The same stance once for each action."""
    return Stance(np.repeat(x.wxyz[..., None, :, :], count, axis=-3), np.repeat(x.line[..., None, :], count, axis=-2))


@dataclass(frozen=True, eq=False)
class FieldState:
    pose: Pose
    time: float
    at: Placement
    stance: Stance
    rush: Rush  # to come
    wish: Any
    observed: Observed = field(default_factory=Observed)


@dataclass(frozen=True, eq=False)
class FieldPolicy:
    field: Field
    task: Task
    values: Float[Array, "M G"]

    kind = "motion_field"
    sources: tuple[Clip, ...] = ()

    @property
    def supports(self) -> frozenset[str]:
        return self.task.supports

    @property
    def name(self) -> str:
        return f"motion field:{self.task.name}"

    @property
    def skeleton(self) -> Skeleton:
        return self.field.frames.features.skeleton

    @property
    def dt(self) -> float:
        return self.field.frames.dt

    def init(self, start: Start) -> FieldState:
        begin = int(np.random.default_rng(start.seed).integers(len(self.field.at)))
        x, v, _ = self.field.states
        at = Placement(*start.position, start.heading)
        stance = x.rows(begin)
        return FieldState(placed(stance, at), 0.0, at, stance, v.rows(begin), self.task.begin(at))

    def step(self, state: FieldState, command: Command) -> FieldState:
        wish = self.task.heard(state.wish, command, state.at)
        at = walked(state.at, state.rush.travel)
        near, w = self.field.near(state.stance, state.rush)
        stance, rushes = self.field.actions(state.stance, state.rush, near, w)
        best = int(np.argmax(self.worth(stance, rushes, self.task.seen(wish, at))))
        return FieldState(placed(stance, at), state.time + self.dt, at, stance, rushes.rows(best), wish)

    def worth(self, stance: Stance, rushes: Rush, theta: Float[Array, "d"]) -> Float[Array, "k"]:
        """What the actions pay and lead to."""
        k = len(rushes.travel)
        near, w = self.field.near(_spread(stance, k), rushes)  # (k, k')
        step = Step(rushes.travel / self.dt, self.dt)
        asked = np.broadcast_to(theta, (k, len(theta)))
        cells, shares = Grid(self.task.axes).corners(asked)  # (c, k)
        values = np.einsum("ck,kn,ckn->k", shares, w, self.values[near[None], cells[..., None]])
        return self.task.reward(step, asked) + self.field.settings.discount * values

    def pack(self) -> tuple[dict[str, Any], dict[str, Array]]:
        frames = self.field.frames
        data, arrays = frames.features.pack()
        told = {"lengths": list(frames.lengths), "settings": asdict(self.field.settings), "task": packed(self.task)}
        own = {"poses": frames.poses, "travel": frames.travel, "values": self.values}
        return {"features": data} | told, arrays | own

    @classmethod
    def unpack(cls, data: dict[str, Any], arrays: dict[str, Array], *, task: Task | None = None) -> FieldPolicy:
        frames, task = unpack_frames(data, arrays), unpacked(data["task"], task)
        own, values = Field(frames, FieldSettings(**data["settings"])), arrays["values"]
        if values.shape != (len(own.at), len(Grid(task.axes).points)) or not np.all(np.isfinite(values)):
            raise ValueError("values")
        return cls(own, task, values)


def train_fields(
    clips: Sequence[Clip],
    task: Task | str = "heading",
    *,
    settings: FieldSettings | None = None,
) -> FieldPolicy:
    """A motion field of clips and their mirror images, and how to do a task in it."""
    chosen = of_travel(task_of(task) if isinstance(task, str) else task)
    own = Field(frames_of(chosen.chosen(clips), mirrored=chosen.mirrored), settings or FieldSettings())
    return FieldPolicy(own, chosen, _values(own, chosen), tuple(clips))


def _values(own: Field, task: Task) -> Float[Array, "M G"]:
    """Value iteration. What actions lead to, and which states are near that, does not depend on values."""
    x, v, _ = own.states
    near, w = own.near(x, v)
    following, rushes = own.actions(x, v, near, w)
    near, w = own.near(_spread(following, near.shape[1]), rushes)  # (M, k, k)
    dt, grid = own.frames.dt, Grid(task.axes)
    points = np.broadcast_to(grid.points, (len(x.line), *grid.points.shape))
    after = task.after(Step(v.travel / dt, dt).wider, points)[:, None]  # (M, 1, G, d): when the step under way is done
    paid = task.reward(Step(rushes.travel / dt, dt).wider, np.broadcast_to(after, (*near.shape[:2], *after.shape[2:])))
    corners, shares = (np.broadcast_to(each, (len(each), *paid.shape)) for each in grid.corners(after))
    return settle(paid, near, w, list(corners), list(shares), own.settings.discount)
