"""Sliders for settings, buttons for tasks, and a ground that tilts under everybody."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from jostle.controllers import Command, Floor, Observed, Setting, Start
from jostle.maths import quat
from jostle.skeleton import Pose, Skeleton, rest_pose
from jostle.viewer.live import open_controllers


@dataclass(frozen=True, eq=False)
class Stood:
    pose: Pose
    time: float
    observed: Observed


@dataclass(frozen=True, eq=False)
class Climber:
    """Stands at x = 4 on a ground with the slope that it is asked for, at once; remembers every command."""

    skeleton: Skeleton
    floor: Floor = field(default_factory=Floor)
    heard: list[Command] = field(default_factory=list)
    name: str = "climber"
    dt: float = 1 / 60
    supports = frozenset({"settings", "task", "pushes"})
    settings = (Setting("slope", "Slope", -15.0, 15.0, 3.0, "degrees"), Setting("grip", "Grip", 0.1, 2.0, 1.0))
    tasks = ("stand up",)

    def init(self, start: Start) -> Stood:
        return self._stood(0.0, self.floor)

    def step(self, state: Stood, command: Command) -> Stood:
        self.heard.append(command)
        return self._stood(state.time + self.dt, self.floor.tilted(np.radians(command.settings["slope"]), 4.0))

    def _stood(self, time: float, floor: Floor) -> Stood:
        pose = rest_pose(self.skeleton)
        up = np.array([4.0, 0.0, floor.height(4.0)])
        return Stood(Pose(pose.root + up, pose.wxyz), time, Observed({"left_foot": True}, {}, floor))


@pytest.fixture
def climber(person) -> Climber:
    return Climber(person)


@pytest.fixture
def live(climber, listener):
    opened = open_controllers([climber, listener], port=0, shadows=False)
    yield opened
    opened.close()


def test_a_slider_for_every_setting_begins_at_its_default_and_is_heard(live, climber, listener):
    sliders = live.panel.wishes.sliders
    assert {name: slider.value for name, slider in sliders.items()} == {"slope": 3.0, "grip": 1.0}
    assert (sliders["slope"].min, sliders["slope"].max, sliders["slope"].label) == (-15.0, 15.0, "Slope (degrees)")
    sliders["slope"].value = -7.0
    live.tick(1)
    assert climber.heard[-1].settings == {"slope": -7.0, "grip": 1.0}
    assert listener.heard[-1].settings == {}


def test_a_task_is_asked_once_of_those_who_know_it(live, climber, listener):
    live.panel.wishes.ask("stand up")
    live.tick(1)
    live.tick(1)
    assert [command.task for command in climber.heard] == ["stand up", None]
    assert [command.task for command in listener.heard] == [None, None]


def test_the_ground_is_shown_where_it_is(live):
    """The grid is the plane of the floor, in the page's coordinates, and its lines stay with the ground."""
    live.panel.wishes.sliders["slope"].value = 10.0
    for _ in range(90):
        live.tick(1)
    floor = live.floor
    assert np.degrees(floor.slope) == pytest.approx(10.0)
    scene = live.scene
    on_grid = np.array(scene.ground.position) + scene.shift
    assert (on_grid - floor.point) @ floor.normal == pytest.approx(0.0, abs=1e-6)
    assert floor.distance(on_grid[0]) % scene.section == pytest.approx(0.0, abs=1e-6)
    np.testing.assert_allclose(quat.apply(np.array(scene.ground.wxyz), np.array([0.0, 0.0, 1.0])), floor.normal)


def test_the_page_follows_up_and_down(live):
    live.panel.wishes.sliders["slope"].value = 10.0
    for _ in range(75):
        live.tick(1)
    middle = live.middle(live.shown)
    assert live.scene.rise == pytest.approx(live.floor.height(middle[0]), abs=1e-3)
    live.panel.follow.value = False
    for _ in range(75):
        live.tick(1)
    assert live.scene.rise == pytest.approx(0.0, abs=1e-3)


def test_everyone_stands_on_the_ground_that_is_shown(live, person):
    """Also the one whose own ground is level: at x = 0 the slope is lower by 4 m times its rise."""
    live.panel.wishes.sliders["slope"].value = 10.0
    live.tick(1)
    first, second = live.frame().figures
    lowest = person.rest_positions[:, 2].min()
    for figure, x in ((first, 4.0), (second, 0.0)):
        assert figure.positions[:, 2].min() - lowest == pytest.approx(live.floor.height(x), abs=1e-9)
    assert first.touching[0, 2] == pytest.approx(live.floor.height(first.touching[0, 0]))


def test_a_grab_on_a_slope_is_where_the_hand_is(live, climber, person):
    live.panel.wishes.sliders["slope"].value = 12.0
    for _ in range(75):
        live.tick(1)
    chest = person.index("Chest")
    node = next(name for name, joint in live.scene.puppets[0].meshes.items() if joint == chest)
    start = live.frame().figures[0].positions[chest] - live.scene.shift
    live.on_drag(0, node, "start", tuple(start.tolist()), tuple(start.tolist()))
    assert np.linalg.norm(live.held.point) < 0.25


def test_characters_without_wishes_show_none(listener):
    opened = open_controllers([listener], port=0, shadows=False)
    try:
        assert opened.panel.wishes.sliders == {}
        opened.tick(1)
        assert (listener.heard[-1].settings, listener.heard[-1].task) == ({}, None)
    finally:
        opened.close()


def test_many_tasks_share_a_row(person):
    class Busy(Climber):
        tasks = ("stand up", "sit", "run", "wave")

    busy = Busy(person)
    live = open_controllers([busy], port=0, shadows=False)
    try:
        handles = live.stage.server.gui._gui_input_handle_from_uuid.values()
        group = next(handle for handle in handles if "Wave" in getattr(handle, "options", ()))
        assert tuple(group.options) == ("Stand up", "Sit", "Run", "Wave")
        live.panel.wishes.ask("wave")
        live.tick(1)
        assert busy.heard[-1].task == "wave"
    finally:
        live.close()
