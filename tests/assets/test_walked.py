"""Clips of a simulated walker: true forces, normal steps before and after, and the same files from the same seed."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from jostle.assets import held_out_clips, pushed_clips
from jostle.assets.walked.plan import Plan, aims, held_out_aims
from jostle.assets.walked.recovery import learn_habit
from jostle.assets.walked.stroll import FPS, film, take_stroll
from jostle.assets.walked.trial import FELL, bear
from jostle.assets.walked.write import save_trial
from jostle.body import Simulations
from jostle.clips import load_clip
from jostle.clips.skate import foot_skate, slide_cm
from jostle.errors import MotionError
from jostle.runtime import load_recording

TINY = Plan(
    directions=1, speeds=((0.1, 0.2),), held_out=1, held_out_speeds=(0.1, 0.2),
    straight=1.0, turn=2.5, settling=1.5, known=3.0, apart=3.0, finest=0.04,
)  # fmt: skip
SCRIPT = """
from jostle.assets import walker_path
from jostle.assets.walked.plan import Plan
from jostle.assets.walked.write import write_walked
from jostle.runtime import load_controller
write_walked(load_controller(walker_path("stocky")), {folder!r}, {plan!r})
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of a tiny plan; in a process of its own, where no shapes are checked, it takes a fifth of the time."""
    folder = tmp_path_factory.mktemp("made")
    subprocess.run([sys.executable, "-c", SCRIPT.format(folder=str(folder), plan=TINY)], check=True)
    return folder


@pytest.fixture(scope="module")
def walking(stocky):
    """The same walk once more, and what is usual in it."""
    stroll = take_stroll(stocky, TINY.settling, TINY.known + TINY.apart)
    walk = film(stroll.character, stroll.states, "stroll")
    return stroll, learn_habit(walk, round(TINY.known * FPS), TINY.finest)


@pytest.fixture(scope="module")
def again(walking, tmp_path_factory):
    """The second push once more: its file, and every force that the simulation was given, as (joint, newtons)."""
    path, applied = tmp_path_factory.mktemp("again") / "01.bvh", []
    push = Simulations.push

    def noted(self, joint, force, point=None, add=False):
        applied.append((joint, np.array(force)))
        push(self, joint, force, point, add=add)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Simulations, "push", noted)
        save_trial(bear(*walking, aims(TINY)[1], TINY)[-1], path)
    return path, [(joint, force) for joint, force in applied if np.any(force)]


def test_folder_holds_what_was_planned(made):
    names = ["turn_left.bvh", "turn_right.bvh", "walk.bvh", "weave.bvh"]
    assert sorted(path.name for path in made.glob("*.bvh")) == names
    assert [clip.name for clip, _ in pushed_clips(made)] == ["00.bvh", "01.bvh"]
    assert [(clip.name, side.exists()) for clip, side in held_out_clips(made)] == [("00.bvh", True)]
    pushed = json.loads((made / "summary.json").read_text())["pushed"]
    assert pushed["kept"] == pushed["outcomes"]["recovered"] == 2
    assert pushed["tried"] == 2 + len(pushed["rejected"])


def test_forces_are_those_that_were_applied(again, stocky):
    """The file's force, for as long as it says, is what the simulation was given, time step by time step."""
    path, applied = again
    step = float(stocky.physics.model.opt.timestep)
    push, about = load_recording(path).pushes[0].push, json.loads(path.with_suffix(".json").read_text())["about"]
    assert {joint for joint, _ in applied} == {stocky.body.part(push.part)} == {stocky.skeleton.index("Hips")}
    forces = np.array([force for _, force in applied])
    assert len(forces) == np.ceil(push.duration / step - 1e-6)
    np.testing.assert_array_equal(forces[:-1], np.tile(push.force, (len(forces) - 1, 1)))
    np.testing.assert_allclose(step * forces.sum(axis=0), push.impulse, rtol=1e-9)
    angle = np.radians(about["direction"])
    np.testing.assert_allclose(push.force, about["newtons"] * np.array([np.cos(angle), np.sin(angle), 0.0]))
    assert about["impulse"] == pytest.approx(np.linalg.norm(push.impulse))


def test_same_seed_gives_the_same_bytes(made, walking, again):
    """In another process, whatever was pushed before."""
    for name in ("01.bvh", "01.json"):
        assert again[0].with_name(name).read_bytes() == (made / "pushed" / name).read_bytes(), name
    walk = film(walking[0].character, walking[0].states[walking[0].first_strike() :][:31], "walk")
    np.testing.assert_allclose(load_clip(made / "walk.bvh").positions, walk.positions, atol=5e-5)


