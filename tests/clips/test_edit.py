"""Edits of clips: exact at shared times, undone by their inverses, and nothing kept moves in the world."""

import numpy as np
import pytest

from jostle.clips import Clip, load_clip
from jostle.clips.edit import (
    concatenate,
    ground_place,
    lowpass,
    mirror,
    move,
    place,
    resample,
    sample,
    trim,
    trim_frames,
    turn,
)
from jostle.clips.joints import keep_joints, reroot, simplify
from jostle.errors import MotionError
from jostle.maths import quat
from jostle.skeleton import Pose, build_skeleton, find_roles, find_twins, is_humanoid
from jostle.skeleton.roles import is_helper

BODY = build_skeleton(
    ["root", "left_thigh", "left_shin", "right_thigh", "right_shin", "spine"],
    [-1, 0, 1, 0, 3, 0],
    np.array(
        [[0, 0, 1.0], [0, 0.1, -0.1], [0.02, 0.01, -0.4], [0, -0.1, -0.1], [0.02, -0.01, -0.4], [0, 0, 0.3]],
    ),
    [(2, [0.1, 0.0, -0.4]), (4, [0.1, 0.0, -0.4]), (5, [0.0, 0.0, 0.2])],
)


def _wander(frames=61, fps=30.0, seed=0, skeleton=BODY, offsets=False):
    """Smooth random motion: a few sines in every rotation and in the root."""
    rng = np.random.default_rng(seed)
    t = np.arange(frames)[:, None, None] / fps
    waves = sum(rng.normal(size=(skeleton.joint_count, 3)) * 0.3 * np.sin((k + 1) * 2 * t + k) for k in range(3))
    root = np.stack([t[:, 0, 0] * 1.2, 0.1 * np.sin(3 * t[:, 0, 0]), 1 + 0.03 * np.cos(6 * t[:, 0, 0])], axis=-1)
    moved = skeleton.offsets + 0.01 * np.sin(5 * t) if offsets else None
    return Clip(skeleton, fps, root, quat.exp(waves), moved, "wander")


def _same_rotations(a, b, atol=1e-9):
    np.testing.assert_allclose(quat.angle(quat.inv_mul(a, b)), 0.0, atol=atol)


def test_trim_by_seconds_includes_both_ends():
    clip = _wander()
    cut = trim(clip, 0.5, 1.0)
    assert cut.frame_count == 16
    np.testing.assert_array_equal(cut.root, clip.root[15:31])
    np.testing.assert_array_equal(trim(clip).root, clip.root)
    assert trim(clip, 1.0, 1.0).frame_count == 1


def test_trim_by_frames_is_a_slice():
    clip = _wander(offsets=True)
    np.testing.assert_array_equal(trim_frames(clip, 5, -5).wxyz, clip.wxyz[5:-5])
    np.testing.assert_array_equal(trim_frames(clip, 5, 9).offsets, clip.offsets[5:9])


@pytest.mark.parametrize(("start", "end"), [(-1.0, 1.0), (1.0, 0.5), (0.0, 9.0)])
def test_trim_outside_the_clip_says_how_long_it_is(start, end):
    with pytest.raises(MotionError, match=r"lasts 2\.000 s"):
        trim(_wander(), start, end)


def test_resample_up_and_down_again_is_the_same_clip():
    clip = _wander(offsets=True)
    up = resample(clip, 120.0)
    assert up.frame_count == 241
    back = resample(up, 30.0)
    np.testing.assert_array_equal(back.root, clip.root)
    np.testing.assert_array_equal(back.wxyz, clip.wxyz)
    np.testing.assert_array_equal(back.offsets, clip.offsets)


def test_resample_is_exact_at_shared_times_and_between_on_the_geodesic():
    clip = _wander()
    up = resample(clip, 60.0)
    np.testing.assert_array_equal(up.wxyz[::2], clip.wxyz)
    a, b, middle = clip.wxyz[:-1], clip.wxyz[1:], up.wxyz[1::2]
    _same_rotations(quat.mul(quat.mul(middle, quat.inv(a)), middle), b)
    np.testing.assert_allclose(up.root[1::2], 0.5 * (clip.root[:-1] + clip.root[1:]), atol=1e-12)


def test_resample_to_an_uneven_rate_keeps_duration_and_shape():
    clip = _wander(frames=301, fps=120.0)
    odd = resample(clip, 47.0)
    assert abs(odd.duration - clip.duration) < odd.dt
    expected = sample(clip, np.array([10 * 120.0 / 47.0]))
    np.testing.assert_allclose(odd.root[10], expected.root[0], atol=1e-12)


