"""Small print on pictures: the clip's name and the time, and lines of text under the poses of a sheet."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from jaxtyping import UInt8
from PIL import Image, ImageDraw, ImageFont

from jostle.types import Array

INK = (92, 84, 76)
FAINT = (140, 131, 121)


@lru_cache(maxsize=16)
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


def text_size(width: int, height: int) -> int:
    """Pixels of type that can be read in a picture of this size and leave room in it."""
    return int(np.clip(round(min(height / 28, width / 16)), 10, 40))


def caption(picture: UInt8[Array, "h w 3"], left: str, right: str = "") -> UInt8[Array, "h w 3"]:
    """Write at the foot of a picture: `left` in its left corner, `right` in its right one."""
    height, width = picture.shape[:2]
    size = text_size(width, height)
    image = Image.fromarray(picture)
    pen = ImageDraw.Draw(image)
    pad = round(0.8 * size)
    room = width - 2 * pad - pen.textlength(right, _font(size)) - size
    pen.text((pad, height - pad), shorten(left, room, size), INK, _font(size), anchor="ls")
    pen.text((width - pad, height - pad), right, FAINT, _font(size), anchor="rs")
    return np.asarray(image)


def centred(picture: UInt8[Array, "h w 3"], text: str) -> UInt8[Array, "h w 3"]:
    """Write in the middle of a picture's foot."""
    height, width = picture.shape[:2]
    size = text_size(width, height)
    image = Image.fromarray(picture)
    ImageDraw.Draw(image).text((width // 2, height - round(0.6 * size)), text, FAINT, _font(size), anchor="ms")
    return np.asarray(image)


def shorten(text: str, room: float, size: int) -> str:
    """As much of a text as fits, with an ellipsis where something was cut."""
    pen = ImageDraw.Draw(Image.new("L", (1, 1)))
    if pen.textlength(text, _font(size)) <= room:
        return text
    while text and pen.textlength(text + "…", _font(size)) > room:
        text = text[:-1]
    return text + "…" if text else ""
