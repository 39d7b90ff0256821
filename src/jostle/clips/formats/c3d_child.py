"""Read a C3D file in a process of its own: `python c3d_child.py IN.c3d OUT.npz`.

The library that understands C3D is native code, and a file cut short can make it crash, which no `except` in its own
process can catch. Here it may. Nothing of jostle is imported, so that the process starts quickly.
"""

from __future__ import annotations

import sys

import numpy as np


def main(source: str, target: str) -> None:
    _limit_memory(4 * 2**30)
    import ezc3d

    file = ezc3d.c3d(source)
    parameters, data = file["parameters"]["POINT"], file["data"]
    np.savez(
        target,
        points=np.asarray(data["points"][:3], dtype=float),  # (3, P, T)
        residuals=np.asarray(data["meta_points"]["residuals"][0], dtype=float),  # (P, T)
        labels=np.array([str(label) for label in _value(parameters, "LABELS")], dtype=str),
        rate=np.array([float(v) for v in np.ravel(_value(parameters, "RATE"))]),
        units=np.array([str(v) for v in _value(parameters, "UNITS")], dtype=str),
    )


def _value(parameters, key: str) -> list:
    return list(parameters[key]["value"]) if key in parameters else []


def _limit_memory(size: int) -> None:
    """A header may declare any size; where the system allows, more than this fails instead of swapping."""
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


if __name__ == "__main__":
    main(*sys.argv[1:3])
