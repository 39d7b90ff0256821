"""C3D through ezc3d: round trip, units, gaps, and files that are none."""

import sys

import numpy as np
import pytest

from jostle.clips.points import Points, read_points, write_points
from jostle.errors import FormatError, JostleError, MissingExtraError

ezc3d = pytest.importorskip("ezc3d", reason="the c3d extra is not installed")


def _points() -> Points:
    positions = np.random.default_rng(1).normal(size=(6, 3, 3))
    positions[2, 1] = np.nan
    return Points(("LASI", "RASI", "SACR"), positions, 120.0, "take")


def test_round_trip_with_gaps(tmp_path):
    write_points(_points(), tmp_path / "take.c3d")
    again = read_points(tmp_path / "take.c3d")
    assert again.labels == ("LASI", "RASI", "SACR")
    assert again.fps == 120.0
    np.testing.assert_allclose(again.positions, _points().positions, atol=1e-6)  # C3D holds single precision


def _foreign(path, unit, residual=0.0):
    """A file as another program writes it."""
    file = ezc3d.c3d()
    points = np.ones((4, 2, 3))
    points[:3] = np.arange(18.0).reshape(3, 2, 3)
    file["parameters"]["POINT"]["RATE"]["value"] = [50.0]
    file["parameters"]["POINT"]["LABELS"]["value"] = ["A", "B"]
    file["parameters"]["POINT"]["UNITS"]["value"] = [unit]
    file["data"]["points"] = points
    file["data"]["meta_points"]["residuals"] = np.full((1, 2, 3), residual)
    file.write(str(path))
    return np.moveaxis(points[:3], (0, 1, 2), (2, 1, 0))


@pytest.mark.parametrize(("unit", "metres"), [("mm", 0.001), ("cm", 0.01), ("m", 1.0)])
def test_units(tmp_path, unit, metres):
    raw = _foreign(tmp_path / "a.c3d", unit)
    np.testing.assert_allclose(read_points(tmp_path / "a.c3d").positions, raw * metres, rtol=1e-6)
    np.testing.assert_allclose(read_points(tmp_path / "a.c3d", unit=2.0).positions, raw * 2.0, rtol=1e-6)


def test_zeros_are_gaps(tmp_path):
    points = Points(("A", "B"), np.array([[[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]]] * 3), 60.0)
    write_points(points, tmp_path / "a.c3d")
    assert np.all(np.isnan(read_points(tmp_path / "a.c3d").positions[:, 0]))


def test_a_file_without_a_seen_point_is_refused(tmp_path):
    _foreign(tmp_path / "a.c3d", "mm", residual=-1.0)
    with pytest.raises(FormatError, match="no point was seen"):
        read_points(tmp_path / "a.c3d")


@pytest.mark.parametrize(
    "content", [b"", b"rubbish", b"\x02\x50" + bytes(600), bytes(5000), b"\x02\x50" + b"\xff" * 5000]
)
def test_rubbish_is_refused(tmp_path, content):
    (tmp_path / "a.c3d").write_bytes(content)
    with pytest.raises(JostleError, match=r"a\.c3d: "):
        read_points(tmp_path / "a.c3d")


def test_truncated(tmp_path):
    write_points(_points(), tmp_path / "a.c3d")
    whole = (tmp_path / "a.c3d").read_bytes()
    refused = 0
    for size in range(0, len(whole), 1 + len(whole) // 6):
        (tmp_path / "b.c3d").write_bytes(whole[:size])
        try:
            read_points(tmp_path / "b.c3d")
        except JostleError:
            refused += 1
    assert refused > 3


def test_missing_extra_says_what_to_install(tmp_path, monkeypatch):
    write_points(_points(), tmp_path / "a.c3d")
    monkeypatch.setitem(sys.modules, "ezc3d", None)
    with pytest.raises(MissingExtraError, match=r"jostle\[c3d\]"):
        read_points(tmp_path / "a.c3d")
