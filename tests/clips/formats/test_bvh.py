"""BVH against an independent reader by 4x4 matrices, against pymotion, and against everything that goes wrong."""

import re
import warnings

import numpy as np
import pytest

from jostle.clips.clip import Clip
from jostle.clips.formats.bvh import read_bvh, write_bvh
from jostle.errors import FileError, FormatError, JostleWarning, MotionError
from jostle.maths import quat
from jostle.skeleton import build_skeleton, find_roles, forward, rest_pose

HEADER = """HIERARCHY
ROOT Hips
{
\tOFFSET 0 100 0
\tCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
\tJOINT Spine
\t{
\t\tOFFSET 0 10 1
\t\tCHANNELS 3 Yrotation Xrotation Zrotation
\t\tEnd Site
\t\t{
\t\t\tOFFSET 0 20 0
\t\t}
\t}
\tJOINT Leg
\t{
\t\tOFFSET 5 -40 0
\t\tCHANNELS 1 Xrotation
\t\tEnd Site
\t\t{
\t\t\tOFFSET 0 -40 0
\t\t}
\t}
}
"""
MOTION = """MOTION
Frames: 2
Frame Time: 0.0333333
1 2 3 10 20 30 40 50 60 70
-1.5e0 .25 +3 1.44925e-005 -20 30. 4E1 50 60 -70
"""
TEXT = HEADER + MOTION


