"""Settings that are on or off, and what stands in the scene only while they are on."""

from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import pytest

from jostle.controllers import Command, Setting, Start
from jostle.controllers.obstacles import Block
from jostle.skeleton import Pose, Skeleton, rest_pose
from jostle.viewer.live import open_controllers

WALL = Block(np.array([2.0, 0.0, 1.0]), np.array([0.1, 1.0, 1.0]))


@dataclass(frozen=True, eq=False)
class Stood:
    pose: Pose
    time: float


@dataclass(frozen=True, eq=False)
class Wary:
    skeleton: Skeleton
    heard: list[Command] = field(default_factory=list)
    name: str = "wary"
    dt: float = 1 / 60
    supports = frozenset({"settings"})
    settings = (
        Setting("wall", "keep off the wall", 0.0, 1.0, 0.0, toggle=True),
        Setting("slope", "Slope", -15.0, 15.0, 3.0, "degrees"),
    )
    scenery = MappingProxyType({"wall": (WALL,)})

    def init(self, start: Start) -> Stood:
        return Stood(rest_pose(self.skeleton), 0.0)

    def step(self, state: Stood, command: Command) -> Stood:
        self.heard.append(command)
        return Stood(state.pose, state.time + self.dt)


@pytest.fixture
def page(person):
    wary = Wary(person)
    live = open_controllers([wary], port=0)
    yield live, wary
    live.close()


def test_a_tick_switches_the_setting_and_shows_what_belongs_to_it(page):
    live, wary = page
    tick = live.panel.wishes.sliders["wall"]
    assert tick.value is False
    (_, wall), *others = live._scenery
    assert not others
    assert not wall.visible
    live.tick(1)
    assert wary.heard[-1].settings == {"wall": 0.0, "slope": 3.0}
    tick.value = True
    live.tick(1)
    assert wary.heard[-1].settings["wall"] == 1.0
    assert wall.visible
    tick.value = False
    live.tick(1)
    assert not wall.visible
