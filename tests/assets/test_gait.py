"""Gaits drawn by rule: planted feet, people's figures, exact cycles, and nothing that snaps."""

from dataclasses import replace

import numpy as np
import pytest

from jostle.assets import clip_names, clip_path
from jostle.assets.figure import ANKLE_UP, BALL_UP, HEEL_BACK, HEIGHT, TIP_UP, build_figure, centre_of_mass
from jostle.assets.foot import roll
from jostle.assets.gait import make_gait, running, walking
from jostle.assets.make import drawn_clips
from jostle.assets.path import quarter_turn
from jostle.assets.stand import make_stand
from jostle.clips import load_clip, save_clip
from jostle.clips.skate import foot_skate
from jostle.errors import MotionError
from jostle.maths import quat
from jostle.skeleton import is_humanoid, mirror_pose

MOVING = ("walk", "run", "turn_left", "turn_right")


@pytest.fixture(scope="module")
def clips():
    walk = walking()
    turns = {f"turn_{to}": quarter_turn(walk.speed, side, walk.cycle) for to, side in (("left", 1.0), ("right", -1.0))}
    gaits = {name: make_gait(walk, turn, cycles=4, fps=60.0, name=name) for name, turn in turns.items()}
    return {"walk": make_gait(walk, cycles=4, fps=60.0, name="walk"), **gaits, **drawn_clips()}


def _soles(clip, side):
    """Tracks of the heel, the ball and the tip of a foot, each less its height above the sole."""
    skeleton, world = clip.skeleton, clip.globals
    foot, toe = skeleton.index(f"{side}Foot"), skeleton.index(f"{side}Toe")
    heel = world.positions[:, foot] + quat.apply(world.wxyz[:, foot], np.array([-HEEL_BACK, 0.0, -ANKLE_UP]))
    tip = world.ends[:, int(np.flatnonzero(skeleton.end_parents == toe)[0])]
    return heel, world.positions[:, toe] - [0, 0, BALL_UP], tip - [0, 0, TIP_UP]


def _down(clip, side):
    """Frames in which any point of the sole touches."""
    return np.min([track[:, 2] for track in _soles(clip, side)], axis=0) < 1e-4


def _knee(clip, side):
    return quat.log(clip.wxyz[:, clip.skeleton.index(f"{side}Leg")])[:, 1]


def test_clips_are_shipped_and_found():
    assert clip_names() == ("run", "stand", "turn_left", "turn_right", "walk", "weave")
    with pytest.raises(MotionError, match="Did you mean 'walk'"):
        clip_path("walks")
    assert sum(path.stat().st_size for path in clip_path("walk").parent.rglob("*")) < 8_000_000


@pytest.mark.parametrize("name", ["run", "stand"])
def test_shipped_files_are_what_the_generator_makes(clips, name):
    np.testing.assert_allclose(load_clip(clip_path(name)).positions, clips[name].positions, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["run", "stand"])
def test_shipped_files_are_written_again_to_the_same_bytes(clips, name, tmp_path):
    save_clip(clips[name], tmp_path / f"{name}.bvh")
    assert (tmp_path / f"{name}.bvh").read_bytes() == clip_path(name).read_bytes()


def test_the_same_call_makes_the_same_walk(clips):
    assert np.array_equal(make_gait(walking(), cycles=4).wxyz, clips["walk"].wxyz)


def test_figure_has_human_proportions():
    figure = build_figure()
    assert figure.joint_count == 22
    assert is_humanoid(figure)
    assert figure.height == pytest.approx(HEIGHT - 0.008 * HEIGHT)  # the sole lies a little below the tip of the toes
    length = {name: np.linalg.norm(figure.offsets[figure.index(name)]) / HEIGHT for name in figure.names}
    assert length["LeftLeg"] == pytest.approx(0.245)
    assert length["RightFoot"] == pytest.approx(0.246)
    assert length["LeftForeArm"] == pytest.approx(0.186)


@pytest.mark.parametrize("name", MOVING)
def test_planted_points_do_not_slide_or_sink(clips, name):
    clip = clips[name]
    for side in ("Left", "Right"):
        soles = _soles(clip, side)
        assert min(track[:, 2].min() for track in soles) > -1e-4
        for track in soles:
            down = track[:, 2] < 1e-4
            both = down[1:] & down[:-1]
            assert both.sum() > 10
            assert np.linalg.norm(np.diff(track, axis=0)[both], axis=-1).max() < 5e-4


@pytest.mark.parametrize("name", ["run", "stand", "turn_left", "turn_right", "walk"])
def test_no_foot_skate(clips, name):
    assert foot_skate(clips[name]) == 0.0


