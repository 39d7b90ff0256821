"""Characters that run, recordings of them, and the files they are kept in."""

from jostle.runtime.bundle import Bundle, load_bundle, load_controller, save_bundle, save_controller
from jostle.runtime.character import Character, CharacterState
from jostle.runtime.examples import load_example
from jostle.runtime.models import load_model, save_model
from jostle.runtime.recording import Recorder, Recording, TimedPush, load_recording, record, save_recording

__all__ = [
    "Bundle",
    "Character",
    "CharacterState",
    "Recorder",
    "Recording",
    "TimedPush",
    "load_bundle",
    "load_controller",
    "load_example",
    "load_model",
    "load_recording",
    "record",
    "save_bundle",
    "save_controller",
    "save_model",
    "save_recording",
]
