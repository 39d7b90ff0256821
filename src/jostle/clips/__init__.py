"""Clips: the noun, its formats, its edits, its contacts and its checks."""

from jostle.clips.clip import Clip

__all__ = ["Clip"]
