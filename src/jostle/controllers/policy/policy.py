"""The controller: a character that follows its wishes through a latent space, one small step at a time.

Every frame the policy chooses where the latent position goes (`planning`), the pose follows by the conditional mean of
section 6.2, and the root by the velocities of the model. What is shown is the most likely pose that satisfies the
constraints which are on (`constraints`), and the next frame goes on from it. Pushes set it apart from that (`pushes`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from jostle.body import Body
from jostle.clips import Clip
from jostle.controllers.dynamic.deform import Stand
from jostle.controllers.obstacles import Obstacle
from jostle.controllers.policy.blending import Apart, Seam, change_between
from jostle.controllers.policy.constants import Constants
from jostle.controllers.policy.constraints import (
    Anatomy,
    Clear,
    Constraint,
    Held,
    Hit,
    Hold,
    PointAt,
    Synthesis,
    Toggle,
    pack_constraints,
    standard,
    unpack_constraints,
)
from jostle.controllers.policy.constraints.configuration import Configuration
from jostle.controllers.policy.constraints.footlock import Planted
from jostle.controllers.policy.paths import Paths, learn_steps
from jostle.controllers.policy.planning import Plan, Samples, data_samples, steady
from jostle.controllers.policy.pushes import Bruiser, Pressing
from jostle.controllers.policy.refine import ROUNDS, refined
from jostle.controllers.policy.relocate import led_along
from jostle.controllers.policy.tasks import Follow, GoTo, Heading, Striking, Task, checked
from jostle.controllers.protocol import Command, Observed, Setting, Start, check_settings
from jostle.errors import CommandError, unknown_name
from jostle.features import Placement
from jostle.features.features import integrate
from jostle.maths import quat
from jostle.models.connected import fit_connected
from jostle.models.connected_model import Connected
from jostle.models.latent_dynamics import Dynamics, LatentDynamics
from jostle.models.learn import Watch
from jostle.skeleton import Pose, Skeleton
from jostle.types import Array, Float

TASKS: dict[str, type[Task]] = {"heading": Heading, "strike": Striking, "goto": GoTo, "path": Follow}


@dataclass(frozen=True, eq=False)
class PolicyState:
    body: Configuration  # the pose that is shown, and its row: y_t-1 of the next frame
    time: float
    x: Float[Array, "Q"]
    step: Float[Array, "Q"]  # that led there
    wish: Any  # what the task is asked for, in the world
    observed: Observed
    held: tuple[Held, ...] = ()  # constraints at work
    settings: Mapping[str, float] = field(default_factory=dict)  # that were changed
    target: Float[Array, "3"] | None = None  # what was pointed at last, in the world
    pressing: tuple[Pressing, ...] = ()  # pushes that go on
    apart: Seam | Apart | None = None  # from what the policy would do, by pushes or after another policy

    @property
    def pose(self) -> Pose:
        return self.body.pose

    @property
    def row(self) -> Float[Array, "P"]:
        """The pose as the model sees it."""
        return self.body.row

    @property
    def latent(self) -> Float[Array, "Q"]:
        return self.x

    @property
    def facing(self) -> Placement:
        """Where it is, and which way it faces."""
        at = self.body.place
        return Placement(at.x, at.y, float(quat.yaw(self.body.local[0])))


@dataclass(frozen=True, eq=False)
class Policy:
    """`constraints` are always on, those in a `Toggle` by command; those of `standard` unless others are given.

    With `linear`, poses under constraints take one linear step in place of as many as it takes.
    """

    plan: Plan
    constraints: tuple[Toggle | Constraint, ...] | None = None
    linear: bool = False

    kind = "policy"
    sources: tuple[Clip, ...] = ()

    def __post_init__(self) -> None:
        for constraint in self.synthesis.constraints:
            constraint.init(self.anatomy)  # refuses bodies that it cannot be for

    @property
    def supports(self) -> frozenset[str]:
        pushes = {"pushes"} if not len(self.model.features.bones) else set()
        points = {"target"} if any(isinstance(one, PointAt) for one in self.synthesis.constraints) else set()
        return self.plan.task.supports | points | pushes | ({"settings"} if self.settings else set())

    @property
    def name(self) -> str:
        return f"policy:{self.plan.task.name}"

    @property
    def model(self) -> Connected:
        return self.plan.model

    @property
    def skeleton(self) -> Skeleton:
        return self.model.features.skeleton

    @property
    def aims_at(self) -> float:
        """How high above a target on the ground it strikes, metres."""
        aims = self.plan.task.aims()
        return aims[1] if aims else 0.0

    @property
    def body(self) -> Body:
        return self.anatomy.body

    @property
    def dt(self) -> float:
        return self.plan.dt

    @cached_property
    def anatomy(self) -> Anatomy:
        return Anatomy(self.model)

    @cached_property
    def bounds(self) -> tuple[Toggle | Constraint, ...]:
        """The constraints that it has."""
        if self.constraints is not None:
            return self.constraints
        aims = self.plan.task.aims()
        own = Toggle("hit", "hit what is aimed at", Hit(*aims), 1.0) if aims else None
        return (*standard(self.skeleton), *([own] if own else []))

    @property
    def settings(self) -> tuple[Setting, ...]:
        return tuple(one.setting for one in self.bounds if isinstance(one, Toggle))

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        return tuple(thing for one in self.bounds if isinstance(one, Clear) for thing in one.obstacles)

    @property
    def scenery(self) -> dict[str, tuple[Obstacle, ...]]:
        """What stands there while a setting is on: walls to keep off, a pole to hold."""
        found: dict[str, tuple[Obstacle, ...]] = {}
        for one in self.bounds:
            own = one.constraint if isinstance(one, Toggle) else None
            if isinstance(one, Toggle) and isinstance(own, Clear):
                found[one.name] = tuple(own.obstacles)
            elif isinstance(one, Toggle) and isinstance(own, Hold):
                found[one.name] = (own.pole,)
        return found

    @cached_property
    def synthesis(self) -> Synthesis:
        own = tuple(one.constraint if isinstance(one, Toggle) else one for one in self.bounds)
        return Synthesis(self.anatomy, own, self.dt, self.linear)

    @cached_property
    def bruiser(self) -> Bruiser:
        return Bruiser(self.body, self.dt)

    def init(self, start: Start) -> PolicyState:
        begin = int(np.random.default_rng(start.seed).integers(len(self.plan.paths.samples)))
        x, step = self.plan.samples.x[begin], self.plan.samples.step[begin]
        at = Placement(*start.position, start.heading)
        mean = self.anatomy.kinematics.facing(self.model.pose_rows(x), at)
        body, held = self.synthesis.init(mean)
        return PolicyState(body, 0.0, x, step, self.plan.task.begin(at), self._seen(x, held), held)

    def step(self, state: PolicyState, command: Command) -> PolicyState:
        check_settings(self.settings, command.settings)
        settings = {**state.settings, **command.settings} if command.settings else state.settings
        target = state.target if command.target is None else np.asarray(command.target, dtype=float)
        at, seen = state.body, state.facing
        x_before, step, pressing, apart = self._struck(state, command)
        wish = self.plan.task.heard(state.wish, command, seen)
        x, _ = self.plan.best(x_before, step, self.plan.task.seen(wish, seen))
        lag = self.plan.constants.lag
        row, travel, apart = self._followed(apart, at.unit_row, x - lag * (x - x_before), x_before - lag * step)
        place = self.synthesis.stopped(at.positions[0], _ahead(at.place, travel, self.dt), state.held)
        mean = self.anatomy.kinematics.at(row, place)
        body, held = self.synthesis.step(mean, at, state.held, self._wanted(settings), target)
        return PolicyState(
            body, state.time + self.dt, x, x - x_before, wish, self._seen(x, held), held, settings, target, pressing,
            apart,
        )  # fmt: skip

    def _followed(
        self, apart: Seam | Apart | None, before: Float[Array, "P"], x: Float[Array, "Q"], x_before: Float[Array, "Q"]
    ) -> tuple[Float[Array, "P"], Float[Array, "3"], Apart | None]:
        """The conditional mean, the root's travel, and what sets both apart from here on."""
        travel = self.model.travel(x, x_before)
        if apart is None:
            return self.model.follow(before, x, x_before), travel, None
        rows = self.model.pose_rows(np.stack([x_before, x]))
        now = apart.apart(rows[0], rows[1], travel, self.dt) if isinstance(apart, Seam) else apart
        row, after = self.model.follow(before - now.row, x, x_before), now.after(self.dt)
        return (row, travel, None) if after is None else (row + after.row, travel + after.travel, after)

    def _wanted(self, settings: Mapping[str, float]) -> list[float]:
        """How much of each constraint."""
        return [float(settings.get(b.name, b.on)) if isinstance(b, Toggle) else 1.0 for b in self.bounds]

    def _struck(
        self, state: PolicyState, command: Command
    ) -> tuple[Float[Array, "Q"], Float[Array, "Q"], tuple[Pressing, ...], Seam | Apart | None]:
        """Under pushes: the latent position and step that fit the pose, what goes on, and what sets it apart."""
        if not command.pushes and not state.pressing:
            return state.x, state.step, (), state.apart
        pressing = self.bruiser.begun(state.pressing, command.pushes, state.time)
        body, model = state.body, self.model
        pose = self.bruiser.displaced(state.pose, pressing, self._stands(state.held), state.time)
        gained = change_between(body, self.anatomy.kinematics.of_pose(pose, body.row), self.dt)
        none = np.zeros_like(body.row)
        apart = (Apart(none, none, np.zeros(3)) if state.apart is None else state.apart).pushed(gained)
        if isinstance(apart, Seam):
            return state.x, state.step, pressing, apart
        x = led_along(model, state.x, state.step, apart.row)
        known = model.pose_rows(np.stack([state.x, x]))  # what the model says of the push is apart no longer
        return x, state.step, pressing, replace(apart, row=apart.row + known[0] - known[1])

    def _stands(self, held: Sequence[Held]) -> list[Stand]:
        soles = self.anatomy.soles
        on = [one.memory.held for one in held if isinstance(one.memory, Planted) and one.share > 0.0]
        down = np.flatnonzero(np.any(on, axis=0)) if on else []
        return [Stand(int(soles.joints[p]), soles.places[p]) for p in down]

    def _seen(self, x: Float[Array, "Q"], held: Sequence[Held]) -> Observed:
        contacts: dict[str, bool] = {}
        for one in held:
            if isinstance(one.memory, Planted) and one.share > 0.0:
                down = self.anatomy.soles.foot[one.memory.held]
                contacts = {name: bool(np.any(down == foot)) for foot, name in enumerate(self.anatomy.soles.names)}
        return Observed(contacts, {"variance": float(self.plan.doubt(x))})

    def pack(self) -> tuple[dict[str, Any], dict[str, Array]]:
        fitted, arrays = self.model.pack()
        plan = self.plan
        data = {
            "model": fitted,
            "task": packed(plan.task),
            "constants": asdict(plan.constants),
            "linear": self.linear,
        }
        if self.constraints is not None:
            data["constraints"] = pack_constraints(self.constraints)
        own = {"steps": plan.paths.steps.log_alpha, "sample_x": plan.samples.x, "sample_step": plan.samples.step}
        return data, {**{f"model.{name}": array for name, array in arrays.items()}, **own, "values": plan.values}

    @classmethod
    def unpack(cls, data: dict[str, Any], arrays: dict[str, Array], *, task: Task | None = None) -> Policy:
        """With the task, where it is a class of somebody's own: a bundle holds no code."""
        mark = "model."
        inner = {name.removeprefix(mark): array for name, array in arrays.items() if name.startswith(mark)}
        model = Connected.unpack(dict(data["model"]), inner)
        task = unpacked(data["task"], task)
        constants = Constants(**data["constants"])
        samples = Samples(arrays["sample_x"], arrays["sample_step"], constants)
        settings = LatentDynamics(model.latent_rows.shape[1], order=2, steps=True)
        steps = Dynamics(settings, model.latent_rows, model.lengths, arrays["steps"])
        values = arrays["values"]
        if values.shape != (len(samples.x), *(axis.count for axis in task.axes)) or not np.all(np.isfinite(values)):
            raise ValueError("values")
        paths = Paths(steps, steady(data_samples(model)).x, constants)
        plan = Plan(model, paths, task, samples, values)
        own = unpack_constraints(data["constraints"]) if "constraints" in data else None
        return cls(plan, own, bool(data.get("linear", False)))