@pytest.fixture
def save(tmp_path):
    def write(text, name="take.bvh"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


# An independent reader: recursive, 4x4 matrices, file axes and file units.


def turn(axis, degrees):
    a, b = {"X": (1, 2), "Y": (2, 0), "Z": (0, 1)}[axis]
    matrix, angle = np.eye(4), np.radians(degrees)
    matrix[a, a] = matrix[b, b] = np.cos(angle)
    matrix[a, b], matrix[b, a] = -np.sin(angle), np.sin(angle)
    return matrix


def reference(text):
    """Joint name (tips: its parent's name + ' tip') to positions (T, 3)."""
    words = text.split()
    at = words.index("MOTION")
    head, tail = words[1:at], words[at:]
    frames = int(tail[2])
    values = np.array(tail[6:], dtype=float).reshape(frames, -1)
    found, column = {}, [0]

    def node(i, parents, parent_name):
        kind = head[i]
        name = f"{parent_name} tip" if kind == "End" else head[i + 1]
        i += 3
        offset = np.array(head[i + 1 : i + 4], dtype=float)
        i += 4
        channels = []
        if head[i] == "CHANNELS":
            count = int(head[i + 1])
            channels = head[i + 2 : i + 2 + count]
            i += 2 + count
        mine = []
        for t in range(frames):
            here = offset.copy()
            spin = np.eye(4)
            for k, channel in enumerate(channels):
                value = values[t, column[0] + k]
                if channel.endswith("position"):
                    here["XYZ".index(channel[0])] = value
                else:
                    spin = spin @ turn(channel[0], value)
            shift = np.eye(4)
            shift[:3, 3] = here
            mine.append(parents[t] @ shift @ spin)
        column[0] += len(channels)
        found[name] = np.array([m[:3, 3] for m in mine])
        while head[i] != "}":
            i = node(i, mine, name)
        return i + 1

    node(0, [np.eye(4)] * frames, "")
    return found


def file_axes(positions, unit):
    return positions[..., [1, 2, 0]] / unit


def assert_same_positions(clip, expected, atol=1e-9):
    positions, ends = file_axes(clip.positions, clip.unit), file_axes(clip.globals.ends, clip.unit)
    for joint, name in enumerate(clip.skeleton.names):
        np.testing.assert_allclose(positions[:, joint], expected[name], atol=atol)
    for end, owner in enumerate(clip.skeleton.end_parents):
        np.testing.assert_allclose(ends[:, end], expected[f"{clip.skeleton.names[owner]} tip"], atol=atol)


def test_positions_agree_with_matrices(save):
    clip = read_bvh(save(TEXT), unit=0.01)
    assert clip.skeleton.names == ("Hips", "Spine", "Leg")
    assert clip.fps == 30.0
    assert clip.name == "take"
    assert_same_positions(clip, reference(TEXT))


CHANNELS = [f"{axis}{kind}" for kind in ("position", "rotation") for axis in "XYZ"]


@pytest.mark.parametrize("seed", range(20))
def test_any_channels_on_any_joint_in_any_order(save, seed):
    rng = np.random.default_rng(seed)
    lines, width, opened = ["HIERARCHY"], 0, 0
    for index in range(6):
        channels = rng.permutation(CHANNELS)[: rng.integers(0 if index else 1, 7)]
        width += len(channels)
        lines += [
            f"{'JOINT' if index else 'ROOT'} j{index}",
            "{",
            "OFFSET {} {} {}".format(*rng.normal(size=3).round(4)),
        ]
        lines += [f"CHANNELS {len(channels)} {' '.join(channels)}"]
        opened += 1
        if rng.random() < 0.3 or index == 5:
            lines += ["End Site", "{", "OFFSET 0 0.5 0.25", "}"]
        if index and rng.random() < 0.4:
            lines.append("}")
            opened -= 1
    lines += ["}"] * opened + ["MOTION", "Frames: 4", "Frame Time: 0.01"]
    lines += [" ".join(map(str, row)) for row in rng.normal(scale=60.0, size=(4, width)).round(5)]
    text = "\n".join(lines) + "\n"
    clip = read_bvh(save(text), unit=1.0)
    assert_same_positions(clip, reference(text))


def test_layout_does_not_matter(save):
    plain = read_bvh(save(TEXT), unit=0.01)
    one_line = re.sub(r"\s+", " ", HEADER.replace("\n\tJOINT", " JOINT")) + MOTION
    for text in (
        TEXT.replace("\n", "\r\n"),
        TEXT.replace("\n", "\r"),
        TEXT.replace(" ", "\t"),
        "\ufeff" + TEXT,
        TEXT.replace("HIERARCHY", "\n\n  hierarchy").replace("CHANNELS", "Channels").replace("Xrot", "XRot"),
        TEXT.replace("Frames: ", "Frames:\t").replace("Frame Time: ", "FRAME TIME:"),
        TEXT.replace("Frames: ", "Frames ").replace("Frame Time:", "FrameTime"),
        TEXT.replace("MOTION\n", "MOTION  \n\n") + "\n \n\n",
        TEXT.replace("End Site", "End site tip"),
        one_line,
    ):
        clip = read_bvh(save(text), unit=0.01)
        np.testing.assert_array_equal(clip.positions, plain.positions)
        assert clip.skeleton.names == plain.skeleton.names
    clip = read_bvh(save(TEXT.encode("utf-16")), unit=0.01)
    np.testing.assert_array_equal(clip.positions, plain.positions)


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("Hüfte".encode(), "Hüfte"),
        ("Hüfte".encode("latin-1"), "Hüfte"),
        ("腰".encode(), "腰"),
        (b"Bip01  L Thigh", "Bip01 L Thigh"),
        (b"MOTION", "MOTION"),
        (b"mixamorig:Hips", "mixamorig:Hips"),
    ],
)
def test_names_in_any_encoding(save, raw, name):
    clip = read_bvh(save(TEXT.encode().replace(b"ROOT Hips", b"ROOT " + raw)), unit=0.01)
    assert clip.skeleton.names[0] == name


def test_names_that_occur_twice_are_told_apart(save):
    with pytest.warns(JostleWarning, match="Spine_2"):
        clip = read_bvh(save(TEXT.replace("JOINT Leg", "JOINT Spine")), unit=0.01)
    assert clip.skeleton.names == ("Hips", "Spine", "Spine_2")


