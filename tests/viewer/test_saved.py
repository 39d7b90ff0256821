"""The page that is saved, and recordings as files."""

import subprocess
import sys
from importlib import resources

import numpy as np
import pytest

from jostle.clips import load_clip
from jostle.errors import FileError
from jostle.viewer import write_page
from jostle.viewer.downloads import file_names, pack
from jostle.viewer.page import UNPACKING, dress
from jostle.viewer.saved import MOST_FPS, frame_times
from jostle.viewer.tracks import place


def test_a_page_is_one_whole_file(walk, tmp_path):
    path = tmp_path / "walk.html"
    write_page([walk], path, names=["a <b> walk"], title="two & <two>")
    text = path.read_text()
    assert text.startswith("<!doctype html>")
    assert "<title>two &amp; &lt;two&gt;</title>" in text
    assert "__VISER_EMBED_DATA__" in text
    assert 500_000 < path.stat().st_size < 2_000_000
    assert [p.name for p in tmp_path.iterdir()] == ["walk.html"]


def test_the_pinned_viser_can_be_dressed():
    page = resources.files("viser").joinpath("client", "build", "index.html").read_text()
    assert page.count(UNPACKING) == 1
    assert page.count("<title>Viser</title>") == 1
    assert page.count('<meta name="viewport"') == 1
    dressed = dress(page, "x", "live.js")
    assert dressed.index("function jostleStudio") < dressed.index(f"jostleStudio({UNPACKING})")


def test_a_page_that_cannot_be_written_leaves_the_old_one(walk, tmp_path):
    with pytest.raises(FileError, match="does not exist"):
        write_page([walk], tmp_path / "no" / "walk.html")


def test_times_run_evenly_from_start_to_end(walk):
    times = frame_times(place([walk]))
    assert times[0] == 0.0
    assert times[-1] == pytest.approx(walk.duration)
    assert np.ptp(np.diff(times)) < 1e-9
    assert 1 / np.diff(times)[0] <= MOST_FPS + 1e-9


def test_a_recording_packs_as_bvh_that_parses(walk, tmp_path):
    [(name, content)] = pack([walk], "BVH")
    path = tmp_path / name
    path.write_bytes(content)
    again = load_clip(path)
    assert again.frame_count == walk.frame_count
    for name in walk.skeleton.names:  # BVH lists joints depth first
        mine, theirs = walk.skeleton.index(name), again.skeleton.index(name)
        np.testing.assert_allclose(again.positions[:, theirs], walk.positions[:, mine], atol=1e-4)


def test_a_recording_packs_as_glb_that_parses(walk, tmp_path):
    [(name, content)] = pack([walk], "GLB")
    path = tmp_path / name
    path.write_bytes(content)
    assert load_clip(path).frame_count == walk.frame_count


def test_file_names_are_plain_and_differ():
    assert file_names(["playback:walk", "a/b\\c", "..", "x", "x"]) == [
        "playback-walk",
        "a-b-c",
        "recording",
        "x-1",
        "x-2",
    ]


def test_the_room_opens_no_heavy_library_before_a_page_does():
    code = (
        "import sys, jostle.viewer; print([m for m in ('viser', 'starlette', 'uvicorn', 'mujoco') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