@pytest.mark.parametrize("name", ["run", "stand", "turn_left", "turn_right", "walk"])
def test_knees_never_bend_backwards_or_sideways(clips, name):
    for side in ("Left", "Right"):
        knee = quat.log(clips[name].wxyz[:, clips[name].skeleton.index(f"{side}Leg")])
        assert knee[:, 1].min() > np.radians(2.0)
        assert np.abs(knee[:, [0, 2]]).max() < 1e-4


@pytest.mark.parametrize(("name", "frames"), [("walk", 64), ("run", 44)])
def test_cycles_close_exactly_and_sides_are_alike(clips, name, frames):
    clip = clips[name]
    step = clip.root[frames] - clip.root[0]
    assert step[1:] == pytest.approx([0.0, 0.0], abs=1e-6)
    np.testing.assert_allclose(clip.positions[frames:], clip.positions[:-frames] + step, atol=1e-5)
    mirrored = mirror_pose(clip.skeleton, clip.poses)
    half = frames // 2
    np.testing.assert_allclose(mirrored.wxyz[half:], clip.wxyz[:-half], atol=1e-5)


def test_walk_has_the_figures_of_a_walk(clips):
    clip = clips["walk"]
    speed = (clip.root[-1, 0] - clip.root[0, 0]) / clip.duration
    assert speed == pytest.approx(1.33, abs=0.01)
    assert 110 <= 2 * 60 * 60 / 64 <= 115
    left, right = _down(clip, "Left")[:64], _down(clip, "Right")[:64]
    assert 0.20 <= np.mean(left & right) <= 0.25  # double support
    assert np.all(left | right)
    height = clip.root[:64, 2]
    rises = np.sum((np.diff(height, append=height[0]) > 0) & (np.diff(height, prepend=height[-1]) <= 0))
    assert rises == 2
    assert 0.02 < np.ptp(height) < 0.06
    standing_left = clip.root[20, 1]  # the pelvis is over the foot that stands
    assert standing_left > 0.01
    assert clip.root[20 + 32, 1] == pytest.approx(-standing_left, abs=1e-6)


def test_arms_swing_against_the_legs(clips):
    for name, frames in (("walk", 64), ("run", 44)):
        clip, index = clips[name], clips[name].skeleton.index
        ahead = clip.positions[:frames, :, 0] - clip.root[:frames, :1]
        hand, ankle = ahead[:, index("LeftHand")], ahead[:, index("LeftFoot")]
        assert np.corrcoef(hand, ankle)[0, 1] < -0.6, name


def test_head_is_steadier_than_the_chest(clips):
    clip = clips["walk"]
    turning = {n: np.ptp(quat.yaw(clip.globals.wxyz[:, clip.skeleton.index(n)])) for n in ("Hips", "Chest", "Head")}
    assert turning["Head"] < 0.3 * turning["Chest"]
    assert turning["Head"] < np.radians(2.0)


