"""glTF read and written, against an independent reading with plain matrices and values computed by hand."""

import json
import struct

import numpy as np
import pytest
from raw_gltf import Raw
from scipy.spatial.transform import Rotation
from tiny_gltf import Tiny, matrix, pack, unpack

from jostle.clips import Clip
from jostle.clips.formats.gltf import animations, read_gltf, write_gltf
from jostle.errors import FileError, FormatError, JostleWarning, MotionError
from jostle.maths import quat
from jostle.skeleton import build_skeleton

HALF = 0.5**0.5
BESIDE = [{"name": "hips", "children": [1]}, {"name": "leg", "translation": [0, 1, 0]}]


def file_axes(positions: np.ndarray) -> np.ndarray:
    """jostle's Z up and X forward to glTF's Y up and Z forward."""
    return positions[..., [1, 2, 0]]


def a_clip(frames: int = 7, fps: float = 29.97, moving_bones: bool = False, reach: float = 100.0) -> Clip:
    skeleton = build_skeleton(
        ["Hips", "Spine", "Arm", "Leg"],
        [-1, 0, 1, 0],
        [[0, 0, 1], [0, 0, 0.5], [0, 0.2, 0.1], [0, 0.1, 0]],
        [(2, [0, 0.5, 0]), (3, [0, 0, -0.9]), (3, [0.2, 0, -0.9])],
    )
    rng = np.random.default_rng(1)
    offsets = skeleton.offsets + 0.1 * rng.standard_normal((frames, 4, 3)) if moving_bones else None
    root = rng.uniform(-reach, reach, (frames, 3))
    return Clip(skeleton, fps, root, quat.exp(rng.standard_normal((frames, 4, 3))), offsets, "dance")


# Against an independent reading


@pytest.mark.parametrize(
    ("name", "animation", "fps"),
    [
        ("quaternius_cc0/Fox.glb", "Gallop", 24),
        ("quaternius_cc0/Fox.glb", "Death", 24),
        ("quaternius_cc0/Trex.glb", "TRex_Walk", 24),
        ("quaternius_cc0/platformer_Character.glb", "Run", 24),
        ("kaykit_cc0/Knight.glb", "Walking_A", 30),
        ("kaykit_cc0/Knight.glb", "Lie_Down", 30),
    ],
)
def test_joints_stand_where_plain_matrices_put_them(data, name, animation, fps):
    clip, raw = read_gltf(data / name, animation), Raw(data / name)
    numbers = {node.get("name"): i for i, node in enumerate(raw.nodes) if "mesh" not in node}
    nodes = [numbers[joint] for joint in clip.skeleton.names]
    assert clip.fps == fps
    for frame in {*range(0, clip.frame_count, 6), clip.frame_count - 1}:
        worlds = raw.worlds(raw.animation(animation), frame / fps)
        wanted = np.array([worlds[node][:3, 3] for node in nodes])
        assert np.abs(file_axes(clip.positions[frame]) - wanted).max() < 1e-5 * clip.skeleton.height


@pytest.mark.parametrize(
    ("name", "joints", "left", "right"),
    [
        ("quaternius_cc0/Trex.glb", 29, "BackFoot.L", "BackFoot.R"),
        ("quaternius_cc0/Fox.glb", 52, "FF.L", "FF.R"),
        ("kaykit_cc0/Knight.glb", 41, "hand.l", "hand.r"),
        ("quaternius_cc0/man_Suit.glb", 49, "Hand.L", "Hand.R"),
    ],
)
def test_the_rest_pose_is_the_bind_pose(data, name, joints, left, right):
    """Trex and Fox have their nodes in mid-stride; the pose they were modelled in is symmetric and on the ground."""
    skeleton = read_gltf(data / name).skeleton
    rest = skeleton.rest_positions
    assert skeleton.joint_count == joints
    a, b = rest[skeleton.index(left)], rest[skeleton.index(right)]
    assert a[1] > 0.01 * skeleton.height  # left is Y
    assert np.allclose(a * [1, -1, 1], b, atol=0.01 * skeleton.height)
    assert abs(rest[:, 2].min()) < 0.01 * skeleton.height


def test_animals_look_along_x(data):
    skeleton = read_gltf(data / "quaternius_cc0/Fox.glb").skeleton
    rest = skeleton.rest_positions
    assert rest[skeleton.index("Head"), 0] > 1.0 > -1.0 > rest[skeleton.index("Tail8"), 0]