@pytest.mark.parametrize(
    ("written", "fps"),
    [
        ("0.0333333", 30.0),
        (".0083333", 120.0),
        ("0.033333", 30.0),
        ("8.3333e-003", 120.0),
        ("0.016667", 60.0),
        ("0.04", 25.0),
        ("0.0333667", 1 / 0.0333667),
        ("0.4", 2.5),
        ("2", 0.5),
    ],
)
def test_rate_is_the_one_that_the_frame_time_abbreviates(save, written, fps):
    clip = read_bvh(save(TEXT.replace("0.0333333", written)), unit=0.01)
    assert clip.fps == pytest.approx(fps, rel=1e-12)


# Position channels.

SIX = "CHANNELS 6 Xposition Yposition Zposition Yrotation Xrotation Zrotation"


def moving_spine(*positions):
    text = TEXT.replace("CHANNELS 3 Yrotation Xrotation Zrotation", SIX)
    for frame, position in zip((" 40 50 60 70", " 4E1 50 60 -70"), positions, strict=True):
        text = text.replace(frame, f" {position}{frame}")
    return text


def test_position_channels_replace_the_offset(save):
    text = moving_spine("1 2 3", "4 5 6")
    clip = read_bvh(save(text), unit=0.01)
    assert clip.offsets is not None
    assert_same_positions(clip, reference(text))
    np.testing.assert_allclose(file_axes(clip.offsets[:, 1], 0.01), [[1, 2, 3], [4, 5, 6]])


def test_positions_that_repeat_the_offset_make_no_moving_bones(save):
    clip = read_bvh(save(moving_spine("0 10 1", "1e-6 10.000001 1")), unit=0.01)
    assert clip.offsets is None
    np.testing.assert_allclose(file_axes(clip.skeleton.offsets[1], 0.01), [0, 10, 1])


def test_constant_positions_become_the_skeletons_offset(save):
    text = moving_spine("7 8 9", "7 8 9")
    clip = read_bvh(save(text), unit=0.01)
    assert clip.offsets is None
    np.testing.assert_allclose(file_axes(clip.skeleton.offsets[1], 0.01), [7, 8, 9])
    assert_same_positions(clip, reference(text))


def test_a_root_that_only_carries_the_hips_is_left_out(save):
    wrapped = HEADER.replace("ROOT Hips", "JOINT Hips")[len("HIERARCHY\n") :]
    text = (
        "HIERARCHY\nROOT mark\n{\nOFFSET 0 0 0\nCHANNELS 3 Xposition Zposition Yrotation\n" + wrapped + "}\n" + MOTION
    )
    text = text.replace("\n1 2 3", "\n5 6 7 1 2 3").replace("\n-1.5e0", "\n8 9 10 -1.5e0")
    clip = read_bvh(save(text), unit=0.01)
    assert clip.skeleton.names == ("Hips", "Spine", "Leg")
    assert clip.offsets is None
    assert_same_positions(clip, reference(text))


def test_scale_channels_are_skipped_with_a_warning(save):
    text = TEXT.replace("CHANNELS 1 Xrotation", "CHANNELS 2 Xrotation Yscale").replace(" 70\n", " 70 1\n")
    text = text.replace("-70\n", "-70 2\n")
    with pytest.warns(JostleWarning, match="scale"):
        clip = read_bvh(save(text), unit=0.01)
    np.testing.assert_allclose(clip.positions, read_bvh(save(TEXT), unit=0.01).positions)


# Rest pose.


