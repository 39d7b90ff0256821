"""Characters keep time, deliver each push once, and record what they show."""

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest

from jostle.assets import clip_path
from jostle.clips import Clip, load_clip
from jostle.clips.contacts import find_contacts
from jostle.controllers import Command, Controller, Observed, Playback, Push, Start
from jostle.errors import CommandError, FormatError, MotionError
from jostle.maths import quat
from jostle.runtime import Character, Recorder, load_recording, record, save_recording
from jostle.skeleton import Pose, Skeleton, build_skeleton

SKELETON = build_skeleton(["Hips", "Leg"], [-1, 0], [[0, 0, 1], [0, 0, -0.5]], ends=[(1, [0, 0, -0.5])])


@dataclass(frozen=True, eq=False)
class Slider:
    """Moves 1 m/s along X and counts the pushes it hears of: a controller whose answers are known in closed form."""

    dt: float = 1 / 30
    skeleton: Skeleton = SKELETON
    name = "slider"
    supports = frozenset({"pushes", "speed"})

    @dataclass(frozen=True, eq=False)
    class State:
        time: float
        heard: tuple[Push, ...]

        @property
        def pose(self) -> Pose:
            return Pose(np.array([self.time, 0.0, 1.0]), quat.identity((2,)))

        @property
        def observed(self) -> Observed:
            return Observed({"foot": self.time < 0.5}, {"likelihood": -self.time})

    def init(self, start: Start) -> State:
        return self.State(0.0, ())

    def step(self, state: State, command: Command) -> State:
        return self.State(state.time + self.dt, state.heard + command.pushes)


def straight_clip(frames: int = 31, turn: float = 0.0) -> Clip:
    """One metre ahead in one second, turning left by `turn` radians on the way."""
    t = np.linspace(0, 1, frames)
    wxyz = quat.identity((frames, 2))
    wxyz[:, 0] = quat.from_yaw(turn * t)
    return Clip(SKELETON, (frames - 1) / 1.0, np.stack([t, 0 * t, 1 + 0 * t], axis=1), wxyz, name="straight")


@pytest.mark.parametrize("dt", [1 / 30, 1 / 60, 1 / 120, 1 / 25, 0.002])
def test_the_shown_pose_is_on_time_at_any_controller_rate(dt):
    character = Character(Slider(dt))
    state = character.init()
    for _ in range(600):
        state = character.step(state)
    assert state.time == pytest.approx(10.0)
    assert state.pose.root[0] == pytest.approx(10.0, abs=1e-9)


@pytest.mark.parametrize("dt", [1 / 20, 1 / 60, 1 / 240])
def test_each_push_is_heard_exactly_once(dt):
    character = Character(Slider(dt))
    state = character.init()
    for frame in range(60):
        pushes = (Push("Leg", np.array([10.0 * frame, 0, 0]), 0.1),) if frame % 7 == 0 else ()
        state = character.step(state, Command(pushes=pushes))
    heard = [push.force[0] for push in state.next.heard] + [push.force[0] for push in state.waiting]
    assert heard == [10.0 * frame for frame in range(0, 60, 7)]


def test_playback_ignores_pushes_and_says_so():
    character = Character(Playback(straight_clip()))
    push = Push("Hips", np.array([100.0, 0, 0]), 0.2)
    with pytest.raises(CommandError, match="does not answer pushes"):
        character.step(character.init(), Command(pushes=(push,)))


def test_an_unknown_part_is_named_with_those_that_exist():
    character = Character(Slider())
    with pytest.raises(CommandError, match="Hips"):
        character.step(character.init(), Command(pushes=(Push("Arm", np.ones(3), 0.1),)))


@pytest.mark.parametrize(("force", "duration"), [([np.nan, 0, 0], 0.1), ([1, 0, 0], 0.0), ([1, 0, 0], -1.0)])
def test_senseless_pushes_are_refused(force, duration):
    with pytest.raises(CommandError):
        Push("Hips", np.array(force, dtype=float), duration)


def test_a_push_has_a_force_and_a_point_of_three_numbers_of_its_own():
    with pytest.raises(CommandError, match="point of three finite numbers"):
        Push("Hips", np.ones(3), 0.1, point=np.array([0.0, np.inf, 0.0]))
    force = np.array([1.0, 0.0, 0.0])
    push = Push("Hips", force, 0.5)
    force[:] = 9.0
    np.testing.assert_array_equal(push.impulse, [0.5, 0.0, 0.0])


@pytest.mark.parametrize("rate", [0.0, -60.0, np.nan])
def test_senseless_display_rates_are_refused(rate):
    with pytest.raises(MotionError, match="positive rate"):
        Character(Slider(), rate=rate)


