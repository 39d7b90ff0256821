"""Shapes are checked at run time here and only here; real motion is read where JOSTLE_DATA points to it."""

import os
import sys
from pathlib import Path

import pytest
from jaxtyping import install_import_hook

install_import_hook("jostle", "lazy_check.checked")  # before anything of jostle is imported
_find = sys.meta_path[0].find_spec
sys.meta_path[0].find_spec = lambda name, *rest: None if ".gpu_" in name else _find(name, *rest)  # Warp's own types


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real motion capture; tests that need it skip, saying so, where it is absent."""
    folder = os.environ.get("JOSTLE_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("JOSTLE_DATA does not name a folder of motion capture")
    return Path(folder).resolve()


@pytest.fixture(scope="session")
def stocky():
    """The shipped walker."""
    from jostle.assets import walker_path
    from jostle.controllers.walker.walker import Walker
    from jostle.runtime import load_controller

    walker = load_controller(walker_path("stocky"))
    assert isinstance(walker, Walker)
    return walker