def test_several_skins_over_one_armature_are_one_figure_at_rest(data):
    clip = read_gltf(data / "quaternius_cc0/man_Suit.glb")
    assert (clip.frame_count, clip.offsets, clip.name) == (1, None, "man_Suit")
    assert np.allclose(clip.wxyz, quat.IDENTITY)
    assert 1.7 < clip.skeleton.height < 1.9
    assert len(clip.skeleton.end_parents) == 13


@pytest.mark.parametrize("turn", [[0, 1, 0, 0], [0, HALF, 0, HALF], [HALF, 0, 0, HALF], [0.5, 0.5, 0.5, 0.5]])
def test_a_person_whose_bind_pose_faces_elsewhere_is_told_from_one_that_faces_x(data, tmp_path, turn):
    """Exporters that face -Z or keep Z up: the rest pose is turned, the frames stay where they are."""
    path = data / "quaternius_cc0/platformer_Character.glb"
    document, binary = unpack(path.read_bytes())
    document["nodes"][0]["rotation"] = turn  # the top of the scene
    (tmp_path / "turned.glb").write_bytes(pack(document, binary))
    plain, turned = read_gltf(path, "Walk"), read_gltf(tmp_path / "turned.glb", "Walk")
    assert np.abs(turned.skeleton.rest_positions - plain.skeleton.rest_positions).max() < 1e-5
    carried = Rotation.from_quat(turn).apply(file_axes(plain.positions).reshape(-1, 3))
    assert np.abs(file_axes(turned.positions).reshape(-1, 3) - carried).max() < 1e-5


# Interpolation


def test_linear_turns_go_along_the_great_arc(tmp_path):
    tiny = Tiny(BESIDE).skin([0, 1]).animate((0, "rotation", [0, 1], [[0, 0, 0, 1], [0, 0, 1, 0]]))
    clip = read_gltf(tiny.glb(tmp_path / "a.glb"), fps=4.0)
    # A half turn about Z of the file (jostle's X) carries the leg from up through the file's -X to down.
    wanted = [[0, 1, 0], [-HALF, HALF, 0], [-1, 0, 0], [-HALF, -HALF, 0], [0, -1, 0]]
    assert np.allclose(file_axes(clip.positions[:, 1]), wanted, atol=1e-6)


def test_step_holds_each_key_until_the_next(tmp_path):
    keys = [[0, 0, 0], [1, 0, 0], [5, 0, 0]]
    tiny = Tiny(BESIDE).skin([0, 1]).animate((0, "translation", [0, 0.5, 1], keys), interpolation="STEP")
    clip = read_gltf(tiny.glb(tmp_path / "a.glb"), fps=4.0)
    assert np.allclose(file_axes(clip.root)[:, 0], [0, 0, 1, 1, 5])


def test_cubic_splines_by_hand(tmp_path):
    # In-tangent, value, out-tangent. On [0, 2]: p = h00 1 + 2 h10 3 + h01 5 + 2 h11 (-1), tangents per second.
    keys = [[9, 0, 0], [1, 0, 0], [3, 0, 0], [-1, 0, 0], [5, 0, 0], [9, 0, 0]]
    tiny = Tiny(BESIDE).skin([0, 1]).animate((0, "translation", [0, 2], keys), interpolation="CUBICSPLINE")
    clip = read_gltf(tiny.glb(tmp_path / "a.glb"), fps=2.0)
    # u = 1/4: h00 = 27/32, h10 = 9/64, h01 = 5/32, h11 = -3/64; u = 1/2: 1/2, 1/8, 1/2, -1/8; u = 3/4 mirrored.
    quarter = 27 / 32 + 2 * 9 / 64 * 3 + 5 * 5 / 32 + 2 * 3 / 64
    middle = 0.5 + 2 * 0.125 * 3 + 2.5 + 2 * 0.125
    three = 5 / 32 + 2 * 3 / 64 * 3 + 5 * 27 / 32 + 2 * 9 / 64
    assert np.allclose(file_axes(clip.root)[:, 0], [1, quarter, middle, three, 5])


