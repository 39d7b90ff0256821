"""What a steered character is asked for, and what it is rewarded for."""

from jostle.controllers.policy.tasks.axes import Axis, direction
from jostle.controllers.policy.tasks.heading import Heading
from jostle.controllers.policy.tasks.step import Step
from jostle.controllers.policy.tasks.task import Task, check_task

__all__ = ["Axis", "Heading", "Step", "Task", "check_task", "direction"]
