"""`graph`: somebody who idles and walks about on a motion graph, and answers pushes with recorded responses.

Frames of one reel are played, placed on the ground. Every jump, from normal motion to normal motion, into a response
and out of it again, is the paper's transition: what jumps in joint positions and velocities goes into the offset vector
and dies off. Positions become a pose again in three steps (the paper minimises over all joint angles):

1. Joint rotations have an offset of their own that dies off by the same spring. Positions do not say how a forearm is
   twisted; started from the last frame's angles, as in the paper, twist would never come back to the recorded one.
2. The trunk, arms and head are brought to the positions by damped least squares (`skeleton.reach`).
3. Legs put feet where the offset has them, or where they are held while they stand (`lock`).

Normal motion never enters a response: its jumps lead to normal frames only, and every response leaves at the frame that
is most like a frame of normal motion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from jostle.body import Body, Dynamics, build_body, compile_body
from jostle.clips import Clip
from jostle.clips.motion_graph import Jump, MotionGraph
from jostle.clips.pack import pack_clip, unpack_clip
from jostle.clips.plant import Leg
from jostle.clips.seam import added, difference
from jostle.controllers.graph.lock import Hold, begin_hold, hold, legs_of, next_bearing, stand
from jostle.controllers.graph.offset import OMEGA, Offset, impulse, nothing
from jostle.controllers.graph.reel import Place, Reel, fit_place, shown
from jostle.controllers.graph.responses import Response, weight_of
from jostle.controllers.graph.serve import CHOICES, serve
from jostle.controllers.protocol import Command, Observed, Push, Start
from jostle.errors import CommandError, unknown_name
from jostle.maths import quat
from jostle.skeleton import Pose, Skeleton
from jostle.skeleton.reach import Goal, reach
from jostle.types import Array, Float, Int

WANDER = 0.15  # of the chances to jump that are taken
STAY = 0.6  # seconds between two such jumps, at least
NUDGE = 0.4  # of the weakest response's impulse: what is weaker bends the body and asks for no response
STILL = 0.001  # metres: smaller offsets are not brought to the pose by least squares
_ITERATIONS = 2


@dataclass(frozen=True, eq=False)
class GraphState:
    pose: Pose
    before: Pose  # the frame before
    time: float
    node: int  # frame of the reel
    place: Place
    offset: Offset  # of joint positions (J, 3)
    bend: Offset  # of the pose, in the terms of `clips.seam` (D,)
    hold: Hold
    serving: int  # response that is played, or -1
    since: int  # frames since the last jump
    seed: int
    observed: Observed = field(default_factory=Observed)


@dataclass(frozen=True, eq=False)
class People:
    normal: MotionGraph
    responses: tuple[Response, ...]
    ways_out: tuple[
        tuple[int, int], ...
    ]  # of each response the frame where it ends, and the normal frame it goes on as
    choice: str = "filtered"

    kind = "graph"
    supports = frozenset({"pushes"})

    @property
    def name(self) -> str:
        return f"graph:{len(self.responses)} responses"

    @property
    def skeleton(self) -> Skeleton:
        return self.reel.skeleton

    @property
    def dt(self) -> float:
        return 1.0 / self.reel.fps

    @property
    def sources(self) -> tuple[Clip, ...]:
        return self.reel.clips

    @cached_property
    def body(self) -> Body:
        return build_body(self.skeleton)

    @cached_property
    def reel(self) -> Reel:
        return Reel((*self.normal.clips, *(response.clip for response in self.responses)))

    @cached_property
    def onsets(self) -> Int[Array, "R"]:
        """The frames of the reel in which pushes begin."""
        begins = self.reel.first[len(self.normal.clips) :]
        return begins + np.array([response.onset for response in self.responses], dtype=np.int64)

    @cached_property
    def _jumps(self) -> dict[int, list[int]]:
        """From normal frames to normal frames, those whose windows begin alike."""
        out: dict[int, list[int]] = {}
        for jump in self.normal.jumps:
            out.setdefault(jump.start, []).append(jump.end - self.normal.window + 1)
        return out

    @cached_property
    def _instant(self) -> Dynamics:
        return Dynamics(compile_body(self.body))

    @cached_property
    def _legs(self) -> tuple[Leg, ...]:
        return legs_of(self.reel)

    @cached_property
    def _trunk(self) -> list[int]:
        """The joints that are not below a hip."""
        below = {joint for leg in self._legs for joint in self._under(leg.upper)}
        return [joint for joint in range(self.skeleton.joint_count) if joint not in below]

    def _under(self, joint: int) -> list[int]:
        return [j for j in range(self.skeleton.joint_count) if joint in self.skeleton.chain(j)]

    @cached_property
    def _least(self) -> float:
        """Newton seconds of the weakest response."""
        return min(float(np.linalg.norm(response.impulse)) for response in self.responses)

    def init(self, start: Start) -> GraphState:
        kept = np.flatnonzero(self.normal.kept)
        node = int(kept[np.random.default_rng(start.seed).integers(len(kept))])
        pose = self.reel.poses.rows(node)
        yaw = start.heading - float(quat.yaw(pose.wxyz[0]))
        turned = quat.apply(quat.from_yaw(yaw), pose.root)
        place = Place(yaw, start.position[0] - float(turned[0]), start.position[1] - float(turned[1]))
        pose = place.pose(pose)
        before = place.pose(self._earlier(node))
        positions = place.positions(self.reel.positions[node])
        joints, width = self.skeleton.joint_count, self.reel.turning.shape[1]
        held = begin_hold(self.reel, node, positions)
        return GraphState(
            pose, before, 0.0, node, place, nothing(joints, 3), nothing(width), held, -1, 0, start.seed,
            self._told(node, 0.0, 0.0),
        )  # fmt: skip

    def _earlier(self, node: int) -> Pose:
        return self.reel.poses.rows(node if node in self.reel.first else node - 1)

    def step(self, state: GraphState, command: Command) -> GraphState:
        quality = (state.observed.quality["apart"], state.observed.quality["miss_deg"])
        if command.pushes:
            state, quality = self._pushed(state, command.pushes)
        else:
            state = self._went_on(state)
        return self._shown(state, quality)

    def _pushed(self, state: GraphState, pushes: Sequence[Push]) -> tuple[GraphState, tuple[float, float]]:
        """Several pushes of one frame are one: their sum, where the largest is."""
        largest = max(pushes, key=lambda push: float(np.linalg.norm(push.impulse)))
        joint, total = self.body.part(largest.part), np.sum([push.impulse for push in pushes], axis=0)
        if float(np.linalg.norm(total)) < 1e-9:
            return self._went_on(state), (0.0, 0.0)
        self._instant.set(self._instant.physics.to_qpos(state.pose))
        wanted = total / weight_of(self._instant, joint, total)
        point = self._instant.point(joint, largest.point)
        positions, velocity = self._seen(state)
        if float(np.linalg.norm(total)) < NUDGE * self._least:
            state, m, quality = self._went_on(state), wanted, (0.0, 0.0)
        else:
            served = serve(self.reel, self.responses, self.onsets, positions, velocity, wanted, self.choice)
            state = self._jumped(state, int(self.onsets[served.number]), served.place, served.number)
            m, quality = served.m, (served.apart, float(np.degrees(served.miss)))
        M = impulse(positions, point, m, OMEGA)
        return replace(state, offset=state.offset.plus(np.zeros_like(M), M)), quality

    def _seen(self, state: GraphState) -> tuple[Float[Array, "J 3"], Float[Array, "J 3"]]:
        """C_t, as it is displayed."""
        now, before = shown(self.skeleton, state.pose), shown(self.skeleton, state.before)
        return now, (now - before) / self.dt

    def _jumped(self, state: GraphState, node: int, place: Place | None, serving: int) -> GraphState:
        """The character is displayed as it was, but by another frame: what differs is the offset."""
        reel = self.reel
        positions, velocity = self._seen(state)
        if place is None:
            feet = [joint for joints in reel.feet for joint in joints]
            (place,) = fit_place(positions[feet], reel.positions[node, feet][None], velocity, reel.velocity[node][None])
        value = positions - place.positions(reel.positions[node])
        rate = velocity - place.vectors(reel.velocity[node])
        turning = reel.turning[node].copy()
        turning[:3], turning[3:6] = place.vectors(turning[:3]), place.vectors(turning[3:6])
        bend = difference(state.pose, place.pose(reel.poses.rows(node)))
        bent = difference(state.pose, state.before) / self.dt - turning
        return replace(
            state,
            node=node,
            place=place,
            offset=Offset(value, rate),
            bend=Offset(bend, bent),
            hold=begin_hold(reel, node, positions),
            serving=serving,
            since=0,
        )

    def _went_on(self, state: GraphState) -> GraphState:
        """Where the motion that is played leads, if it ends here or if chance will have it."""
        node = state.node
        if state.serving >= 0:
            end, onto = self.ways_out[state.serving]
            return self._jumped(state, onto, None, -1) if node >= end else state
        onto = self._jumps.get(node, [])
        must = not self.normal.goes_on(node)
        if not onto or not (must or state.since > STAY / self.dt):
            return state
        chance = np.random.default_rng((state.seed, round(state.time / self.dt)))
        if not must and chance.random() > WANDER:
            return state
        return self._jumped(state, int(onto[int(chance.integers(len(onto)))]), None, -1)

    def _shown(self, state: GraphState, quality: tuple[float, float]) -> GraphState:
        """The next frame of what is played, with what is left of the offsets, on feet that stand."""
        reel, node = self.reel, state.node + 1
        offset, bend = state.offset.after(self.dt), state.bend.after(self.dt)
        ready = next_bearing(
            reel, state.hold, node, state.place.positions(reel.positions[state.node]) + state.offset.value
        )
        held, aside = hold(reel, ready, node, state.place.positions(reel.positions[node]) + offset.value)
        place = state.place.shifted(aside)
        positions = place.positions(reel.positions[node]) + offset.value
        pose = added(place.pose(reel.poses.rows(node)), bend.value)
        if float(np.max(np.abs(offset.value))) > STILL:
            goals = [Goal(joint, positions[joint]) for joint in self._trunk]
            pose = reach(
                self.skeleton, pose, goals, self._trunk, move_root=True, stiffness=0.05, iterations=_ITERATIONS
            )
        ankles = positions[[joints[0] for joints in reel.feet]]
        ankles[:, :2] += held.shift
        pose = stand(reel, self._legs, pose, ankles)
        return replace(
            state,
            pose=pose,
            before=state.pose,
            time=state.time + self.dt,
            node=node,
            place=place,
            offset=offset,
            bend=bend,
            hold=held,
            since=state.since + 1,
            observed=self._told(node, *quality),
        )

    def _told(self, node: int, apart: float, miss: float) -> Observed:
        down = self.reel.planted[node]
        contacts = {f"{side}_foot": bool(down[foot]) for foot, side in enumerate(("left", "right"))}
        return Observed(contacts, {"apart": apart, "miss_deg": miss})

    def pack(self) -> tuple[dict[str, Any], dict[str, Array]]:
        clips = self.reel.clips
        data, arrays = pack_clip(clips[0])
        jumps = [[jump.start, jump.end] for jump in self.normal.jumps]
        arrays |= {
            "root": self.reel.poses.root,
            "wxyz": self.reel.poses.wxyz,
            "kept": self.normal.kept,
            "jumps": np.array(jumps, dtype=np.int64).reshape(-1, 2),
            "distances": np.array([jump.distance for jump in self.normal.jumps]),
            "ways_out": np.array(self.ways_out, dtype=np.int64).reshape(-1, 2),
            "pushes": np.array([[r.onset, r.settle, r.joint] for r in self.responses], dtype=np.int64),
            "impulses": np.array([[*r.impulse, r.weight] for r in self.responses]),
        }
        told = {"lengths": [clip.frame_count for clip in clips], "names": [clip.name for clip in clips]}
        told |= {"normal": len(self.normal.clips), "window": self.normal.window, "choice": self.choice}
        return data | told, arrays

    @classmethod
    def unpack(cls, data: dict[str, Any], arrays: dict[str, Array]) -> People:
        whole = unpack_clip(data, arrays)
        lengths, count = [int(n) for n in data["lengths"]], int(data["normal"])
        begins = np.cumsum([0, *lengths])
        if begins[-1] != whole.frame_count or not 0 < count < len(lengths):
            raise ValueError("lengths")
        clips = tuple(
            whole.with_poses(whole.poses.rows(slice(a, b))).renamed(str(name))
            for a, b, name in zip(begins[:-1], begins[1:], data["names"], strict=True)
        )
        pairs = zip(arrays["jumps"].tolist(), arrays["distances"].tolist(), strict=True)
        jumps = tuple(Jump(int(a), int(b), float(d)) for (a, b), d in pairs)
        normal = MotionGraph(clips[:count], int(data["window"]), jumps, arrays["kept"].astype(bool))
        rows = zip(clips[count:], arrays["pushes"].tolist(), arrays["impulses"], strict=True)
        responses = tuple(Response(clip, a, b, j, row[:3].copy(), float(row[3])) for clip, (a, b, j), row in rows)
        ways_out = tuple((int(a), int(b)) for a, b in arrays["ways_out"])
        return checked(cls(normal, responses, ways_out, str(data["choice"])))


def checked(people: People) -> People:
    """Refuse what cannot be played."""
    total, kept = people.reel.last[-1], people.normal.kept
    ends = all(0 <= a <= total and 0 <= b < len(kept) and kept[b] for a, b in people.ways_out)
    sound = all(
        0 <= r.onset < r.clip.frame_count and 0 <= r.joint < r.clip.skeleton.joint_count for r in people.responses
    )
    if not (ends and sound and len(people.ways_out) == len(people.responses) > 0 and np.any(kept)):
        raise ValueError("ways_out")
    inside = all(
        0 <= j.start < len(kept) and people.normal.window - 1 <= j.end < len(kept) for j in people.normal.jumps
    )
    if not inside or len(kept) != sum(clip.frame_count for clip in people.normal.clips):
        raise ValueError("jumps")
    if people.choice not in CHOICES:
        raise CommandError(unknown_name("choice", people.choice, CHOICES))
    return people