def test_cubic_splines_of_turns_are_normalised(tmp_path):
    still = [0, 0, 0, 0]
    keys = [still, [0, 0, 0, 1], still, still, [0, 0, 1, 0], still]
    tiny = Tiny(BESIDE).skin([0, 1]).animate((0, "rotation", [0, 1], keys), interpolation="CUBICSPLINE")
    clip = read_gltf(tiny.glb(tmp_path / "a.glb"), fps=4.0)
    # At u = 1/4 the spline is (0, 0, 5/32, 27/32); its direction is a turn by 2 atan(5/27) about the file's Z.
    angle = 2 * np.arctan2(5, 27)
    assert np.allclose(file_axes(clip.positions[1, 1]), [-np.sin(angle), np.cos(angle), 0], atol=1e-6)
    assert np.allclose(np.linalg.norm(clip.wxyz, axis=-1), 1)


# The rate


@pytest.mark.parametrize("fps", [24, 25, 30, 48, 50, 60, 90, 100, 120, 29.97, 240, 12.5])
def test_the_rate_is_that_of_the_keys(tmp_path, fps):
    times = 0.5 + np.arange(200) / fps  # exporters that count frames from one start late
    keys = np.arange(200)[:, None] * [1.0, 0, 0]
    tiny = Tiny(BESIDE).skin([0, 1]).animate((0, "translation", times, keys))
    clip = read_gltf(tiny.glb(tmp_path / "a.glb"))
    if fps == 12.5:  # a usual rate on whose frames all keys lie: nothing is lost
        assert (clip.fps, clip.frame_count) == (25, 399)
    else:
        assert clip.fps == pytest.approx(fps, rel=1e-5)
        assert np.allclose(clip.root[:, 1], np.arange(200), atol=1e-3)


def test_sparse_keys_are_sampled_at_thirty(tmp_path):
    tiny = Tiny(BESIDE).skin([0, 1]).animate((0, "translation", [0, 0.4, 1], [[0, 0, 0], [4, 0, 0], [4, 0, 0]]))
    clip = read_gltf(tiny.glb(tmp_path / "a.glb"))
    assert (clip.fps, clip.frame_count) == (30, 31)
    assert np.allclose(clip.root[:13, 1], np.arange(13) / 3)


def test_a_given_rate_wins_and_must_be_one(tmp_path):
    tiny = Tiny(BESIDE).skin([0, 1]).animate((0, "translation", [0, 1], [[0, 0, 0], [1, 0, 0]]))
    path = tiny.glb(tmp_path / "a.glb")
    assert read_gltf(path, fps=10.0).frame_count == 11
    with pytest.raises(MotionError, match="no rate"):
        read_gltf(path, fps=0.0)


def test_one_key_is_one_frame(tmp_path):
    tiny = Tiny(BESIDE).skin([0, 1]).animate((0, "translation", [3], [[7, 0, 0]]))
    assert read_gltf(tiny.glb(tmp_path / "a.glb")).root.tolist() == [[0, 7, 0]]


# The skeleton


def test_control_bones_beside_the_root_hang_from_the_common_ancestor(tmp_path):
    nodes = [{"children": [1, 2], "name": "Armature"}, {"name": "hips", "translation": [0, 1, 0]}, {"name": "ik"}]
    skeleton = read_gltf(Tiny(nodes).skin([1, 2]).glb(tmp_path / "a.glb")).skeleton
    assert skeleton.names == ("Armature", "hips", "ik")
    assert skeleton.parents.tolist() == [-1, 0, 0]


def test_joints_without_an_ancestor_in_common_get_a_root(tmp_path):
    nodes = [{"name": "root", "translation": [0, 1, 0]}, {"name": "b", "translation": [0, 2, 0]}]
    skeleton = read_gltf(Tiny(nodes).skin([0, 1]).glb(tmp_path / "a.glb")).skeleton
    assert skeleton.names == ("root", "root_2", "b")
    assert np.allclose(skeleton.rest_positions, [[0, 0, 0], [0, 0, 1], [0, 0, 2]])


def test_children_listed_before_their_parents_are_put_in_order(tmp_path):
    nodes = [{"name": "toe"}, {"name": "leg", "children": [0]}, {"name": "arm"}, {"name": "hips", "children": [1, 2]}]
    skeleton = read_gltf(Tiny(nodes).skin([3, 1, 2, 0]).glb(tmp_path / "a.glb")).skeleton
    assert skeleton.names == ("hips", "leg", "toe", "arm")
    assert skeleton.parents.tolist() == [-1, 0, 1, 0]


