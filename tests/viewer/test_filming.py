"""Films from another process: what travels, what comes back, and what is said when none does."""

import threading
from dataclasses import fields

import numpy as np
import pytest

from jostle.clips import Clip
from jostle.controllers import Floor
from jostle.errors import JostleError
from jostle.runtime import Recording
from jostle.viewer import filming
from jostle.viewer.downloads import pack


def test_clips_travel_unchanged(walk, tmp_path):
    filming._put([walk, walk], tmp_path)
    first, second = filming._take(tmp_path)
    assert first.name == walk.name
    assert first.skeleton.names == walk.skeleton.names
    np.testing.assert_array_equal(second.wxyz, walk.wxyz)
    np.testing.assert_array_equal(second.root, walk.root)


def test_a_recording_takes_its_ground_along(walk, tmp_path):
    floors = tuple(Floor(0.01 * k, 1.0, 0.1, 1.0) for k in range(walk.frame_count))
    own = {field.name: getattr(walk, field.name) for field in fields(Clip)}
    filming._put([Recording(**own, floors=floors), walk], tmp_path)
    first, second = filming._take(tmp_path)
    assert first.floors == floors
    assert type(second) is Clip


@pytest.mark.slow
def test_a_film_comes_back_and_tells_how_far_it_is(walk):
    told = []
    [(name, content)] = pack([walk], "MP4", lambda done, total: told.append((done, total)))
    assert name == "recording.mp4"
    assert content[4:8] == b"ftyp"
    assert told == [(i, 61) for i in range(1, 62)]


def test_a_closed_page_gives_its_film_up(walk, tmp_path):
    stop = threading.Event()
    stop.set()
    with pytest.raises(JostleError, match="closed before"):
        filming.film([walk] * 4, tmp_path, stop=stop)
    assert not (tmp_path / filming.FILM).exists()


def test_what_goes_wrong_over_there_is_said_here_in_one_sentence(walk, tmp_path):
    with pytest.raises(JostleError) as caught:
        filming.film([walk] * 40, tmp_path)  # no room for so many side by side
    assert "40 clips" in str(caught.value)
    assert "\n" not in str(caught.value)