def test_feet_clear_the_ground_in_swing(clips):
    for name in MOVING:
        for side in ("Left", "Right"):
            lowest = np.min([track[:, 2] for track in _soles(clips[name], side)], axis=0)
            flights = np.split(lowest, np.flatnonzero(np.diff((lowest < 1e-4).astype(int))) + 1)
            whole = [f for f in flights[1:-1] if f[0] >= 1e-4]
            assert whole
            assert min(f[len(f) // 2] for f in whole) > 0.012, name


def test_runner_flies_like_a_stone(clips):
    """Both feet off the ground, and the centre of mass under gravity alone: 9.81 m/s² down and nothing else."""
    clip = clips["run"]
    assert (clip.root[-1, 0] - clip.root[0, 0]) / clip.duration == pytest.approx(3.0, abs=0.02)
    flying = ~_down(clip, "Left") & ~_down(clip, "Right")
    assert 0.15 < np.mean(flying) < 0.35
    centre = centre_of_mass(clip.skeleton, clip.globals)
    pull = np.diff(centre, 2, axis=0) * clip.fps**2
    inside = flying[2:] & flying[1:-1] & flying[:-2]
    assert inside.sum() > 10
    np.testing.assert_allclose(pull[inside].mean(axis=0), [0.0, 0.0, -9.81], atol=0.1)
    assert np.abs(pull[inside] - [0.0, 0.0, -9.81]).max() < 0.2


def test_turns_are_quarter_turns_and_mirror_images(clips):
    left, right = clips["turn_left"], clips["turn_right"]
    heading = np.degrees(np.unwrap(quat.yaw(left.wxyz[:, 0])))
    assert heading[-1] - heading[0] == pytest.approx(90.0, abs=0.1)
    mirrored = mirror_pose(left.skeleton, left.poses)
    # A left turn begins with the left foot, so only the path is the mirror image, not the step.
    np.testing.assert_allclose(mirrored.root[-1, :2], right.root[-1, :2], atol=0.05)
    chest = quat.apply(left.globals.wxyz[128, left.skeleton.index("Chest")], np.array([0.0, 0.0, 1.0]))
    inward = quat.apply(quat.from_yaw(np.radians(heading[128])), np.array([0.0, 1.0, 0.0]))
    assert np.degrees(np.arcsin(chest @ inward)) > 2.0  # leans into the turn


def test_turns_join_the_walk(clips):
    for name in ("turn_left", "turn_right"):
        first = clips[name].wxyz[0], clips["walk"].wxyz[0]
        assert np.degrees(quat.angle(quat.inv_mul(*first))).max() < 12.0, name


def test_stand_breathes_and_keeps_its_feet(clips):
    clip = clips["stand"]
    for side in ("Left", "Right"):
        for track in _soles(clip, side):
            assert np.ptp(track, axis=0).max() < 1e-4
            assert np.abs(track[:, 2]).max() < 1e-4
    np.testing.assert_allclose(clip.positions[0], clip.positions[-1], atol=1e-5)
    shoulder = clip.positions[:, clip.skeleton.index("LeftArm")] - clip.positions[:, clip.skeleton.index("Spine")]
    assert 0.003 < np.ptp(shoulder[:, 2]) < 0.03
    assert 0.02 < np.ptp(clip.root[:, 1]) < 0.12


def test_nothing_snaps(clips):
    """Real walks recorded at 120 fps reach 200 m/s² at 60 fps (CMU 07_01), real runs 300."""
    for name, clip in clips.items():
        pull = np.linalg.norm(np.diff(clip.positions, 2, axis=0), axis=-1) * clip.fps**2
        assert pull.max() < {"run": 150.0, "stand": 2.0}.get(name, 90.0), name


@pytest.mark.parametrize("speed", [0.9, 1.1, 1.6])
def test_other_speeds_walk_as_well(speed):
    clip = make_gait(walking(speed), cycles=2)
    assert (clip.root[-1, 0] - clip.root[0, 0]) / clip.duration == pytest.approx(speed, abs=1e-6)
    assert foot_skate(clip) == 0.0
    assert min(_knee(clip, side).min() for side in ("Left", "Right")) > 0.0
    assert min(track[:, 2].min() for side in ("Left", "Right") for track in _soles(clip, side)) > -1e-4


def test_style_changes_what_it_says():
    def reach(gait):
        clip = make_gait(gait, cycles=1)
        return np.ptp(clip.positions[:, clip.skeleton.index("LeftHand"), 0] - clip.root[:, 0])

    walk = walking()
    assert reach(replace(walk, arm_swing=1.5)) > 1.2 * reach(walk) > 1.2 * reach(replace(walk, arm_swing=0.5))
    wide = make_gait(replace(walk, step_width=0.2), cycles=1)
    apart = (
        wide.positions[:, wide.skeleton.index("LeftFoot"), 1] - wide.positions[:, wide.skeleton.index("RightFoot"), 1]
    )
    assert np.max(apart) == pytest.approx(0.2, abs=0.04)
    bouncy = make_gait(replace(walk, bounce=1.5), cycles=1)
    assert np.ptp(bouncy.root[:, 2]) == pytest.approx(1.5 * np.ptp(make_gait(walk, cycles=1).root[:, 2]), rel=1e-6)
    bent = make_gait(replace(walk, lean=15.0), cycles=1)
    up = quat.apply(bent.globals.wxyz[:, bent.skeleton.index("Chest")], np.array([0.0, 0.0, 1.0]))
    assert np.degrees(np.arcsin(up[:, 0])).mean() == pytest.approx(17.0, abs=1.0)
    assert running().cadence == pytest.approx(164.3, abs=0.5)


def test_roll_over_keeps_its_pivots():
    """Heel, then ball, then tip stay where they are, whatever the pitch: checked point by point in the side view."""
    rollover = walking().rollover
    phase = np.linspace(0.0, rollover.toe_off, 400)
    planted = roll(rollover, phase)

    def carried(x, z, pitch, at_x, at_z):
        return at_x + x * np.cos(pitch) - z * np.sin(pitch), at_z + x * np.sin(pitch) + z * np.cos(pitch)

    heel_x, heel_z = carried(-HEEL_BACK, -ANKLE_UP, planted.foot_pitch, planted.ahead, planted.up)
    on_heel = phase < rollover.heel_off
    assert np.ptp(heel_x[on_heel]) < 1e-12
    assert np.abs(heel_z[on_heel]).max() < 1e-12
    ball_x, ball_z = carried(0.082 * HEIGHT, BALL_UP - ANKLE_UP, planted.foot_pitch, planted.ahead, planted.up)
    on_ball = (phase > rollover.flat) & (phase < rollover.toe_roll)
    assert np.ptp(ball_x[on_ball]) < 1e-12
    assert np.ptp(ball_z[on_ball]) < 1e-12


def test_standing_can_be_longer():
    assert make_stand(seconds=12.0, fps=30.0).duration == pytest.approx(12.0)
