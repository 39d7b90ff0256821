"""Interrupted anywhere, a run goes on to the same bits."""

import io
import json
import zipfile

import numpy as np
import pytest
from bowl import Bowl

from jostle.controllers.walker.parameters import WALKER
from jostle.errors import JostleError, JostleWarning
from jostle.tuning.checkpoint import load_run, save_run
from jostle.tuning.journal import COLUMNS, Journal, read_journal, row_of
from jostle.tuning.recipe import Recipe, Stage
from jostle.tuning.run import begin
from jostle.tuning.session import Session, begin_session, files_for, resume_session

RECIPE = Recipe(
    population=8,
    seed=5,
    stages=(
        Stage(seconds=(4.0, 6.0), generations=3),
        Stage(seconds=(4.0,), slope_deg=2.0, generations=4, population=6),
    ),
)


def start():
    return WALKER.decode(WALKER.encode(WALKER.initial) + 0.3)


def keep(walker, path, recipe):
    path.write_text(json.dumps([walker.values.tolist(), walker.ground.slope]))


def kept(files):
    """What a session has left, without the times in the log."""
    rows = [{c: row[c] for c in COLUMNS if c != "wall_s"} for row in read_journal(files.log)]
    return files.run.read_bytes(), files.walker.read_text(), rows


def finish(session: Session):
    while session.run.finished is None:
        session.step()
    return kept(session.files)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An uninterrupted run: four generations in the first stage, four in the second."""
    files = files_for(tmp_path_factory.mktemp("whole") / "w.jostle")
    return finish(begin_session(RECIPE, start(), Bowl().score, files, keep))


def test_resumed_after_every_generation_it_is_the_same(whole, tmp_path):
    files = files_for(tmp_path / "w.jostle")
    session = begin_session(RECIPE, start(), Bowl().score, files, keep)
    stages = set()
    while session.run.finished is None:
        session = resume_session(files, Bowl().score, keep)
        stages.add(session.run.at.stage)
        session.step()
    assert stages == {0, 1}
    assert kept(files) == whole


class Interrupting(Bowl):
    def __init__(self, at):
        super().__init__()
        self.at = at

    def score(self, job, values):
        if len(self.calls) == self.at:
            raise KeyboardInterrupt
        return super().score(job, values)


@pytest.mark.parametrize("at", [0, 1, 3, 4, 6])
def test_interrupted_in_the_middle_of_a_generation_nothing_is_lost(whole, tmp_path, at):
    files = files_for(tmp_path / "w.jostle")
    with pytest.raises(KeyboardInterrupt):
        finish(begin_session(RECIPE, start(), Interrupting(at).score, files, keep))
    assert finish(resume_session(files, Bowl().score, keep)) == whole


def test_interrupted_between_its_files_it_makes_them_again(whole, tmp_path, monkeypatch):
    files = files_for(tmp_path / "w.jostle")
    session = begin_session(RECIPE, start(), Bowl().score, files, keep)
    session.step()

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:  # log and walker are written, the checkpoint is not
        patch.setattr("jostle.tuning.session.save_run", stop)
        with pytest.raises(KeyboardInterrupt):
            session.step()
    with open(files.log, "a") as file:
        file.write("3,1,4.0,0.3")  # and half a line
    assert len(read_journal(files.log)) == 2
    assert finish(resume_session(files, Bowl().score, keep)) == whole


def test_a_run_is_never_overwritten(tmp_path):
    files = files_for(tmp_path / "w.jostle")
    begin_session(RECIPE, start(), Bowl().score, files, keep).step()
    with pytest.raises(JostleError, match="--resume"):
        begin_session(RECIPE, start(), Bowl().score, files, keep)
    files.run.unlink()
    with pytest.raises(JostleError, match="exists already"):
        begin_session(RECIPE, start(), Bowl().score, files, keep)
    with pytest.raises(JostleError, match="no run to go on with"):
        resume_session(files, Bowl().score, keep)


def test_another_recipe_is_refused(tmp_path):
    files = files_for(tmp_path / "w.jostle")
    begin_session(RECIPE, start(), Bowl().score, files, keep)
    with pytest.raises(JostleError, match="differs in: seed, population"):
        resume_session(files, Bowl().score, keep, Recipe(stages=RECIPE.stages))
    assert resume_session(files, Bowl().score, keep, RECIPE).run.at.generation == 0


def test_a_walker_is_a_jostle_file(tmp_path):
    with pytest.raises(JostleError, match=r"mine\.jostle"):
        files_for(tmp_path / "walker.zip")


def saved(tmp_path, generations=2):
    run = begin(RECIPE, start(), Bowl().score)
    for _ in range(generations):
        run.step()
    save_run(run, tmp_path / "a.run")
    return run, tmp_path / "a.run"


def changed(path, **arrays):
    with np.load(path) as members:
        kept = dict(members)
    np.savez(path.with_suffix(".npz"), **(kept | arrays))
    path.with_suffix(".npz").rename(path)


def head_of(path, **entries):
    with np.load(path) as members:
        head = json.loads(members["head"].tobytes())
    return np.frombuffer(json.dumps(head | entries).encode(), dtype=np.uint8)


def test_where_digits_differ_it_goes_on_from_the_mean_and_says_so(tmp_path):
    run, path = saved(tmp_path)
    changed(path, checks=np.array(run.checks, dtype=np.int64) + 1)
    with pytest.warns(JostleWarning, match="from its mean"):
        again = load_run(path, Bowl().score)
    np.testing.assert_array_equal(again.search.mean, run.search.mean)
    assert again.search.sigma == run.search.sigma
    assert again.step().number == 3
    save_run(again, path)
    once_more = load_run(path, Bowl().score)  # and from there on digit by digit
    assert once_more.step() == again.step()


def test_damaged_checkpoints_are_refused_in_one_sentence(tmp_path):
    _, path = saved(tmp_path)
    good = path.read_bytes()
    for cut in (0, 1, 100, len(good) // 2, len(good) - 30):
        path.write_bytes(good[:cut])
        with pytest.raises(JostleError):
            load_run(path, Bowl().score)
    for change in (
        {"best": np.zeros(3)},
        {"mean": np.full(len(WALKER), np.nan)},
        {"costs": np.zeros((9, 8)), "checks": np.zeros(9, np.int64)},
        {"head": np.frombuffer(b"[]", dtype=np.uint8)},
        {"head": np.frombuffer(b"{", dtype=np.uint8)},
    ):
        path.write_bytes(good)
        changed(path, **change)
        with pytest.raises(JostleError, match="begin anew"):
            load_run(path, Bowl().score)


@pytest.mark.parametrize("entries", [{"version": 99}, {"recipe": {"sead": 1}}, {"at": {"stage": 7}}, {"at": {"x": 1}}])
def test_a_head_that_makes_no_sense_is_refused(tmp_path, entries):
    _, path = saved(tmp_path)
    changed(path, head=head_of(path, **entries))
    with pytest.raises(JostleError, match=str(path)):
        load_run(path, Bowl().score)


def test_pickles_are_never_opened(tmp_path):
    _, path = saved(tmp_path)
    changed(path, best=np.array([print], dtype=object))
    with pytest.raises(JostleError, match="begin anew"):
        load_run(path, Bowl().score)


def test_foreign_zips_are_refused(tmp_path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("readme.txt", "no run")
    (tmp_path / "a.run").write_bytes(buffer.getvalue())
    with pytest.raises(JostleError, match="no run of jostle's"):
        load_run(tmp_path / "a.run", Bowl().score)


def test_the_log_reads_as_it_was_written(tmp_path):
    run = begin(RECIPE, start(), Bowl().score)
    journal = Journal(tmp_path / "a.csv")
    for _ in range(3):
        journal.add(row_of(run.step(), 0.5))
    assert read_journal(tmp_path / "a.csv") == journal.rows
    assert [row["generation"] for row in read_journal(tmp_path / "a.csv", upto=2)] == [1, 2]
    older = (tmp_path / "a.csv").read_text().replace("knee_at_strike", "no_such_figure")
    (tmp_path / "old.csv").write_text(older)
    assert [np.isnan(row["knee_at_strike"]) for row in read_journal(tmp_path / "old.csv")] == [True] * 3
    first = journal.rows[0]
    assert sum(first[f"w_{name}"] for name in ("user", "ratio", "head")) == pytest.approx(first["cost"])
