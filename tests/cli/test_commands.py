"""The command line as a person uses it: results on standard output, one sentence on standard error."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from jostle.assets import clip_path
from jostle.clips import load_clip, save_clip
from jostle.skeleton import Pose
from terminal import run


def test_no_arguments_show_the_commands(capsys):
    assert run() == 0
    shown = capsys.readouterr().out
    assert all(word in shown for word in ("clips", "convert", "view", "render", "demo"))


def test_info_prints_one_json_object(capsys):
    assert run("clips", "info", "walk", "--json") == 0
    (clip,) = json.loads(capsys.readouterr().out)["clips"]
    assert clip["fps"] == load_clip(clip_path("walk")).fps
    assert clip["speed"] == pytest.approx(1.6, abs=0.1)
    assert clip["foot_skate"] < 0.02


def test_info_prints_a_table(capsys):
    assert run("clips", "info", "walk", "run") == 0
    shown = capsys.readouterr().out
    assert "foot skate" in shown
    assert "run" in shown


def test_check_finds_nothing_in_the_shipped_clips(capsys):
    assert run("clips", "check", "walk", "run", "turn_left", "turn_right", "stand", "--json") == 0
    checked = json.loads(capsys.readouterr().out)
    assert [clip["findings"] for clip in checked["clips"]] == [[]] * 5


def spoilt_walk(path):
    """The shipped walk with its root dropped to the origin in two frames."""
    walk = load_clip(clip_path("walk"))
    root = walk.root.copy()
    root[60:62] = 0.0
    save_clip(walk.with_poses(Pose(root, walk.wxyz)), path)


def test_check_finds_and_fixes_and_exits_with_one(tmp_path, capsys):
    spoilt_walk(tmp_path / "spoilt.bvh")
    assert run("clips", "check", str(tmp_path / "spoilt.bvh"), "--fix", "--json") == 1
    (clip,) = json.loads(capsys.readouterr().out)["clips"]
    assert "dropped-root" in [finding["kind"] for finding in clip["findings"]]
    fixed = load_clip(clip["fixed"]["file"])
    np.testing.assert_allclose(fixed.root, load_clip(clip_path("walk")).root, atol=0.01)
    assert run("clips", "check", clip["fixed"]["file"]) == 0


def test_check_looks_at_every_animation_of_a_gltf_file(data, capsys):
    assert run("clips", "check", str(data / "quaternius_cc0" / "Trex.glb"), "--json") == 0
    checked = json.loads(capsys.readouterr().out)["clips"]
    names = ("Attack", "Death", "Idle", "Jump", "Run", "Walk")
    assert [clip["animation"] for clip in checked] == [f"Armature|TRex_{name}" for name in names]


def test_one_bad_file_does_not_keep_the_others_from_being_checked(tmp_path, capsys):
    (tmp_path / "bad.bvh").write_text("HIERARCHY\nROOT")
    assert run("clips", "check", str(tmp_path / "bad.bvh"), "walk", "--json") == 1
    out, err = capsys.readouterr()
    checked = json.loads(out)
    assert [clip["file"] for clip in checked["clips"]] == ["walk"]
    assert "bad.bvh" in err
    assert "Traceback" not in err


@pytest.mark.parametrize("ending", ["bvh", "glb", "gltf", "csv", "npz", "txt"])
def test_convert_writes_what_it_can_read_again(tmp_path, ending):
    target = tmp_path / f"out.{ending}"
    assert run("convert", "walk", str(target), "--start", "0.5", "--end", "1.5", "--fps", "30", "--mirror") == 0
    clip = load_clip(target)
    assert clip.fps == pytest.approx(30)
    assert clip.frame_count == 31


def test_convert_retargets(tmp_path):
    small = tmp_path / "small.bvh"
    walk = load_clip(clip_path("walk"))
    save_clip(walk.with_poses(Pose(walk.root * 0.8, walk.wxyz), skeleton=walk.skeleton.scaled(0.8)), small)
    assert run("convert", "walk", str(tmp_path / "out.bvh"), "--retarget", str(small)) == 0
    out = load_clip(tmp_path / "out.bvh")
    assert out.skeleton.height == pytest.approx(0.8 * walk.skeleton.height, rel=1e-3)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["clips", "info", "nothing.bvh"], "there is no such file"),
        (["clips", "info", "x" * 5000], "there is no such file"),
        (["convert", "walk", "out.xyz"], "cannot be written"),
        (["convert", "walk", "out"], "files without an ending cannot be written"),
        (["convert", "walk", "out.bvh", "--animation", "Run"], ".bvh has no option 'animation'"),
        (["convert", "walk", "out.bvh", "--asf", "07.asf"], ".bvh has no option 'asf'"),
        (["convert", "walk", "out.bvh", "--unit", "0"], "makes no sense"),
        (["convert", "walk", "out.bvh", "--unit", "1e300"], "makes no sense"),
        (["convert", "walk", "out.bvh", "--fps", "nan"], "give a positive rate"),
        (["view", "walk", "--animation", "Run"], ".bvh has no option 'animation'"),
        (["render", "walk", "out.gif", "--fps", "1e-9"], "from 1 to 240"),
        (["render", "walk", "out.png", "--poses", "100000", "--size", "200", "100"], "no room for 601 poses"),
        (["convert", "walk", "nowhere/out.bvh"], "does not exist"),
        (["convert", "walk", "out.bvh", "--start", "9", "--end", "2"], "walk"),
        (["render", "walk"], "jostle render walk.bvh walk.mp4"),
        (["render", "walk", "out.xyz"], "cannot be rendered"),
        (["demo", "--out", "demo.xyz"], "a demo can be written as"),
        (["view", "walk", "--controller", "teapot"], "teapot"),
        (["view", "nothing.jostle"], "there is no such file"),
    ],
)
def test_bad_input_gets_one_sentence(arguments, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(*arguments) == 1
    out, err = capsys.readouterr()
    assert not out
    assert sentence in err
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_the_animation_is_chosen_where_a_file_has_several(tmp_path, capsys):
    assert run("convert", "run", str(tmp_path / "run.glb")) == 0
    assert run("clips", "info", "walk", str(tmp_path / "run.glb"), "--animation", "run", "--json") == 0
    walk, ran = json.loads(capsys.readouterr().out)["clips"]
    assert ran["animations"] == ["run"]
    assert (ran["speed"], walk["speed"]) == pytest.approx((3.0, 1.63), abs=0.05)


def test_a_clip_can_be_converted_onto_itself(tmp_path):
    target = tmp_path / "walk.bvh"
    target.write_bytes(clip_path("walk").read_bytes())
    assert run("convert", str(target), str(target), "--fps", "30") == 0
    assert load_clip(target).fps == 30
    assert list(tmp_path.iterdir()) == [target]


def test_what_needs_too_much_memory_is_one_sentence(tmp_path, monkeypatch, capsys):
    def greedy(*_, **__):
        raise MemoryError

    monkeypatch.setattr("jostle.cli.convert.save_clip", greedy)
    assert run("convert", "walk", str(tmp_path / "out.bvh")) == 1
    assert "memory" in capsys.readouterr().err


def test_gaps_are_checked_in_amc_too(tmp_path, capsys):
    (tmp_path / "1.asf").write_text(
        ":root\n order TX TY TZ RX RY RZ\n:bonedata\nbegin\n name spine\n direction 0 1 0\n length 40\n"
        " axis 0 0 0 XYZ\n dof rx\nend\n:hierarchy\nbegin\nroot spine\nend\n"
    )
    (tmp_path / "1_1.amc").write_text("1\nroot 0 0 0 0 0 0\nspine nan\n2\nroot 0 0 0 0 0 0\nspine 1\n")
    assert run("clips", "check", str(tmp_path / "1_1.amc"), "--json") == 1
    (clip,) = json.loads(capsys.readouterr().out)["clips"]
    assert "nan" in str(clip["findings"]).lower() or "no numbers" in str(clip["findings"])


def test_ctrl_c_stops_a_film_without_a_trace(tmp_path):
    """In a process of its own, with its encoder, and stopped as a terminal does it: everyone hears ctrl-C."""
    words = [sys.executable, "-m", "jostle", "render", "walk", "film.mp4", "--size", "1920", "1080"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "start_new_session": True}
    film = subprocess.Popen(words, cwd=tmp_path, **quiet)
    while film.poll() is None and not any(tmp_path.iterdir()):
        time.sleep(0.05)
    os.killpg(film.pid, signal.SIGINT)
    _, said = film.communicate()
    assert film.returncode == 130
    assert b"jostle: stopped." in said
    assert b"Traceback" not in said
    assert list(tmp_path.iterdir()) == []


def test_bad_usage_exits_with_two(capsys):
    assert run("convert", "walk") == 2


def test_demo_writes_a_bvh_of_twenty_seconds(tmp_path):
    assert run("demo", "--out", str(tmp_path / "demo.bvh")) == 0
    assert load_clip(tmp_path / "demo.bvh").duration == pytest.approx(20.0)


def test_demo_writes_a_page_that_needs_no_network(tmp_path):
    assert run("demo", "--out", str(tmp_path / "demo.html")) == 0
    page = (tmp_path / "demo.html").read_text()
    assert page.lstrip().lower().startswith("<!doctype html")
    assert len(page) > 500_000
