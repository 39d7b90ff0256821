"""Every defect, put into a clean clip, is found where it is; clean clips, made and recorded, raise no alarm."""

import json
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
from broken import (
    jumping,
    raised,
    scaled,
    swaying,
    with_copies,
    with_dropped_root,
    with_flip,
    with_nan,
    with_t_pose,
)

from jostle.clips.balance import measure_balance, pendulum, support_cost
from jostle.clips.checks import KINDS, check, check_together
from jostle.clips.checks.finding import spell_frames
from jostle.clips.checks.rate import check_rate, walking_cadence
from jostle.clips.contacts import find_contacts
from jostle.clips.edit import trim_frames
from jostle.clips.flight import GRAVITY, centre_of_mass, derivative, find_flights
from jostle.clips.formats.asf import read_amc
from jostle.clips.formats.bvh import read_bvh
from jostle.clips.formats.gltf import animations, read_gltf
from jostle.clips.formats.units import CMU_UNIT
from jostle.clips.solve import read_solved
from jostle.maths import quat

ALARMS = ("error", "warning")


def _found(clip, kind):
    return [finding for finding in check(clip) if finding.kind == kind]


def _alarms(clip):
    return {finding.kind for finding in check(clip) if finding.severity in ALARMS}


@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0, 120.0])
def test_a_clean_clip_raises_no_alarm(fps):
    assert check(swaying(fps)) == []
    assert check(jumping(fps)) == []


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_t_pose_in_front_is_found(count):
    [finding] = check(with_t_pose(swaying(), count))
    assert (finding.kind, finding.frames) == ("t-pose", ((0, count),))


def test_a_t_pose_that_the_actor_stands_in_is_none():
    clip = swaying(60.0, 4.0)
    share = np.clip(np.arange(clip.frame_count) / 60.0 - 0.5, 0.0, 1.0)[:, None]  # slowly out of the T-pose
    assert check(replace(clip, wxyz=quat.slerp(quat.identity(clip.wxyz.shape[:2]), clip.wxyz, share))) == []


@pytest.mark.parametrize("frames", [(0,), (0, 1), (70, 71), (179,)])
def test_frames_with_the_root_at_the_origin_are_found(frames):
    [finding] = check(with_dropped_root(swaying(), *frames))
    assert (finding.kind, finding.severity, finding.frames) == ("dropped-root", "error", ((frames[0], frames[-1] + 1),))


def test_a_walk_through_the_origin_drops_nothing():
    clip = swaying()
    path = np.zeros((clip.frame_count, 3))
    path[:, 0] = np.linspace(-0.5, 0.5, clip.frame_count)
    assert not _found(replace(clip, root=path), "dropped-root")


def test_nan_is_found_with_its_joint():
    [finding] = check(with_nan(swaying(), "LeftForeArm", 30, 33))
    assert (finding.kind, finding.frames, finding.joints) == ("nan", ((30, 33),), ("LeftForeArm",))


def test_copies_amid_motion_are_a_gap_and_standing_still_is_not():
    [finding] = check(with_copies(swaying(), 60, 70))
    assert (finding.kind, finding.frames) == ("gap", ((60, 70),))
    held = with_copies(swaying(), 100, 180)  # to the end: held, not lost
    assert not _found(held, "gap")


def test_every_frame_twice_is_half_the_rate():
    clip = swaying(30.0)
    twice = replace(clip, fps=60.0, root=np.repeat(clip.root, 2, axis=0), wxyz=np.repeat(clip.wxyz, 2, axis=0))
    [finding] = _found(twice, "gap")
    assert finding.value == 2.0
    assert "30 frames a second" in finding.sentence


@pytest.mark.parametrize("span", [(80, 81), (80, 83)])
def test_a_flip_is_found_with_joint_and_frame(span):
    [finding] = _found(with_flip(swaying(), "RightArm", *span), "flip")
    assert finding.severity == "warning"
    assert finding.joints == ("RightArm",)
    assert finding.frames[0][0] == span[0]
    assert [repair[1:] for repair in finding.repairs] == [span]


def test_a_flip_that_stays_is_found_and_offers_no_repair():
    [finding] = _found(with_flip(swaying(), "RightArm", 80, 180), "flip")
    assert (finding.frames, finding.repairs) == (((80, 81),), ())