def _ahead(at: Placement, travel: Float[Array, "3"], dt: float) -> Placement:
    """Where a frame's travel leads."""
    steps = np.stack([np.zeros(2), travel[:2] * dt])
    places, headings = integrate(steps, np.array([0.0, travel[2] * dt]), at)
    return Placement(float(places[1, 0]), float(places[1, 1]), float(headings[1]))


def task_of(name: str, **options: Any) -> Task:
    if name not in TASKS:
        raise CommandError(unknown_name("task", name, TASKS))
    try:
        return TASKS[name](**options)
    except TypeError as error:
        raise CommandError(f"The task '{name}' cannot be made so: {error}.") from None


def packed(task: Task) -> dict[str, Any]:
    """Name and options of a task of ours; of somebody's own only the name."""
    if type(task) is not TASKS.get(task.name):
        return {"name": task.name, "own": True}
    return {"name": task.name, **asdict(task)}  # pyright: ignore[reportArgumentType]


def unpacked(data: dict[str, Any], given: Task | None = None) -> Task:
    options = dict(data)
    name = str(options.pop("name"))
    if options.pop("own", False):
        if given is None or given.name != name:
            raise CommandError(
                f"it was trained for the task '{name}', a class of somebody's own, and a bundle holds no code; give "
                f"the task to load it: load_controller(path, task=...)."
            )
        return given
    if given is not None and given.name != name:
        raise CommandError(f"it was trained for the task '{name}', not for '{given.name}'.")
    return task_of(name, **options)


def train_policy(
    clips: Sequence[Clip],
    task: Task | str = "heading",
    *,
    constants: Constants | None = None,
    rounds: int = ROUNDS,
    seed: int = 0,
    watch: Watch | None = None,
) -> Policy:
    """Learn a model of a few clips, with their mirror images where the task has it, and how to do the task in it."""
    wanted = task_of(task) if isinstance(task, str) else task
    clips = wanted.chosen(clips)
    model = fit_connected(clips, seed=seed, watch=watch, **wanted.learnt_with)
    return plan_policy(model, wanted, constants=constants, rounds=rounds, seed=seed)


def plan_policy(
    model: Connected,
    task: Task,
    *,
    constants: Constants | None = None,
    rounds: int = ROUNDS,
    seed: int = 0,
    told: Callable[[int, int], None] | None = None,
) -> Policy:
    """How to do a task with a model that is learnt."""
    task = checked(task, model)
    constants = constants or Constants(**task.constants)
    samples = steady(data_samples(model, constants))
    paths = Paths(learn_steps(model), samples.x, constants)
    return Policy(refined(model, paths, task, samples, seed, rounds, told))