def test_what_lies_between_joints_is_kept(tmp_path):
    nodes = [{"name": "a", "children": [1]}, {"name": "between", "children": [2]}, {"name": "c"}]
    assert read_gltf(Tiny(nodes).skin([0, 2]).glb(tmp_path / "a.glb")).skeleton.names == ("a", "between", "c")


def test_scales_and_turns_above_the_root_are_baked(tmp_path):
    turn = [-HALF, 0, 0, HALF]  # Z up to Y up
    nodes = [
        {"name": "Armature", "scale": [100, 100, 100], "rotation": turn, "children": [1]},
        {"name": "hips", "translation": [0, 0, 0.01], "children": [2]},
        {"name": "leg", "translation": [0.002, 0, 0]},
    ]
    tiny = Tiny(nodes).skin([1, 2]).animate((2, "rotation", [0, 1], [[0, 0, 0, 1], [0, 0, HALF, HALF]]))
    clip = read_gltf(tiny.glb(tmp_path / "a.glb"))
    assert np.allclose(file_axes(clip.skeleton.rest_positions), [[0, 1, 0], [0.2, 1, 0]])
    assert clip.offsets is None
    # A quarter turn about the armature's Z is one about jostle's Z as well: both are up.
    assert np.allclose(clip.wxyz[-1, 1], [HALF, 0, 0, HALF], atol=1e-6)


def test_a_moving_armature_carries_the_figure(tmp_path):
    nodes = [{"name": "Armature", "children": [1]}, {"name": "hips"}]
    tiny = Tiny(nodes).skin([1]).animate((0, "translation", [0, 1], [[0, 0, 0], [0, 0, 3]]))
    assert np.allclose(read_gltf(tiny.glb(tmp_path / "a.glb")).root[-1], [3, 0, 0])


def test_nodes_away_from_the_bind_pose_move_the_frames_and_not_the_rest(tmp_path):
    nodes = [
        {"name": "hips", "children": [1], "translation": [0, 5, 0]},
        {"name": "leg", "translation": [0, 1, 0], "rotation": [0, 0, HALF, HALF]},
        {"name": "skin", "mesh": 0, "skin": 0},
    ]
    tiny = Tiny(nodes).skin([0, 1], [matrix([0, 2, 0]), matrix([0, 3, 0])])
    tiny.json["meshes"] = [{"primitives": []}]
    tiny.animate((0, "translation", [0], [[0, 7, 0]]))
    clip = read_gltf(tiny.glb(tmp_path / "a.glb"))
    assert np.allclose(file_axes(clip.skeleton.rest_positions), [[0, 2, 0], [0, 3, 0]])
    assert np.allclose(file_axes(clip.positions[0]), [[0, 7, 0], [0, 8, 0]])
    assert np.allclose(clip.wxyz[0, 1], [HALF, HALF, 0, 0], atol=1e-6)  # the file's Z is jostle's X


def test_bones_that_move_make_offsets(tmp_path):
    tiny = Tiny(BESIDE).skin([0, 1]).animate((1, "translation", [0, 1], [[0, 1, 0], [0, 1.5, 0]]))
    clip = read_gltf(tiny.glb(tmp_path / "a.glb"), fps=1.0)
    assert clip.offsets is not None
    assert np.allclose(clip.offsets[:, 1], [[0, 0, 1], [0, 0, 1.5]])


def test_without_a_skin_the_animated_nodes_are_the_figure(tmp_path):
    nodes = [
        {"name": "scene", "children": [1, 4]},
        {"name": "base", "children": [2]},
        {"name": "arm", "translation": [0, 1, 0], "children": [3]},
        {"name": "tip", "translation": [0, 2, 0]},
        {"name": "lamp"},
    ]
    tiny = Tiny(nodes).animate((1, "translation", [0], [[0, 0, 0]]), (2, "rotation", [0], [[0, 0, 0, 1]]), name="swing")
    clip = read_gltf(tiny.glb(tmp_path / "a.glb"))
    assert clip.skeleton.names == ("base", "arm")
    assert np.allclose(clip.skeleton.rest_ends, [[0, 0, 3]])


