"""The shipped character that is steered: what it was learnt from, and that it goes where it is told."""

import numpy as np
import pytest

from jostle.assets import policy_names, policy_path
from jostle.assets.steered import chosen_clips
from jostle.controllers import Command, Start
from jostle.maths import quat
from jostle.maths.angles import wrapped
from jostle.runtime import load_bundle, load_controller
from terminal import run


@pytest.fixture(scope="module")
def walk():
    return load_controller(policy_path("walk"))


def test_eight_seconds_go_straight_and_turn():
    clips = chosen_clips()
    assert 8.0 <= sum(clip.duration for clip in clips) <= 10.0
    turned = [np.degrees(np.ptp(np.unwrap(quat.yaw(clip.wxyz[:, 0])))) for clip in clips]
    assert min(turned) < 25.0
    assert max(turned) > 90.0


def test_the_shipped_one_was_learnt_from_these_clips(walk):
    assert policy_names() == ("walk",)
    assert [source.name for source in load_bundle(policy_path("walk")).sources] == [c.name for c in chosen_clips()]
    learnt = walk.model.rows[: len(walk.model.rows) // 2]
    rows = np.concatenate([walk.model.features.encode(clip) for clip in chosen_clips()])
    np.testing.assert_allclose(learnt, rows, atol=1e-9)


@pytest.mark.parametrize("corner", [np.pi / 2, -np.pi / 2])
def test_it_turns_to_either_side(walk, corner):
    state = walk.init(Start(seed=3))
    places = []
    for frame in range(150):
        state = walk.step(state, Command(heading=corner if frame >= 30 else 0.0))
        places.append(state.pose.root)
    way = places[-1] - places[-20]
    assert abs(wrapped(np.arctan2(way[1], way[0]) - corner)) < 0.35
    assert np.linalg.norm(way[:2]) / (19 * walk.dt) > 1.0


def test_it_is_opened_by_its_name(tmp_path, capsys):
    assert run("render", "policy:walk", str(tmp_path / "out.png"), "--seconds", "1", "--poses", "2") == 0
    assert (tmp_path / "out.png").exists()
    assert run("render", "policy:nobody", str(tmp_path / "x.png")) == 1
    assert "Known: walk" in capsys.readouterr().err
