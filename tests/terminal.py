"""jostle as a person calls it, for tests."""

import subprocess
import sys

from jostle.cli import main

_LOAD = """
import sys
from jostle import JostleError, load_controller
for path in sys.argv[1:]:
    try:
        load_controller(path)
    except JostleError as error:
        print(error)
"""


def run(*arguments: object) -> int:
    """The exit code of a command."""
    try:
        main([str(argument) for argument in arguments])
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def said_of(paths) -> list[str]:
    """What loading each of these bundles says; in a process of its own, for in tests types are checked before that."""
    command = [sys.executable, "-c", _LOAD, *map(str, paths)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
