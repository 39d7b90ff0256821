"""A report is plain JSON, and reads as tables with the paper's figures in brackets."""

import json

import numpy as np

from jostle.evaluate import Report
from jostle.evaluate.report import shown


def small() -> Report:
    summary = {
        "speed": {"stocky": np.float64(1.25), "tall": float("nan")},
        "tolerance": {"stocky": {"left": 100.0}},
        "ablations": {"no_ratio": {"knee_share": 0.2}},
        "throughput": 120.5,
    }
    paper = {"speed": {"tall": 1.79}, "tolerance": {"stocky": {"left": 125}}, "throughput": 1.0}
    return Report("walk", 3, 1.5, None, summary, [{"a": np.arange(2), "b": (np.int64(3), "x")}], paper)


def test_a_report_is_plain_json():
    back = json.loads(json.dumps(small().to_dict(), allow_nan=False))
    assert back["summary"]["speed"] == {"stocky": 1.25, "tall": None}
    assert back["rows"] == [{"a": [0, 1], "b": [3, "x"]}]
    assert (back["name"], back["seed"], back["skipped"]) == ("walk", 3, [])


def test_tables_put_the_papers_figure_behind_ours():
    single, walkers, ablations = small().tables()
    assert single.rows == [("throughput", "120 [1]")]
    assert walkers.head == ("", "stocky", "tall")
    assert walkers.rows == [("speed", "1.25", " [1.79]"), ("tolerance.left", "100 [125]", "")]
    assert ablations.head == ("", "no_ratio")


def test_figures_are_short():
    assert [shown(v) for v in (12059.4, 0.04321, [0.43, 0.05], 3, None)] == ["12059", "0.0432", "0.43:0.05", "3", ""]
