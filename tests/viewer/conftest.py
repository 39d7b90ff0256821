"""A small person, a controller that remembers what it was asked, and a real browser where there is one."""

import os
import shutil
import threading
from dataclasses import dataclass, field

import numpy as np
import pytest

from jostle.clips import Clip
from jostle.controllers import Command, Start
from jostle.maths import quat
from jostle.skeleton import Pose, Skeleton, build_skeleton, rest_pose

FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


def make_person() -> Skeleton:
    names = ["Hips", "Spine", "Chest", "Neck", "Head"]
    parents = [-1, 0, 1, 2, 3]
    offsets = [[0, 0, 0.95], [0, 0, 0.12], [0, 0, 0.2], [0, 0, 0.25], [0, 0, 0.1]]
    ends = [(4, [0, 0, 0.2])]
    for side, y in (("Left", 1.0), ("Right", -1.0)):
        first = len(names)
        names += [side + n for n in ("UpLeg", "Leg", "Foot", "ToeBase", "Shoulder", "Arm", "ForeArm", "Hand")]
        parents += [0, first, first + 1, first + 2, 2, first + 4, first + 5, first + 6]
        offsets += [[0, 0.09 * y, 0], [0, 0, -0.42], [0, 0, -0.43], [0.13, 0, -0.06]]
        offsets += [[0, 0.05 * y, 0.2], [0, 0.13 * y, 0], [0, 0.05 * y, -0.28], [0, 0.0, -0.25]]
        ends += [(first + 3, [0.08, 0, 0]), (first + 7, [0, 0, -0.17])]
    return build_skeleton(names, parents, offsets, ends)


def make_walk(skeleton: Skeleton, frames: int = 61, fps: float = 30.0, speed: float = 1.2) -> Clip:
    """Legs and arms swing as sines while the root goes along X."""
    time = np.arange(frames) / fps
    root = np.tile(skeleton.offsets[0], (frames, 1))
    root[:, 0] += speed * time
    wxyz = np.tile(quat.identity((skeleton.joint_count,)), (frames, 1, 1))
    for name, size in (("LeftUpLeg", 0.5), ("RightUpLeg", -0.5), ("LeftArm", -0.4), ("RightArm", 0.4)):
        angle = size * np.sin(2 * np.pi * time)
        wxyz[:, skeleton.index(name)] = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), angle)
    return Clip(skeleton, fps, root, wxyz, name="walk")


@dataclass(frozen=True, eq=False)
class Standing:
    pose: Pose
    time: float


@dataclass(frozen=True, eq=False)
class Listener:
    """Stands in the rest pose and remembers every command."""

    skeleton: Skeleton
    supports: frozenset[str] = frozenset({"pushes", "heading", "speed"})
    heard: list[Command] = field(default_factory=list)
    name: str = "listener"
    dt: float = 1 / 60

    def init(self, start: Start) -> Standing:
        pose = rest_pose(self.skeleton)
        return Standing(Pose(pose.root + np.array([*start.position, 0.0]), pose.wxyz), 0.0)

    def step(self, state: Standing, command: Command) -> Standing:
        self.heard.append(command)
        return Standing(state.pose, state.time + self.dt)


@pytest.fixture(scope="session")
def person() -> Skeleton:
    return make_person()


@pytest.fixture(scope="session")
def walk(person) -> Clip:
    return make_walk(person)


@pytest.fixture
def listener(person) -> Listener:
    return Listener(person)


@pytest.fixture
def running():
    """Run pages in the background and close them in the end: `running(page)`."""
    pages = []

    def start(page):
        thread = threading.Thread(target=page.run, daemon=True)
        thread.start()
        pages.append((page, thread))
        return page

    yield start
    for page, thread in pages:
        page.stop.set()
        thread.join(timeout=10)
        page.close()


def find_chromium() -> str | None:
    """`CHROMIUM`, one on the path, or the one that playwright keeps for itself."""
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if found:
        return found
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if os.path.exists(path) else None


@pytest.fixture(scope="module")  # no longer: playwright keeps an event loop running, and other tests need their own
def browser():
    """Headless Chromium with software GL; where there is none, tests skip, or fail if JOSTLE_BROWSER=required."""
    missing = pytest.fail if os.environ.get("JOSTLE_BROWSER") == "required" else pytest.skip
    try:
        import playwright.sync_api as playwright_api
    except ImportError:
        missing("playwright is not installed: make setup-dev")
    path = find_chromium()
    if path is None:
        missing(
            "no Chromium found: apt-get install chromium, or .venv/bin/playwright install chromium, or set CHROMIUM"
        )
    with playwright_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, headless=True, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def tab(browser):
    """A small page (software GL is slow) that remembers what went wrong in it."""
    context = browser.new_context(viewport={"width": 900, "height": 560}, accept_downloads=True)
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.problems = []
    page.on("console", lambda m: page.problems.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda e: page.problems.append(str(e)))
    yield page
    context.close()
