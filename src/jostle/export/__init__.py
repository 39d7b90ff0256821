"""Clips to pictures and films, headless: `render`, and the camera and scene it is made of."""

from jostle.export.camera import VIEWS, Camera
from jostle.export.render import ENDINGS, render
from jostle.export.scene import Actor, build_figure, draw
from jostle.export.sheet import key_frames

__all__ = ["ENDINGS", "VIEWS", "Actor", "Camera", "build_figure", "draw", "key_frames", "render"]
