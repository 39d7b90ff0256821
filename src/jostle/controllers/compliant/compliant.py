"""The controller: another motion source whose upper body gives way to small pushes and comes back in its own style.

    character = compliant_clip(load_clip("walk.bvh"))
    character = compliant_over(source)                          # any controller: a walker, a graph, a policy
    character = compliant_clip(clip, objectives=(Upright("right_hand"), Avoid([post])))

Nothing is learnt but which directions the motion hardly actuates (`actuation`); `yielding` has the frame, `footing` the
pelvis and the legs. A source that answers pushes itself gets them too; then it alone decides where the pelvis goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from jostle.body import Body, Physics, build_body, compile_body
from jostle.clips import Clip
from jostle.clips.edit import resample
from jostle.controllers.compliant.actuation import NEAR, Actuation, actuation_of
from jostle.controllers.compliant.footing import STILL, Footing, Kick, Sway, kick
from jostle.controllers.compliant.joints import upper_joints
from jostle.controllers.compliant.objectives import Avoid, Force, Objective
from jostle.controllers.compliant.yielding import Moment, Yielding
from jostle.controllers.obstacles import Obstacle
from jostle.controllers.playback import Playback
from jostle.controllers.protocol import NEUTRAL, Command, Controller, Observed, Push, Setting, Start, State, settings_of
from jostle.errors import CommandError, MotionError
from jostle.maths import vec
from jostle.skeleton import Pose, Skeleton
from jostle.types import Array, Float

FPS = 60.0  # of clips: the paper's step
SLOW = 0.2  # seconds until muscles answer a push
STARTLED = 1.0  # w3 at a push: torques change by a newton metre as readily as velocities by 0.1 rad/s
LISTENED = 6.0  # seconds of a source that tell what it actuates, and how far it strides
STRIDE = 0.1  # seconds between the moments that tell how far
PLATFORM = (
    Setting("ground_ahead", "ground moves along X", -2.0, 2.0, 0.0, "m/s"),
    Setting("ground_aside", "ground moves along Y", -2.0, 2.0, 0.0, "m/s"),
)
_JUMP = 25.0  # radians a second, and metres a second: nobody moves so fast, so a source that does has jumped


@dataclass(frozen=True, eq=False)
class Pressing:
    """A push that is going on."""

    push: Push
    joint: int
    end: float  # seconds


@dataclass(frozen=True, eq=False)
class CompliantState:
    pose: Pose
    time: float
    observed: Observed
    source: State
    qpos: Float[Array, "nq"]
    qvel: Float[Array, "nv"]
    target: Float[Array, "nq"]  # where the source would have it, pelvis and legs moved by pushes
    torques: Float[Array, "D"]
    sway: Sway = field(default_factory=Sway)
    pressing: tuple[Pressing, ...] = ()
    hits: tuple[Push, ...] = ()  # by obstacles, this frame
    calm: float = np.inf  # seconds since the last push began


@dataclass(frozen=True, eq=False)
class Compliant:
    """`k` near-unactuated directions; "auto": as many as the motion has, by its own spectrum."""

    source: Controller
    actuation: Actuation
    k: int | Literal["auto"] = NEAR
    objectives: tuple[Objective, ...] = ()
    literal: bool = False

    kind = "compliant"

    def __post_init__(self) -> None:
        _ = self.yielding  # refuses what it cannot do
        for objective in self.objectives:
            if (part := getattr(objective, "part", None)) is not None:
                self._check_moves(part)

    def _check_moves(self, part: str) -> None:
        upper = set(upper_joints(self.skeleton))
        if not upper & set(self.skeleton.chain(self.body.part(part))):
            raise CommandError(
                f"'{part}' goes where the motion takes it; keep what is of the upper body: a hand, the chest, the head."
            )

    @property
    def name(self) -> str:
        return f"compliant:{self.source.name}"

    @property
    def skeleton(self) -> Skeleton:
        return self.source.skeleton

    @property
    def dt(self) -> float:
        return self.source.dt

    @property
    def supports(self) -> frozenset[str]:
        return self.source.supports | {"pushes"} | ({"settings"} if self.settings else set())

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """What stands in its way."""
        return tuple(thing for one in self.objectives if isinstance(one, Avoid) for thing in one.obstacles)

    @property
    def settings(self) -> tuple[Setting, ...]:
        return (*settings_of(self.source), *(() if self._source_answers else PLATFORM))

    @property
    def tasks(self) -> tuple[str, ...]:
        return getattr(self.source, "tasks", ())

    @property
    def sources(self) -> tuple[Clip, ...]:
        return getattr(self.source, "sources", ())

    @cached_property
    def body(self) -> Body:
        return getattr(self.source, "body", None) or build_body(self.skeleton)

    @cached_property
    def physics(self) -> Physics:
        return compile_body(self.body)

    @cached_property
    def yielding(self) -> Yielding:
        k = self.actuation.suggested if self.k == "auto" else self.k
        return Yielding(self.physics, self.actuation, k, self.objectives, literal=self.literal)

    @cached_property
    def footing(self) -> Footing:
        if self._source_answers:  # it sees to its feet itself
            return Footing(self.physics)
        every = max(1, round(STRIDE / self.dt))
        poses = _played(self.source, LISTENED)[::every]
        return Footing(self.physics, np.array([self.physics.to_qpos(pose) for pose in poses]))

    @cached_property
    def _source_answers(self) -> bool:
        return "pushes" in self.source.supports

    def init(self, start: Start) -> CompliantState:
        now = self.source.init(start)
        here, there = (self.physics.to_qpos(state.pose) for state in (now, self.source.step(now, NEUTRAL)))
        qvel = self.physics.velocity_between(here, there, self.dt)
        return CompliantState(
            now.pose, now.time, _observed(now), now, here, qvel, here, np.zeros(len(self.yielding.dofs))
        )

    def step(self, state: CompliantState, command: Command) -> CompliantState:
        then = self.source.step(state.source, self._passed_on(command))
        begun = tuple(Pressing(p, self.body.part(p.part), state.time + p.duration) for p in command.pushes)
        pressing = state.pressing + begun
        here = self.yielding.here
        here.set(state.qpos)
        pushed, hits = self._pushed(state.time, pressing), self._hits()
        loads, given = self._felt((*pushed, *hits))
        sway = state.sway.after(given, self._ground(state.sway, command), self.dt)
        calm = 0.0 if begun or (hits and not state.hits) else state.calm
        target = self.footing.stand(self.physics.to_qpos(then.pose), sway)
        moment = Moment(
            state.qpos, state.qvel, state.target, target, loads, state.torques, STARTLED * _faded(calm / SLOW)
        )
        moment = self._carried_over_a_jump(moment)
        done = self.yielding.step(moment, self.dt)
        time = state.time + self.dt
        return CompliantState(
            self.physics.to_pose(done.qpos), time, _observed(then), then, done.qpos, done.qvel, target, done.torques,
            sway, tuple(one for one in pressing if one.end > time + 1e-9), tuple(map(self._as_push, hits)),
            calm + self.dt,
        )  # fmt: skip

    def _passed_on(self, command: Command) -> Command:
        """What the source hears of a command."""
        pushes = command.pushes if self._source_answers else ()
        known = {setting.name for setting in settings_of(self.source)}
        return replace(command, pushes=pushes, settings={n: v for n, v in command.settings.items() if n in known})

    def _ground(self, sway: Sway, command: Command) -> Float[Array, "3"]:
        """How fast the ground moves from now on."""
        ground = sway.ground
        for axis, setting in enumerate(PLATFORM):
            if setting.name in command.settings:
                ground = np.where(np.arange(3) == axis, command.settings[setting.name], ground)
        return ground

    def _pushed(self, time: float, pressing: Sequence[Pressing]) -> list[Force]:
        """The mean forces of this frame."""
        found: list[Force] = []
        for one in pressing:
            share = float(np.clip((one.end - time) / self.dt, 0.0, 1.0))
            found.append(Force(one.joint, self.yielding.here.point(one.joint, one.push.point), share * one.push.force))
        return found

    def _hits(self) -> list[Force]:
        return [hit for one in self.objectives if isinstance(one, Avoid) for hit in one.hits(self.yielding.here)]

    def _felt(self, forces: Sequence[Force]) -> tuple[Float[Array, "nv"], Kick]:
        """Generalised forces, and what the body as a whole gets, unless the source sees to that itself."""
        loads, here = np.zeros(self.physics.velocity_count), self.yielding.here
        if not forces:
            return loads, Kick()
        impulse, moment, com = np.zeros(3), np.zeros(3), here.com()
        for one in forces:
            loads += here.jacobian_at(one.joint, one.at).T @ one.newtons
            impulse = impulse + self.dt * one.newtons
            moment = moment + vec.cross(one.at - com, self.dt * one.newtons)
        if self._source_answers or not self.footing.stands:
            return loads, Kick()
        return loads, kick(here, impulse, moment)

    def _as_push(self, hit: Force) -> Push:
        here, joint = self.yielding.here, hit.joint
        within = here.axes(np.array([joint]))[0].T @ (hit.at - here.point(joint, STILL))
        return Push(self.skeleton.names[joint], hit.newtons, self.dt, within)

    def _carried_over_a_jump(self, at: Moment) -> Moment:
        """Where the source jumps, as a clip does that starts again, the body goes along as it is, and as fast."""
        step = self.yielding.here.between(at.now, at.then, self.dt)
        step[self.yielding.fingers] = 0.0
        if np.max(np.abs(step)) < _JUMP:
            return at
        off = self.physics.velocity_between(at.now, at.qpos, 1.0)
        now = self.physics.displaced(at.then, -self.dt * at.qvel)
        return replace(at, now=now, qpos=self.physics.displaced(now, off))

    def pack(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Objectives are not kept: they belong to a scene."""
        data, arrays = self.source.pack()  # pyright: ignore[reportAttributeAccessIssue]
        own = {
            "source": {"kind": self.source.kind, "data": data},  # pyright: ignore[reportAttributeAccessIssue]
            "k": self.k,
            "literal": self.literal,
        }
        return own, {**{f"source.{name}": array for name, array in arrays.items()}, **self.actuation.pack()}

    @classmethod
    def unpack(cls, data: dict[str, Any], arrays: dict[str, Array], source: Controller) -> Compliant:
        k = "auto" if data["k"] == "auto" else int(data["k"])
        return cls(source, Actuation.unpack(arrays), k, (), bool(data["literal"]))


