"""Whatever the bytes, a text reader gives a clip or a JostleError: no other exception, no stray warning."""

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from toy_text import AMC, ASF, BVH

from jostle.clips.clip import Clip
from jostle.clips.formats.asf import read_amc
from jostle.clips.formats.bvh import read_bvh, write_bvh
from jostle.errors import JostleError, JostleWarning

NASTY = [
    b"", b"nan", b"-inf", b"1e999", b"1e-999", b"99999999999999999999", b"-1", b"0", b"1e308", b"0x1p3", b"1_0",
    b"\xd9\xa1", b"\0", b"\xff", b"\xc3", b"\r", b"\n", b"\t", b"\x0b", b"\x85", b"\xef\xbb\xbf", b"\xff\xfe",
    b"{", b"}", b"ROOT", b"JOINT", b"End", b"OFFSET", b"CHANNELS", b"MOTION", b"Xrotation", b"Zscale", b"Frames:",
    b"begin", b"end", b"root", b"femur", b":", b"#",
]  # fmt: skip


@st.composite
def mangled(draw, original: bytes):
    """The file with some words replaced, pieces cut out, doubled or filled with rubbish, perhaps cut short."""
    data = original
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        length = draw(st.sampled_from([0, 1, 2, 5, 20, 80]))
        kind = draw(st.sampled_from(["nasty", "rubbish", "double", "cut", "word"]))
        if kind == "nasty":
            piece = draw(st.sampled_from(NASTY))
        elif kind == "rubbish":
            piece = draw(st.binary(max_size=12))
        elif kind == "double":
            piece = data[at : at + length] * 2
        elif kind == "word" and (words := data.split()):
            word = draw(st.sampled_from(words))
            data = data.replace(word, draw(st.sampled_from(NASTY)), 1)
            continue
        else:
            piece = b""
        data = data[:at] + piece + data[at + length :]
    return data[: draw(st.integers(0, len(data)))] if draw(st.integers(0, 4)) == 0 else data


QUICK = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def attempt(read, path) -> Clip | None:
    """A clip, or None after a refusal in one line that names a file. Anything else comes through and fails the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", JostleWarning)
        try:
            clip = read(path)
        except JostleError as error:
            said = str(error)
        else:
            assert np.isfinite(clip.positions).all()
            return clip
    assert str(path.parent) in said
    assert "\n" not in said
    return None


@QUICK
@given(mangled(BVH) | st.binary(max_size=300))
def test_bvh(tmp_path, content):
    path = tmp_path / "a.bvh"
    path.write_bytes(content)
    clip = attempt(read_bvh, path)
    if clip is not None:  # what can be read can be written, and says the same again
        write_bvh(clip, tmp_path / "b.bvh", unit=clip.unit)
        back = read_bvh(tmp_path / "b.bvh", unit=clip.unit)
        size = max(1.0, np.abs(clip.positions).max())
        np.testing.assert_allclose(back.positions, clip.positions, atol=1e-5 * size)


@QUICK
@given(mangled(BVH).filter(bool))
def test_bvh_with_gaps_allowed(tmp_path, content):
    path = tmp_path / "a.bvh"
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", JostleWarning)
        try:
            clip = read_bvh(path, allow_nan=True)
        except JostleError:
            return
    assert not np.isinf(clip.root).any()


@QUICK
@given(mangled(AMC) | st.binary(max_size=200))
def test_amc(tmp_path, content):
    (tmp_path / "a.asf").write_bytes(ASF)
    (tmp_path / "a.amc").write_bytes(content)
    attempt(read_amc, tmp_path / "a.amc")


@QUICK
@given(mangled(ASF) | st.binary(max_size=200))
def test_asf(tmp_path, content):
    (tmp_path / "a.asf").write_bytes(content)
    (tmp_path / "a.amc").write_bytes(AMC)
    attempt(read_amc, tmp_path / "a.amc")


@pytest.mark.parametrize(("content", "read"), [(BVH, read_bvh), (AMC, read_amc)])
def test_the_seeds_themselves_are_good(tmp_path, content, read):
    (tmp_path / "a.asf").write_bytes(ASF)
    path = tmp_path / ("a.bvh" if read is read_bvh else "a.amc")
    path.write_bytes(content)
    clip = attempt(read, path)
    assert clip is not None
    assert clip.frame_count == 2
