"""Jobs give the same results here and in other processes, and what is finished is not done again."""

import json
import operator
import os

import pytest

from jostle.errors import CommandError, FormatError
from jostle.evaluate.jobs import Job, run_jobs

CALLS = []


def double(x, tick=lambda ticks: None):
    CALLS.append(x)
    tick(1.0)
    return {"twice": 2 * x}


def test_jobs_run_here_and_tell_their_progress():
    heard = []
    jobs = [Job("a", double, (1,), cost=1.0), Job("b", double, (2,), cost=3.0, ticks=2.0)]
    results = run_jobs(jobs, workers=1, progress=lambda done, total: heard.append((done, total)))
    assert results == {"a": {"twice": 2}, "b": {"twice": 4}}
    assert heard == [(1.5, 4.0), (3.0, 4.0), (4.0, 4.0)]  # the costly one comes first


def test_jobs_of_one_key_are_one_job():
    CALLS.clear()
    assert run_jobs([Job("a", double, (1,))] * 3, workers=1) == {"a": {"twice": 2}}
    assert CALLS == [1]


def test_jobs_run_in_other_processes():
    assert run_jobs([Job(str(i), operator.mul, (i, 3)) for i in range(3)], workers=2) == {"0": 0, "1": 3, "2": 6}


def test_what_fails_elsewhere_is_raised_here():
    with pytest.raises(ZeroDivisionError):
        run_jobs([Job("a", operator.truediv, (1, 0)), Job("b", operator.mul, (1, 2))], workers=2)


def test_a_process_that_is_killed_gets_one_sentence():
    with pytest.raises(CommandError, match="ended from outside"):
        run_jobs([Job("a", os._exit, (1,)), Job("b", operator.mul, (1, 2))], workers=2)


def test_what_is_in_the_checkpoint_is_not_done_again(tmp_path):
    path = tmp_path / "kept.json"
    jobs = [Job("a", double, (1,)), Job("b", double, (2,))]
    first = run_jobs(jobs, 1, path)
    CALLS.clear()
    assert run_jobs([*jobs, Job("c", double, (3,))], 1, path) == first | {"c": {"twice": 6}}
    assert CALLS == [3]


def test_an_interrupted_experiment_keeps_what_it_has(tmp_path):
    path = tmp_path / "kept.json"
    with pytest.raises(ZeroDivisionError):
        run_jobs([Job("a", double, (1,), cost=2.0), Job("b", operator.truediv, (1, 0))], 1, path)
    CALLS.clear()
    assert run_jobs([Job("a", double, (1,))], 1, path) == {"a": {"twice": 2}}
    assert CALLS == []


def test_results_of_another_version_are_measured_anew(tmp_path):
    path = tmp_path / "kept.json"
    run_jobs([Job("a", double, (1,))], 1, path)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"version": "0"}))
    CALLS.clear()
    run_jobs([Job("a", double, (1,))], 1, path)
    assert CALLS == [1]


@pytest.mark.parametrize("text", ["{}", "[1]", "rubbish", '{"format": "jostle-evaluation", "results": 3}'])
def test_a_foreign_checkpoint_gets_one_sentence_and_stays(tmp_path, text):
    path = tmp_path / "kept.json"
    path.write_text(text)
    with pytest.raises(FormatError, match="no checkpoint of an evaluation"):
        run_jobs([Job("a", double, (1,))], 1, path)
    assert path.read_text() == text
