"""`import jostle` beside `import numpy`, each in a fresh interpreter, less the interpreter's own start."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.timing import Row, median_seconds


def rows() -> list[Row]:
    start = _seconds("pass")
    ours = max(_seconds("import jostle") - start, 1e-4)
    return [Row("import jostle", ours, "import numpy", _seconds("import numpy") - start)]


def _seconds(code: str) -> float:
    return median_seconds(lambda: subprocess.run([sys.executable, "-c", code], check=True))