def test_a_change_of_sign_is_no_flip():
    clip = swaying()
    wxyz = clip.wxyz.copy()
    wxyz[50::2] *= -1.0
    assert check(replace(clip, wxyz=wxyz)) == []


def test_a_joint_that_stands_still_while_its_twin_moves_is_frozen():
    clip = swaying()
    wxyz = clip.wxyz.copy()
    wxyz[:, clip.skeleton.index("LeftForeArm")] = quat.IDENTITY
    [finding] = check(replace(clip, wxyz=wxyz))
    assert (finding.kind, finding.joints) == ("frozen", ("LeftForeArm",))


def test_feet_above_and_below_the_floor_are_found():
    for height in (0.2, -0.15):
        [finding] = check(raised(swaying(), height))
        assert finding.kind == "ground"
        assert finding.value == pytest.approx(height, abs=0.03)
    assert check(raised(swaying(), 0.02)) == []


@pytest.mark.parametrize(
    ("factor", "right"), [(100.0, 0.01), (0.01, 100.0), (0.0254, 1 / 0.0254), (1 / 0.3048, 0.3048)]
)
def test_a_wrong_unit_is_found_by_the_height_of_the_body(factor, right):
    [finding] = check(scaled(swaying(), factor))
    assert (finding.kind, finding.severity) == ("unit", "error")
    assert finding.value == pytest.approx(right, rel=1e-6)


def test_flight_confirms_the_unit():
    [finding] = check(scaled(jumping(), 100.0))
    assert "falls at 9.8 m/s^2 in flight" in finding.sentence


@pytest.mark.parametrize("wrong", [0.25, 0.5, 2.0, 4.0])
def test_a_wrong_rate_is_found_by_flight(wrong):
    [finding] = check(replace(jumping(), fps=60.0 * wrong))
    assert (finding.kind, finding.severity, finding.value) == ("rate", "error", 60.0)


def test_the_centre_of_mass_of_a_thrown_body_falls_at_g():
    clip = jumping(120.0)
    for flight in find_flights(clip):
        assert flight.gravity == pytest.approx(GRAVITY, rel=0.03)
        assert flight.trusty
    assert len(find_flights(clip)) == 2


def test_derivatives_of_a_cubic_are_exact():
    t = np.arange(60) / 60.0
    x = 2.0 * t**3 - t
    assert np.allclose(derivative(x, 60.0, 3, 0.2), 12.0)
    assert np.allclose(derivative(x, 60.0, 2, 0.05)[5:-5], 12.0 * t[5:-5])


def test_clips_of_one_actor_share_the_proof_of_a_rate():
    proof, mute = replace(jumping(), fps=120.0, name="jump"), replace(swaying(), fps=120.0)
    stranger = scaled(replace(swaying(), fps=120.0), 1.02)
    sound = replace(jumping(120.0), name="recorded at 120")
    findings = check_together([mute, proof, stranger, sound])
    [shared] = findings[0]
    assert (shared.kind, shared.severity, shared.value) == ("rate", "warning", 60.0)
    assert "'jump'" in shared.sentence
    assert findings[1][0].severity == "error"
    assert findings[2] == []
    assert findings[3] == []


def test_findings_are_plain_values_of_known_kinds():
    clip = with_flip(with_dropped_root(with_t_pose(raised(swaying(), 0.3)), 50), "LeftArm", 90, 91)
    findings = check(clip)
    assert [finding.kind for finding in findings] == ["t-pose", "dropped-root", "flip", "ground"]
    assert json.loads(json.dumps([finding.to_dict() for finding in findings]))
    assert all(finding.kind in KINDS and finding.sentence.endswith(".") for finding in findings)


def test_frames_are_spelt_as_people_would():
    assert spell_frames([(5, 6)]) == "frame 5"
    assert spell_frames([(0, 2)]) == "frames 0-1"
    assert spell_frames([(i, i + 1) for i in range(6)]) == "frames 0, 1, 2, 3 and 2 more"


def test_one_frame_and_two_are_checked_without_complaint():
    clip = swaying()
    assert check(trim_frames(clip, 0, 1)) == []
    assert check(trim_frames(clip, 0, 2)) == []


# Real motion.