def person(offsets, up="y"):
    """A person's BVH of one frame at zero; `offsets` are ours (X forward, Z up), written in the file's axes."""
    lines = ["HIERARCHY"]

    def node(name, *children):
        lines.extend([f"{'JOINT' if len(lines) > 1 else 'ROOT'} {name}", "{"])
        x, y, z = offsets[name]
        lines.append(f"OFFSET {y} {z} {x}" if up == "y" else f"OFFSET {y} {-x} {z}")
        lines.append("CHANNELS 3 Zrotation Xrotation Yrotation")
        for child in children:
            node(*child)
        lines.append("}")

    legs = [(f"{s}UpLeg", (f"{s}Leg", (f"{s}Foot", (f"{s}Toe",)))) for s in ("Left", "Right")]
    arms = [(f"{s}Arm", (f"{s}ForeArm", (f"{s}Hand",))) for s in ("Left", "Right")]
    node("Hips", *legs, ("Spine", ("Chest", ("Neck", ("Head",)), *arms)))
    width = 3 * sum("CHANNELS" in line for line in lines)
    return "\n".join([*lines, "MOTION", "Frames: 1", "Frame Time: 0.01", "0 " * width]) + "\n"


STANDING = {"Hips": (0, 0, 95), "Spine": (0, 0, 15), "Chest": (0, 0, 20), "Neck": (0, 0, 20), "Head": (0, 0, 10)}
for side, sign in (("Left", 1), ("Right", -1)):
    STANDING |= {f"{side}UpLeg": (0, 9 * sign, -5), f"{side}Leg": (0, 0, -40), f"{side}Foot": (0, 0, -40)}
    STANDING |= {f"{side}Toe": (12, 0, -5), f"{side}Arm": (0, 18 * sign, 15)}
    STANDING |= {f"{side}ForeArm": (0, 28 * sign, 0), f"{side}Hand": (0, 25 * sign, 0)}


def assert_stands(skeleton):
    at, roles = skeleton.rest_positions, find_roles(skeleton)
    left = at[roles["left_thigh"]] - at[roles["right_thigh"]]
    foot = at[roles["left_toe"]] - at[roles["left_foot"]]
    assert at[roles["head"], 2] > at[roles["pelvis"], 2] + 0.3 > at[roles["left_foot"], 2] + 0.9
    assert left[1] > 0.9 * np.linalg.norm(left)
    assert foot[0] > 0.8 * np.linalg.norm(foot)


def test_a_standing_rest_pose_is_kept(save):
    clip = read_bvh(save(person(STANDING)))
    assert clip.unit == 0.01
    assert_stands(clip.skeleton)
    np.testing.assert_allclose(clip.skeleton.offsets[0], [0, 0, 0.95])
    np.testing.assert_array_equal(clip.wxyz[0], quat.identity((clip.skeleton.joint_count,)))


def test_a_figure_that_faces_elsewhere_is_turned_in_its_frames_only(save):
    backwards = {name: (-x, -y, z) for name, (x, y, z) in STANDING.items()}
    clip = read_bvh(save(person(backwards)))
    assert_stands(clip.skeleton)
    left_hip = clip.positions[0, clip.skeleton.index("LeftUpLeg")]
    np.testing.assert_allclose(left_hip, [0, -0.09, 0.90], atol=1e-12)


def test_z_up_is_found_out(save):
    path = save(person(STANDING, up="z"))
    for clip in (read_bvh(path), read_bvh(path, up="z")):
        assert_stands(clip.skeleton)
        top = clip.positions[0, clip.skeleton.index("Head"), 2]
        assert top == pytest.approx(1.60)
    with pytest.raises(MotionError, match="'x'"):
        read_bvh(path, up="x")


def test_bandai_namcos_heap_of_bones_stands_up(data):
    clips = [
        read_bvh(data / "bandai_namco_1" / f"dataset-1_{take}_001.bvh")
        for take in ("walk_old", "dash_tired", "kick_normal")
    ]
    for clip in clips:
        assert clip.skeleton.same_as(clips[0].skeleton)
        assert_stands(clip.skeleton)
        assert clip.skeleton.names[0] == "Hips"
        assert clip.offsets is None
        assert clip.skeleton.rest_positions[:, 2].min() == pytest.approx(0.0, abs=1e-12)
        knees = quat.log(clip.wxyz[:, find_roles(clip.skeleton)["left_shin"]])
        assert knees[:, 1].max() > 0.8  # a knee bends about our Y, and no further than that about the others
        assert np.abs(knees[:, [0, 2]]).max() < 0.1


