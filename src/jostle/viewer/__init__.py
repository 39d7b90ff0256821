"""Characters on a page in the browser. viser, starlette and uvicorn are opened only when a page is."""

from jostle.viewer.live import view_controllers
from jostle.viewer.playing import view_clips
from jostle.viewer.saved import write_page

__all__ = ["view_clips", "view_controllers", "write_page"]