@pytest.mark.parametrize("name", ["02_01", "16_01", "16_45", "120_13"])
def test_cmus_unit_and_t_pose_are_found_and_nothing_else(data, name):
    findings = check(read_bvh(data / "cmu_bvh" / f"{name}.bvh"))
    assert [(f.kind, f.severity) for f in findings] == [("t-pose", "warning"), ("unit", "note")]
    assert findings[0].frames == ((0, 1),)
    assert f"{CMU_UNIT:.6g}" in findings[1].sentence


def test_the_bad_frames_of_07_12_are_found(data):
    findings = check(read_bvh(data / "cmu_bvh" / "07_12.bvh"))
    [dropped] = [finding for finding in findings if finding.kind == "dropped-root"]
    assert dropped.frames == ((0, 2),)


@pytest.mark.parametrize("name", ["143_23", "143_24", "143_41"])
def test_what_was_recorded_at_60_is_found_though_the_file_says_120(data, name):
    clip = read_bvh(data / "cmu_bvh" / f"{name}.bvh")
    assert clip.fps == pytest.approx(120.0, rel=1e-4)
    [finding] = _found(clip, "rate")
    assert finding.severity in ALARMS
    assert finding.value == pytest.approx(60.0, rel=1e-4)


def test_a_sneak_shows_its_rate_in_three_ways(data):
    clip = trim_frames(read_bvh(data / "cmu_bvh" / "143_41.bvh"), 1)
    balance = measure_balance(clip)
    assert pendulum(balance).high < 0.4
    assert support_cost(balance, 1.0)[0] > 0.1 > 0.02 > support_cost(balance, 0.25)[0]
    assert walking_cadence(clip, find_contacts(clip)) > 200
    right = replace(clip, fps=60.0)
    assert pendulum(measure_balance(right)).low > 0.6
    assert check_rate(right) == []


def test_jumps_fall_at_g(data):
    jumps = find_flights(read_bvh(data / "snu_ys2010" / "other" / "wd2_Physics_Jump00.bvh"))
    assert len(jumps) == 5
    assert all(9.2 < jump.gravity < 9.9 for jump in jumps)
    [jump] = find_flights(trim_frames(read_bvh(data / "cmu_bvh" / "16_01.bvh"), 1))
    assert 9.6 < jump.gravity < 10.7


def test_the_centre_of_mass_lies_between_hips_and_chest(data):
    clip = read_bvh(data / "snu_ys2010" / "walk" / "wd2_WalkForwardNormal00.bvh")
    height = centre_of_mass(clip)[0, 2]
    assert 0.52 < height / 1.7 < 0.6


JUMP, WALK = "snu_ys2010/other/wd2_Physics_Jump00", "cmu_bvh/104_22"


@pytest.mark.parametrize(("name", "wrong"), [(JUMP, 0.25), (JUMP, 4.0), (WALK, 0.5), (WALK, 2.0)])
def test_real_motion_at_a_wrong_rate_is_found(data, name, wrong):
    clip = trim_frames(read_bvh(data / f"{name}.bvh"), 1)
    assert check_rate(clip) == []
    [finding] = check_rate(replace(clip, fps=clip.fps * wrong))
    assert finding.value == pytest.approx(clip.fps)
    assert finding.severity == "error"


def test_motion_at_30_is_right_at_30(data):
    for name in ("snu_ys2010/push/wd2_PushStep00", "bandai_namco_1/dataset-1_walk_tired_001"):
        assert check(read_bvh(data / f"{name}.bvh")) == []


def test_walking_in_place_is_a_note(data):
    clip = read_gltf(data / "quaternius_cc0" / "Fox.glb", "Walk")
    [finding] = check(clip)
    assert (finding.kind, finding.severity) == ("in-place", "note")
    assert finding.value == pytest.approx(1.7, abs=0.2)


# What is truly wrong with the recordings, looked at one by one: joints that snap by 40 to 140 degrees between frames
# 8 ms apart, a first frame held for five, and floors 5 and 17 cm below the feet.
KNOWN = {
    "08_07": {"gap"},
    "104_13": {"flip"},
    "16_15": {"flip"},
    "16_23": {"flip"},
    "16_29": {"flip"},
    "19_04": {"flip"},
    "38_01": {"ground"},
    "74_03": {"flip"},
    "74_06": {"flip"},
    "90_17": {"ground"},
    "07_12": {"dropped-root"},
    "143_23": {"rate"},
    "143_24": {"rate"},
    "143_41": {"rate"},
}


