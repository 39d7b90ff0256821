"""The example course runs, headless, from the first page to the last."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

COURSE = sorted((Path(__file__).parent.parent / "examples").glob("[0-9][0-9]_*.py"))


def test_the_course_is_numbered_without_gaps():
    assert [int(path.name[:2]) for path in COURSE] == list(range(len(COURSE)))


@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.stem)
def test_example_runs(path, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", str(path)],
        cwd=tmp_path,
        env=os.environ | {"JOSTLE_HEADLESS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip(), "an example shows something"