def test_resample_takes_the_short_way_between_opposite_signs():
    clip = _wander(frames=3)
    flipped = clip.wxyz.copy()
    flipped[1] *= -1
    up = resample(Clip(BODY, 30.0, clip.root, flipped), 60.0)
    _same_rotations(up.wxyz, resample(clip, 60.0).wxyz)


@pytest.mark.parametrize("fps", [0.0, -30.0, float("nan"), float("inf")])
def test_impossible_rates_are_refused(fps):
    with pytest.raises(MotionError, match="positive rate"):
        resample(_wander(), fps)


def test_mirror_twice_is_the_identity():
    clip = _wander(offsets=True)
    back = mirror(mirror(clip))
    np.testing.assert_allclose(back.root, clip.root, atol=1e-15)
    np.testing.assert_allclose(back.wxyz, clip.wxyz, atol=1e-15)
    np.testing.assert_allclose(back.offsets, clip.offsets, atol=1e-15)


def test_mirror_shows_every_joint_where_a_mirror_would():
    clip = _wander()
    shown = clip.positions[:, find_twins(BODY)] * [1, -1, 1]
    np.testing.assert_allclose(mirror(clip).positions, shown, atol=1e-12)


def test_mirror_of_an_uneven_body():
    uneven = build_skeleton(BODY.names, BODY.parents, BODY.offsets + 0.02 * np.arange(18).reshape(6, 3))
    clip = _wander(skeleton=uneven)
    shown = clip.positions[:, find_twins(uneven)] * [1, -1, 1]
    np.testing.assert_allclose(mirror(clip, keep_skeleton=False).positions, shown, atol=1e-12)
    assert np.max(np.abs(mirror(clip).positions - shown)) > 1e-3


def test_turn_and_move_are_rigid():
    clip = _wander()
    moved = move(turn(clip, 0.7, about=np.array([1.0, 2.0])), np.array([1.0, -2.0, 0.5]))
    corner = np.array([1.0, 2.0, 0.0])
    expected = quat.apply(quat.from_yaw(0.7), clip.positions - corner) + corner + [1.0, -2.0, 0.5]
    np.testing.assert_allclose(moved.positions, expected, atol=1e-12)


def test_place_sets_the_first_frame():
    placed = place(_wander(), (3.0, -1.0), 2.0)
    position, heading = ground_place(placed, 0)
    np.testing.assert_allclose(position, [3.0, -1.0], atol=1e-12)
    assert heading == pytest.approx(2.0)
    clip = _wander()
    np.testing.assert_allclose(placed.positions[..., 2], clip.positions[..., 2], atol=1e-12)


def test_concatenate_goes_on_without_a_jump():
    a, b = _wander(seed=1), place(_wander(seed=2), (9.0, 9.0), 2.0)
    joined = concatenate(a, b)
    assert joined.frame_count == a.frame_count + b.frame_count - 1
    np.testing.assert_array_equal(joined.root[: a.frame_count], a.root)
    assert _worst_bend(joined, a.frame_count) < 0.1 * _worst_bend(_cut(a, b), a.frame_count)


def _cut(a, b):
    """The same place and heading, and no more care than that."""
    here, heading = ground_place(a, a.frame_count - 1)
    b = place(b, (float(here[0]), float(here[1])), heading)
    return a.with_poses(Pose(np.concatenate([a.root, b.root[1:]]), np.concatenate([a.wxyz, b.wxyz[1:]])))


def _worst_bend(clip, seam):
    """The largest second difference of any joint's path within two frames of the seam."""
    return np.linalg.norm(np.diff(clip.positions[seam - 4 : seam + 3], n=2, axis=0), axis=-1).max()


def test_concatenate_fades_into_the_second_clip():
    a, b = _wander(seed=1), _wander(seed=2, frames=121)
    tail = trim_frames(concatenate(a, b), -30)
    _same_rotations(tail.wxyz[:, 1:], b.wxyz[-30:, 1:], atol=1e-3)


def test_concatenate_takes_rate_and_skeleton_seriously():
    a, b = _wander(), resample(_wander(seed=2), 60.0)
    assert concatenate(a, b).fps == 30.0
    with pytest.raises(MotionError, match="different skeletons; retarget"):
        concatenate(a, _wander(skeleton=BODY.scaled(1.2)))


def test_concatenate_three():
    assert concatenate(_wander(), _wander(), _wander(offsets=True)).frame_count == 3 * 61 - 2


