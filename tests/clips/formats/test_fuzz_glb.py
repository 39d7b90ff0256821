"""Whatever the bytes, reading a glTF file gives a clip or one sentence: no traceback, no hang, no gigabyte."""

import copy
import json
import tracemalloc
import warnings
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiny_gltf import Tiny, matrix, pack, unpack

from jostle.clips import Clip
from jostle.clips.formats.gltf import animations, read_gltf, read_skin, write_gltf
from jostle.errors import JostleError, JostleWarning
from jostle.maths import quat
from jostle.skeleton import build_skeleton

FUZZ = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
WORDS: list[Any] = [None, True, "", "x", "🦶", "VEC3", [], {}, [[]], [None], ["a"], {"a": 1}]
NUMBERS: list[Any] = [-1, 0, 1, 3, 5126, 10**6, 2**31, 2**63, 10**400, 0.5, 1e308, -1e308, float("nan"), float("inf")]
LISTS: list[Any] = [[0], [0, 0, 0], [0, 0, 0, 0], [1e308] * 3, [1e-30] * 3, list(range(40))]
NASTY = st.sampled_from(WORDS + NUMBERS + LISTS)


@pytest.fixture(autouse=True, scope="module")
def short_takes():
    """Mutated key times make long takes; they cost as much as they should, and that is time better spent here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("jostle.clips.formats.gltf.tracks.MAX_JOINT_FRAMES", 1_000)
        yield


@cache
def written() -> bytes:
    """A file of our own: joints, tips, mesh, skin and animation."""
    skeleton = build_skeleton(["a", "b"], [-1, 0], [[0, 0, 1], [0, 0, 0.5]], [(1, [0, 0, 0.3])])
    rng = np.random.default_rng(0)
    clip = Clip(skeleton, 30.0, rng.standard_normal((4, 3)), quat.exp(rng.standard_normal((4, 2, 3))))
    with TemporaryDirectory() as folder:
        write_gltf(clip, Path(folder) / "a.glb")
        return (Path(folder) / "a.glb").read_bytes()


@cache
def foreign() -> bytes:
    """A file with what ours lack: splines, steps, scales, matrices, a bind pose of its own, sparse and integer data."""
    nodes = [
        {"name": "Armature", "scale": [100, 100, 100], "children": [1, 3, 4]},
        {"name": "hips", "translation": [0, 0.01, 0], "children": [2]},
        {"name": "leg", "matrix": matrix([0, 0.02, 0]).T.ravel().tolist(), "children": [5]},
        {"name": "ik"},
        {"name": "body", "mesh": 0, "skin": 0},
        {"name": "sword", "mesh": 0},
    ]
    tiny = Tiny(nodes).skin([1, 2, 3], [matrix([0, 1, 0]), matrix([0, 3, 0]), matrix([0, 0, 0])])
    still = [[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]]
    tiny.animate((1, "rotation", [0, 1], still * 2), interpolation="CUBICSPLINE")
    tiny.animate((3, "translation", [0, 0.5], [[0, 0, 0], [1, 0, 0]]), interpolation="STEP")
    tiny.animate((1, "rotation", [0], tiny.add([[0, 0, 0, 127]], "i1")), (1, "scale", [0], [[1, 2, 1]]))
    rows, values = tiny.add([1], "u1"), tiny.add([[3, 0, 0]])
    views = [tiny.json["accessors"][a]["bufferView"] for a in (rows, values)]
    sparse = {
        "count": 1,
        "indices": {"bufferView": views[0], "componentType": 5121},
        "values": {"bufferView": views[1]},
    }
    points = tiny.add([[0, 0, 0], [1, 0, 0], [0, 1, 0]], sparse=sparse)
    attributes = {
        "POSITION": points,
        "JOINTS_0": tiny.add([[0, 1, 2, 0]] * 3, "u1"),
        "WEIGHTS_0": tiny.add([[0.5, 0.25, 0.25, 0]] * 3),
        "COLOR_0": tiny.add([[255, 0, 0, 255]] * 3, "u1"),
    }
    tiny.json["meshes"] = [
        {"primitives": [{"attributes": attributes, "indices": tiny.add([0, 1, 2], "u2"), "mode": 5}]}
    ]
    return pack(tiny.json | {"buffers": [{"byteLength": len(tiny.data)}]}, tiny.data)


def try_to_read(data: bytes, ending: str = "glb") -> int:
    """Read in every way; every refusal must be one sentence about this file. Returns how many ways worked."""
    worked, refusals = 0, []
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", JostleWarning)
        path = Path(folder) / f"some.{ending}"
        path.write_bytes(data)
        for read in (read_gltf, animations, read_skin, lambda p: read_gltf(p, 1), lambda p: read_gltf(p, 2, 24.0)):
            try:
                result = read(path)
            except JostleError as error:
                refusals.append(str(error))
            else:
                worked += 1
                assert not isinstance(result, Clip) or np.all(np.isfinite(result.positions))
    for sentence in refusals:
        assert sentence.startswith(str(path))
        assert sentence.endswith(".")
        assert "\n" not in sentence
    return worked


def test_the_files_that_are_mutated_are_good():
    assert try_to_read(written()) == 3  # it has one animation
    assert try_to_read(foreign()) == 5


@FUZZ
@given(st.binary(max_size=300), st.sampled_from(["glb", "gltf"]))
def test_rubbish(data, ending):
    assert try_to_read(data, ending) == 0
    assert try_to_read(b"glTF\2\0\0\0" + data, ending) == 0


@FUZZ
@given(st.sampled_from([written, foreign]), st.integers(0, 10**6))
def test_cut_short_at_any_byte(file, length):
    data = file()
    assert try_to_read(data[: length % len(data)]) == 0


@FUZZ
@given(st.sampled_from([written, foreign]), st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), max_size=8))
def test_bytes_overwritten(file, changes):
    data = bytearray(file())
    for at, value in changes:
        data[at % len(data)] = value
    try_to_read(bytes(data))


@settings(FUZZ, max_examples=50)
@given(st.sampled_from([written, foreign]), st.integers(0, 10**6), st.binary(min_size=4, max_size=64))
def test_numbers_overwritten(file, at, chunk):
    """NaN, infinity and absurd values in the arrays."""
    document, binary = unpack(file())
    data = bytearray(binary)
    start = at % len(data) // 4 * 4
    data[start : start + len(chunk)] = chunk[: len(data) - start]
    try_to_read(pack(document, bytes(data)))


def places(value: Any, path: tuple = ()) -> list[tuple]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path] * bool(path) + [place for key, item in inner for place in places(item, (*path, key))]


def with_changes(glb: bytes, changes: list[tuple[int, Any]]) -> bytes:
    document, binary = unpack(glb)
    for which, value in changes:
        listed = places(document)
        *above, key = listed[which % len(listed)]
        owner = document
        for step in above:
            owner = owner[step]
        owner[key] = copy.deepcopy(value)
    return pack(document, binary)


CHANGES = st.lists(st.tuples(st.integers(0, 10**6), NASTY), min_size=1, max_size=3)


@FUZZ
@given(st.sampled_from([written, foreign]), CHANGES)
def test_any_value_of_the_json_replaced(file, changes):
    try_to_read(with_changes(file(), changes))


@pytest.mark.slow
@settings(FUZZ, max_examples=500)
@given(CHANGES)
def test_any_value_of_the_json_replaced_for_longer(changes):
    try_to_read(with_changes(foreign(), changes))


def refusal(tmp_path: Path, document: Any, binary: bytes = bytes(64)) -> str:
    """The sentence with which a file is refused, at the cost of less than 200 MB."""
    path = tmp_path / "bad.glb"
    path.write_bytes(document if isinstance(document, bytes) else pack(document, binary))
    tracemalloc.start()
    try:
        with pytest.raises(JostleError) as caught:
            read_gltf(path)
        assert tracemalloc.get_traced_memory()[1] < 200e6
    finally:
        tracemalloc.stop()
    return str(caught.value)


def bare(**more: Any) -> dict[str, Any]:
    return {"asset": {"version": "2.0"}, "nodes": [{"name": "a"}], "skins": [{"joints": [0]}], **more}


def moving(accessor: dict[str, Any], **more: Any) -> dict[str, Any]:
    sampler = {"input": 0, "output": 0}
    channel = {"sampler": 0, "target": {"node": 0, "path": "translation"}}
    animation = {"samplers": [sampler], "channels": [channel]}
    return bare(animations=[animation], accessors=[accessor], **more)


def test_refusals_name_what_is_wrong(tmp_path):
    count = {"componentType": 5126, "type": "SCALAR", "count": 2**35}
    assert "34359738368 elements" in refusal(tmp_path, moving(count))
    view = {"bufferViews": [{"buffer": 0, "byteLength": 64}], "buffers": [{"byteLength": 64}]}
    many = {"componentType": 5126, "type": "SCALAR", "count": 17, "bufferView": 0}
    assert "more than its buffer view holds" in refusal(tmp_path, moving(many, **view))
    view["bufferViews"][0]["byteLength"] = 2**33
    assert "ends at byte 8589934592 of a buffer of 64" in refusal(tmp_path, moving(many, **view))
    assert "two parents" in refusal(tmp_path, bare(nodes=[{"children": [2]}, {"children": [2]}, {}]))
    assert "form a circle" in refusal(tmp_path, bare(nodes=[{"children": [1]}, {"children": [0]}]))
    assert "child 7, and there are 1" in refusal(tmp_path, bare(nodes=[{"children": [7]}]))
    assert "the joint 5" in refusal(tmp_path, bare(skins=[{"joints": [5]}]))
    assert "version" in refusal(tmp_path, bare(asset={"version": "1.0"}))
    assert "neither a skin nor an animation" in refusal(tmp_path, bare(skins=[]))
    assert "export it without compression" in refusal(tmp_path, bare(extensionsRequired=["EXT_meshopt_compression"]))


def test_a_take_of_a_thousand_years_is_refused(tmp_path):
    tiny = Tiny([{"name": "a"}]).skin([0]).animate((0, "translation", [0, 3e10], [[0, 0, 0], [1, 0, 0]]))
    assert "too long" in refusal(tmp_path, tiny.glb(tmp_path / "a.glb").read_bytes())


@pytest.mark.slow
def test_bombs_are_refused_before_they_go_off(tmp_path):
    deep = b'{"asset":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    (tmp_path / "deep.gltf").write_bytes(deep)
    with pytest.raises(JostleError, match="JSON cannot be read"):
        read_gltf(tmp_path / "deep.gltf")
    wide = {"x": [{}] * 3_000_000}
    assert "more entries than any figure needs" in refusal(tmp_path, wide)
    chain = [{"children": [i + 1]} for i in range(3_000)] + [{}]
    assert "nested deeper" in refusal(tmp_path, bare(nodes=chain, skins=[{"joints": [3_000, 0]}]))
    (tmp_path / "line.gltf").write_bytes(b'{"asset": "' + b"a" * 70_000_000)
    with pytest.raises(JostleError, match="larger than 64 MB"):
        read_gltf(tmp_path / "line.gltf")
    joints = bare(
        nodes=[{"name": "a", "children": list(range(1, 9000))}] + [{}] * 8999, skins=[{"joints": list(range(9000))}]
    )
    assert "more than 2000" in refusal(tmp_path, joints)


@pytest.mark.slow
def test_cut_short_at_every_byte_of_the_head_and_every_hundredth_after():
    data = foreign()
    document = json.dumps(unpack(data)[0])
    for length in [*range(60), *range(60, len(document), 101), *range(len(document), len(data), 37)]:
        assert try_to_read(data[:length]) == 0
