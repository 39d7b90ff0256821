"""A task: what a character is asked for, on a grid, and how good each step is for it. Levine et al. 2012, 5.1.

A task of one's own is a class with a name and a reward:

    class Sneak(jostle.Task):
        name = "sneak"

        def reward(self, step, theta):
            slow = np.exp(-((step.speed - 0.6) / 0.2) ** 2)
            off = np.abs(wrapped(theta[..., 0] - step.course))
            return slow * np.exp(-2.0 * off)

It is asked for a heading unless it says otherwise. A task that is asked for something else says what it needs of a
`Command` (`supports`), what is asked for at first (`begin`) and after each command (`heard`), how that looks from where
the character stands (`seen`: the parameters theta, a point of the grid or between), and how theta looks after a step
(`after`), since the character moves and turns while what it is asked for stays where it is. A wish may be anything that
does not change: a number, a point, a path and how far on it one is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from jostle.clips import Clip
from jostle.controllers.policy.tasks.axes import Axis, direction
from jostle.controllers.policy.tasks.step import Step
from jostle.controllers.protocol import Command
from jostle.errors import CommandError
from jostle.features import Placement
from jostle.maths.angles import wrapped
from jostle.types import Array, Float

if TYPE_CHECKING:
    from jostle.models.connected_model import Connected


class Task(ABC):
    name: str = ""
    supports: frozenset[str] = frozenset({"heading"})  # fields of a Command that it listens to
    latent: int = 4  # dimensions that motions for it are learnt in
    mirrored: bool = True  # whether they are learnt with their mirror images
    sharpest: float = 0.1  # the less, the smoother are poses over the latent space (`fit_connected`)
    constants: Mapping[str, Any] = MappingProxyType({})  # of planning (`Constants`), where they are not the usual ones

    @property
    def learnt_with(self) -> dict[str, Any]:
        """What `fit_connected` is told of the task."""
        return {"latent": self.latent, "mirrored": self.mirrored, "sharpest": self.sharpest}

    @property
    def axes(self) -> tuple[Axis, ...]:
        """Of theta."""
        return (direction(24),)

    @abstractmethod
    def reward(self, step: Step, theta: Float[Array, "*b d"]) -> Float[Array, "*b"]:
        """About 1 for a step that is good: costs of quality are of that scale."""

    def after(self, step: Step, theta: Float[Array, "*b d"]) -> Float[Array, "*b d"]:
        """How the parameters look from where the step led."""
        return wrapped(theta - step.dt * step.travel[..., 2:])

    def begin(self, at: Placement) -> Any:
        """What is asked for before anybody asks."""
        return at.heading

    def heard(self, wish: Any, command: Command, at: Placement) -> Any:
        """What is asked for now."""
        return wish if command.heading is None else float(command.heading)

    def seen(self, wish: Any, at: Placement) -> Float[Array, "d"]:
        """Theta: the wish from where the character stands."""
        return np.array([wrapped(wish - at.heading)])

    def chosen(self, clips: Sequence[Clip]) -> list[Clip]:
        """What is learnt from, of clips that may hold more."""
        return list(clips)

    def aims(self) -> tuple[str, float] | None:
        """What hits the target, and how high above the ground: inverse kinematics helps it there."""
        return None

    def fitted(self, model: Connected) -> Task:
        """The task for those motions: what was left open is taken from them."""
        return self


def checked(task: Any, model: Connected) -> Task:
    """The task for these motions; what cannot be planned for is refused in one sentence."""
    if not isinstance(task, Task):
        raise CommandError(f"A task is an object of a class made of jostle.Task, not {task!r}.")
    if not task.name:
        raise CommandError(f"The task {type(task).__name__} needs a `name`, such as 'sneak'.")
    task = task.fitted(model)
    if not task.axes or any(axis.count < 2 or not axis.low < axis.high for axis in task.axes):
        raise CommandError(f"Each of the axes of '{task.name}' needs two values or more, from a lower to a higher.")
    x = model.latent_rows[:4, None]
    theta = np.array([axis.values[0] for axis in task.axes])
    step = Step.between(model, x, np.repeat(x, 3, axis=1))
    asked = np.broadcast_to(theta, (4, 3, 5, len(theta)))
    paid, after = np.asarray(task.reward(step.wider, asked)), np.asarray(task.after(step.wider, asked))
    if paid.shape != (4, 3, 5) or after.shape != asked.shape or not np.all(np.isfinite(paid)):
        raise CommandError(
            f"The reward of '{task.name}' is to be one finite number for each step and theta, and `after` a theta for "
            f"each: for theta of shape {asked.shape} they gave {paid.shape} and {after.shape}."
        )
    return task
