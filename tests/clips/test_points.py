"""Labelled points: what is read is what was written, gaps included, and bad files are refused in one sentence."""

import zipfile

import numpy as np
import pytest

from jostle.clips import load_clip, save_clip
from jostle.clips.points import Points, points_of, read_points, write_points
from jostle.clips.solve import read_solved
from jostle.errors import FileError, FormatError, JostleError, MotionError


def _points(gap: bool = False) -> Points:
    rng = np.random.default_rng(3)
    positions = np.round(rng.normal(size=(7, 4, 3)), 5)
    if gap:
        positions[2, 1] = np.nan
        positions[5, 3] = np.nan
    return Points(("Hips", "Spine", "LeftUpLeg", "Knie links"), positions, 48.0, "some")


@pytest.mark.parametrize("ending", ["txt", "csv", "npz"])
@pytest.mark.parametrize("gap", [False, True])
def test_what_is_written_is_read(tmp_path, ending, gap):
    points = _points(gap)
    write_points(points, tmp_path / f"some.{ending}")
    again = read_points(tmp_path / f"some.{ending}", unit=1.0)
    assert again.labels == points.labels
    assert (again.fps, again.name) == (48.0, "some")
    np.testing.assert_allclose(again.positions, points.positions, atol=1e-6)


def test_bare_text_is_y_up_at_60(tmp_path):
    (tmp_path / "a.txt").write_text("1,\t2,\t3,\t4,\t5,\t6\n1 2 3 4 5 6\n\n1,2,3,4,5,6,\n")
    points = read_points(tmp_path / "a.txt", unit=1.0)
    assert points.labels == ("Point00", "Point01")
    assert points.fps == 60.0
    np.testing.assert_array_equal(points.positions, np.tile([[3.0, 1.0, 2.0], [6.0, 4.0, 5.0]], (3, 1, 1)))
    assert read_points(tmp_path / "a.txt", unit=1.0, up="Z", fps=30.0).positions[0, 0].tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    "header",
    [
        "time,A.x,A.y,A.z,B.x,B.y,B.z",
        "Time,A_x,A_y,A_z,B_x,B_y,B_z",
        '"t","A X","A Y","A Z","B X","B Y","B Z"',
        "time;A:x;A:y;A:z;Bx;By;Bz",
    ],
)
def test_headers_of_other_tools(tmp_path, header):
    sep = ";" if ";" in header else ","
    rows = [sep.join([f"{i * 0.02:.2f}", "1", "2", "3", "4", "", "6"]) for i in range(3)]
    (tmp_path / "a.csv").write_text("\r\n".join([header, *rows]))
    points = read_points(tmp_path / "a.csv", unit=1.0)
    assert points.labels == ("A", "B")
    assert points.fps == 50.0
    np.testing.assert_array_equal(points.positions[1], [[1, 2, 3], [4, np.nan, 6]])


