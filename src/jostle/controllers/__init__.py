"""The protocol, and one place per controller."""

from jostle.controllers.floor import LEVEL, Floor
from jostle.controllers.playback import Playback
from jostle.controllers.protocol import (
    NEUTRAL,
    Command,
    Controller,
    Observed,
    Push,
    Setting,
    Start,
    State,
    check_settings,
    settings_of,
    tasks_of,
)

__all__ = [
    "LEVEL",
    "NEUTRAL",
    "Command",
    "Controller",
    "Floor",
    "Observed",
    "Playback",
    "Push",
    "Setting",
    "Start",
    "State",
    "check_settings",
    "settings_of",
    "tasks_of",
]
