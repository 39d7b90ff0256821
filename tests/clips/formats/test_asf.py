"""ASF/AMC against Acclaim's own rule by matrices, and against the BVH conversion of the same take."""

import numpy as np
import pytest

from jostle.clips.formats.asf import find_asf, read_amc, read_asf
from jostle.clips.formats.bvh import read_bvh
from jostle.errors import FileError, FormatError, JostleWarning
from jostle.skeleton import find_roles, is_humanoid

ASF = """# a comment
:version 1.10
:name toy
:units
  mass 1.0
  length 0.45
  angle deg
:documentation
   begin and end mean nothing here
:root
   order TX TY TZ RX RY RZ
   axis XYZ
   position 0 0 0
   orientation 0 0 0
:bonedata
  begin
     id 1
     name hip
     direction 0.6 -0.8 0
     length 2.5
     axis 0 0 0 XYZ
  end
  begin
     id 2
     name femur
     direction 0.34202 -0.939693 0
     length 7.4
     axis 10 -15 20 XYZ
     dof rx ry rz
     limits (-160.0 20.0)
            (-70.0 70.0)
            (-60.0 70.0)
  end
  begin
     id 3
     name tibia
     direction 0.1 -0.9 0.2
     length 7.9
     axis 5 25 -30 ZYX
     dof rx rz
  end
  begin
     id 4
     name spine
     direction 0 1 0
     length 6
     axis 0 0 0 XYZ
     dof rz
  end
:hierarchy
  begin
    root hip spine
    hip femur
    femur tibia
  end
"""
AMC = """#!OML:ASF toy.ASF
:FULLY-SPECIFIED
:DEGREES
1
root 1 2 3 10 20 30
femur -20 15 5
tibia 40 -7
spine 12
2
root 1.5 2.5 -3.5e-1 -40 50 -60
spine -3.2e-015
tibia 4 -70
femur 80 -15 .5
"""
BONES = {  # name: parent, direction, length, axis, its order, dof
    "hip": ("root", (0.6, -0.8, 0), 2.5, (0, 0, 0), "XYZ", ""),
    "femur": ("hip", (0.34202, -0.939693, 0), 7.4, (10, -15, 20), "XYZ", "xyz"),
    "tibia": ("femur", (0.1, -0.9, 0.2), 7.9, (5, 25, -30), "ZYX", "xz"),
    "spine": ("root", (0, 1, 0), 6.0, (0, 0, 0), "XYZ", "z"),
}


@pytest.fixture
def toy(tmp_path):
    def write(asf=ASF, amc=AMC, name="07_01.amc", skeleton="07.asf"):
        (tmp_path / skeleton).write_text(asf)
        (tmp_path / name).write_bytes(amc if isinstance(amc, bytes) else amc.encode())
        return tmp_path / name

    return write


def turn(axis, degrees):
    a, b = {"X": (1, 2), "Y": (2, 0), "Z": (0, 1)}[axis.upper()]
    matrix, angle = np.eye(3), np.radians(degrees)
    matrix[a, a] = matrix[b, b] = np.cos(angle)
    matrix[a, b], matrix[b, a] = -np.sin(angle), np.sin(angle)
    return matrix


def product(order, angles):
    """The first listed turns first: it stands rightmost."""
    matrix = np.eye(3)
    for axis, angle in zip(order, angles, strict=True):
        matrix = turn(axis, angle) @ matrix
    return matrix


def reference(frame):
    """Where each bone begins and ends, by Acclaim's rule L = C M C^-1 B, in file axes and units."""
    root = frame["root"]
    turned = {"root": product("XYZ", root[3:])}
    ends = {"root": np.array(root[:3], dtype=float)}
    begins = {"root": ends["root"]}
    for name, (parent, direction, length, axis, order, dof) in BONES.items():
        c = product(order, axis)
        turned[name] = turned[parent] @ c @ product(dof, frame.get(name, ())) @ np.linalg.inv(c)
        begins[name] = ends[parent]
        ends[name] = begins[name] + turned[name] @ (np.array(direction) * length)
    return begins, ends


