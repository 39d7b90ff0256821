"""The export list cannot rot: what it names exists, what is typed is listed, and importing it stays cheap."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import jostle

SOURCE = Path(jostle.__file__)


def test_every_exported_name_resolves():
    for name in jostle.__all__:
        assert getattr(jostle, name) is not None


def test_lists_agree():
    typed = set()
    for node in ast.walk(ast.parse(SOURCE.read_text())):
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            typed = {alias.name for line in node.body if isinstance(line, ast.ImportFrom) for alias in line.names}
    assert typed == set(jostle.__all__) == set(jostle._ROOMS)
    assert list(jostle.__all__) == sorted(jostle.__all__)


def test_unknown_name_says_what_there_is():
    with pytest.raises(AttributeError, match="Clip"):
        _ = jostle.Clipp


def test_rooms_list_what_they_export():
    for room in SOURCE.parent.glob("*/__init__.py"):
        text = room.read_text()
        names = re.findall(r'^    "(\w+)",$', text, re.MULTILINE)
        assert names == sorted(names, key=lambda n: (not n.isupper(), not n[0].isupper(), n)) or not names, room


def test_import_opens_no_heavy_library():
    heavy = "{'jax', 'mujoco', 'viser', 'scipy', 'matplotlib', 'numpy'}"
    script = f"import sys, jostle; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_version_agrees_with_the_project():
    project = (SOURCE.parent.parent.parent / "pyproject.toml").read_text()
    assert f'version = "{jostle.__version__}"' in project
