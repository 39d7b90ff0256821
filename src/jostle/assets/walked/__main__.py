"""`python -m jostle.assets.walked FOLDER --walker walker:NAME [--seed 0]`"""

from __future__ import annotations

import argparse
import sys

from jostle.assets import walker_path
from jostle.assets.walked.plan import Plan
from jostle.assets.walked.write import write_walked
from jostle.controllers.walker.walker import Walker
from jostle.errors import BundleError, JostleError
from jostle.runtime import load_controller

_SHIPPED = "walker:"


def _load(name: str) -> Walker:
    path = walker_path(name.removeprefix(_SHIPPED)) if name.startswith(_SHIPPED) else name
    walker = load_controller(path)
    if not isinstance(walker, Walker):
        raise BundleError(name, f"it holds a '{walker.name}', not a walker.")
    return walker


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser("python -m jostle.assets.walked", description="Make clips of a simulated walker.")
    parser.add_argument("folder", help="where the clips go")
    parser.add_argument("--walker", required=True, help="a .jostle file, or a shipped walker: walker:stocky")
    parser.add_argument("--seed", type=int, default=0, help="of every random choice")
    given = parser.parse_args()
    try:
        write_walked(_load(given.walker), given.folder, Plan(seed=given.seed), _tell)
    except JostleError as error:
        sys.exit(f"jostle: {error}")


if __name__ == "__main__":
    main()
