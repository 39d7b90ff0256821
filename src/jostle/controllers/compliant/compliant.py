"""The controller: another motion source whose upper body gives way to small pushes and comes back in its own style.

    character = compliant_clip(load_clip("walk.bvh"))
    character = Compliant(source, actuation)          # any controller: a clip, a graph, a policy

Nothing is learnt but which directions the motion hardly actuates (`actuation`); `yielding` has the frame. A push also
displaces the pelvis, (7): it gets the impulse as if all of the body were one mass, and comes back like a damped spring,
for without a return it would drift on for ever. Feet stay where the source has them; where legs are too short for that
the pelvis sinks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from jostle.body import Body, Dynamics, Physics, build_body, compile_body
from jostle.clips import Clip
from jostle.clips.edit import resample
from jostle.clips.plant import Leg, find_leg
from jostle.controllers.compliant.actuation import Actuation, actuation_of
from jostle.controllers.compliant.yielding import Moment, Yielding
from jostle.controllers.playback import Playback
from jostle.controllers.protocol import NEUTRAL, Command, Controller, Observed, Push, Start, State
from jostle.errors import MotionError
from jostle.skeleton import Pose, Skeleton, find_roles, forward
from jostle.skeleton.ik import pin_limb
from jostle.types import Array, Float

FPS = 60.0  # of clips: the paper's step
RETURN = 4.0  # radians a second: the spring that brings the pelvis back
SLOW = 0.2  # seconds until muscles answer a push
STARTLED = (
    1.0  # w3 at the push: torques change by a newton metre as readily as velocities by a tenth of a radian a second
)
_REACH = 0.98  # of a leg's length: as far as feet are held


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
    aside: Float[Array, "3"]  # of the pelvis, metres
    drift: Float[Array, "3"]  # metres a second
    pressing: tuple[Pressing, ...] = ()
    calm: float = np.inf  # seconds since the last push began


@dataclass(frozen=True, eq=False)
class Compliant:
    """`k` near-unactuated directions; None: as many as the motion has, by its own spectrum."""

    source: Controller
    actuation: Actuation
    k: int | None = None
    literal: bool = False

    kind = "compliant"

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
        return self.source.supports | {"pushes"}

    @cached_property
    def body(self) -> Body:
        return getattr(self.source, "body", None) or build_body(self.skeleton)

    @cached_property
    def physics(self) -> Physics:
        return compile_body(self.body)

    @cached_property
    def yielding(self) -> Yielding:
        k = self.actuation.suggested if self.k is None else self.k
        return Yielding(self.physics, self.actuation, k, literal=self.literal)

    def init(self, start: Start) -> CompliantState:
        now = self.source.init(start)
        here, there = (self.physics.to_qpos(state.pose) for state in (now, self.source.step(now, NEUTRAL)))
        qvel = self.physics.velocity_between(here, there, self.dt)
        still, torques = np.zeros(3), np.zeros(len(self.actuation.dofs))
        return CompliantState(now.pose, now.time, _observed(now), now, here, qvel, here, torques, still, still)

    def step(self, state: CompliantState, command: Command) -> CompliantState:
        then = self.source.step(state.source, replace(command, pushes=()))
        begun = tuple(Pressing(p, self.body.part(p.part), state.time + p.duration) for p in command.pushes)
        pressing = state.pressing + begun
        calm = 0.0 if begun else state.calm
        shares = [float(np.clip((one.end - state.time) / self.dt, 0.0, 1.0)) for one in pressing]
        impulse = sum((s * self.dt * one.push.force for one, s in zip(pressing, shares, strict=True)), np.zeros(3))
        aside, drift = _sprung(state.aside, state.drift + impulse / self.body.total_mass, self.dt)
        target = self.physics.to_qpos(self._stood(then.pose, aside))
        moment = Moment(
            state.qpos,
            state.qvel,
            state.target,
            target,
            self._loads(state.qpos, pressing, shares),
            state.torques,
            STARTLED * _faded(calm / SLOW),
        )
        qvel, torques = self.yielding.step(moment, self.dt)
        qpos = self.physics.displaced(state.qpos, qvel * self.dt)
        time = state.time + self.dt
        return CompliantState(
            self.physics.to_pose(qpos), time, _observed(then), then, qpos, qvel, target, torques, aside, drift,
            tuple(one for one in pressing if one.end > time + 1e-9), calm + self.dt,
        )  # fmt: skip

    def _loads(
        self, qpos: Float[Array, "nq"], pressing: Sequence[Pressing], shares: Sequence[float]
    ) -> Float[Array, "nv"]:
        loads = np.zeros(self.physics.velocity_count)
        if pressing:
            self._instant.set(qpos)
        for one, share in zip(pressing, shares, strict=True):
            loads += self._instant.jacobian(one.joint, one.push.point).T @ (share * one.push.force)
        return loads

    @cached_property
    def _instant(self) -> Dynamics:
        return Dynamics(self.physics)

    @cached_property
    def _legs(self) -> list[tuple[Leg, float]]:
        """Each with its length."""
        feet = [joint for role, joint in find_roles(self.skeleton).items() if role.endswith("_foot")]
        legs = [leg for leg in (find_leg(self.skeleton, foot) for foot in feet) if leg is not None]
        bones = np.linalg.norm(self.skeleton.offsets, axis=1)
        return [(leg, float(bones[leg.lower] + bones[leg.end])) for leg in legs]

    def _stood(self, pose: Pose, aside: Float[Array, "3"]) -> Pose:
        """The pelvis moved aside, with feet where they were."""
        if not np.any(np.abs(aside) > 1e-6):
            return pose
        at = forward(self.skeleton, pose).positions
        sunk = 0.0
        for leg, length in self._legs:
            hip, foot = at[leg.upper], at[leg.end]
            reach = max(_REACH * length, float(np.linalg.norm(foot - hip)))
            away = hip + aside - foot
            room = np.sqrt(max(reach**2 - float(away[0] ** 2 + away[1] ** 2), 0.0))
            sunk = max(sunk, float(away[2]) - room)
        moved = Pose(pose.root + aside - [0.0, 0.0, sunk], pose.wxyz, pose.offsets)
        for leg, _ in self._legs:
            moved = pin_limb(self.skeleton, moved, leg.upper, leg.lower, leg.end, at[leg.end], pole=leg.pole)
        return moved


def compliant_clip(clip: Clip, k: int | None = None, literal: bool = False) -> Compliant:
    """A clip, over and over, that gives way to pushes."""
    if clip.offsets is not None:
        raise MotionError(f"The bones of clip '{clip.name}' move, so it has no torques; give one with fixed bones.")
    fine = resample(clip, FPS)
    source = Playback(fine)
    return Compliant(source, actuation_of(compile_body(build_body(clip.skeleton)), fine), k, literal)


def _sprung(
    aside: Float[Array, "3"], drift: Float[Array, "3"], dt: float
) -> tuple[Float[Array, "3"], Float[Array, "3"]]:
    """A critically damped spring, exactly."""
    gone, pull = np.exp(-RETURN * dt), drift + RETURN * aside
    return gone * (aside + dt * pull), gone * (drift - RETURN * dt * pull)


def _faded(share: float) -> float:
    """From one to zero, smoothly."""
    x = float(np.clip(share, 0.0, 1.0))
    return 1.0 - x * x * (3.0 - 2.0 * x)


def _observed(state: State) -> Observed:
    return getattr(state, "observed", Observed())