def test_bandai_namcos_positions_are_those_of_the_file(data):
    path = data / "bandai_namco_1" / "dataset-1_dash_normal_001.bvh"
    expected = reference(path.read_text())
    clip = read_bvh(path)
    assert_same_positions(clip, expected, atol=1e-3)  # 0.01 mm: bones that hardly move were made constant


# Peers and round trips.


def test_positions_agree_with_pymotion(data):
    from pymotion.io.bvh import BVH
    from pymotion.ops.skeleton import fk

    path = data / "cmu_bvh" / "35_01.bvh"
    peer = BVH()
    peer.load(str(path))
    rotations, positions, parents, offsets, _, _ = peer.get_data()
    expected, _ = fk(rotations, positions[:, 0], offsets, parents)
    clip = read_bvh(path)
    assert clip.skeleton.names == tuple(peer.data["names"])
    np.testing.assert_allclose(
        file_axes(clip.positions, clip.unit), expected, atol=2e-4
    )  # pymotion is single precision


def assert_round_trip(clip, path, **options):
    write_bvh(clip, path, **options)
    back = read_bvh(path, unit=options.get("unit", 0.01))
    assert back.fps == pytest.approx(clip.fps, rel=1e-9)
    assert back.skeleton.names == clip.skeleton.names
    assert np.abs(back.positions - clip.positions).max() < 1e-5  # a tenth of what is promised
    assert np.abs(back.globals.ends - clip.globals.ends).max(initial=0.0) < 1e-5
    return back


@pytest.mark.parametrize(
    "name",
    ["cmu_bvh/16_01", "bandai_namco_1/dataset-1_dash_normal_001", "snu_ys2010/walk/wd2_WalkForwardVFast00"],
)
def test_round_trip_of_real_motion(data, tmp_path, name):
    clip = read_bvh(data / f"{name}.bvh")
    back = assert_round_trip(clip, tmp_path / "again.bvh")
    assert back.skeleton.same_as(clip.skeleton)


@pytest.mark.slow
def test_round_trip_of_everything(data, tmp_path):
    for path in sorted(data.rglob("*.bvh")):
        assert_round_trip(read_bvh(path), tmp_path / "again.bvh")


def tumbling(frames=240, moving=False, seed=0):
    """Three joints that turn through every orientation, gimbal lock included."""
    skeleton = build_skeleton(
        ["a", "b", "c"], [-1, 0, 1], [[0, 0, 1], [0, 0, 0.5], [0.2, 0.1, 0.4]], [(2, (0, 0, 0.3))]
    )
    t = np.linspace(0, 4 * np.pi, frames)
    wxyz = np.stack([quat.exp(np.outer(t, axis)) for axis in ([1, 0, 0], [0, 1, 0], [0.5, 0.2, 0.9])], axis=1)
    wxyz[100:110, 1] = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), np.pi / 2)
    offsets = np.tile(skeleton.offsets, (frames, 1, 1)) if moving else None
    if offsets is not None:
        offsets[:, 2] += np.random.default_rng(seed).normal(scale=0.1, size=(frames, 3))
    return Clip(skeleton, 60.0, np.stack([t, np.sin(t), np.cos(t)], axis=-1), wxyz, offsets)


@pytest.mark.parametrize("unit", [1.0, 0.01, 0.001, 0.0254])
def test_round_trip_through_gimbal_lock(tmp_path, unit):
    assert_round_trip(tumbling(), tmp_path / "a.bvh", unit=unit)


