"""A walker's own small world: one simulation, its ground, the pushes on it; set from a state, stepped, read back.

The controller is pure although MuJoCo is not: before every step the simulation is given everything that the step
depends on (MuJoCo's whole state with the solver's warm start, the state machine, heading, ground, pushes), so it does
not matter what was simulated last. The same state and command give the same bits, in any order, as often as one likes.

The ground tilts slowly, about the stance foot: a plane that jumped by ten degrees would be two centimetres inside a
toe, and the contact would throw the walker off.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from jostle.body import Physics
from jostle.controllers.floor import Floor
from jostle.controllers.walker.course import Course
from jostle.controllers.walker.joints import JOINTS
from jostle.controllers.walker.parameters import SPACES
from jostle.controllers.walker.walk import Walk
from jostle.maths import quat
from jostle.skeleton import Pose
from jostle.types import Array, Float

TILTING = np.radians(5.0)  # a second, of the ground
UPRIGHT = 0.5  # cosine of the tilt of a torso that has not fallen: 60 degrees
LIMP = 0.06  # N m/rad for each newton of weight: what is left of the servos in a body that has fallen


@dataclass(frozen=True, eq=False)
class Pressing:
    """A push under way."""

    joint: int
    force: Float[Array, "3"]
    point: Float[Array, "3"] | None
    left: float  # seconds


@dataclass(frozen=True, eq=False)
class Moment:
    """All that the next step depends on."""

    simulation: Float[Array, "n"]  # MuJoCo's
    phase: int  # state of the machine: 0 or 1
    side: int  # which leg swings: 0 left, 1 right
    since: float  # seconds since the last strike
    course: Course
    floor: Floor
    friction: float
    pushes: tuple[Pressing, ...] = ()
    fallen: bool = False


@dataclass(frozen=True, eq=False)
class Sight:
    """What can be seen of a moment."""

    pose: Pose
    com: Float[Array, "3"]
    velocity: Float[Array, "3"]  # of the centre of mass
    feet: tuple[bool, bool]  # left and right touch the ground


class World:
    """One body with one parameter vector. Not for several threads at once: `lock` keeps them apart."""

    def __init__(self, physics: Physics, machine: str, values: Float[Array, "P"], fallen: float) -> None:
        self.physics, self.values, self.fallen = physics, values[None], fallen
        self.lock = threading.Lock()
        self.walk = Walk(physics, 1, machine, threads=1)
        self.many = self.walk.many
        self._gains = SPACES[machine].unpack(self.values)
        self._lay_ground()
        self._soft = LIMP * physics.body.weight * _limpness()
        self._damping = self.many.vary("dof_damping", self.many.physics.model.dof_damping)
        self._turned = self.many.read("xquat")
        self._torso = int(physics.bodies[physics.body.skeleton.index("Spine")])

    def _lay_ground(self) -> None:
        model = self.physics.model
        self._place, self._tilt = (self.many.vary(name, getattr(model, name)) for name in ("geom_pos", "geom_quat"))
        self._ground = self.walk.free_ground()  # after these, which MuJoCo derives what is level from
        self._middle = quat.inv_apply(model.geom_quat[self._ground], model.geom_pos[self._ground])  # of a beam

    def start(self, floor: Floor, friction: float, position: Sequence[float], heading: float) -> Moment:
        """In the start state of the parameters, at a place, on the ground there."""
        self._set_ground(floor, friction)
        self.walk.veer[:] = 0.0
        self.walk.start(self.values, heading)
        qpos, qvel = self.many.qpos.copy(), self.many.qvel.copy()
        qpos[0, :3] += [*position, floor.height(position[0]) - floor.height(0.0)]
        self.many.start(qpos, qvel)
        return Moment(self.many.snapshot()[0], 0, 0, 0.0, Course(heading), floor, friction)

    def step(
        self, now: Moment, substeps: int, heading: float | None, slope: float, friction: float
    ) -> tuple[Moment, Sight]:
        """`substeps` time steps later, on the way to the heading (None: straight on) and the slope that are wished."""
        self.many.restore(now.simulation[None])
        floor, dt = now.floor, substeps * self.walk.dt
        if slope != floor.slope:
            floor = floor.tilted(_nearer(floor.slope, slope, TILTING * dt), self._stance_x(now.side))
        course, guided = now.course, self.walk.style.guided
        if not guided:
            course = course.after(heading, self.many.com_velocity[0], dt)
        self._resume(now, floor, course, friction)
        self.walk.wish[:] = course.heading if heading is None else heading
        fallen, pushes, pushed = now.fallen, now.pushes, {push.joint for push in now.pushes}
        for _ in range(substeps):
            pushes = self._press(pushes)
            fallen = self._substep(fallen)
            for joint in pushed:
                self.many.push(joint, np.zeros(3))
        fallen = fallen or self._falls(floor)
        walk = self.walk
        course = replace(course, heading=float(walk.heading[0])) if guided else course
        after = replace(
            now, simulation=self.many.snapshot()[0], phase=int(walk.state[0]), side=int(walk.side[0]),
            since=float(walk.since[0]), course=course, floor=floor, friction=friction, pushes=pushes, fallen=fallen,
        )  # fmt: skip
        return after, self.look()

    def _falls(self, floor: Floor) -> bool:
        """Too low, or tilted so far that servos in the world's frame would only throw it about."""
        x, _, z = self.many.com[0].tolist()
        _, roll, pitch, _ = self._turned[0, self._torso].tolist()  # of the torso's quaternion
        return z - floor.height(x) < self.fallen or 1.0 - 2.0 * (roll * roll + pitch * pitch) < UPRIGHT

    def look(self) -> Sight:
        """What the simulation shows now."""
        low = self.walk.sense().low[0, :, :4]  # of swing foot, stance foot, swing toe, stance toe
        swing, stance = bool(low[::2].any()), bool(low[1::2].any())
        feet = (swing, stance) if self.walk.side[0] == 0 else (stance, swing)
        return Sight(self._pose(), self.many.com[0].copy(), self.many.com_velocity[0].copy(), feet)

    def _pose(self) -> Pose:
        """From what MuJoCo has computed anyway: where every part points in the world."""
        world = self._turned[0, self.physics.bodies]
        wxyz = quat.inv_mul(world[self.physics.body.skeleton.parents], world)
        wxyz[0] = world[0]
        return Pose(self.many.qpos[0, :3].copy(), wxyz)

    def _resume(self, now: Moment, floor: Floor, course: Course, friction: float) -> None:
        self._set_ground(floor, friction)
        self.walk.heading[:], self.walk.veer[:] = course.heading, course.veer
        self.walk.resume(self._gains, np.array([now.phase]), np.array([now.side]), np.array([now.since]))

    def _set_ground(self, floor: Floor, friction: float) -> None:
        self.walk.normal[:], self.walk.pivot[:] = floor.normal, floor.point
        self._place[0, self._ground] = floor.point + quat.apply(floor.wxyz, self._middle)
        self._tilt[0, self._ground] = floor.wxyz
        self.many.set_friction(friction)

    def _stance_x(self, side: int) -> float:
        """Where the ankle is that carries the walker; the swing leg is left on side 0."""
        name = "RightFoot" if side == 0 else "LeftFoot"
        return float(self.many.positions[0, self.physics.body.skeleton.index(name), 0])

    def _press(self, pushes: tuple[Pressing, ...]) -> tuple[Pressing, ...]:
        """Apply the pushes for one time step, the last of each in part, so that its impulse is exact."""
        h = self.walk.dt
        for push in pushes:
            self.many.push(push.joint, push.force * min(1.0, push.left / h), push.point, add=True)
        return tuple(replace(push, left=push.left - h) for push in pushes if push.left > (1.0 + 1e-6) * h)

    def _substep(self, fallen: bool) -> bool:
        """One time step, walking or lying; a simulation that blows up goes on from before that, at rest and limp."""
        if fallen:
            self._lie()
            self.many.step()
        else:
            self.walk.step()
        if self.many.running[0]:
            return fallen
        self.many.qvel[:] = 0.0
        self.many.restore(self.many.snapshot())
        return True

    def _lie(self) -> None:
        """Springs and dampers too weak to walk with; the body stays one of flesh, not of rags."""
        self.many.forces[0, 6:] = -self._soft * self.many.qpos[0, 7:]
        self._damping[0, 6:] = 0.1 * self._soft


def _limpness() -> Float[Array, "30"]:
    """Of each angle: the trunk holds together more than the limbs do."""
    per_joint = {"back": 1.0, "neck": 0.2, "larm": 0.1, "rarm": 0.1, "lelbow": 0.05, "relbow": 0.05}
    return np.array([per_joint.get(name, 0.2) for name, axes, _ in JOINTS.values() for _ in axes])


def _nearer(value: float, goal: float, most: float) -> float:
    return value + float(np.clip(goal - value, -most, most))