def test_columns_in_any_order(tmp_path):
    (tmp_path / "a.csv").write_text("frame,A.z,A.x,A.y\n0,3,1,2\n1,6,4,5\n")
    assert read_points(tmp_path / "a.csv", unit=1.0, fps=25.0).positions[:, 0].tolist() == [[1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize(("factor", "unit"), [(1.0, 1.0), (100.0, 0.01), (1000.0, 0.001)])
def test_unit_is_guessed_from_the_size(tmp_path, factor, unit):
    line = ",".join(f"{factor * v:.4f}" for v in (0, 0, 0, 0.2, 1.7, 0.1, 0, 0.9, 0))
    (tmp_path / "a.txt").write_text(line + "\n" + line)
    top = read_points(tmp_path / "a.txt").positions[0, 1]
    np.testing.assert_allclose(top, [0.1, 0.2, 1.7], atol=1e-9, err_msg=f"unit {unit}")


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.txt", b"", "empty"),
        ("a.txt", b"# fps: 60\n", "no frame"),
        ("a.txt", b"1 2 3 4\n", "line 1.*multiple of 3"),
        ("a.txt", b"1 2 3\n1 2 3 4 5 6\n", "line 2.*6 values.*3"),
        ("a.txt", b"1 2 3\n1 2 x\n", "line 2.*'x' is not a number"),
        ("a.txt", b"1 2 inf\n", "line 1"),
        ("a.txt", b"1 2 1e300\n", "line 1.*too large"),
        ("a.txt", b"nan nan nan\n", "no point was seen"),
        ("a.txt", b"# fps: -3\n1 2 3\n", "line 1.*frame rate"),
        ("a.txt", b"# labels: a, b\n1 2 3\n", "2 labels for 1 points"),
        ("a.txt", b"\x00\xff\xfe\x80" * 9, "line 1"),
        ("a.txt", b"1 " * (3 * 2**20), "line 1.*longer than"),
        ("a.csv", b"", "empty"),
        ("a.csv", b"a,b,c\n1,2,3\n", "line 1.*Hips.x"),
        ("a.csv", b"." * 2**20 + b",b\n1,2\n", "line 1.*Hips.x"),
        ("a.csv", b"age,sex,x\n1,2,3\n", "line 1.*Hips.x"),
        ("a.csv", b"A.x,A.y\n1,2\n", "line 1.*A.z is missing"),
        ("a.csv", b"A.x,A.x,A.y,A.z\n1,2,3,4\n", "line 1.*two columns"),
        ("a.csv", b"A.x,A.y,A.z\n", "no frame"),
        ("a.csv", b"A.x,A.y,A.z\n1,2\n", "line 2.*2 values.*3"),
        ("a.csv", b"A.x,A.y,A.z\n1,2,word\n", "line 2.*'word'"),
        ("a.csv", b"time,A.x,A.y,A.z\n0,1,2,3\n0,1,2,3\n", "times do not rise"),
        ("a.npz", b"PK\x03\x04 rubbish", "npz"),
        ("a.npz", b"rubbish", "npz"),
    ],
)
def test_bad_files_are_refused_in_one_sentence(tmp_path, name, content, says):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(FileError, match=says) as caught:
        read_points(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({"a": np.zeros(3)}, "no array 'positions'"),
        ({"positions": np.zeros((2, 3))}, r"\(frames, points, 3\)"),
        ({"positions": np.array([["x"]])}, r"\(frames, points, 3\)"),
        ({"positions": np.full((2, 2, 3), np.inf)}, "infinite"),
        ({"positions": np.ones((2, 2, 3)), "labels": np.array(["a"])}, "1 labels for 2 points"),
        ({"positions": np.ones((2, 2, 3)), "labels": np.array(["a", "a"])}, "two points are called 'a'"),
        ({"positions": np.ones((2, 2, 3)), "fps": np.array(-1)}, "fps"),
        ({"positions": np.ones((2, 2, 3)), "parents": np.array([0.5, 1])}, "parents"),
        ({"positions": np.array([{"a": 1}], dtype=object)}, "plain arrays"),
    ],
)
def test_bad_arrays_are_refused(tmp_path, arrays, says):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(FormatError, match=says):
        read_points(tmp_path / "a.npz")


def test_a_zip_that_unpacks_to_gigabytes_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("jostle.clips.points.MAX_VALUES", 2**17)
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("positions.npy", bytes(3 * 2**20))
    with pytest.raises(FormatError, match="unpacks to 3 MB"):
        read_points(tmp_path / "a.npz")


@pytest.mark.parametrize("ending", ["txt", "csv", "npz"])
def test_truncated_at_any_byte(tmp_path, ending):
    """Whatever is left of a file is either read or refused; nothing else may happen."""
    write_points(_points(gap=True), tmp_path / f"a.{ending}")
    whole = (tmp_path / f"a.{ending}").read_bytes()
    cut = tmp_path / f"b.{ending}"
    refused = 0
    for size in range(0, len(whole), 1 + len(whole) // 400):
        cut.write_bytes(whole[:size])
        try:
            read_points(cut)
        except JostleError:
            refused += 1
    assert refused > 5


def test_points_must_fit_together():
    with pytest.raises(MotionError, match="4 points but 1 labels"):
        Points(("a",), np.zeros((2, 4, 3)))
    with pytest.raises(MotionError, match="called 'a'"):
        Points(("a", "a"), np.zeros((2, 2, 3)))


def test_a_clip_goes_out_as_points_and_comes_back(tmp_path, data):
    clip = load_clip(data / "snu_ys2010" / "walk" / "wd2_WalkForwardNormal00.bvh")
    save_clip(clip, tmp_path / "walk.npz")
    again = load_clip(tmp_path / "walk.npz")
    assert again.skeleton.names == clip.skeleton.names
    assert np.array_equal(again.skeleton.parents, clip.skeleton.parents)
    assert np.max(np.linalg.norm(again.positions - clip.positions, axis=-1)) < 1e-3
    assert points_of(clip).parents == tuple(clip.skeleton.parents)
    save_clip(clip, tmp_path / "walk.csv")  # which holds no tree, so it must be found
    found = load_clip(tmp_path / "walk.csv")
    joints = [found.skeleton.index(name) for name in clip.skeleton.names]
    assert np.max(np.linalg.norm(found.positions[:, joints] - clip.positions, axis=-1)) < 1e-3


def test_dog_files(data):
    files = sorted((data / "dog_mann").glob("*_joint_pos.txt"))
    frames = {path.stem.split("_")[1]: read_points(path).positions.shape for path in files}
    assert len(frames) == 8
    assert frames["turn00"] == (1079, 27, 3)
    assert read_solved(files[0]).skeleton.names[0] == "Pelvis"
