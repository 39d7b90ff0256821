"""`dynamic`: the character of Ye & Liu 2010: a normal motion without end, and answers to pushes that lead back to it.

Every frame: the latent dynamics say where the position goes on to, the model says which pose that is, a push moves that
pose by the equations of motion, and the latent position follows the pose. What happens afterwards is not decided
anywhere: the new position lies among the answers to pushes like this one, and their flow leads it home.

Departures from the paper, besides those of `flow` and `deform`:

- **The latent position follows a push by how the back map sees it**, x + back(y pushed) - back(y), in place of a new
  minimum of (5): there the dynamics, far more certain than the pose, cancels most of the push.
- **What a model cannot say of a push is not lost at once**: the part of the displaced row that its latent position does
  not reproduce stays, and decays (`RELAX` for points, `DRIFT` for velocity). A model that saw no push from the side has
  no word for one; its character yields to it all the same.
- **Feet that bear stay where they are** (`Responses.hold`): the legs are bent to it, the path is not changed.

`exact=True` is the paper's scheme to the letter, for comparison (`exact`): seconds a frame.

Where there are several models, they share the normal motion, and the force of a push chooses among them (section 4,
model switching): the one with an example whose impulse points most like it goes on from the last frames' rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from jostle.body import Body
from jostle.clips import Clip
from jostle.controllers.dynamic.deform import Load
from jostle.controllers.dynamic.exact import Exact
from jostle.controllers.dynamic.responses import Given, Responses, Sight, acting
from jostle.controllers.protocol import Command, Observed, Push, Start
from jostle.errors import MotionError
from jostle.features.bodies import placed
from jostle.maths import quat
from jostle.models.responsive import Responsive
from jostle.skeleton import Pose, Skeleton
from jostle.types import Array, Float

RELAX, DRIFT = 0.1, 0.25  # seconds: half-lives of what the model cannot say
HOMEWARD = 1.2, 2.2  # seconds after a push: when it begins to be called home, and is called in full
CALL = 0.35  # of the way home in a frame
_BEGIN = 0.5  # of the normal motion: where a character starts in it


@dataclass(frozen=True, eq=False)
class Memory:
    """All that the next frame depends on, but for the time."""

    model: int
    x: Float[Array, "2 Q"]  # the last two latent positions
    rows: Float[Array, "2 D"]  # the last two rows: from these another model goes on
    aside: Float[Array, "D"]  # of the last row: what the model cannot say of it
    place: Float[Array, "2"]  # of the pelvis, on the ground
    heading: float
    slip: Float[Array, "F 2"]  # where heels and toes are shown beside where the model has them
    pushes: tuple[Given, ...] = ()  # under way, in the frame of the features, since time 0
    calm: float = np.inf  # seconds since the last push ended


@dataclass(frozen=True, eq=False)
class DynamicState:
    pose: Pose
    time: float
    memory: Memory
    observed: Observed

    @property
    def latent(self) -> Float[Array, "Q"]:
        return self.memory.x[-1]


@dataclass(frozen=True, eq=False)
class Dynamic:
    models: tuple[Responses, ...]
    title: str = "dynamic"
    sources: tuple[Clip, ...] = ()  # that it was made from; not kept in bundles
    exact: bool = False  # the paper's own scheme

    kind = "dynamic"
    supports = frozenset({"pushes"})

    def __post_init__(self) -> None:
        if not self.models:
            raise MotionError("A dynamic character has at least one model.")
        first = self.models[0].features
        for other in self.models[1:]:
            if not (other.features.skeleton.same_as(first.skeleton) and other.features.names == first.names):
                raise MotionError("The models of this character are of different bodies; the bundle is damaged.")

    @property
    def name(self) -> str:
        return f"dynamic:{self.title}"

    @property
    def skeleton(self) -> Skeleton:
        return self.models[0].features.skeleton

    @property
    def dt(self) -> float:
        return self.models[0].dt

    @property
    def body(self) -> Body:
        return self.models[0].body

    @property
    def motion_models(self) -> tuple[Responsive, ...]:
        return tuple(model.model for model in self.models)

    @property
    def examples(self) -> tuple[Given, ...]:
        """The pushes of all training clips."""
        return tuple(push for model in self.models for clip in model.pushes for push in clip)

    def init(self, start: Start) -> DynamicState:
        """In the middle of the normal motion."""
        usual = self.models[0].usual
        now = usual.start + int(_BEGIN * (usual.stop - usual.start))
        rows = self.models[0].model.poses.rows[now - 1 : now + 1]
        return self.begin(rows, start.position, start.heading)

    def begin(
        self, rows: Float[Array, "2 D"], position: tuple[float, float] = (0.0, 0.0), heading: float = 0.0
    ) -> DynamicState:
        """Going on from two rows of features, with the pelvis above a place on the ground."""
        model = self.models[0]
        x = model.model.poses.encode(rows)
        aside, slip, place = np.zeros(rows.shape[1]), np.zeros((model.foot_count, 2)), np.array(position, dtype=float)
        memory = Memory(0, x, rows, aside, place, float(heading), slip)
        pose = model.features.pose(rows[-1])
        return self._shown(pose, 0.0, memory, model.look(x[-1]), 0.0)

    def step(self, state: DynamicState, command: Command) -> DynamicState:
        memory = self._pressed(state.memory, state.time, command.pushes)
        model, time = self.models[memory.model], state.time + self.dt
        loads = acting(memory.pushes, time, self.dt)
        slip, shift = memory.slip, np.zeros(2)
        if self.exact:
            x, pose, row, lost = self._literally(memory, loads)
            sight = model.look(x)
        else:
            x, lost = self._ahead(memory)
            sight = model.look(x)
            row = sight.row + memory.aside * self._fading
            row[: model.features.now.start] = memory.rows[-1][model.features.now]
            slip, shift, shown = model.hold(row, slip)
            pose = model.read(sight.guess, shown)
            if loads:
                then = model.deformer.deform(pose, loads, model.stands(row))
                pushed = model.moved(row, pose, then)
                x = x + model.model.poses.encode(pushed) - model.model.poses.encode(row)
                sight = model.look(x)
                row, pose = pushed, model.centred(then)
        way = model.velocity(row)[:2] * self.dt + shift
        way = quat.apply(quat.from_yaw(memory.heading), np.array([*way, 0.0]))
        going = tuple(push for push in memory.pushes if push.time + push.duration > time)
        memory = replace(
            memory,
            x=np.stack([memory.x[-1], x]),
            rows=np.stack([memory.rows[-1], row]),
            aside=row - sight.row,
            slip=slip,
            place=memory.place + way[:2],
            pushes=going,
            calm=0.0 if going or loads else memory.calm + self.dt,
        )
        return self._shown(pose, time, memory, sight, lost)

    def _ahead(self, memory: Memory) -> tuple[Float[Array, "Q"], float]:
        """Where the latent position goes on to, and how lost it is."""
        flow = self.models[memory.model].flow
        x, lost = flow.next(*memory.x)
        if memory.calm > HOMEWARD[0]:
            share = min((memory.calm - HOMEWARD[0]) / (HOMEWARD[1] - HOMEWARD[0]), 1.0)
            x = x + CALL * share * (flow.home(*memory.x) - x)
        return x, lost

    def _literally(
        self, memory: Memory, loads: Sequence[Load]
    ) -> tuple[Float[Array, "Q"], Pose, Float[Array, "D"], float]:
        """Figure 1 of the paper."""
        model, reference = self.models[memory.model], Exact(self.models[memory.model])
        x, pose, row = reference.infer(memory.rows, memory.x)
        if loads:
            then = reference.deform(pose, loads, model.stands(row))
            row, pose = model.moved(row, pose, then), model.centred(then)
            x = reference.update(np.stack([*memory.rows, row]), memory.x, x)
        return x, pose, row, model.flow.next(*memory.x)[1]

    @cached_property
    def _fading(self) -> Float[Array, "D"]:
        features = self.models[0].features
        out = np.zeros(len(features.names))
        out[features.now] = 0.5 ** (self.dt / RELAX)
        out[features.velocity] = 0.5 ** (self.dt / DRIFT)
        return out

    def _pressed(self, memory: Memory, time: float, pushes: Sequence[Push]) -> Memory:
        """With pushes that begin now; the model that knows such pushes best takes over."""
        if not pushes:
            return memory
        back = quat.from_yaw(-memory.heading)
        new = tuple(
            Given(time, push.duration, self.body.part(push.part), quat.apply(back, push.force), push.point)
            for push in pushes
        )
        memory = replace(memory, pushes=memory.pushes + new)
        impulse = np.sum([push.impulse for push in new], axis=0)
        chosen = self.choose(impulse)
        return memory if chosen == memory.model else self._taken_over(memory, chosen)

    def choose(self, impulse: Float[Array, "3"]) -> int:
        """The model with the example whose impulse points most like this one, in the frame of the features."""
        if len(self.models) == 1 or np.linalg.norm(impulse[:2]) < 1e-9:
            return 0
        return int(np.argmax([_alike(model, impulse) for model in self.models]))

    def _taken_over(self, memory: Memory, chosen: int) -> Memory:
        poses = self.models[chosen].model.poses
        x = poses.encode(memory.rows)
        return replace(memory, model=chosen, x=x, aside=memory.rows[-1] - poses.decode(x[-1]))

    def _shown(self, pose: Pose, time: float, memory: Memory, sight: Sight, lost: float) -> DynamicState:
        model = self.models[memory.model]
        quality = {
            "lost": lost,
            "variance": sight.variance,
            "log_likelihood": model.log_likelihood(memory.rows[-1], sight),
            "model": float(memory.model),
        }
        observed = Observed(model.contacts(memory.rows[-1]), quality)
        return DynamicState(placed(pose, memory.place, memory.heading), time, memory, observed)

    def pack(self) -> tuple[dict[str, Any], dict[str, Array]]:
        parts = [model.pack() for model in self.models]
        data = {"title": self.title, "models": [said for said, _ in parts]}
        arrays = {f"{i}_{name}": array for i, (_, own) in enumerate(parts) for name, array in own.items()}
        return data, arrays

    @classmethod
    def unpack(cls, data: dict[str, Any], arrays: dict[str, Array]) -> Dynamic:
        models = []
        for i, said in enumerate(data["models"]):
            own = {name.removeprefix(f"{i}_"): a for name, a in arrays.items() if name.startswith(f"{i}_")}
            models.append(Responses.unpack(said, own))
        return cls(tuple(models), str(data["title"]))


def _alike(model: Responses, impulse: Float[Array, "3"]) -> float:
    """The largest cosine between an impulse and those of a model's examples, over the ground."""
    known = [push.impulse[:2] for clip in model.pushes for push in clip]
    way = impulse[:2] / np.linalg.norm(impulse[:2])
    return max((float(other @ way / max(np.linalg.norm(other), 1e-9)) for other in known), default=-1.0)