def test_names_are_made_unique_and_printable(tmp_path):
    nodes = [{"name": "a\nb\ud800", "children": [1, 2, 3]}, {"name": "x"}, {"name": "x"}, {}]
    assert read_gltf(Tiny(nodes).skin([0, 1, 2, 3]).glb(tmp_path / "a.glb")).skeleton.names == (
        "a b?",
        "x",
        "x_2",
        "node3",
    )


def test_mirrored_nodes_still_turn_properly(tmp_path):
    nodes = [{"name": "a", "children": [1]}, {"name": "b", "scale": [-1, 1, 1], "children": [2]}, {"name": "c"}]
    tiny = Tiny(nodes).skin([0, 1, 2]).animate((2, "rotation", [0], [[0, 0, HALF, HALF]]))
    # Seen in the mirror, a quarter turn about Z goes the other way.
    assert np.allclose(read_gltf(tiny.glb(tmp_path / "a.glb")).wxyz[0, 2], [HALF, -HALF, 0, 0], atol=1e-6)


def test_swelling_bones_keep_places_and_say_what_is_lost(tmp_path):
    tiny = Tiny(BESIDE).skin([0, 1]).animate((0, "scale", [0, 1], [[1, 1, 1], [2, 2, 2]]))
    with pytest.warns(JostleWarning, match="change their size by up to 100%"):
        clip = read_gltf(tiny.glb(tmp_path / "a.glb"), fps=1.0)
    assert np.allclose(file_axes(clip.positions[:, 1]), [[0, 1, 0], [0, 2, 0]])


def test_what_moves_beside_the_figure_is_told(tmp_path):
    tiny = Tiny([*BESIDE, {"name": "ball"}]).skin([0, 1]).animate((2, "translation", [0], [[0, 0, 0]]))
    with pytest.warns(JostleWarning, match="nodes outside the skeleton"):
        read_gltf(tiny.glb(tmp_path / "a.glb"))


def test_a_second_figure_is_left_out_and_told(tmp_path):
    tiny = Tiny([*BESIDE, {"name": "other"}]).skin([0, 1]).skin([2])
    with pytest.warns(JostleWarning, match="1 of its 2 skins"):
        assert read_gltf(tiny.glb(tmp_path / "a.glb")).skeleton.names == ("hips", "leg")


# Animations by name and number


def test_animations_are_listed_and_found_by_name_short_name_and_number(data):
    path = data / "quaternius_cc0/Fox.glb"
    listed = animations(path)
    assert len(listed) == 12
    assert listed[3] == ("AnimalArmature|Gallop", pytest.approx(13 / 24))
    clips = [read_gltf(path, which) for which in ("AnimalArmature|Gallop", "gallop", "3")]
    assert {(clip.name, clip.frame_count) for clip in clips} == {("Fox-Gallop", 14)}
    assert read_gltf(path).name == "Fox-Attack"


def test_an_unknown_animation_is_answered_with_the_known_ones(data, tmp_path):
    with pytest.raises(FileError, match=r"Fox.glb: No animation 'Galop'. Did you mean 'Gallop'\? Known: Attack, Death"):
        read_gltf(data / "quaternius_cc0/Fox.glb", "Galop")
    with pytest.raises(FileError, match=r"No animation '12'"):
        read_gltf(data / "quaternius_cc0/Fox.glb", 12)
    with pytest.raises(FileError, match="it has no animation"):
        read_gltf(Tiny(BESIDE).skin([0, 1]).glb(tmp_path / "a.glb"), "walk")


# The container


def test_integers_are_fractions_of_their_range(tmp_path):
    tiny = Tiny(BESIDE).skin([0, 1])
    turn = tiny.add(np.round(np.array([[0, 0, HALF, HALF]]) * 32767), "i2", normalized=True)
    clip = read_gltf(tiny.animate((0, "rotation", [0], turn)).glb(tmp_path / "a.glb"))
    assert np.allclose(clip.wxyz[0, 0], [HALF, HALF, 0, 0], atol=1e-4)


