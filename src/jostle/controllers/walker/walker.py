"""`walker` as a controller: a simulated person, live, that can be pushed, steered, and put on another ground.

The simulation runs in `world`; here are the commands that reach it, what a state tells, and the file it is kept in.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from jostle.body import Body, Ground, Physics
from jostle.controllers.floor import Floor
from jostle.controllers.protocol import Command, Observed, Push, Setting, Start, check_settings
from jostle.controllers.walker.parameters import SPACES
from jostle.controllers.walker.people import Person, walker_physics
from jostle.controllers.walker.world import Moment, Pressing, Sight, World
from jostle.errors import CommandError, unknown_name
from jostle.skeleton import Pose, Skeleton
from jostle.types import Array, Float

SUBSTEPS = 9  # of a sixtieth of a second: 1.85 ms each, a little less than the 2 ms that walkers are made at
STEEPEST = 15.0  # degrees
FRICTION = (0.1, 2.0)
STAND_UP = "stand up"


@dataclass(frozen=True, eq=False)
class WalkerState:
    """What is shown, and all that the next step depends on."""

    pose: Pose
    time: float
    observed: Observed
    moment: Moment
    slope: float  # radians: what the ground tilts towards


@dataclass(frozen=True, eq=False)
class Walker:
    """A body, the parameters that make it walk, and the ground that they were made for."""

    title: str
    person: Person
    machine: str  # "walker" or "simbicon"
    values: Float[Array, "P"]  # physical units, in the order of SPACES[machine]
    ground: Ground = field(default_factory=Ground)

    kind = "walker"
    sources = ()
    supports = frozenset({"pushes", "heading", "settings", "task"})
    tasks = (STAND_UP,)
    dt = 1 / 60

    def __post_init__(self) -> None:
        if self.machine not in SPACES:
            raise CommandError(unknown_name("kind of walker", self.machine, SPACES))
        wanted = len(SPACES[self.machine])
        if np.shape(self.values) != (wanted,) or not np.all(np.isfinite(self.values)):
            raise CommandError(f"A {self.machine} has {wanted} parameters, all of them finite numbers.")
        check_settings(self.settings, {setting.name: setting.default for setting in self.settings})

    @property
    def name(self) -> str:
        return f"walker:{self.title}"

    @cached_property
    def physics(self) -> Physics:
        return walker_physics(self.person, self.ground, self.dt / SUBSTEPS)

    @property
    def body(self) -> Body:
        return self.physics.body

    @property
    def skeleton(self) -> Skeleton:
        return self.body.skeleton

    @property
    def settings(self) -> tuple[Setting, ...]:
        slope, friction = float(np.degrees(self.ground.slope)), float(self.ground.friction)
        return (
            Setting("slope", "Slope", -STEEPEST, STEEPEST, slope, "degrees"),
            Setting("friction", "Friction", *FRICTION, friction),
        )

    @cached_property
    def _world(self) -> World:
        return World(self.physics, self.machine, self.values, self.person.fallen)

    def __getstate__(self) -> dict[str, Any]:
        """For other processes: without the simulation, which is made anew."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def init(self, start: Start) -> WalkerState:
        """In the start state of its parameters, on its own ground."""
        floor = Floor(float(self.ground.slope), width=float(self.ground.width))
        return self._started(0.0, floor, self.ground.friction, floor.slope, start.position, start.heading)

    def _started(
        self, time: float, floor: Floor, friction: float, slope: float, place: tuple[float, float], heading: float
    ) -> WalkerState:
        with self._world.lock:
            moment = self._world.start(floor, friction, place, heading)
            return self._state(time, moment, self._world.look(), slope)

    def step(self, state: WalkerState, command: Command) -> WalkerState:
        check_settings(self.settings, command.settings)
        time, now = state.time + self.dt, state.moment
        slope = float(np.radians(command.settings["slope"])) if "slope" in command.settings else state.slope
        friction = float(command.settings.get("friction", now.friction))
        if command.task is not None:
            return self._stood_up(state, command.task, time, slope, friction)
        pushed = replace(now, pushes=now.pushes + tuple(self._pressing(push) for push in command.pushes))
        with self._world.lock:
            moment, sight = self._world.step(pushed, SUBSTEPS, command.heading, slope, friction)
            return self._state(time, moment, sight, slope)

    def _stood_up(self, state: WalkerState, task: str, time: float, slope: float, friction: float) -> WalkerState:
        """Back in the start state, where it is and facing where it was to go."""
        if task not in self.tasks:
            raise CommandError(unknown_name("task", task, self.tasks))
        x, y, _ = state.pose.root.tolist()
        floor = state.moment.floor
        place = (x, 0.0 if floor.width else y)  # back onto the beam
        return self._started(time, floor, friction, slope, place, state.moment.course.heading)

    def _pressing(self, push: Push) -> Pressing:
        return Pressing(self.body.part(push.part), push.force, push.point, push.duration)

    def _state(self, time: float, moment: Moment, sight: Sight, slope: float) -> WalkerState:
        quality = {
            "speed": float(sight.velocity[:2] @ moment.course.ahead),
            "com_height": float(sight.com[2]) - moment.floor.height(float(sight.com[0])),
            "floor": moment.floor.height(float(sight.pose.root[0])),  # below the hips
            "fallen": float(moment.fallen),
            "heading": moment.course.heading,
            "slope": float(np.degrees(moment.floor.slope)),
            "friction": moment.friction,
        }
        contacts = {"left_foot": sight.feet[0], "right_foot": sight.feet[1]}
        observed = Observed(contacts, quality, moment.floor)
        return WalkerState(sight.pose, time, observed, moment, slope)

    def pack(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Parameters by name, so that a file can be read and survives another order of them."""
        data = {
            "title": self.title,
            "person": asdict(self.person),
            "machine": self.machine,
            "ground": asdict(self.ground),
            "parameters": SPACES[self.machine].named(self.values),
        }
        return data, {}

    @classmethod
    def unpack(cls, data: dict[str, Any], arrays: dict[str, Array]) -> Walker:
        machine = str(data["machine"])
        if machine not in SPACES:
            raise CommandError(unknown_name("kind of walker", machine, SPACES))
        person = Person(**{name: float(value) for name, value in data["person"].items()})
        ground = Ground(**{name: float(value) for name, value in data["ground"].items()})
        values = SPACES[machine].vector({name: float(value) for name, value in data["parameters"].items()})
        return cls(str(data["title"]), person, machine, values, ground)