def test_round_trip_of_moving_bones(tmp_path):
    back = assert_round_trip(tumbling(moving=True), tmp_path / "a.bvh")
    assert back.offsets is not None
    text = (tmp_path / "a.bvh").read_text()
    assert text.count("CHANNELS 6") == 2  # the root and the one bone that moves


def test_written_curves_do_not_jump(tmp_path):
    write_bvh(tumbling(), tmp_path / "a.bvh")
    rows = np.loadtxt((tmp_path / "a.bvh").read_text().split("Frame Time:")[1].split("\n")[1:])
    steps = np.abs(np.diff(rows[:, 3:], axis=0))
    steps[99], steps[109] = 0.0, 0.0  # the pose itself is made to jump there
    assert steps.max() < 60.0  # degrees; a curve that wraps would show 180 or 360


def test_written_file_is_read_alike_by_a_peer(tmp_path):
    from pymotion.io.bvh import BVH
    from pymotion.ops.skeleton import fk

    clip = tumbling()
    write_bvh(clip, tmp_path / "a.bvh")
    peer = BVH()
    peer.load(str(tmp_path / "a.bvh"))
    rotations, positions, parents, offsets, _, _ = peer.get_data()
    expected, _ = fk(rotations, positions[:, 0], offsets, parents)
    np.testing.assert_allclose(file_axes(clip.positions, 0.01), expected, atol=5e-3)


def test_digits_are_as_many_as_asked_for(tmp_path):
    clip = tumbling()
    write_bvh(clip, tmp_path / "short.bvh", digits=4)
    numbers = (tmp_path / "short.bvh").read_text().splitlines()[-1].split()
    assert {len(number.partition(".")[2]) for number in numbers} == {4}
    np.testing.assert_allclose(read_bvh(tmp_path / "short.bvh", unit=0.01).positions, clip.positions, atol=1e-5)
    with pytest.raises(MotionError, match="1 to 12 digits behind the point, not 0"):
        write_bvh(clip, tmp_path / "short.bvh", digits=0)


def test_joints_are_written_depth_first(tmp_path):
    skeleton = build_skeleton(["r", "a", "b", "aa"], [-1, 0, 0, 1], [[0, 0, 1], [0, 1, 0], [0, -1, 0], [0, 1, 0]])
    wxyz = quat.from_euler(np.arange(12.0).reshape(1, 4, 3), "XYZ")
    clip = Clip(skeleton, 30.0, np.zeros((1, 3)), wxyz)
    write_bvh(clip, tmp_path / "a.bvh")
    back = read_bvh(tmp_path / "a.bvh", unit=0.01)
    assert back.skeleton.names == ("r", "a", "aa", "b")
    for name in skeleton.names:
        np.testing.assert_allclose(
            back.positions[:, back.skeleton.index(name)], clip.positions[:, skeleton.index(name)], atol=1e-6
        )


def test_gaps_are_not_written_and_the_old_file_stays(tmp_path):
    path = tmp_path / "a.bvh"
    write_bvh(tumbling(), path)
    before = path.read_bytes()
    clip = tumbling()
    clip.wxyz[3] = np.nan
    with pytest.raises(MotionError, match="gaps"):
        write_bvh(clip, path)
    with pytest.raises(MotionError, match="makes no sense"):
        write_bvh(tumbling(), path, unit=0.0)
    assert path.read_bytes() == before


