"""jostle: responsive characters from a handful of clips.

>>> import jostle
>>> clip = jostle.load_clip("walk.bvh")
>>> character = jostle.Character(jostle.Playback(clip))

The names below open their rooms when they are first used, so that `import jostle` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jostle.body import Body, build_body
    from jostle.clips import Clip, load_clip, save_clip
    from jostle.controllers import Command, Playback, Push, Start
    from jostle.controllers.policy import Task
    from jostle.errors import JostleError
    from jostle.models import MotionModel, fit
    from jostle.runtime import (
        Character,
        Recording,
        load_controller,
        load_model,
        record,
        save_controller,
        save_model,
    )
    from jostle.skeleton import Pose, Skeleton

__version__ = "0.1.0.dev0"

_ROOMS = {
    "Body": "body",
    "build_body": "body",
    "Clip": "clips",
    "load_clip": "clips",
    "save_clip": "clips",
    "Command": "controllers",
    "Playback": "controllers",
    "Push": "controllers",
    "Start": "controllers",
    "Task": "controllers.policy",
    "JostleError": "errors",
    "MotionModel": "models",
    "fit": "models",
    "Character": "runtime",
    "Recording": "runtime",
    "load_controller": "runtime",
    "load_model": "runtime",
    "record": "runtime",
    "save_controller": "runtime",
    "save_model": "runtime",
    "Pose": "skeleton",
    "Skeleton": "skeleton",
}

__all__ = [
    "Body",
    "Character",
    "Clip",
    "Command",
    "JostleError",
    "MotionModel",
    "Playback",
    "Pose",
    "Push",
    "Recording",
    "Skeleton",
    "Start",
    "Task",
    "build_body",
    "fit",
    "load_clip",
    "load_controller",
    "load_model",
    "record",
    "save_clip",
    "save_controller",
    "save_model",
]


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module 'jostle' has no attribute '{name}'; it has: {', '.join(__all__)}")
    return getattr(import_module(f"jostle.{_ROOMS[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
