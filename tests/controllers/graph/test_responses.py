"""Responses are cut from takes, by forces, by a CSV or by sight; in the mirror they are the other side's."""

from pathlib import Path

import numpy as np
import pytest

from jostle.assets import pushed_clips
from jostle.body import Dynamics, build_body, compile_body
from jostle.clips import load_clip
from jostle.controllers import Push
from jostle.controllers.graph.responses import FPS, Told, mirrored, read_events, read_responses, weight_of
from jostle.errors import FormatError
from jostle.runtime import load_recording
from jostle.skeleton.mirror import find_twins


@pytest.fixture(scope="module")
def shipped():
    recorded = load_recording(pushed_clips()[5][0])
    (timed,) = recorded.pushes
    (response,) = read_responses(recorded, build_body(recorded.skeleton), [Told(timed.time, None, timed.push)])
    return recorded, timed, response


def test_a_recorded_force_is_the_impulse(shipped):
    recorded, timed, response = shipped
    np.testing.assert_allclose(response.impulse, timed.push.impulse)
    np.testing.assert_allclose(response.weight * response.gained, timed.push.impulse)
    frame = round(timed.time * FPS)
    np.testing.assert_allclose(response.clip.root[response.onset], recorded.root[frame])
    assert response.onset < response.settle < response.clip.frame_count


def test_the_mirror_is_its_own_inverse(shipped):
    _, _, response = shipped
    once, twice = mirrored(response), mirrored(mirrored(response))
    assert once.joint == find_twins(response.clip.skeleton)[response.joint]
    assert once.way == pytest.approx(-response.way)
    np.testing.assert_allclose(twice.impulse, response.impulse)
    np.testing.assert_allclose(twice.clip.positions, response.clip.positions, atol=1e-9)


def test_who_is_pushed_again_before_it_is_over_gives_no_response(shipped):
    recorded, timed, _ = shipped
    twice = [
        Told(timed.time, None, timed.push),
        Told(timed.time + 0.3, None, Push("torso", np.array([0.0, 50.0, 0.0]), 0.2)),
    ]
    assert len(read_responses(recorded, build_body(recorded.skeleton), twice)) == 1


def test_a_csv_tells_pushes_by_file(tmp_path: Path):
    table = tmp_path / "events.csv"
    table.write_text("file,fps,onset_frame,settle_frame,kind\na.bvh,30,60,90,push\na.bvh,30,120,150,return_step\n")
    events = read_events(table)
    assert [(told.onset, told.settle) for told in events["a.bvh"]] == [(2.0, 3.0)]
    table.write_text("file,fps\na.bvh,30\n")
    with pytest.raises(FormatError, match="onset_frame"):
        read_events(table)


@pytest.mark.slow
def test_real_pushes_from_behind_are_ahead(data: Path):
    clip = load_clip(data / "snu_ys2010/push/wd2_Physics_2_Push02.bvh")
    body = build_body(clip.skeleton)
    seen = read_responses(clip, body)
    told = read_responses(clip, body, read_events(data / "snu_ys2010/push/push_events.csv")["wd2_Physics_2_Push02.bvh"])
    assert len(seen) >= 9
    assert len(told) >= 9
    for response in (*seen, *told):
        ahead = response.clip.globals.wxyz[response.onset, 0]
        facing = np.arctan2(2 * (ahead[1] * ahead[2] + ahead[0] * ahead[3]), 1 - 2 * (ahead[2] ** 2 + ahead[3] ** 2))
        assert np.cos(response.way - facing) > np.cos(np.radians(35.0))
        assert 10.0 < np.linalg.norm(response.impulse) < 100.0


def test_a_stiff_body_weighs_all_of_itself_at_its_centre_and_less_away_from_it(shipped):
    recorded, _, _ = shipped
    body = build_body(recorded.skeleton)
    instant = Dynamics(compile_body(body))
    instant.set(instant.physics.to_qpos(recorded.pose(0)))
    weights = {part: weight_of(instant, body.part(part), np.array([1.0, 0.0, 0.0])) for part in ("pelvis", "head")}
    assert 0.8 * body.total_mass < weights["pelvis"] <= body.total_mass
    assert 0.1 * body.total_mass < weights["head"] < 0.5 * body.total_mass