def test_sparse_accessors_replace_single_elements(tmp_path):
    tiny = Tiny(BESIDE).skin([0, 1])
    rows, values = tiny.add([1], "u1"), tiny.add([[3, 0, 0]])
    views = [tiny.json["accessors"][a]["bufferView"] for a in (rows, values)]
    sparse = {
        "count": 1,
        "indices": {"bufferView": views[0], "componentType": 5121},
        "values": {"bufferView": views[1]},
    }
    tiny.json["accessors"].append({"componentType": 5126, "count": 3, "type": "VEC3", "sparse": sparse})
    tiny.animate((0, "translation", [0, 1, 2], len(tiny.json["accessors"]) - 1))
    assert np.allclose(read_gltf(tiny.glb(tmp_path / "a.glb"), fps=1.0).root[:, 1], [0, 3, 0])


def test_interleaved_buffers(tmp_path):
    tiny = Tiny(BESIDE).skin([0, 1])
    both = tiny.add([[1, 2, 3, 0], [4, 5, 6, 0]])  # positions with a gap after each
    tiny.json["accessors"][both]["type"] = "VEC3"
    tiny.json["bufferViews"][tiny.json["accessors"][both]["bufferView"]]["byteStride"] = 16
    clip = read_gltf(tiny.animate((0, "translation", [0, 1], both)).glb(tmp_path / "a.glb"), fps=1.0)
    assert np.allclose(file_axes(clip.root), [[1, 2, 3], [4, 5, 6]])


def test_text_with_data_inside_or_beside_it(tmp_path):
    tiny = Tiny(BESIDE).skin([0, 1]).animate((0, "translation", [0], [[0, 7, 0]]))
    assert read_gltf(tiny.gltf(tmp_path / "a.gltf")).root.tolist() == [[0, 0, 7]]
    (tmp_path / "the data.bin").write_bytes(tiny.data)
    assert read_gltf(tiny.gltf(tmp_path / "b.gltf", "the%20data.bin")).root.tolist() == [[0, 0, 7]]


@pytest.mark.parametrize(
    "uri", ["../secret.bin", "/etc/passwd", "%2e%2e/secret.bin", "file:///etc/passwd", "a\0b", "link"]
)
def test_data_outside_the_files_own_folder_is_refused(tmp_path, uri):
    (tmp_path / "secret.bin").write_bytes(bytes(1000))
    folder = tmp_path / "inner"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path / "secret.bin")
    tiny = Tiny(BESIDE).skin([0, 1]).animate((0, "translation", [0], [[0, 7, 0]]))
    with pytest.raises(FormatError, match="outside the file's own folder"):
        read_gltf(tiny.gltf(folder / "a.gltf", uri))


# Writing


@pytest.mark.parametrize("ending", ["glb", "gltf"])
@pytest.mark.parametrize("moving_bones", [False, True])
def test_a_round_trip_keeps_every_joint_and_tip(tmp_path, ending, moving_bones):
    clip = a_clip(moving_bones=moving_bones)
    write_gltf(clip, tmp_path / f"dance.{ending}")
    back = read_gltf(tmp_path / f"dance.{ending}")
    assert (back.fps, back.frame_count, back.name) == (29.97, 7, "dance")
    assert back.skeleton.same_as(clip.skeleton)
    assert np.allclose(back.skeleton.offsets[0], clip.skeleton.offsets[0])
    assert back.skeleton.end_parents.tolist() == clip.skeleton.end_parents.tolist()
    assert (back.offsets is None) == (clip.offsets is None)
    assert np.abs(back.positions - clip.positions).max() < 1e-4
    assert np.abs(back.globals.ends - clip.globals.ends).max() < 1e-4
    assert quat.angle(quat.inv_mul(back.wxyz, clip.wxyz)).max() < 1e-5


def test_late_frames_of_a_long_take_are_exact_too(tmp_path):
    """Float32 key times are off by 60 microseconds after 1000 s; the frames must still be the keys."""
    skeleton = build_skeleton(["a"], [-1], [[0, 0, 0]])
    frames = 120_000
    root = np.stack([np.arange(frames) % 2 * 1.0, np.zeros(frames), np.zeros(frames)], axis=1)
    clip = Clip(skeleton, 120.0, root, quat.identity((frames, 1)))
    write_gltf(clip, tmp_path / "long.glb")
    back = read_gltf(tmp_path / "long.glb")
    assert back.fps == 120.0
    assert np.abs(back.root - clip.root).max() < 1e-9