# What goes wrong.


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("HIERARCHY", "HIER", 1, "not a BVH"),
        ("MOTION\n", "", None, "MOTION"),
        ("ROOT Hips", "JOINT Hips", 2, "belongs to no joint"),
        ("\tOFFSET 0 100 0\n", "", 23, "OFFSET"),
        ("OFFSET 0 100 0", "OFFSET 0 x 0", 4, "three finite numbers"),
        ("OFFSET 0 100 0", "OFFSET 0 nan 0", 4, "three finite numbers"),
        ("CHANNELS 6", "CHANNELS 7", 6, "'JOINT' is no channel"),
        ("CHANNELS 6", "CHANNELS 5", 5, "'Yrotation' was not expected"),
        ("CHANNELS 6", "CHANNELS -1", 5, "0 to 9"),
        ("CHANNELS 6", "CHANNELS 999999999999", 5, "0 to 9"),
        ("Xposition Yposition", "Xposition Xposition", 5, "twice"),
        ("Zrotation Xrotation Yrotation\n\tJOINT", "Zrotation Xrotation Wrotation\n\tJOINT", 5, "'Wrotation'"),
        ("}\n}\nMOTION", "}\nMOTION", 24, "'}' is missing"),
        ("}\nMOTION", "}\n}\nMOTION", 25, "too many"),
        ("}\nMOTION", "}\nROOT Other\n{\nOFFSET 0 0 0\n}\nMOTION", 25, "second ROOT"),
        ("ROOT Hips\n{", "ROOT Hips\n", 4, "'{' was expected"),
        ("Frames: 2", "Frames: two", 26, "Frames:"),
        ("Frames: 2", "Frames: -2", 26, "Frames:"),
        ("Frames: 2", "Frames: 0", 26, "Frames:"),
        ("Frames: 2\n", "", 26, "Frames:"),
        ("Frame Time: 0.0333333\n", "", 27, "Frame Time:"),
        ("0.0333333", "0", 27, "positive"),
        ("0.0333333", "-0.03", 27, "positive"),
        ("0.0333333", "nan", 27, "positive"),
        ("0.0333333", "fast", 27, "positive"),
        ("Frames: 2", "Frames: 3", 29, "ends after 2 of 3"),
        ("Frames: 2", "Frames: 999999999999999999", 29, "ends after 2"),
        ("Frames: 2", "Frames: 1", 29, "more frames than the 1"),
        ("50 60 70", "50 60", 28, "9 values for 10 channels"),
        ("50 60 70", "50 60 70 80", 28, "11 values for 10 channels"),
        ("60 -70", "60", 29, "9 values for 10 channels"),
        ("50 60 70", "50 sixty 70", 28, "'sixty' is not a number"),
        ("50 60 70", "50 6,0 70", 28, "'6,0' is not a number"),
        ("50 60 70", "50 1_0 70", 28, "'1_0' is not a number"),
        ("50 60 70", "50 nan 70", 28, "'nan' is not a finite"),
        ("50 60 -70", "50 inf -70", 29, "'inf' is not a finite"),
        ("50 60 70", "50 -1.#IND 70", 28, "'-1.#IND' is not a finite"),
        ("50 60 70", "50 1e10 70", 28, "'1e10' is too large"),
        ("OFFSET 0 100 0", "OFFSET 0 1e99 0", 4, "three finite numbers"),
        ("50 60 70", "50 1e999 70", 28, "'1e999' is not a finite"),
    ],
)
def test_refusals_name_file_line_and_what(save, old, new, line, words):
    text = TEXT.replace(old, new, 1)
    assert text != TEXT
    with pytest.raises(FormatError) as caught:
        read_bvh(save(text), unit=0.01)
    assert caught.value.line == line
    assert words in str(caught.value)
    assert "take.bvh" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_gaps_come_through_when_asked_for(save):
    for gap in ("nan", "-nan(ind)", "1.#QNAN", "-1.#IND00"):
        clip = read_bvh(save(TEXT.replace("50 60 70", f"50 {gap} 70")), unit=0.01, allow_nan=True)
        assert np.isnan(clip.wxyz[0, 1]).all()
        assert np.isfinite(clip.wxyz[1]).all()
        assert np.isfinite(clip.wxyz[0, [0, 2]]).all()


def test_truncated_anywhere(save):
    for end in range(0, len(TEXT) - 4, 2):  # a last number that lost its last digit is still a number
        with pytest.raises(FileError):
            read_bvh(save(TEXT[:end]))