FRAMES = [
    {"root": (1, 2, 3, 10, 20, 30), "femur": (-20, 15, 5), "tibia": (40, -7), "spine": (12,)},
    {"root": (1.5, 2.5, -0.35, -40, 50, -60), "femur": (80, -15, 0.5), "tibia": (4, -70), "spine": (-3.2e-15,)},
]


def test_positions_follow_acclaims_rule(toy):
    clip = read_amc(toy())
    assert clip.unit == pytest.approx(2.54 / 0.45 / 100)
    assert clip.fps == 120.0
    assert clip.skeleton.names == ("root", "hip", "femur", "tibia", "spine")
    tips = [clip.skeleton.names[j] for j in clip.skeleton.end_parents]
    assert tips == ["tibia", "spine"]
    for t, frame in enumerate(FRAMES):
        begins, ends = reference(frame)
        for joint, name in enumerate(clip.skeleton.names):
            np.testing.assert_allclose(clip.positions[t, joint][[1, 2, 0]] / clip.unit, begins[name], atol=1e-12)
        for end, name in enumerate(tips):
            np.testing.assert_allclose(clip.globals.ends[t, end][[1, 2, 0]] / clip.unit, ends[name], atol=1e-12)


def test_rest_pose_is_the_asfs(toy):
    skeleton = read_asf(toy().with_name("07.asf")).skeleton
    unit = 0.0254 / 0.45
    np.testing.assert_allclose(skeleton.offsets[skeleton.index("femur")], np.array([0, 0.6, -0.8]) * 2.5 * unit)
    np.testing.assert_allclose(skeleton.offsets[skeleton.index("spine")], 0.0)


def test_radians_in_either_file(toy):
    degrees = read_amc(toy())
    lines = []
    for line in AMC.splitlines():
        name, *numbers = line.split()
        if numbers and name in ("root", "femur", "tibia", "spine"):
            values = np.array(numbers, dtype=float)
            values[3 if name == "root" else 0 :] = np.radians(values[3 if name == "root" else 0 :])
            line = f"{name} {' '.join(map(repr, values.tolist()))}"
        lines.append(line)
    radians = "\n".join(lines)
    np.testing.assert_allclose(read_amc(toy(amc=radians.replace(":DEGREES", ":RADIANS"))).positions, degrees.positions)
    axes = {"0 0 0 XYZ": (0, 0, 0, "XYZ"), "10 -15 20 XYZ": (10, -15, 20, "XYZ"), "5 25 -30 ZYX": (5, 25, -30, "ZYX")}
    asf = ASF.replace("angle deg", "angle rad")
    for old, (*angles, order) in axes.items():
        asf = asf.replace(old, " ".join(map(repr, np.radians(angles).tolist())) + f" {order}")
    np.testing.assert_allclose(read_amc(toy(asf=asf)).positions, degrees.positions)
    np.testing.assert_allclose(
        read_amc(toy(asf=asf, amc=radians.replace(":DEGREES\n", ""))).positions, degrees.positions
    )


def test_roots_channels_in_any_order(toy):
    asf = ASF.replace("order TX TY TZ RX RY RZ", "order RX RY RZ TZ TX TY")
    amc = AMC.replace("root 1 2 3 10 20 30", "root 10 20 30 3 1 2")
    amc = amc.replace("root 1.5 2.5 -3.5e-1 -40 50 -60", "root -40 50 -60 -3.5e-1 1.5 2.5")
    np.testing.assert_allclose(read_amc(toy(asf, amc)).positions, read_amc(toy()).positions)


def test_rate(toy):
    assert read_amc(toy(), fps=60.0).fps == 60.0
    assert read_amc(toy(amc=AMC.replace(":DEGREES", ":DEGREES\n:SAMPLES-PER-SECOND 100"))).fps == 100.0


def test_layout_does_not_matter(toy):
    plain = read_amc(toy())
    again = read_amc(toy(ASF.replace("\n", "\r\n\r\n"), "\ufeff" + AMC.replace("\n", " \r\n").replace(" ", "\t")))
    np.testing.assert_array_equal(again.positions, plain.positions)
    latin = read_amc(toy(ASF.replace("tibia", "tíbia"), AMC.replace("tibia", "tíbia")))
    np.testing.assert_array_equal(latin.positions, plain.positions)


