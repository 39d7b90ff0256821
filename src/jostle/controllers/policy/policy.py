"""The controller: a character that follows its wishes through a latent space, one small step at a time.

Every frame the policy chooses where the latent position goes (`planning`), the pose follows by the conditional mean of
section 6.2, and the root by the velocities of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from jostle.clips import Clip
from jostle.controllers.policy.paths import Paths, learn_steps
from jostle.controllers.policy.planning import Costs, Plan, Samples, data_samples
from jostle.controllers.policy.refine import ROUNDS, refined
from jostle.controllers.policy.tasks import Heading, Striking, Task, checked
from jostle.controllers.protocol import Command, Observed, Start
from jostle.errors import CommandError, unknown_name
from jostle.features import Placement
from jostle.maths import quat
from jostle.models.connected import fit_connected
from jostle.models.connected_model import Connected
from jostle.models.latent_dynamics import Dynamics, LatentDynamics
from jostle.models.learn import Watch
from jostle.skeleton import Pose, Skeleton
from jostle.types import Array, Float

TASKS: dict[str, type[Task]] = {"heading": Heading, "strike": Striking}


@dataclass(frozen=True, eq=False)
class PolicyState:
    pose: Pose
    time: float
    x: Float[Array, "Q"]
    step: Float[Array, "Q"]  # that led there
    row: Float[Array, "P"]  # the pose as the model sees it
    wish: Any  # what the task is asked for, in the world
    observed: Observed

    @property
    def latent(self) -> Float[Array, "Q"]:
        return self.x


@dataclass(frozen=True, eq=False)
class Policy:
    plan: Plan

    kind = "policy"
    sources: tuple[Clip, ...] = ()

    @property
    def supports(self) -> frozenset[str]:
        return self.plan.task.supports

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
    def dt(self) -> float:
        return self.plan.dt

    def init(self, start: Start) -> PolicyState:
        begin = int(np.random.default_rng(start.seed).integers(len(self.model.latent_rows)))
        x, step = self.plan.samples.x[begin], self.plan.samples.step[begin]
        row = self.model.pose_rows(x)
        pose = self._decoded(row, row, np.zeros(3), Placement(*start.position, start.heading))
        wish = self.plan.task.begin(Placement(*start.position, start.heading))
        return PolicyState(pose, 0.0, x, step, row, wish, self._seen(x))

    def step(self, state: PolicyState, command: Command) -> PolicyState:
        task, facing = self.plan.task, float(quat.yaw(state.pose.wxyz[0]))
        at = Placement(float(state.pose.root[0]), float(state.pose.root[1]), facing)
        wish = task.heard(state.wish, command, at)
        x, _ = self.plan.best(state.x, state.step, task.seen(wish, at))
        row = self.model.follow(state.row, x, state.x)
        travel = self.model.velocity(x, state.x)[-3:]
        pose = self._decoded(state.row, row, travel, at)
        return PolicyState(pose, state.time + self.dt, x, x - state.x, row, wish, self._seen(x))

    def _decoded(self, before: Array, row: Array, travel: Array, at: Placement) -> Pose:
        still = np.zeros((2, self.model.features.pose_count))
        rows = np.concatenate([np.stack([before, row]), still, np.stack([np.zeros(3), travel])], axis=1)
        return self.model.features.decode(rows, at).pose(1)

    def _seen(self, x: Float[Array, "Q"]) -> Observed:
        return Observed(quality={"variance": float(self.model.variance(x) / self.plan.sureness)})

    def pack(self) -> tuple[dict[str, Any], dict[str, Array]]:
        fitted, arrays = self.model.pack()
        plan = self.plan
        data = {
            "model": fitted,
            "task": packed(plan.task),
            "costs": asdict(plan.costs),
        }
        own = {"steps": plan.paths.steps.log_alpha, "sample_x": plan.samples.x, "sample_step": plan.samples.step}
        return data, {**{f"model.{name}": array for name, array in arrays.items()}, **own, "values": plan.values}

    @classmethod
    def unpack(cls, data: dict[str, Any], arrays: dict[str, Array], *, task: Task | None = None) -> Policy:
        """With the task, where it is a class of somebody's own: a bundle holds no code."""
        mark = "model."
        inner = {name.removeprefix(mark): array for name, array in arrays.items() if name.startswith(mark)}
        model = Connected.unpack(dict(data["model"]), inner)
        task = unpacked(data["task"], task)
        samples = Samples(arrays["sample_x"], arrays["sample_step"])
        settings = LatentDynamics(model.latent_rows.shape[1], order=2, steps=True)
        steps = Dynamics(settings, model.latent_rows, model.lengths, arrays["steps"])
        values = arrays["values"]
        if values.shape != (len(samples.x), *(axis.count for axis in task.axes)) or not np.all(np.isfinite(values)):
            raise ValueError("values")
        return cls(Plan(model, Paths(steps, model.latent_rows), task, samples, values, Costs(**data["costs"])))


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
    costs: Costs | None = None,
    rounds: int = ROUNDS,
    seed: int = 0,
    watch: Watch | None = None,
) -> Policy:
    """Learn a model of a few clips, with their mirror images where the task has it, and how to do the task in it."""
    wanted = task_of(task) if isinstance(task, str) else task
    clips = wanted.chosen(clips)
    model = fit_connected(clips, latent=wanted.latent, mirrored=wanted.mirrored, seed=seed, watch=watch)
    return plan_policy(model, wanted, costs=costs, rounds=rounds, seed=seed)


def plan_policy(
    model: Connected,
    task: Task,
    *,
    costs: Costs | None = None,
    rounds: int = ROUNDS,
    seed: int = 0,
    told: Callable[[int, int], None] | None = None,
) -> Policy:
    """How to do a task with a model that is learnt."""
    task = checked(task, model)
    paths = Paths(learn_steps(model), model.latent_rows)
    return Policy(refined(model, paths, task, data_samples(model), costs or Costs(), seed, rounds, told))