def test_lowpass_keeps_slow_and_removes_fast():
    clip = _wander(frames=301, fps=120.0)
    t = np.arange(301) / 120.0
    shaken = clip.root + 0.01 * np.sin(2 * np.pi * 40 * t)[:, None]
    noisy = Clip(BODY, 120.0, shaken, clip.wxyz)
    inner = slice(30, -30)
    np.testing.assert_allclose(lowpass(noisy, 6.0).root[inner], clip.root[inner], atol=1e-3)
    _same_rotations(lowpass(noisy, 6.0).wxyz[inner], clip.wxyz[inner], atol=0.02)
    with pytest.raises(MotionError, match="between 0 and 60 Hz"):
        lowpass(clip, 60.0)


def test_keep_joints_leaves_the_kept_where_they_are():
    clip = _wander(offsets=True)
    less = keep_joints(clip, ["root", "left_shin", "right_thigh", "spine"])
    old = [clip.skeleton.index(name) for name in less.skeleton.names]
    np.testing.assert_allclose(less.positions, clip.positions[:, old], atol=1e-12)
    _same_rotations(less.globals.wxyz, clip.globals.wxyz[:, old])


def test_keep_joints_with_rigid_bones_needs_no_offsets():
    clip = _wander()
    less = keep_joints(clip, ["root", "left_thigh", "spine"])
    assert less.offsets is None
    np.testing.assert_allclose(less.skeleton.ends_of(1), [BODY.offsets[2]])


def test_kept_joints_must_hang_together():
    with pytest.raises(MotionError, match="several: 'left_thigh', 'right_thigh'"):
        keep_joints(_wander(), ["left_thigh", "right_thigh"])
    with pytest.raises(MotionError, match="No joint 'knee'"):
        keep_joints(_wander(), ["knee"])


def test_reroot_carries_the_world_along():
    clip = _wander()
    leg = reroot(clip, "left_thigh")
    assert leg.skeleton.names == ("left_thigh", "left_shin")
    np.testing.assert_allclose(leg.positions, clip.positions[:, [1, 2]], atol=1e-12)
    np.testing.assert_allclose(leg.globals.ends[:, 0], clip.globals.ends[:, 0], atol=1e-12)


def test_bandai_becomes_a_plain_clip(data):
    clip = load_clip(data / "bandai_namco_1" / "dataset-1_walk_normal_001.bvh")
    plain = simplify(clip)
    assert plain.skeleton.names[0] == "Hips"
    assert is_humanoid(plain.skeleton)
    old = [clip.skeleton.index(name) for name in plain.skeleton.names]
    np.testing.assert_allclose(plain.positions, clip.positions[:, old], atol=2e-4)
    assert np.linalg.norm(plain.root[-1] - plain.root[0]) > 1.0
    assert plain.offsets is None


def test_a_plain_clip_is_already_simple(data):
    clip = load_clip(data / "snu_ys2010" / "walk" / "wd2_WalkForwardNormal00.bvh")
    assert simplify(clip) is clip


@pytest.mark.parametrize(
    ("file", "animation", "root"),
    [
        ("kaykit_cc0/Knight.glb", "Walking_A", "hips"),
        ("quaternius_cc0/platformer_Character.glb", "Walk", "Body"),
        ("quaternius_cc0/man_Suit.glb", None, "Hips"),
    ],
)
def test_rigs_lose_their_handles_and_nothing_else(data, file, animation, root):
    from jostle.clips.formats.gltf import animations

    names = [found for found, *_ in animations(data / file) if found.split("|")[-1] == animation]
    clip = load_clip(data / file, animation=names[0]) if names else load_clip(data / file)
    plain = simplify(clip)
    assert plain.skeleton.names[0] == root
    assert not any(is_helper(name) for name in plain.skeleton.names)
    old = [clip.skeleton.index(name) for name in plain.skeleton.names]
    np.testing.assert_allclose(plain.positions, clip.positions[:, old], atol=2e-4)
    roles = find_roles(plain.skeleton)
    assert {plain.skeleton.names[j] for j in roles.values()} == {
        clip.skeleton.names[j] for j in find_roles(clip.skeleton).values()
    }
    for side in ("left", "right"):
        assert roles[f"{side}_shin"] in plain.skeleton.chain(roles[f"{side}_foot"])


def test_simplify_needs_a_person():
    with pytest.raises(MotionError, match="needs a human skeleton"):
        simplify(_wander())


@pytest.mark.parametrize("fps", [1e7, 1e300])
def test_absurd_rates_are_refused_before_they_take_memory(fps):
    with pytest.raises(MotionError, match="too many"):
        resample(_wander(), fps)
