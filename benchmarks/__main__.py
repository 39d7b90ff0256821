"""`make bench`: every benchmark, as a table or with --json as one object; or those named: `make bench ARGS=reading`."""

from __future__ import annotations

import argparse
import json
from importlib import import_module

ALL = (
    "importing",
    "reading",
    "kinematics",
    "dynamics",
    "walk",
    "models",
    "response",
    "compliance",
    "control",
    "live",
    "page",
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*ALL, []], help="which (default: all)")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    rows = [row for name in args.names or ALL for row in import_module(f"benchmarks.{name}").rows()]
    if args.json:
        print(json.dumps({"rows": [vars(row) | {"ratio": row.ratio} for row in rows]}, indent=1))
        return
    print(f"{'job':50} {'ours':>10} {'peer':>10}  {'ratio':>7}  beside")
    for row in rows:
        print(f"{row.job:50} {row.ours_s * 1e3:8.2f}ms {row.peer_s * 1e3:8.2f}ms  {row.ratio:6.1f}x  {row.peer}")


if __name__ == "__main__":
    main()