def test_empty_missing_and_folder(tmp_path, save):
    for path in (tmp_path / "none.bvh", tmp_path, save("")):
        with pytest.raises(FileError):
            read_bvh(path)


def test_two_thousand_nested_joints_are_read_and_more_are_refused(save):
    def nested(count):
        lines = ["HIERARCHY"]
        for i in range(count):
            lines.append(f"{'JOINT' if i else 'ROOT'} LeftShoulder{i} {{ OFFSET 0 0 1 CHANNELS {3 * (i == 0)}")
            lines += ["Zrotation Xrotation Yrotation"] * (i == 0)
        return "\n".join(lines) + "\n" + "}" * count + "\nMOTION\nFrames: 1\nFrame Time: 1\n1 2 3\n"

    assert read_bvh(save(nested(2_000)), unit=1.0).skeleton.joint_count == 2_000
    with pytest.raises(FormatError, match="2,000 joints"):
        read_bvh(save(nested(2_001)))


@pytest.mark.parametrize("piece", [b"1 ", b" ", b"\0"])
@pytest.mark.parametrize("place", [b"ROOT Hips", b"OFFSET 0 100", b"Frames:", b"Frame Time:", b"50 60", b"-70\n"])
def test_a_line_of_megabytes_is_refused(save, place, piece):
    text = TEXT.encode().replace(place, place + b" " + piece * (5_000_000 // len(piece)))
    if text.split() == TEXT.encode().split() and place in (b"ROOT Hips", b"OFFSET 0 100"):
        return  # blanks in the header are harmless
    with pytest.raises(FileError):
        read_bvh(save(text))


def test_line_numbers_hold_across_blocks(save, monkeypatch):
    monkeypatch.setattr("jostle.clips.formats.text.BLOCK", 80)  # bytes, so that every line or two is a block of its own
    row = "1 2 3 10 20 30 40 50 60 70\n"
    many = TEXT.replace("Frames: 2", "Frames: 42") + row * 20 + "\n\n" + row * 20
    np.testing.assert_array_equal(read_bvh(save(many), unit=0.01).wxyz[2], read_bvh(save(many), unit=0.01).wxyz[41])
    for bad, words in (("1 2 3\n", "3 values"), (row.replace("50", "x"), "'x'"), (row.replace("50", "nan"), "'nan'")):
        with pytest.raises(FormatError, match=words) as caught:
            read_bvh(save(many.replace("Frames: 42", "Frames: 43") + bad), unit=0.01)
        assert caught.value.line == 72
    with pytest.raises(FormatError, match="more frames") as caught:
        read_bvh(save(many + row), unit=0.01)
    assert caught.value.line == 72
    gaps = read_bvh(save(many.replace("\n\n\n", "\n" + row.replace("50", "1.#QNAN"))[: -1 - len(row)]), allow_nan=True)
    assert np.flatnonzero(np.isnan(gaps.wxyz).any(axis=(1, 2))).tolist() == [22]


def test_too_many_values_are_refused_before_they_are_read(save, monkeypatch):
    monkeypatch.setattr("jostle.clips.formats.text.MAX_VALUES", 19)
    with pytest.raises(FormatError, match="shorter takes"):
        read_bvh(save(TEXT))


def test_no_warning_on_any_real_file(data):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for folder in ("cmu_bvh", "bandai_namco_1", "snu_ys2010"):
            path = sorted((data / folder).rglob("*.bvh"))[0]
            clip = read_bvh(path)
            assert np.isfinite(clip.positions).all()


def test_rest_pose_of_real_files_stands(data):
    for name in ("cmu_bvh/35_01", "snu_ys2010/push/wd2_PushStep00", "snu_ys2010/other/boxing_boxman_hited_dir"):
        skeleton = read_bvh(data / f"{name}.bvh").skeleton
        assert_stands(skeleton)
        assert np.isfinite(forward(skeleton, rest_pose(skeleton)).positions).all()
