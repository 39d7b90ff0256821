"""The commands, by name."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tyro.extras import SubcommandApp

from jostle import __version__
from jostle.cli.clips import check, info
from jostle.cli.common import run
from jostle.cli.convert import convert
from jostle.cli.show import demo, render, view

_ABOUT = "Responsive characters from a handful of clips."


def build_app() -> SubcommandApp:
    clips = SubcommandApp()
    clips.command(name="info")(info)
    clips.command(name="check")(check)
    app = SubcommandApp()
    app.command(clips, name="clips", help="Ask clips about themselves: info, check.")
    for command in (convert, view, render, demo):
        app.command(name=command.__name__)(command)
    return app


def main(arguments: Sequence[str] | None = None) -> None:
    """`jostle …`: exit code 0, or 1 with one sentence, or 2 with how to call it."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given == ["--version"]:
        print(f"jostle {__version__}")
        return
    run(lambda: build_app().cli(prog="jostle", description=_ABOUT, args=given or ["--help"]))
