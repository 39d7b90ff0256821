"""Our clothes on viser's page: one style, one script, a title. The same for the live page and the one that is saved."""

from __future__ import annotations

import html
from functools import cache
from importlib import resources

_ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 64 64'%3E"
    "%3Crect width='64' height='64' rx='15' fill='%23e4653a'/%3E%3Cg fill='none' stroke='%23fff' stroke-width='6'"
    " stroke-linecap='round' stroke-linejoin='round'%3E%3Ccircle cx='36' cy='14' r='5' fill='%23fff' stroke='none'/%3E"
    "%3Cpath d='M34 25 28 40 36 47 33 58M28 40 17 52M34 26 22 31M34 26 45 33'/%3E%3C/g%3E%3C/svg%3E"
)


@cache
def _asset(name: str) -> str:
    return resources.files("jostle.viewer").joinpath("static", name).read_text(encoding="utf-8")


@cache
def _viser_page() -> str:
    """The page of the pinned viser, as it ships."""
    return resources.files("viser").joinpath("client", "build", "index.html").read_text(encoding="utf-8")


UNPACKING = "td.decode(heap.subarray(up+ss,up+sz))"  # where viser's page has its own program as text, once


def dress(page: str, title: str, script: str | None = None) -> str:
    """`page` with our title, icon, style and light, and with `script` (a file of ours) run before viser's own."""
    safe = html.escape(title)
    page = page.replace("<title>Viser</title>", f"<title>{safe}</title>", 1)
    start = page.find('href="data:image/svg+xml')
    if start >= 0:
        end = page.index('"', start + 6)
        page = f'{page[:start]}href="{_ICON}{page[end:]}'
    page = page.replace(UNPACKING, f"jostleStudio({UNPACKING})", 1)
    extra = f"<style>{_asset('page.css')}</style><script>{_asset('studio.js')}</script>"
    if script is not None:
        extra += f"<script>{_asset(script)}</script>"
    head = page.index('<meta name="viewport"')
    return page[:head] + extra + page[head:]


def live_page(title: str, steer: bool = False) -> bytes:
    """What the front serves; with `steer`, WASD and arrow keys go to the character instead of the camera."""
    page = dress(_viser_page(), title, "live.js")
    if steer:
        page = page.replace("<html", '<html data-steer="1"', 1)
    return page.encode("utf-8")
