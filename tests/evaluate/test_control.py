"""`evaluate control` on shipped clips, and what its measures mean."""

from dataclasses import dataclass

import numpy as np
import pytest

from jostle.assets import clip_path
from jostle.clips import load_clip
from jostle.clips.edit import trim_frames
from jostle.evaluate import EXPERIMENTS
from jostle.evaluate.control import experiment, steered, takes, trials
from jostle.evaluate.control.trials import Effort
from jostle.evaluate.experiments import Request
from jostle.maths import quat
from jostle.maths.angles import wrapped
from jostle.skeleton import Pose


@dataclass(frozen=True)
class Turning:
    """Slides into its direction, turning at a rate that is known; its pose is that of a clip's first frame."""

    rate: float = np.radians(90.0)  # a second
    speed: float = 1.2
    dt = 1.0 / 30.0
    clip = load_clip(clip_path("walk"))
    skeleton = clip.skeleton
    supports = frozenset({"heading"})
    name = "turning"

    @dataclass(frozen=True)
    class State:
        pose: Pose
        time: float
        way: float

    def init(self, start):
        return self._at(np.zeros(3), start.heading, 0.0)

    def step(self, state, command):
        most = self.rate * self.dt
        way = state.way + float(np.clip(wrapped(command.heading - state.way), -most, most))
        move = self.speed * self.dt * np.array([np.cos(way), np.sin(way), 0.0])
        return self._at(state.pose.root + move, way, state.time + self.dt)

    def _at(self, root, way, time):
        wxyz = self.clip.wxyz[0].copy()
        wxyz[0] = quat.mul(quat.from_yaw(way - quat.yaw(wxyz[0])), wxyz[0])
        return self.State(Pose(root, wxyz), time, way)


def test_who_goes_where_he_is_asked_to_has_all_of_the_reward():
    found = steered.follow(Turning(), np.full(60, 0.4), heading=0.4)
    np.testing.assert_allclose(steered.rewards(found), 1.0, atol=1e-6)
    beside = steered.follow(Turning(rate=0.0), np.full(60, 0.5))
    assert steered.reward_of(beside) == pytest.approx(np.exp(-1.0))


def test_travel_is_seen_before_the_step():
    found = steered.follow(Turning(), np.full(30, 2.0))
    np.testing.assert_allclose(found.travel[:, 2], np.radians(90.0), atol=1e-9)
    np.testing.assert_allclose(np.hypot(*found.travel[:, :2].T), 1.2, atol=1e-9)
    np.testing.assert_allclose(np.arctan2(found.travel[:, 1], found.travel[:, 0]), np.radians(3.0), atol=1e-9)


def test_directions_are_the_same_for_everybody_and_others_for_another_seed():
    wishes = steered.random_headings(3, 1000, 1.0 / 30.0)
    np.testing.assert_array_equal(wishes, steered.random_headings(3, 1000, 1.0 / 30.0))
    assert not np.array_equal(wishes, steered.random_headings(4, 1000, 1.0 / 30.0))
    assert np.all(np.flatnonzero(np.diff(wishes)) % 60 == 59)
    assert len(np.unique(wishes)) == 17


def test_a_turn_takes_as_long_as_its_rate_needs():
    """90 degrees at 90 a second, until 15 are left."""
    times = steered.turn_times(Turning(), 90.0, trials=4)
    np.testing.assert_allclose(times, 75.0 / 90.0, atol=0.07)
    assert np.all(np.isinf(steered.turn_times(Turning(rate=0.2), 180.0, trials=2)))


def test_acceleration_of_the_data_is_one():
    clip = trim_frames(load_clip(clip_path("walk")), 60, 120)
    found = steered.Run(clip.skeleton, clip.dt, np.zeros(59), clip.poses, np.zeros(60), np.zeros((60, 0)))
    assert steered.acceleration_ratio([found], [clip]) == pytest.approx(1.0)
    assert steered.acceleration_ratio([found], [clip, clip]) == pytest.approx(1.0)


def test_sets_are_read_as_they_are_named(data):
    for name in ("walk 1", "mixed", "held out 2"):
        clips = takes.clips_of(name, data)
        assert len(clips) == len(takes.SETS[name])
        assert all(clip.fps == takes.FPS and clip.skeleton.same_as(clips[0].skeleton) for clip in clips)
    held = {
        own if isinstance(own, str) else own[0] for name in takes.SETS if "held" in name for own in takes.SETS[name]
    }
    assert not held & {own for name in ("walk 1", "walk 2", "run", "mixed") for own in takes.SETS[name]}


def test_jobs_are_planned(data):
    every = experiment.plan_jobs(0, False, data)
    assert {f"{method} {name}" for method in ("ours", "fields", "graph") for name in takes.SETS} <= set(every)
    assert len({job.key for job in every.values()}) == len(every)
    assert set(experiment.plan_jobs(0, True, None)) == {f"{m} shipped" for m in ("ours", "noconn", "fields", "graph")}


@pytest.mark.slow
def test_every_figure_of_control_has_its_place(tmp_path, monkeypatch):
    assert "control" in EXPERIMENTS
    monkeypatch.setattr(experiment, "QUICK", Effort(10, 0, 1, 60, 2, 100))
    report = experiment.run(Request(quick=True, workers=1, plots=tmp_path))
    for figure in (
        *("reward", "reward_fields", "reward_graph", "reward_noconn", "acceleration_ratio", "reachable"),
        *("reachable_noconn", "inter_clip", "turn_s", "missed", "quality", "skate_ratio", "ik_cm"),
    ):
        assert takes.SHIPPED in report.summary[figure], figure
    assert (tmp_path / "rewards.png").exists()
    assert (tmp_path / "deviation.png").exists()


def test_a_quantile_that_was_missed_is_none():
    assert trials._quantile(np.array([1.0, 2.0, np.inf]), 0.5) == 2.0  # pyright: ignore[reportPrivateUsage]
    assert trials._quantile(np.array([1.0, 2.0, np.inf]), 0.9) is None  # pyright: ignore[reportPrivateUsage]
