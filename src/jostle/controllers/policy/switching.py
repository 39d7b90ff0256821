"""Several policies as one character: walking and running, punching and kicking. Levine et al. 2012, section 6.3.

    both = Switch({"walk": walk, "run": run})                     # Command(task="run") changes over

Each was trained on clips of its own and knows nothing of the others. When another takes over, the pose that is shown is
found in its latent space (`relocate`), and the new motion goes on from it, at first as fast as the old one was
(`blending`). What one model moves and another holds still, a hand that only the runner turns, fades as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from jostle.body import Body
from jostle.clips import Clip
from jostle.controllers.obstacles import Obstacle
from jostle.controllers.policy.blending import Seam, change_between
from jostle.controllers.policy.constraints import Held, Toggle
from jostle.controllers.policy.constraints.footlock import Planted
from jostle.controllers.policy.planning import Samples, data_samples
from jostle.controllers.policy.policy import Policy, PolicyState
from jostle.controllers.policy.relocate import relocate
from jostle.controllers.protocol import Command, Observed, Setting, Start, check_settings
from jostle.errors import CommandError, MotionError, unknown_name
from jostle.maths import quat
from jostle.skeleton import Pose, Skeleton
from jostle.types import Array, Float

FADES = 0.12  # seconds in which half of what a model cannot say of a pose is gone
_GONE = 1e-4  # radians


@dataclass(frozen=True, eq=False)
class SwitchState:
    playing: str
    inner: PolicyState
    before: Pose  # as it was shown a frame ago
    aside: Float[Array, "J 3"]  # rotation vectors: what the model that plays cannot say of the pose

    @property
    def pose(self) -> Pose:
        own = self.inner.pose
        return own if not self.aside.any() else Pose(own.root, quat.mul(quat.exp(self.aside), own.wxyz), own.offsets)

    @property
    def time(self) -> float:
        return self.inner.time

    @property
    def latent(self) -> Float[Array, "Q"]:
        return self.inner.latent

    @property
    def observed(self) -> Observed:
        return self.inner.observed


@dataclass(frozen=True, eq=False)
class Switch:
    """The first policy plays until a command names another as its task."""

    policies: Mapping[str, Policy]

    kind = "switch"
    sources: tuple[Clip, ...] = ()

    def __post_init__(self) -> None:
        if len(self.policies) < 2:
            raise MotionError("Policies are switched between where there are two or more.")
        (first, one), *others = self.policies.items()
        for name, other in others:
            if not other.skeleton.same_as(one.skeleton):
                raise MotionError(
                    f"The policies '{first}' and '{name}' are of different skeletons, so no pose of one is a pose of "
                    "the other; train them on clips of one body (`jostle convert --retarget`)."
                )
            if not np.isclose(other.dt, one.dt):
                raise MotionError(f"The policies '{first}' and '{name}' have different frame rates.")

    @property
    def first(self) -> Policy:
        return next(iter(self.policies.values()))

    @property
    def name(self) -> str:
        return f"switch:{'+'.join(self.policies)}"

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(self.policies)

    @property
    def skeleton(self) -> Skeleton:
        return self.first.skeleton

    @property
    def body(self) -> Body:
        return self.first.body

    @property
    def dt(self) -> float:
        return self.first.dt

    @property
    def supports(self) -> frozenset[str]:
        return frozenset({"task"}).union(*(policy.supports for policy in self.policies.values()))

    @property
    def settings(self) -> tuple[Setting, ...]:
        """Of all policies; what one does not have it does not hear."""
        return tuple({one.name: one for policy in self.policies.values() for one in policy.settings}.values())

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        return self.first.obstacles

    @property
    def scenery(self) -> dict[str, tuple[Obstacle, ...]]:
        return self.first.scenery

    @cached_property
    def _data(self) -> dict[str, Samples]:
        return {name: data_samples(policy.model) for name, policy in self.policies.items()}

    def init(self, start: Start) -> SwitchState:
        inner = self.first.init(start)
        return SwitchState(next(iter(self.policies)), inner, inner.pose, np.zeros((self.skeleton.joint_count, 3)))

    def step(self, state: SwitchState, command: Command) -> SwitchState:
        check_settings(self.settings, command.settings)
        if command.task is not None and command.task != state.playing:
            state = self.taken_over(state, command.task)
        policy = self.policies[state.playing]
        known = {setting.name for setting in policy.settings}
        heard = replace(command, task=None, settings={n: v for n, v in command.settings.items() if n in known})
        aside = 0.5 ** (self.dt / FADES) * state.aside
        aside = aside if np.max(np.abs(aside)) > _GONE else np.zeros_like(aside)
        return SwitchState(state.playing, policy.step(state.inner, heard), state.pose, aside)

    def taken_over(self, state: SwitchState, name: str) -> SwitchState:
        """The same moment, in the hands of another policy."""
        if name not in self.policies:
            raise CommandError(unknown_name("task", name, self.tasks))
        old, new, shown = self.policies[state.playing], self.policies[name], state.pose
        kinematics, model = new.anatomy.kinematics, new.model
        body = kinematics.of_pose(shown, model.centre)
        change = change_between(kinematics.of_pose(state.before, body.row), body, self.dt)
        found = relocate(model, self._data[name], body.row, change)
        own = state.inner
        inner = PolicyState(
            body, own.time, found.x, found.step, new.plan.task.begin(own.facing), own.observed, _kept(old, new, own),
            own.settings, own.target, own.pressing, Seam(body.row, change),
        )  # fmt: skip
        aside = quat.log(quat.mul(shown.wxyz, quat.inv(body.pose.wxyz)))
        return SwitchState(name, inner, state.before, np.where(np.abs(aside) < _GONE, 0.0, aside))

    def pack(self) -> tuple[dict[str, Any], dict[str, Array]]:
        data, arrays = [], {}
        for i, (name, policy) in enumerate(self.policies.items()):
            told, own = policy.pack()
            data.append({"name": name, "policy": told})
            arrays |= {f"{i}.{key}": array for key, array in own.items()}
        return {"policies": data}, arrays

    @classmethod
    def unpack(cls, data: dict[str, Any], arrays: dict[str, Array]) -> Switch:
        policies = {}
        for i, one in enumerate(data["policies"]):
            mark = f"{i}."
            own = {key.removeprefix(mark): array for key, array in arrays.items() if key.startswith(mark)}
            policies[str(one["name"])] = Policy.unpack(one["policy"], own)
        return cls(policies)


def _kept(old: Policy, new: Policy, state: PolicyState) -> tuple[Held, ...]:
    """Constraints that both policies have go on; feet stay where they stand."""
    before = {_label(bound): held for bound, held in zip(old.bounds, state.held, strict=True)}
    out = []
    for bound, constraint in zip(new.bounds, new.synthesis.constraints, strict=True):
        held, fresh = before.get(_label(bound), Held(0.0, None)), constraint.init(new.anatomy)
        feet = isinstance(held.memory, Planted) and isinstance(fresh, Planted)
        same = feet and held.memory.held.shape == fresh.held.shape
        out.append(Held(held.share, held.memory if same else fresh))
    return tuple(out)


def _label(bound: Any) -> str:
    return bound.name if isinstance(bound, Toggle) else type(bound).__name__
