"""`jostle clips travel` and `turn`, and `convert --retarget` onto the same body."""

import numpy as np
import pytest

from jostle.assets import clip_path
from jostle.clips import load_clip, save_clip
from jostle.clips.formats.gltf import read_skin
from jostle.clips.loop import loop, repeat
from jostle.maths import quat
from jostle.skeleton import Pose
from terminal import run


@pytest.fixture
def in_place(tmp_path):
    walk = loop(load_clip(clip_path("walk")))
    gone = np.linspace(0.0, 1.0, walk.frame_count)[:, None] * (walk.root[-1] - walk.root[0]) * [1.0, 1.0, 0.0]
    save_clip(walk.with_poses(Pose(walk.root - gone, walk.wxyz)), tmp_path / "in_place.bvh")
    return tmp_path / "in_place.bvh"


def test_a_gait_in_place_becomes_a_left_turn(in_place, tmp_path, capsys):
    walk, left = str(tmp_path / "walk.bvh"), str(tmp_path / "left.bvh")
    assert run("clips", "travel", str(in_place), "-o", walk, "--cycles", "4") == 0
    assert "m/s" in capsys.readouterr().err
    assert run("clips", "turn", walk, "--degrees", "70", "-o", left) == 0
    assert "70 degrees to the left" in capsys.readouterr().err
    turned = np.degrees(quat.yaw(load_clip(left).wxyz[[0, -1], 0]))
    assert turned[1] - turned[0] == pytest.approx(70.0, abs=1.0)


def test_what_cannot_be_bent_is_said_in_a_sentence(in_place, tmp_path, capsys):
    assert run("clips", "turn", str(in_place), "--degrees", "70", "-o", str(tmp_path / "x.bvh")) == 1
    assert "goes nowhere" in capsys.readouterr().err
    assert not (tmp_path / "x.bvh").exists()


def test_points_of_one_body_are_put_on_one_skeleton(tmp_path):
    walk = loop(load_clip(clip_path("walk")))
    save_clip(walk, tmp_path / "a.csv")
    save_clip(repeat(walk, 2), tmp_path / "b.csv")
    assert run("convert", str(tmp_path / "a.csv"), str(tmp_path / "a.bvh")) == 0
    assert run("convert", str(tmp_path / "b.csv"), str(tmp_path / "b.bvh"), "--retarget", str(tmp_path / "a.bvh")) == 0
    first, other = load_clip(tmp_path / "a.bvh"), load_clip(tmp_path / "b.bvh")
    assert other.skeleton.same_as(first.skeleton)
    names = [walk.skeleton.names.index(name) for name in other.skeleton.names]
    np.testing.assert_allclose(other.positions, repeat(walk, 2).positions[:, names], atol=5e-3)


def test_a_rigs_own_skin_comes_back_with_it(data, tmp_path):
    horse, walk, out = data / "quaternius_cc0" / "Horse.glb", str(tmp_path / "walk.bvh"), str(tmp_path / "out.glb")
    assert run("clips", "travel", str(horse), "--animation", "Walk", "-o", walk) == 0
    assert run("convert", walk, out, "--retarget", str(horse)) == 0
    counts = [sum(len(mesh.vertices) for mesh in read_skin(path).meshes) for path in (horse, out)]
    assert counts[0] == counts[1]
    kept, put = load_clip(walk), load_clip(out)
    joints = [put.skeleton.index(name) for name in kept.skeleton.names]
    np.testing.assert_allclose(put.positions[:, joints], kept.positions, atol=1e-3)