@pytest.mark.parametrize(
    "name", ["cmu_bvh/104_22.bvh", "snu_ys2010/push/wd2_PushStep00.bvh", "bandai_namco_1/dataset-1_dash_giant_001.bvh"]
)
def test_real_takes_survive_a_round_trip(data, tmp_path, name):
    from jostle.clips.formats.bvh import read_bvh

    clip = read_bvh(data / name)
    write_gltf(clip, tmp_path / "a.glb")
    assert np.abs(read_gltf(tmp_path / "a.glb").positions - clip.positions).max() < 1e-4


@pytest.mark.slow
def test_all_real_takes_survive_a_round_trip(data, tmp_path):
    from jostle.clips.formats.bvh import read_bvh

    for path in sorted(data.rglob("*.bvh")) + sorted(data.rglob("*.glb")):
        clip = read_bvh(path) if path.suffix == ".bvh" else read_gltf(path)
        write_gltf(clip, tmp_path / "a.glb")
        back = read_gltf(tmp_path / "a.glb")
        assert (back.fps, back.skeleton.names) == (clip.fps, clip.skeleton.names), path
        assert np.abs(back.positions - clip.positions).max() < 1e-4, path
        if len(clip.skeleton.end_parents):
            assert np.abs(back.globals.ends - clip.globals.ends).max() < 1e-4, path


def test_a_written_file_keeps_the_rules_of_the_format(tmp_path, data):
    write_gltf(read_gltf(data / "quaternius_cc0/Fox.glb", "Walk"), tmp_path / "a.glb")
    glb = (tmp_path / "a.glb").read_bytes()
    document, binary = unpack(glb)
    assert struct.unpack_from("<I", glb, 8)[0] == len(glb) == len(glb) // 4 * 4
    assert document["asset"]["version"] == "2.0"
    assert document["buffers"][0]["byteLength"] <= len(binary)
    assert all(view["byteOffset"] % 4 == 0 for view in document["bufferViews"])
    raw = Raw(tmp_path / "a.glb")
    attributes = [p["attributes"] for p in document["meshes"][0]["primitives"]]
    for primitive in attributes:
        position = document["accessors"][primitive["POSITION"]]
        assert np.array_equal(raw.accessor(primitive["POSITION"]).min(axis=0), position["min"])
        assert np.array_equal(raw.accessor(primitive["POSITION"]).max(axis=0), position["max"])
        assert np.allclose(raw.accessor(primitive["WEIGHTS_0"]).sum(axis=1), 1)
        assert np.allclose(np.linalg.norm(raw.accessor(primitive["NORMAL"]), axis=1), 1, atol=1e-4)
        assert document["bufferViews"][position["bufferView"]]["target"] == 34962
    for sampler in document["animations"][0]["samplers"]:
        times = document["accessors"][sampler["input"]]
        assert times["min"] == [0.0]
        assert times["max"] == [pytest.approx((times["count"] - 1) / 24)]
    for channel in document["animations"][0]["channels"]:
        if channel["target"]["path"] == "rotation":
            turn = raw.accessor(document["animations"][0]["samplers"][channel["sampler"]]["output"])
            assert np.allclose(np.linalg.norm(turn, axis=1), 1, atol=1e-6)
            assert np.all(np.sum(turn[1:] * turn[:-1], axis=1) > 0)  # viewers that do not mind the sign see no flips


def test_what_cannot_be_written_leaves_the_old_file_alone(tmp_path):
    path = tmp_path / "a.glb"
    path.write_text("precious")
    clip = a_clip()
    clip.wxyz[2, 1] = np.nan
    with pytest.raises(MotionError, match="'dance' has frames that are not finite"):
        write_gltf(clip, path)
    with pytest.raises(FileError, match=r"end in \.glb or \.gltf"):
        write_gltf(a_clip(), tmp_path / "a.fbx")
    with pytest.raises(FileError, match="does not exist"):
        write_gltf(a_clip(), tmp_path / "nowhere" / "a.glb")
    assert path.read_text() == "precious"
    assert [p.name for p in tmp_path.iterdir()] == ["a.glb"]


def test_text_output_is_one_file_and_the_same_motion(tmp_path):
    write_gltf(a_clip(), tmp_path / "a.gltf")
    assert json.loads((tmp_path / "a.gltf").read_text())["buffers"][0]["uri"].startswith("data:")
    assert [p.name for p in tmp_path.iterdir()] == ["a.gltf"]
