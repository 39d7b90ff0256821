"""Bundles: the same numbers come back, the same contents are the same bytes, and rubbish gets one sentence."""

import io
import json
import zipfile
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jostle.clips import Clip
from jostle.controllers import Playback
from jostle.errors import BundleError, FileError
from jostle.maths import quat
from jostle.runtime import Bundle, load_bundle, load_controller, save_bundle, save_controller
from jostle.runtime.bundle import clip_hash
from jostle.skeleton import build_skeleton
from terminal import said_of


def small_clip(frames: int = 5) -> Clip:
    skeleton = build_skeleton(["Hips", "Leg"], [-1, 0], [[0, 0, 1], [0, 0, -0.5]], ends=[(1, [0, 0, -0.5])])
    rng = np.random.default_rng(0)
    turns = quat.exp(0.1 * rng.normal(size=(frames, 2, 3)))
    return Clip(skeleton, 30.0, rng.normal(size=(frames, 3)), turns, name="small")


def test_a_controller_comes_back_with_the_same_numbers(tmp_path):
    clip = small_clip()
    save_controller(Playback(clip), tmp_path / "a.jostle", seed=3, recipe={"made": "by hand"})
    back = load_controller(tmp_path / "a.jostle")
    assert isinstance(back, Playback)
    assert back.clip.skeleton.same_as(clip.skeleton)
    np.testing.assert_array_equal(back.clip.wxyz, clip.wxyz)
    np.testing.assert_array_equal(back.clip.skeleton.end_offsets, clip.skeleton.end_offsets)
    bundle = load_bundle(tmp_path / "a.jostle")
    assert (bundle.seed, bundle.recipe, bundle.sources[0].name) == (3, {"made": "by hand"}, "small")


def test_equal_contents_are_equal_bytes(tmp_path):
    for name in "ab":
        save_controller(Playback(small_clip()), tmp_path / f"{name}.jostle")
    assert (tmp_path / "a.jostle").read_bytes() == (tmp_path / "b.jostle").read_bytes()


def test_numpy_reads_a_bundle_as_an_npz(tmp_path):
    save_controller(Playback(small_clip()), tmp_path / "a.jostle")
    with np.load(tmp_path / "a.jostle") as arrays:
        np.testing.assert_array_equal(arrays["wxyz"], small_clip().wxyz)


def rewritten(path, **members: bytes) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name.replace("__", "."), data)


def head(**changes: object) -> bytes:
    whole = {
        "format": "jostle-bundle",
        "version": 1,
        "kind": "playback",
        "seed": 0,
        "recipe": {},
        "clips": [],
        "data": {},
    }
    return json.dumps(whole | changes).encode()


@pytest.mark.parametrize(
    ("members", "sentence"),
    [
        ({"readme__txt": b"hello"}, "no jostle bundle"),
        ({"jostle__json": b"[1]"}, "no jostle bundle"),
        ({"jostle__json": b"{nonsense"}, "no whole jostle bundle"),
        ({"jostle__json": head(version=99)}, "version 99"),
        ({"jostle__json": head(kind="teapot")}, "teapot"),
        ({"jostle__json": head(clips=3)}, "garbles"),
        ({"jostle__json": head()}, "joints"),
        ({"jostle__json": head(), "a__npy": b"\x93NUMPY rubbish"}, "no whole jostle bundle"),
    ],
)
def test_foreign_bundles_get_one_sentence(tmp_path, members, sentence):
    rewritten(tmp_path / "x.jostle", **members)
    with pytest.raises(BundleError, match=sentence):
        load_controller(tmp_path / "x.jostle")


def test_every_number_of_a_clip_counts_in_its_hash():
    clip = small_clip()
    still = np.tile(clip.skeleton.offsets, (clip.frame_count, 1, 1))
    longer = build_skeleton(["Hips", "Leg"], [-1, 0], [[0, 0, 1], [0, 0, -0.5]], ends=[(1, [0, 0, -0.6])])
    others = [replace(clip, offsets=still), replace(clip, offsets=1.1 * still), replace(clip, skeleton=longer)]
    assert clip_hash(clip) == clip_hash(replace(clip, name="other"))
    assert len({clip_hash(c) for c in (clip, *others)}) == 4


UNSOUND = {
    "sizes": ("joint_offsets", np.zeros((5, 3)), "arrays of other sizes"),
    "fractions": ("parents", np.array([-1.0, 0.0]), "whole numbers"),
    "flat": ("root", np.zeros((5, 2)), "root positions of shape"),
    "end": ("end_parents", np.array([7]), "hang from a joint"),
    "gaps": ("root", np.full((5, 3), np.nan), "no finite numbers"),
}


def test_a_clip_in_a_bundle_must_be_sound(tmp_path):
    """In a process of its own, for here the shapes of arrays are checked before jostle sees them."""
    data, arrays = Playback(small_clip()).pack()
    for name, (field, array, _) in UNSOUND.items():
        save_bundle(Bundle("playback", data, arrays | {field: array}), tmp_path / f"{name}.jostle")
    said_by_each = said_of(tmp_path / f"{name}.jostle" for name in UNSOUND)
    for said, (_, _, sentence) in zip(said_by_each, UNSOUND.values(), strict=True):
        assert sentence in said


def test_an_array_that_claims_too_much_is_not_allocated(tmp_path):
    lie = io.BytesIO()
    np.lib.format.write_array_header_1_0(lie, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)})
    rewritten(tmp_path / "x.jostle", jostle__json=head(), big__npy=lie.getvalue())
    with pytest.raises(BundleError, match="header"):
        load_bundle(tmp_path / "x.jostle")


def test_pickled_objects_are_refused(tmp_path):
    member = io.BytesIO()
    np.save(member, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    rewritten(tmp_path / "x.jostle", jostle__json=head(), evil__npy=member.getvalue())
    with pytest.raises(BundleError):
        load_bundle(tmp_path / "x.jostle")


def test_missing_and_empty_files(tmp_path):
    with pytest.raises(FileError, match="no such file"):
        load_bundle(tmp_path / "none.jostle")
    (tmp_path / "empty.jostle").touch()
    with pytest.raises(FileError, match="empty"):
        load_bundle(tmp_path / "empty.jostle")


@given(cut=st.integers(1, 10_000), flip=st.integers(0, 10_000), byte=st.integers(0, 255))
@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_truncated_and_damaged_bundles_never_trace(tmp_path, cut, flip, byte):
    save_bundle(Bundle("playback", {"a": 1}, {"x": np.arange(50.0)}), tmp_path / "a.jostle")
    raw = bytearray((tmp_path / "a.jostle").read_bytes())
    raw[flip % len(raw)] = byte
    (tmp_path / "b.jostle").write_bytes(bytes(raw[: 1 + cut % len(raw)]))
    with suppress(FileError):
        load_bundle(tmp_path / "b.jostle")
