"""The command line: thin typed functions over the rooms below. `jostle --help` lists them."""

from jostle.cli.main import main

__all__ = ["main"]
