"""Reading with a limit, and writing that leaves a good file or none."""

import os

import pytest

from jostle.errors import FileError
from jostle.files import read_bytes, replacing, write_bytes, write_text


def test_what_is_written_is_read(tmp_path):
    write_text(tmp_path / "a.txt", "größe")
    assert read_bytes(tmp_path / "a.txt") == "größe".encode()
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_failure_keeps_the_old_file_and_leaves_nothing_else(tmp_path):
    target = tmp_path / "a.txt"
    target.write_text("good")
    with pytest.raises(KeyboardInterrupt):
        _interrupted(target)
    assert target.read_text() == "good"
    assert os.listdir(tmp_path) == ["a.txt"]


def _interrupted(target):
    with replacing(target) as temporary:
        temporary.write_text("half")
        raise KeyboardInterrupt


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    write_text(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_pipes_and_folders_are_never_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.txt").symlink_to("pipe")
    for name in ("pipe", "folder", "link.txt"):
        with pytest.raises(FileError, match="ordinary file"):
            write_bytes(tmp_path / name, b"x")
    assert sorted(os.listdir(tmp_path)) == ["folder", "link.txt", "pipe"]


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000])
def test_names_that_no_file_can_have(tmp_path, name):
    with pytest.raises(FileError, match="cannot be read"):
        read_bytes(tmp_path / name)
    with pytest.raises(FileError, match="cannot be written"):
        write_bytes(tmp_path / name, b"x")


def test_a_file_beyond_the_limit_is_refused(tmp_path):
    (tmp_path / "a").write_bytes(bytes(2**20 + 1))
    assert len(read_bytes(tmp_path / "a", limit=2**20 + 1)) == 2**20 + 1
    with pytest.raises(FileError, match="larger than 1 MB"):
        read_bytes(tmp_path / "a", limit=2**20)
