"""Clips: the noun, its formats, its edits, its contacts and its checks."""

from jostle.clips.clip import Clip
from jostle.clips.io import load_clip, save_clip

__all__ = ["Clip", "load_clip", "save_clip"]
