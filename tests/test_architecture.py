"""Imports point down the list of rooms only, and each heavy library has one door."""

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent / "src" / "jostle"

# From the ground up. A room may import those before it; rooms on one line do not know each other.
FLOORS = [
    {"errors", "types", "files"},
    {"maths"},
    {"skeleton"},
    {"clips"},
    {"body"},
    {"features"},
    {"models"},
    {"controllers"},
    {"tuning"},
    {"runtime"},
    {"assets"},
    {"evaluate"},
    {"export"},
    {"viewer"},
    {"cli"},
]
DOORS = {
    "mujoco": "body",
    "jax": "models",
    "jaxlib": "models",
    "viser": "viewer",
    "starlette": "viewer",
    "uvicorn": "viewer",
    "tyro": "cli",
    "cma": "tuning",
    "dask": "tuning",
    "distributed": "tuning",
    "warp": "controllers",
    "mujoco_warp": "controllers",
}


def _imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def _room(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def _floor(room: str) -> int:
    return next(i for i, floor in enumerate(FLOORS) if room in floor)


SOURCES = sorted(ROOT.rglob("*.py"))


def test_imports_point_down():
    wrong = []
    for path in SOURCES:
        room = _room(path)
        if room in ("__init__", "__main__"):
            continue
        for name in _imports(path):
            parts = name.split(".")
            if parts[0] != "jostle" or len(parts) < 2:
                continue
            if parts[1] != room and parts[1] != "__version__" and _floor(parts[1]) >= _floor(room) > 0:
                wrong.append(f"{path.relative_to(ROOT)} imports {name}")
    assert not wrong


def test_heavy_libraries_have_one_door():
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in SOURCES
        for name in _imports(path)
        if (door := DOORS.get(name.split(".")[0])) and _room(path) != door
    ]
    assert not wrong


def test_every_room_has_a_floor():
    rooms = {_room(path) for path in SOURCES} - {"__init__", "__main__"}
    assert rooms == set().union(*FLOORS) & rooms


def test_every_module_can_be_imported_first():
    """No circle of imports hides behind the order in which the tests happen to import."""
    names = [".".join(path.relative_to(ROOT.parent).with_suffix("").parts) for path in SOURCES]
    names = [name for name in names if not name.endswith(("__main__", "_child")) and ".gpu_" not in name]
    names = [name.removesuffix(".__init__") for name in names]
    script = (
        "import importlib, sys\n"
        "for name in sys.argv[1:]:\n"
        "    for loaded in [m for m in sys.modules if m.split('.')[0] == 'jostle']:\n"
        "        del sys.modules[loaded]\n"
        "    importlib.import_module(name)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, *names], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
