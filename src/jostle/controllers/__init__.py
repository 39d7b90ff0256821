"""The protocol, and one place per controller."""

from jostle.controllers.playback import Playback
from jostle.controllers.protocol import NEUTRAL, Command, Controller, Observed, Push, Start, State

__all__ = ["NEUTRAL", "Command", "Controller", "Observed", "Playback", "Push", "Start", "State"]
