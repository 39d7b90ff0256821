"""`python -m jostle.assets.walked FOLDER --walker walker:NAME [--seed 0]`"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from jostle.assets import walker_path
from jostle.assets.walked.plan import Plan
from jostle.assets.walked.write import HELD_OUT, PUSHED, write_walked
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
        summary = write_walked(_load(given.walker), given.folder, Plan(seed=given.seed), _tell)
    except JostleError as error:
        sys.exit(f"jostle: {error}")
    for name in (PUSHED, HELD_OUT):
        outcomes = ", ".join(f"{count} {outcome}" for outcome, count in summary[name]["outcomes"].items())
        _tell(f"{name}: {summary[name]['seconds']:.0f} s; of {summary[name]['tried']} tried {outcomes}")
    size = sum(path.stat().st_size for path in Path(given.folder).rglob("*") if path.is_file())
    _tell(f"{given.folder}: {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