def compliant_clip(
    clip: Clip, k: int | Literal["auto"] = NEAR, objectives: Sequence[Objective] = (), literal: bool = False
) -> Compliant:
    """A clip, over and over, that gives way to pushes."""
    if clip.offsets is not None:
        raise MotionError(f"The bones of clip '{clip.name}' move, so it has no torques; give one with fixed bones.")
    fine = resample(clip, FPS)
    actuation = actuation_of(compile_body(build_body(clip.skeleton)), fine, centred=literal)
    return Compliant(Playback(fine), actuation, k, tuple(objectives), literal)


def compliant_over(
    source: Controller, k: int | Literal["auto"] = NEAR, objectives: Sequence[Objective] = (), seconds: float = LISTENED
) -> Compliant:
    """Any controller, that gives way to pushes: what it actuates is seen from its first seconds."""
    poses = _played(source, seconds)
    root, wxyz = np.array([pose.root for pose in poses]), np.array([pose.wxyz for pose in poses])
    clip = Clip(source.skeleton, 1.0 / source.dt, root, wxyz, name=source.name)
    physics = compile_body(getattr(source, "body", None) or build_body(source.skeleton))
    return Compliant(source, actuation_of(physics, clip), k, tuple(objectives))


def _played(source: Controller, seconds: float) -> list[Pose]:
    """What a source shows when nobody asks it for anything."""
    state, poses = source.init(Start()), []
    for _ in range(max(2, round(seconds / source.dt))):
        state = source.step(state, NEUTRAL)
        poses.append(state.pose)
    return poses


def _faded(share: float) -> float:
    """From one to zero, smoothly."""
    x = float(np.clip(share, 0.0, 1.0))
    return 1.0 - x * x * (3.0 - 2.0 * x)


def _observed(state: State) -> Observed:
    return getattr(state, "observed", Observed())