def test_a_character_weighs_what_its_body_does():
    small = build_skeleton(["Trunk", "Tail"], [-1, 0], [[0, 0, 0.3], [-0.2, 0, 0]], ends=[(1, [-0.2, 0, 0])])
    assert Character(Slider(skeleton=small)).body.total_mass < 10.0
    assert Character(Slider(skeleton=small), mass=12.0).body.total_mass == pytest.approx(12.0)


def test_playback_carries_travel_and_heading_on():
    quarter = np.pi / 2
    controller = Playback(straight_clip(turn=quarter))
    assert isinstance(controller, Controller)
    state = controller.init(Start(position=(2.0, 3.0)))
    seen = []
    for _ in range(120):
        seen.append(state.pose)
        state = controller.step(state, Command())
    roots = np.array([pose.root[:2] for pose in seen])
    np.testing.assert_allclose(roots[::30], [[2, 3], [3, 3], [3, 4], [2, 4]], atol=1e-9)  # a square, side by side
    np.testing.assert_allclose(np.linalg.norm(np.diff(roots, axis=0), axis=1), 1 / 30, atol=1e-9)  # no stop at a seam
    headings = np.unwrap([float(quat.yaw(pose.wxyz[0])) for pose in seen])
    np.testing.assert_allclose(np.diff(headings), quarter / 30, atol=1e-9)


def test_playback_tells_which_feet_are_on_the_ground():
    walk = load_clip(clip_path("walk"))
    run = record(Character(Playback(walk), rate=walk.fps), walk.duration - walk.dt)
    planted = find_contacts(walk).planted[: run.frame_count]
    np.testing.assert_array_equal(run.contacts["left_foot"], planted[:, 0])
    assert 0.55 < run.contacts["right_foot"].mean() < 0.75


def test_a_single_frame_plays_forever():
    clip = straight_clip().with_poses(Pose(np.array([[0.0, 0, 1]]), quat.identity((1, 2))))
    state = Playback(clip).init(Start())
    for _ in range(5):
        state = Playback(clip).step(state, Command())
    np.testing.assert_array_equal(state.pose.root, [0, 0, 1])


def test_a_recording_is_a_clip_with_channels(tmp_path):
    push = Push("Leg", np.array([0.0, 50, 0]), 0.2, point=np.array([0, 0, -0.1]))
    run = record(Character(Slider()), 1.0, lambda time: Command(pushes=(push,) if time == 0.5 else ()), name="run")
    assert isinstance(run, Clip)
    assert run.frame_count == 61
    assert run.contacts["foot"].sum() == pytest.approx(30, abs=1)
    assert [timed.time for timed in run.pushes] == [0.5]
    np.testing.assert_allclose(run.quality["likelihood"][-1], -1.0)
    save_recording(run, tmp_path / "run.bvh")
    back = load_recording(tmp_path / "run.bvh")
    np.testing.assert_allclose(back.positions, run.positions, atol=1e-4)
    np.testing.assert_array_equal(back.contacts["foot"], run.contacts["foot"])
    np.testing.assert_array_equal(back.pushes[0].push.force, push.force)
    assert type(run.with_poses(run.poses)) is Clip


def test_what_is_known_of_a_recording_is_kept_beside_it(tmp_path):
    run = record(Character(Slider()), 0.1)
    save_recording(run, tmp_path / "run.bvh", {"who": "slider"}, digits=2)
    assert json.loads((tmp_path / "run.json").read_text())["about"] == {"who": "slider"}
    np.testing.assert_allclose(load_recording(tmp_path / "run.bvh").root, run.root, atol=1e-4)


@pytest.mark.parametrize("channels", ["[" * 100_000, "{}", "[]", "nonsense", '{"format": "other", "version": 1}'])
def test_channels_that_are_none_get_one_sentence(tmp_path, channels):
    save_recording(record(Character(Slider()), 0.1), tmp_path / "run.bvh")
    (tmp_path / "run.json").write_text(channels)
    with pytest.raises(FormatError, match=r"run\.json"):
        load_recording(tmp_path / "run.bvh")


def test_an_empty_recorder_says_so():
    with pytest.raises(MotionError, match="Nothing was recorded"):
        Recorder(SKELETON, 60.0).finish()


def test_a_channel_of_the_wrong_length_is_refused():
    run = record(Character(Slider()), 0.1)
    with pytest.raises(MotionError, match="Channel 'foot'"):
        replace(run, contacts={"foot": np.zeros(3, dtype=bool)})


def test_the_same_commands_give_the_same_motion():
    runs = [record(Character(Slider()), 0.5, lambda time: Command(speed=time)) for _ in range(2)]
    np.testing.assert_array_equal(runs[0].root, runs[1].root)