def test_finding_the_skeleton(toy, tmp_path):
    assert find_asf(toy()).name == "07.asf"
    assert find_asf(toy(name="take.amc")).name == "07.asf"  # the only one
    (tmp_path / "08.ASF").write_text(ASF)
    assert find_asf(toy()).name == "07.asf"
    assert find_asf(toy(name="08_02.amc")).name == "08.ASF"
    with pytest.raises(FileError, match=r"'09.asf' is not in the same folder"):
        read_amc(toy(name="09_01.amc"))
    assert read_amc(toy(name="09_01.amc"), asf=tmp_path / "08.ASF").frame_count == 2
    with pytest.raises(FileError, match="no such file"):
        read_amc(tmp_path / "none.amc")


def test_a_bone_that_stretches_is_named(toy):
    asf = ASF.replace("dof rz", "dof rz l")
    amc = AMC.replace("spine 12", "spine 12 0.5").replace("spine -3.2e-015", "spine 0 0")
    with pytest.warns(JostleWarning, match="'spine' changes its length"):
        read_amc(toy(asf, amc))


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("tibia 40 -7\n", "", 4, "frame 1 has no values for: tibia"),
        ("tibia 4 -70\n", "", 9, "frame 2 has no values for: tibia"),
        ("tibia 4 -70\n", "tibia 4\n", 12, "frame 2 has 1 value for 'tibia', which has 2 channels"),
        ("tibia 4 -70", "fibula 4 -70", 12, "frame 2 names 'fibula'"),
        ("tibia 4 -70", "hip 4 -70", 12, "no channels"),
        ("tibia 4 -70", "tibia 4 -70\ntibia 4 -70", 13, "twice"),
        ("tibia 4 -70", "tibia 4 x", 9, "in frame 2 'x' is not a number"),
        ("tibia 4 -70", "tibia 4 nan", 9, "in frame 2 'nan' is not a finite"),
        ("tibia 4 -70", "tibia 4 1_0", 9, "in frame 2 '1_0' is not a number"),
        ("\n2\n", "\n3\n", 9, "frame 3 follows frame 1"),
        ("\n1\nroot", "\nroot", 4, "before the number of the first frame"),
        (AMC, ":DEGREES\n", None, "no frames"),
        (AMC, "\0\1\2", 1, "before the number of the first frame"),
    ],
)
def test_refusals_in_motion_name_the_frame(toy, old, new, line, words):
    text = AMC.replace(old, new, 1)
    assert text != AMC
    with pytest.raises(FormatError) as caught:
        read_amc(toy(amc=text))
    assert words in str(caught.value)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        (":bonedata", ":bones", None, "':bonedata'"),
        (":hierarchy", "", None, "':hierarchy'"),
        (":root", ":stem", None, "':root'"),
        ("length 0.45", "length 0", None, "unit of length"),
        ("     length 7.4\n", "", 32, "no length"),
        ("direction 0.6 -0.8 0", "direction 0.6 x 0", 19, "direction needs 3"),
        ("10 -15 20 XYZ", "10 -15 20 XYY", 28, "XYZ in some order"),
        ("dof rx rz", "dof rx rw", 40, "'rw'"),
        ("dof rx rz", "dof rx rx", 40, "'rx'"),
        ("name tibia", "name femur", 41, "two bones are called 'femur'"),
        ("femur tibia", "femur tibula", 54, "'tibula', which is no bone"),
        ("femur tibia", "femur tibia\n    hip tibia", 55, "'tibia' is placed twice"),
        ("femur tibia", "femur root", 54, "'root' is placed twice"),
        ("order TX", "order WX", 11, "'wx'"),
        ("orientation 0 0 0", "orientation 0 0", 14, "orientation needs 3"),
    ],
)
def test_refusals_in_skeletons_name_the_line(toy, old, new, line, words):
    text = ASF.replace(old, new, 1)
    assert text != ASF
    with pytest.raises(FormatError) as caught:
        read_amc(toy(asf=text))
    assert words in str(caught.value)
    assert caught.value.line == line
    assert "07.asf" in str(caught.value)


