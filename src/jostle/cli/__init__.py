"""The command line: thin typed functions over the rooms below. `jostle --help` lists them."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """`jostle …`: exit code 0, or 1 with one sentence, or 2 with how to call it."""
    try:
        from jostle.cli.commands import run_commands  # here, so that ctrl-C is quiet while the rooms open, too
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    run_commands(sys.argv[1:] if arguments is None else list(arguments))
