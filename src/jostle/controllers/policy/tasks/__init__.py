"""What a steered character is asked for, and what it is rewarded for."""

from jostle.controllers.policy.tasks.axes import Axis, direction
from jostle.controllers.policy.tasks.goto import GoTo
from jostle.controllers.policy.tasks.heading import Heading
from jostle.controllers.policy.tasks.path import Follow
from jostle.controllers.policy.tasks.step import Step
from jostle.controllers.policy.tasks.strike import Striking
from jostle.controllers.policy.tasks.target import Targeted
from jostle.controllers.policy.tasks.task import Task, checked

__all__ = ["Axis", "Follow", "GoTo", "Heading", "Step", "Striking", "Targeted", "Task", "checked", "direction"]