@pytest.mark.slow
def test_no_alarm_is_false_in_all_recorded_motion(data):
    alarms = {}
    for path in sorted(data.rglob("*.bvh")):
        alarms[path.stem] = _alarms(read_bvh(path))
        if path.parent.name == "cmu_bvh":
            alarms[path.stem].remove("t-pose")  # every one of them has it
    for path in (data / "cmu_asf_amc").glob("[34]*.amc"):
        alarms[path.name] = _alarms(read_amc(path))
    assert {name: kinds for name, kinds in alarms.items() if kinds} == KNOWN


@pytest.mark.slow
def test_no_alarm_is_false_in_the_recorded_dog(data):
    for path in sorted((data / "dog_mann").glob("*_joint_pos.txt")):
        assert not _alarms(read_solved(path)), path.stem


# Feet that move along the floor at one height, by up to 45 cm, on a body of 0.8 m: looked at one by one.
SLIDING = {
    "1H_Melee_Attack_Stab",
    "1H_Ranged_Reload",
    "1H_Ranged_Shoot",
    "2H_Melee_Attack_Slice",
    "2H_Melee_Attack_Spin",
    "2H_Melee_Attack_Stab",
    "Death_B",
    "Dualwield_Melee_Attack_Slice",
    "Dualwield_Melee_Attack_Stab",
    "Throw",
    "Unarmed_Melee_Attack_Punch_A",
}


@pytest.mark.slow
def test_motion_made_by_hand_is_judged_by_its_feet_alone(data):
    """Hands animate in place, hang in the air, lie down and hold arms still, and all that is meant."""
    alarms = {}
    for path in (data / "kaykit_cc0" / "Knight.glb", *sorted((data / "quaternius_cc0").glob("*.glb"))):
        for name, _ in animations(path):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                alarms[path.stem, name.split("|")[-1]] = _alarms(read_gltf(path, name))
    # a knee of the Triceratops changes sides within one frame, by 1.6 m
    known = {("Knight", name): {"skate"} for name in SLIDING} | {("Triceratops", "Triceratops_Jump"): {"flip"}}
    assert {name: kinds for name, kinds in alarms.items() if kinds} == known


@pytest.mark.parametrize("name", ["Jump_Idle", "Lie_Down", "Dodge_Forward", "Sit_Floor_Idle"])
def test_who_does_not_stand_shows_no_floor(data, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clip = read_gltf(data / "kaykit_cc0" / "Knight.glb", name)
    assert not _found(clip, "ground")


def test_a_recorded_walk_shows_its_floor(data):
    clip = read_bvh(data / "snu_ys2010" / "walk" / "wd2_WalkForwardNormal00.bvh")
    for height in (0.1, -0.1):
        [finding] = _found(raised(clip, height), "ground")
        assert finding.value == pytest.approx(height, abs=0.03)


def test_feet_that_glide_are_said_to_glide(data):
    """A walk whose body is dragged along at 1 m/s beside it: every step slides."""
    clip = read_bvh(data / "snu_ys2010" / "walk" / "wd2_WalkForwardNormal00.bvh")
    drift = np.arange(clip.frame_count)[:, None] / clip.fps * np.array([0.0, 1.0, 0.0])
    [finding] = _found(replace(clip, root=clip.root + drift), "skate")
    assert finding.severity == "warning"
    assert re.search(
        r"skate in \d\d % of the frames: (planted ones slide by \d+ cm|they move without)", finding.sentence
    )


def test_a_short_clip_and_a_handle_may_hold_still():
    clip = swaying()
    wxyz = clip.wxyz.copy()
    wxyz[:, clip.skeleton.index("LeftForeArm")] = quat.IDENTITY
    assert not _found(trim_frames(replace(clip, wxyz=wxyz), 0, 50), "frozen")
    old = clip.skeleton
    names = {"LeftForeArm": "IKElbow.L", "RightForeArm": "IKElbow.R"}
    rig = replace(old, names=tuple(names.get(name, name) for name in old.names))
    assert not _found(replace(clip, wxyz=wxyz, skeleton=rig), "frozen")
