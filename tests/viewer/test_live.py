"""The live page without a browser: drags, time, recording."""

from dataclasses import replace

import numpy as np
import pytest

from jostle.assets import walker_path
from jostle.body import Ground
from jostle.controllers import Playback
from jostle.runtime import load_controller
from jostle.viewer.live import RATE, open_controllers
from jostle.viewer.look import BEAM_HIGH, BEAM_THICK
from jostle.viewer.messages import Held
from jostle.viewer.posed import pose_figure


@pytest.fixture
def live(listener):
    opened = open_controllers([listener, listener], port=0, shadows=False)
    yield opened
    opened.close()


def node_of(live, index: int, joint: str) -> str:
    wanted = live.characters[index].skeleton.index(joint)
    return next(name for name, j in live.scene.puppets[index].meshes.items() if j == wanted)


def drag(live, index: int, joint: str, pull: np.ndarray) -> None:
    live.frame()
    place = live.shown.figures[index].positions[live.characters[index].skeleton.index(joint)]
    start = place - np.append(live.scene.offset, 0.0)
    node = node_of(live, index, joint)
    for phase, share in (("start", 0.0), ("update", 0.5), ("end", 1.0)):
        live.on_drag(index, node, phase, tuple(start.tolist()), tuple((start + share * pull).tolist()))


def test_a_drag_reaches_only_the_character_under_the_hand(live, listener):
    drag(live, 1, "LeftForeArm", np.array([0.25, 0.0, 0.0]))
    live.tick(1)
    first, second = listener.heard
    assert first.pushes == ()
    [push] = second.pushes
    assert push.part == "left_forearm"
    np.testing.assert_allclose(push.force, [100.0, 0.0, 0.0])
    live.tick(1)
    assert all(c.pushes == () for c in listener.heard[2:])


def test_the_arrow_stays_for_as_long_as_the_push_acts(live):
    drag(live, 0, "Chest", np.array([0.0, 0.5, 0.0]))
    live.tick(1)
    [arrow] = live.shown.figures[0].arrows
    assert arrow.newtons == pytest.approx(200.0)
    for _ in range(14):
        live.tick(1)
    assert live.shown.figures[0].arrows == ()


def test_slow_motion_takes_fewer_steps_and_shows_what_lies_between(live, listener):
    live.panel._rate.value = "0.25x"
    for _ in range(8):
        live.tick(1)
    assert len(listener.heard) == 2 * 2
    live.panel.paused = True
    live.tick(4)
    assert len(listener.heard) == 2 * 2


def test_late_ticks_are_caught_up_with(live, listener):
    live.tick(3)
    assert len(listener.heard) == 2 * 3


def test_reset_begins_again(live):
    live.tick(4)
    assert live.states[0].frame == 4
    live.reset()
    live.panel.paused = True
    live.tick(1)
    assert live.states[0].frame == 0


def test_steering_reaches_those_who_support_it(person, walk):
    opened = open_controllers([Playback(walk)], port=0, shadows=False)
    try:
        opened.steering.hold(1, Held(0.0, 1.0))
        [command] = opened.commands()
        assert command.heading is None
        assert command.speed is None
    finally:
        opened.close()


def test_a_recording_holds_the_pushes(live):
    live.panel.start_recording()
    live.tick(2)
    drag(live, 0, "Head", np.array([0.0, 0.0, -0.5]))
    live.tick(2)
    live.panel.stop_recording()
    recording = live.recordings[0]
    assert recording.frame_count == 4
    assert recording.fps == RATE
    [timed] = recording.pushes
    assert timed.push.part == "head"
    assert timed.time == pytest.approx(2 / RATE)
    assert live.recordings[1].pushes == ()


def test_feet_are_marked_where_the_controller_says_they_touch(person, walk):
    frame = pose_figure(person, walk.pose(0), {"left_foot": True, "RightFoot": False, "tentacle": True})
    assert frame.planted.tolist() == [False, True]
    toe = walk.positions[0, person.index("LeftToeBase")]
    assert np.linalg.norm(frame.touching[1, :2] - toe[:2]) < 0.2
    assert frame.touching[1, 2] == 0.0
    assert len(pose_figure(person, walk.pose(0), {}).planted) == 0


def test_a_beam_lies_under_whoever_walks_on_it():
    walker = replace(load_controller(walker_path("stocky")), ground=Ground(width=0.5))
    live = open_controllers([walker], port=0, shadows=False)
    try:
        live.tick(30)
        beam, ground = live.scene.beam, live.scene.ground
        assert beam is not None
        assert beam.position[2] + 0.5 * BEAM_THICK == pytest.approx(0.0, abs=1e-6)
        assert ground.position[2] == pytest.approx(-BEAM_HIGH, abs=1e-6)
        assert beam.position[1] == pytest.approx(-live.scene.offset[1])
    finally:
        live.close()