def test_push_begins_when_the_file_says(made, walking):
    """Until that frame the clip is the undisturbed walk, to the digits written; then it is another."""
    stroll, _ = walking
    for path, side in pushed_clips(made):
        clip, about = load_recording(path), json.loads(side.read_text())["about"]
        frame = round(clip.pushes[0].time * FPS)
        assert stroll.cycle <= frame <= 2 * stroll.cycle
        begin = int(np.nanargmin(np.abs(stroll.phases - about["phase"])))
        calm = film(stroll.character, stroll.states[begin - frame : begin + 4], "calm").positions
        np.testing.assert_allclose(clip.positions[: frame + 1], calm[: frame + 1], atol=5e-5)
        assert np.abs(clip.positions[frame + 3] - calm[frame + 3]).max() > 1e-3


def test_held_out_clips_share_no_frame_with_others(made, walking):
    """What they show before the push is undisturbed walk that no other clip shows."""
    stroll, _ = walking
    for path, side in held_out_clips(made):
        phase = json.loads(side.read_text())["about"]["phase"]
        begin = int(np.nanargmin(np.abs(stroll.phases - phase)))
        assert begin - round(load_recording(path).pushes[0].time * FPS) >= TINY.known * FPS
    assert all(aim.stretch[1] <= TINY.known for aim in aims(TINY))


def test_clips_have_thirty_frames_a_second_and_feet_that_stand(made):
    for path in made.rglob("*.bvh"):
        clip = load_clip(path)
        assert clip.fps == 30.0
        assert foot_skate(clip) < 0.02, path
        assert slide_cm(clip) < 3.0, path
        np.testing.assert_allclose(clip.root[0, :2], 0.0, atol=1e-5)


def test_ends_as_it_walks_when_nobody_pushes(made, walking):
    stroll, habit = walking
    for path, side in pushed_clips(made):
        clip, about = load_recording(path), json.loads(side.read_text())["about"]
        last = habit.distance(clip)[-stroll.cycle : -3]  # velocities at the very end are one-sided
        assert last.max() < 1.2 * habit.usual
        assert clip.duration == pytest.approx(clip.pushes[0].time + about["recovered_after"] + stroll.cycle / FPS)


def test_turns_go_where_they_are_called_after(made):
    left, right = (load_clip(made / f"turn_{side}.bvh").root[-1, 1] for side in ("left", "right"))
    assert left > right + 0.1


class Told(np.random.Generator):
    """Draws what it is told to."""

    def __init__(self, *values):
        super().__init__(np.random.PCG64())
        self.values = list(values)

    def uniform(self, low=0.0, high=1.0, size=None):
        return self.values.pop(0)


def test_a_fall_is_rejected_and_a_softer_push_is_tried(walking):
    stroll, habit = walking
    aim = aims(TINY)[0]
    fell, borne = bear(stroll, habit, replace(aim, rng=Told(6.0, 0.15)), TINY)
    assert fell.about["outcome"] == FELL
    assert fell.recording is None
    assert borne.about["newtons"] == pytest.approx(fell.about["newtons"] * 0.15 / 6.0)
    assert borne.recording is not None
    with pytest.raises(MotionError, match="No push of 1 on the torso was borne"):
        bear(stroll, habit, replace(aim, rng=Told(6.0)), replace(TINY, tries=1))


def test_who_takes_too_long_has_not_recovered(walking):
    stroll, habit = walking
    aim = replace(aims(TINY)[0], rng=Told(0.15))
    with pytest.raises(MotionError, match="not recovered"):
        bear(stroll, replace(habit, usual=0.0), aim, replace(TINY, tries=1, patience=0.5))


def test_phase_counts_from_the_left_strike(walking):
    stroll, _ = walking
    down = film(stroll.character, stroll.states, "stroll").contacts["left_foot"]
    struck = np.ceil(stroll.strikes).astype(int)
    assert np.all(down[struck])
    assert np.all(stroll.phases[struck[:-1]] < 1.1 / stroll.cycle)
    assert np.nanmax(np.diff(stroll.phases)) < 1.5 / stroll.cycle


def test_directions_go_evenly_around_and_those_held_out_lie_between():
    plan = Plan()
    wanted, apart = aims(plan), held_out_aims(plan)
    assert (len(wanted), len(apart)) == (56, 30)
    known = np.unique([aim.direction for aim in wanted])
    np.testing.assert_allclose(np.diff(known), 2.0 * np.pi / 14)
    gaps = np.abs(np.angle(np.exp(1j * (np.array([aim.direction for aim in apart])[:, None] - known))))
    assert np.degrees(gaps.min()) > 5.0
    for chosen in (wanted, apart):
        phases = np.sort([aim.phase for aim in chosen])
        assert np.abs(phases - (np.arange(len(chosen)) + 0.5) / len(chosen)).max() <= 0.5 / len(chosen)
        assert {aim.part for aim in chosen} == {"torso", "pelvis"}


def test_another_seed_draws_other_pushes():
    one, other = ([(aim.phase, aim.duration) for aim in aims(Plan(seed=seed))] for seed in (0, 1))
    assert one != other
    assert one == [(aim.phase, aim.duration) for aim in aims(Plan())]
