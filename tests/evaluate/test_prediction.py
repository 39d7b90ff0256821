"""`evaluate prediction`: baselines and measures against what is known, and the protocol."""

import numpy as np
import pytest

from jostle.assets import clip_path
from jostle.clips import load_clip
from jostle.clips.edit import resample, trim_frames
from jostle.errors import FileError
from jostle.evaluate import Request, evaluate
from jostle.evaluate.prediction import experiment
from jostle.evaluate.prediction.baselines import hold, nearest, nearest_paced
from jostle.evaluate.prediction.protocol import Plan, protocol
from jostle.features import AngleFeatures

TINY = Plan(starts=1, iterations=5)


@pytest.fixture(scope="module")
def walk():
    return trim_frames(resample(load_clip(clip_path("walk")), 30.0), 0, 120)


@pytest.fixture(scope="module")
def features(walk):
    return AngleFeatures.of([walk])


def test_who_holds_still_has_no_speed(features, walk):
    rows = features.encode(walk)[:20]
    out = hold(features, rows, 5)
    assert np.array_equal(out[:, : features.angles + 1], np.repeat(rows[-1:, : features.angles + 1], 5, axis=0))
    assert not out[:, features.angles + 1 :].any()


def test_a_window_of_training_is_continued_as_it_was(features, walk):
    rows = features.encode(walk)
    assert np.array_equal(nearest([rows], rows[30:45], 20), rows[45:65])
    noisy = rows[30:45] + 1e-3
    assert np.array_equal(nearest([rows[:20], rows], noisy, 20), rows[45:65])


def test_the_end_is_held_where_no_clip_is_long_enough(features, walk):
    rows = features.encode(walk)[:30]
    out = nearest([rows], rows[:10], 40)
    assert np.array_equal(out[:20], rows[10:])
    assert np.allclose(out[20:], rows[-1])


def test_a_slower_window_with_an_offset_is_found(features, walk):
    """A clip at 1.4 times the rate of training: what follows is known but for interpolation."""
    rows, speeds = features.encode(walk), features.angles + 1
    at = 1.4 * np.arange(40) + 20
    low = at.astype(int)
    fast = rows[low] + (at - low)[:, None] * (rows[low + 1] - rows[low])
    fast[:, speeds:] *= 1.4
    fast += 0.1
    assert np.allclose(nearest_paced(features, [rows], fast[:15], 25), fast[15:], atol=1e-9)


def test_degrees_are_those_of_a_joint(features, walk):
    rows = features.encode(walk)[:4]
    turned = rows.copy()
    turned[:, 0] += 0.01
    joints = len(np.unique(features.joints))
    assert np.isclose(experiment.degrees(features, turned, rows) * joints, np.degrees(0.01), rtol=0.05)
    assert experiment.degrees(features, rows, rows) < 1e-5


def test_windows_lie_within_their_clips_and_the_seed_moves_them():
    a, again, b = (protocol(None, Plan(starts=3), seed) for seed in (0, 0, 1))
    assert a.windows == again.windows != b.windows
    for window in a.windows:
        assert 0 <= window.start <= a.tests[window.clip].frame_count - window.given - window.asked
    assert len({(w.clip, w.start) for w in a.windows}) == len(a.windows) == 6


def test_a_folder_without_the_clips_is_one_sentence(tmp_path):
    with pytest.raises(FileError, match=r"tables 6\.1 and 6\.2 need this clip"):
        evaluate("prediction", Request(data=tmp_path))


def made_up(name, data, plan, seed, tick=lambda ticks: None):
    """cdm misses by 1 on three windows of one clip and by 3 on one of another; all else by 4."""
    norms = {"a": [1.0, 1.0, 1.0], "b": [3.0]} if name == "cdm" else {"a": [4.0], "b": [4.0 if name != "hold" else 2.0]}
    return [
        {"model": name, "kind": "long", "clip": clip, "start": i, "norm": norm, "deg": 10.0 * norm}
        for clip, found in norms.items()
        for i, norm in enumerate(found)
    ]


def test_clips_count_alike(monkeypatch):
    monkeypatch.setattr(experiment, "QUICK", TINY)
    monkeypatch.setattr(experiment, "measure", made_up)
    report = evaluate("prediction", Request(quick=True, workers=1))
    s = report.summary
    assert (s["cdm"], s["cdm_deg"], s["gpdm"], s["hold"]) == (2.0, 20.0, 4.0, 3.0)
    assert (s["ratio_cdm"], s["clips"], s["clips_below_hold"]) == (0.5, 2, 1)
    assert np.isclose(s["ratio_baseline"], 2.0 / 3.0)
    assert report.skipped
    assert not report.paper


@pytest.mark.parametrize("name", ["cdm", "hold"])
def test_a_model_is_measured_on_shipped_clips(name):
    rows = experiment.measure(name, None, TINY, 0)
    assert [row["clip"] for row in rows] == ["turn_right", "weave"]
    assert all(np.isfinite(row["norm"]) and 0 < row["deg"] < 90 for row in rows)


def test_short_predictions_are_beside_the_thesiss():
    rows = [row | {"kind": "short", "clip": "07_04"} for row in made_up("cdm", None, TINY, 0)[:2]]
    others = [row for name in (*experiment.MODELS, *experiment.BASELINES) for row in made_up(name, None, TINY, 0)]
    assert np.isclose(experiment.summarise(rows + others)["ratio_short"], 1.0 / 1.12)
