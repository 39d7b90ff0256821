"""A policy on a motion graph, as Lee and Lee 2006, McCann and Pollard 2007 and Treuille et al. 2007 have it.

The data is replayed. At frames where the graph (`clips.motion_graph`) has a transition there is a choice: go on, or
blend into another clip; in between there is none. Values of (frame, task on its grid) are found by value iteration, the
reward integrated along edges: an edge of n frames pays sum_i gamma^i r_i and leads to gamma^n V. At run time the choice
is by the wish itself, not by the grid point next to it. Poses are those of the data, blended where a transition is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from jostle.clips import Clip
from jostle.clips.motion_graph import Jump, MotionGraph, graph_of, window_distances
from jostle.controllers.policy.constants import Constants
from jostle.controllers.policy.peers.frames import Frames, Stance, frames_of, of_travel, placed, unpack_frames, walked
from jostle.controllers.policy.peers.grid import Grid
from jostle.controllers.policy.policy import packed, task_of, unpacked
from jostle.controllers.policy.tasks import Step, Task
from jostle.controllers.protocol import Command, Observed, Start
from jostle.errors import CommandError, MotionError
from jostle.features import Placement
from jostle.maths import quat
from jostle.maths.angles import wrapped
from jostle.skeleton import Pose, Skeleton
from jostle.types import Array, Float, Int

_SETTLED, _SWEEPS = 1e-4, 2000
_AT_ONCE = 2000  # jumps that are blended together
_ENOUGH = 0.5  # of the frames must be in the graph
_LOOSER, _LOOSEST = 1.25, 1.0  # times; metres


@dataclass(frozen=True)
class GraphSettings:
    threshold: float = 0.1  # metres between windows, rms over points
    blend: float = 4.0 / 30.0  # seconds: shorter than usual, since what it buys in agility it loses in smoothness
    discount: float = Constants().discount  # a frame, as ours has

    def __post_init__(self) -> None:
        if not (0.0 < self.threshold <= _LOOSEST and 0.0 < self.blend <= 1.0):
            raise CommandError(
                f"A graph's threshold is up to {_LOOSEST:g} m and its blends last up to a second, "
                f"not {self.threshold} and {self.blend}."
            )


@dataclass(frozen=True, eq=False)
class Strip:
    """One frame after the other: those of all edges."""

    stance: Stance
    travel: Float[Array, "F 3"]  # that leads there, per frame


@dataclass(frozen=True, eq=False)
class Edges:
    """E ways to go on: the frames `first` .. `first + count` of the strip lead from one node to another."""

    start: Int[Array, "E"]
    end: Int[Array, "E"]
    first: Int[Array, "E"]
    count: Int[Array, "E"]

    @cached_property
    def of(self) -> dict[int, Array]:
        """The edges that leave each node."""
        order = np.argsort(self.start, kind="stable")
        nodes, begins = np.unique(self.start[order], return_index=True)
        return dict(zip(nodes.tolist(), np.split(order, begins[1:]), strict=True))


@dataclass(frozen=True, eq=False)
class Web:
    """The graph as a policy walks it."""

    frames: Frames
    graph: MotionGraph
    discount: float

    @cached_property
    def _parts(self) -> tuple[Edges, Strip]:
        stances, jumps = self.frames.stances, self.graph.jumps
        on = np.array([n for n in np.flatnonzero(self.graph.kept) if self.graph.goes_on(int(n))], dtype=np.int64)
        strips = [Strip(stances.rows(on + 1), self.frames.steps[on + 1])]
        strips += [_blended(self.graph, jumps[i : i + _AT_ONCE]) for i in range(0, len(jumps), _AT_ONCE)]
        counts = np.array([*np.ones(len(on)), *(self.graph.window for _ in jumps)], dtype=np.int64)
        starts = np.array([*on, *(jump.start for jump in jumps)], dtype=np.int64)
        ends = np.array([*(on + 1), *(jump.end for jump in jumps)], dtype=np.int64)
        wxyz, line = (np.concatenate([getattr(own.stance, part) for own in strips]) for part in ("wxyz", "line"))
        whole = Strip(Stance(wxyz, line), np.concatenate([own.travel for own in strips]))
        return Edges(starts, ends, np.cumsum(counts) - counts, counts), whole

    @property
    def edges(self) -> Edges:
        return self._parts[0]

    @property
    def strip(self) -> Strip:
        return self._parts[1]

    def along(
        self, task: Task, which: Int[Array, "E"], theta: Float[Array, "E G d"]
    ) -> tuple[Float[Array, "E G"], Float[Array, "E G d"]]:
        """What edges pay, discounted, and what the wish is at their ends."""
        edges, dt = self.edges, self.frames.dt
        paid = np.zeros(theta.shape[:-1])
        for i in range(int(np.max(edges.count[which]))):
            now = i < edges.count[which]
            travel = self.strip.travel[(edges.first[which] + i)[now]] / dt
            step = Step(travel, dt).wider
            paid[now] += self.discount**i * task.reward(step, theta[now])
            theta = theta.copy()
            theta[now] = task.after(step, theta[now])
        return paid, theta


def _blended(graph: MotionGraph, jumps: Sequence[Jump]) -> Strip:
    """The frames of all these transitions, one after the other."""
    blend = graph.blended(jumps)  # (n, L)
    before = graph.poses.rows(np.array([jump.start for jump in jumps]))
    facing = quat.yaw(np.concatenate([before.wxyz[:, None, 0], blend.wxyz[..., 0, :]], axis=1))
    moves = np.diff(np.concatenate([before.root[:, None], blend.root], axis=1), axis=1) * [1.0, 1.0, 0.0]
    seen = quat.apply(quat.from_yaw(-facing[:, :-1]), moves)
    turns = wrapped(np.diff(facing, axis=1))
    wxyz = blend.wxyz.copy()
    wxyz[..., 0, :] = quat.mul(quat.from_yaw(-facing[:, 1:]), wxyz[..., 0, :])
    line = [blend.root[..., 2:]]
    line += [] if blend.offsets is None else [blend.offsets.reshape(*blend.offsets.shape[:2], -1)]
    count = wxyz.shape[0] * wxyz.shape[1]
    stance = Stance(wxyz.reshape(count, *wxyz.shape[2:]), np.concatenate(line, axis=-1).reshape(count, -1))
    return Strip(stance, np.concatenate([seen[..., :2], turns[..., None]], axis=-1).reshape(count, 3))


@dataclass(frozen=True, eq=False)
class GraphState:
    pose: Pose
    time: float
    at: Placement
    node: int  # where it is, or comes to
    frame: int  # of the strip, to be shown next
    left: int  # frames until it is there
    wish: Any
    observed: Observed = field(default_factory=Observed)


@dataclass(frozen=True, eq=False)
class GraphPolicy:
    web: Web
    task: Task
    settings: GraphSettings
    values: Float[Array, "N G"]  # those of frames outside the graph are 0 and never read

    kind = "motion_graph"
    sources: tuple[Clip, ...] = ()

    @property
    def supports(self) -> frozenset[str]:
        return self.task.supports

    @property
    def name(self) -> str:
        return f"motion graph:{self.task.name}"

    @property
    def skeleton(self) -> Skeleton:
        return self.web.frames.features.skeleton

    @property
    def dt(self) -> float:
        return self.web.frames.dt

    def init(self, start: Start) -> GraphState:
        nodes = np.flatnonzero(self.web.graph.kept)
        node = int(nodes[np.random.default_rng(start.seed).integers(len(nodes))])
        at = Placement(*start.position, start.heading)
        pose, wish = placed(self.web.frames.stances.rows(node), at), self.task.begin(at)
        return GraphState(pose, 0.0, at, node, 0, 0, wish)

    def step(self, state: GraphState, command: Command) -> GraphState:
        wish = self.task.heard(state.wish, command, state.at)
        node, frame, left = state.node, state.frame, state.left
        if left == 0:
            edge = self.best(node, self.task.seen(wish, state.at))
            edges = self.web.edges
            node, frame, left = int(edges.end[edge]), int(edges.first[edge]), int(edges.count[edge])
        at = walked(state.at, self.web.strip.travel[frame])
        pose = placed(self.web.strip.stance.rows(frame), at)
        return GraphState(pose, state.time + self.dt, at, node, frame + 1, left - 1, wish)

    def best(self, node: int, theta: Float[Array, "d"]) -> int:
        which = self.web.edges.of[node]
        if len(which) == 1:
            return int(which[0])
        paid, after = self.web.along(self.task, which, np.broadcast_to(theta, (len(which), 1, len(theta))))
        return int(which[np.argmax(_backed(self.web, which, self.task, self.values, paid, after)[:, 0])])

    def pack(self) -> tuple[dict[str, Any], dict[str, Array]]:
        frames, graph = self.web.frames, self.web.graph
        data, arrays = frames.features.pack()
        told = {"lengths": list(frames.lengths), "settings": asdict(self.settings), "window": graph.window}
        own = {"poses": frames.poses, "travel": frames.travel, "values": self.values,
               "kept": graph.kept, "starts": np.array([jump.start for jump in graph.jumps], dtype=np.int64),
               "ends": np.array([jump.end for jump in graph.jumps], dtype=np.int64),
               "distances": np.array([jump.distance for jump in graph.jumps])}  # fmt: skip
        return {"features": data, "task": packed(self.task)} | told, arrays | own

    @classmethod
    def unpack(cls, data: dict[str, Any], arrays: dict[str, Array], *, task: Task | None = None) -> GraphPolicy:
        frames, task = unpack_frames(data, arrays), unpacked(data["task"], task)
        told = (arrays[name].tolist() for name in ("starts", "ends", "distances"))
        jumps = tuple(Jump(int(a), int(b), float(d)) for a, b, d in zip(*told, strict=True))
        count, values, kept = sum(frames.lengths), arrays["values"], arrays["kept"].astype(bool)
        whole = values.shape == (count, len(Grid(task.axes).points)) and kept.shape == (count,)
        if not whole or not np.all(np.isfinite(values)) or not np.any(kept):
            raise ValueError("values")
        if any(not (0 <= n < count and kept[n]) for jump in jumps for n in (jump.start, jump.end)):
            raise ValueError("starts")
        settings = GraphSettings(**data["settings"])
        web = Web(frames, MotionGraph(frames.clips, int(data["window"]), jumps, kept), settings.discount)
        if set(web.edges.of) != set(np.flatnonzero(kept).tolist()):
            raise ValueError("kept")
        return cls(web, task, settings, values)


def train_graph(
    clips: Sequence[Clip],
    task: Task | str = "heading",
    *,
    settings: GraphSettings | None = None,
) -> GraphPolicy:
    """A motion graph of clips and their mirror images, and how to do a task on it.

    Where the threshold leaves less than half of the frames in the graph, it is raised until it does not: a graph that
    most of the data is no part of would say nothing about the method.
    """
    chosen = of_travel(task_of(task) if isinstance(task, str) else task)
    settings, frames = settings or GraphSettings(), frames_of(chosen.chosen(clips), mirrored=chosen.mirrored)
    window = max(2, round(settings.blend / frames.dt))
    distances, threshold = window_distances(frames.clips, window), settings.threshold
    graph = graph_of(frames.clips, window, distances, threshold)
    while graph.share < _ENOUGH and threshold < _LOOSEST:
        threshold *= _LOOSER
        graph = graph_of(frames.clips, window, distances, threshold)
    if not np.any(graph.kept):
        raise MotionError("No two windows of these clips are alike, so no graph goes on for ever; give more clips.")
    web, used = Web(frames, graph, settings.discount), replace(settings, threshold=min(threshold, _LOOSEST))
    return GraphPolicy(web, chosen, used, _values(web, chosen), tuple(clips))


def _values(web: Web, task: Task) -> Float[Array, "N G"]:
    """Value iteration over the nodes."""
    edges, points = web.edges, Grid(task.axes).points
    every = np.arange(len(edges.start))
    order = np.argsort(edges.start, kind="stable")
    nodes, begins = np.unique(edges.start[order], return_index=True)
    paid, after = web.along(task, every, np.broadcast_to(points, (len(every), *points.shape)))
    values = np.zeros((len(web.graph.kept), len(points)))
    for _ in range(_SWEEPS):
        new = np.maximum.reduceat(_backed(web, every, task, values, paid, after)[order], begins, axis=0)
        change = float(np.max(np.abs(new - values[nodes])))
        values[nodes] = new
        if change < _SETTLED:
            break
    return values


def _backed(
    web: Web,
    which: Int[Array, "E"],
    task: Task,
    values: Float[Array, "N G"],
    paid: Float[Array, "E H"],
    after: Float[Array, "E H d"],
) -> Float[Array, "E H"]:
    """What edges pay and what their ends are worth."""
    cells, shares = Grid(task.axes).corners(after)  # (c, E, H)
    edges, discount = web.edges, web.discount
    onward = np.sum(shares * values[edges.end[which][:, None], cells], axis=0)
    return paid + discount ** edges.count[which][:, None] * onward
