"""Shapes are checked at run time here and only here; real motion is read where JOSTLE_DATA points to it."""

import os
from pathlib import Path

import pytest
from jaxtyping import install_import_hook

install_import_hook("jostle", "lazy_check.checked")  # before anything of jostle is imported


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real motion capture; tests that need it skip, saying so, where it is absent."""
    folder = os.environ.get("JOSTLE_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("JOSTLE_DATA does not name a folder of motion capture")
    return Path(folder).resolve()
