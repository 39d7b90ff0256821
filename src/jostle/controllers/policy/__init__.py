"""`policy`: agile task control from a few seconds of motion (Levine et al. 2012)."""

from jostle.controllers.policy.tasks import Axis, Step, Task

__all__ = ["Axis", "Step", "Task"]