def test_bones_outside_the_hierarchy_are_named(toy):
    asf = ASF.replace("    femur tibia\n", "")
    amc = AMC.replace("tibia 40 -7\n", "").replace("tibia 4 -70\n", "")
    with pytest.warns(JostleWarning, match="tibia"):
        assert read_amc(toy(asf, amc)).skeleton.names == ("root", "hip", "femur", "spine")


def test_gaps_come_through_when_asked_for(toy):
    clip = read_amc(toy(amc=AMC.replace("tibia 4 -70", "tibia 4 nan")), allow_nan=True)
    assert np.isnan(clip.wxyz[1, clip.skeleton.index("tibia")]).all()
    assert np.isfinite(clip.wxyz[0]).all()


def test_truncated_anywhere(toy):
    for end in range(0, len(ASF) - 2, 7):
        with pytest.raises(FileError):
            read_amc(toy(asf=ASF[:end]))
    for end in range(
        0, len(AMC) - len(" -15 .5\n"), 3
    ):  # later cuts shorten the last number or complete the first frame
        if AMC[:end].rstrip() != AMC[: AMC.index("\n2\n")] and AMC[:end] != AMC[: AMC.index("\n2\n") - 1]:
            with pytest.raises(FileError):
                read_amc(toy(amc=AMC[:end]))


# Real files. The BVH of the same take was converted from this very AMC, with a T-pose put in front.

SAME = {
    "root": "Hips", "lfemur": "LeftUpLeg", "ltibia": "LeftLeg", "lfoot": "LeftFoot", "ltoes": "LeftToeBase",
    "rfemur": "RightUpLeg", "rtibia": "RightLeg", "rfoot": "RightFoot", "rtoes": "RightToeBase",
    "lowerback": "LowerBack", "upperback": "Spine", "thorax": "Spine1",
}  # fmt: skip
BEYOND = {
    "lhumerus": "LeftArm", "lradius": "LeftForeArm", "lwrist": "LeftHand", "rhumerus": "RightArm",
    "rradius": "RightForeArm", "rwrist": "RightHand", "upperneck": "Neck1", "head": "Head",
}  # fmt: skip


def test_cmus_walk_agrees_with_its_bvh(data):
    amc, bvh = read_amc(data / "cmu_asf_amc" / "35_01.amc"), read_bvh(data / "cmu_bvh" / "35_01.bvh")
    assert amc.frame_count == bvh.frame_count - 1 == 358
    assert amc.fps == bvh.fps
    for ours, theirs in SAME.items():
        a, b = amc.skeleton.index(ours), bvh.skeleton.index(theirs)
        assert np.abs(amc.positions[:, a] - bvh.positions[1:, b]).max() < 1e-5  # metres; BVH has four decimals


def test_cmus_bvh_lost_the_thorax(data):
    """The conversion gave neck and clavicles no offset: all beyond them sits one thorax too low, and no more."""
    amc, bvh = read_amc(data / "cmu_asf_amc" / "35_01.amc"), read_bvh(data / "cmu_bvh" / "35_01.bvh")
    names, theirs = list(BEYOND), list(BEYOND.values())
    a = amc.positions[:, [amc.skeleton.index(n) for n in names]]
    b = bvh.positions[1:, [bvh.skeleton.index(n) for n in theirs]]
    thorax = amc.positions[:, amc.skeleton.index("lowerneck")] - amc.positions[:, amc.skeleton.index("thorax")]
    assert np.abs(a - b - thorax[:, None]).max() < 1e-5


@pytest.mark.parametrize("take", ["35_01", "49_18"])
def test_cmus_figures_are_people_of_ordinary_height(data, take):
    clip = read_amc(data / "cmu_asf_amc" / f"{take}.amc")
    assert is_humanoid(clip.skeleton)
    assert clip.unit == pytest.approx(0.056444, abs=1e-6)
    roles = find_roles(clip.skeleton)
    assert clip.skeleton.names[roles["left_shin"]] == "ltibia"
    assert 1.5 < clip.skeleton.height < 1.8


def test_a_take_without_its_skeleton_says_so(data):
    with pytest.raises(FileError, match=r"'07.asf' is not in the same folder"):
        read_amc(data / "cmu_asf_amc" / "07_01.amc")
