"""Learning in rounds: the minimum is found, stopping and going on changes no bit, and trouble is said in words."""

from dataclasses import dataclass
from itertools import count

import numpy as np
import pytest
import scipy.optimize

from jostle.errors import FileError, JostleError
from jostle.models import kernels
from jostle.models.learn import ROUND, Watch, minimise


@dataclass(frozen=True)
class Rosenbrock:
    """Of many variables: L-BFGS needs hundreds of iterations."""

    steep: float = 100.0

    def __call__(self, params, data):
        x = params["x"]
        bends = self.steep * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2
        return bends.sum() + ((params["y"] - data["target"]) ** 2).sum(), 0.0 * x[0]


@dataclass(frozen=True)
class Cliff:
    """Slopes down to x = 1, beyond which it is no number: the first steps are far too long."""

    def __call__(self, params, data):
        import jax.numpy as jnp

        x = params["x"]
        return (1e4 * (x - 0.9) ** 2 - 1e-3 * jnp.log(1.0 - x)).sum(), 0.0 * x[0]


@dataclass(frozen=True)
class Liar:
    """Its slope points uphill, so no step makes it better."""

    def __call__(self, params, data):
        import jax

        x = params["x"]
        return (3.0 * jax.lax.stop_gradient(x @ x) - x @ x).sum(), 0.0 * x[0]


def _start(n=40):
    return {"x": np.linspace(-1.0, 0.5, n), "y": np.zeros((2, 3))}


DATA = {"target": np.arange(6.0).reshape(2, 3)}


def test_the_minimum_is_found_and_is_scipys():
    learnt = minimise(Rosenbrock(), _start(), DATA, 2000)
    np.testing.assert_allclose(learnt.params["x"], 1.0, atol=1e-3)
    np.testing.assert_allclose(learnt.params["y"], DATA["target"], atol=1e-4)
    peer = scipy.optimize.minimize(scipy.optimize.rosen, _start()["x"], jac=scipy.optimize.rosen_der, method="BFGS")
    assert learnt.loss == pytest.approx(peer.fun, abs=1e-5)
    assert learnt.trouble is None
    assert learnt.jitter == 0.0
    assert learnt.losses == sorted(learnt.losses, reverse=True)


def test_bounds_are_kept():
    learnt = minimise(Rosenbrock(), _start(4), DATA, 300, bounds={"x": (-2.0, 0.25), "y": (0.0, 3.0)})
    assert learnt.params["x"].max() <= 0.25
    np.testing.assert_allclose(learnt.params["y"], np.minimum(DATA["target"], 3.0), atol=1e-4)


def test_no_more_iterations_than_asked():
    for asked in (1, 7, ROUND, ROUND + 5):
        assert minimise(Rosenbrock(), _start(), DATA, asked).iterations == asked


class _StopAt:
    """ctrl-C after so many iterations."""

    def __init__(self, at):
        self.at, self.calls = at, count(1)

    def __call__(self, done, total):
        if next(self.calls) >= self.at:
            raise KeyboardInterrupt


@pytest.mark.parametrize("at", [1, ROUND - 1, ROUND + 17, 2 * ROUND + 1], ids=str)
def test_a_fit_that_was_stopped_goes_on_to_the_same_bits(tmp_path, at):
    whole = minimise(Rosenbrock(), _start(), DATA, 4 * ROUND)
    journal = tmp_path / "walk.journal"
    with pytest.raises(KeyboardInterrupt):
        minimise(Rosenbrock(), _start(), DATA, 4 * ROUND, watch=Watch(_StopAt(at), journal))
    resumed = minimise(Rosenbrock(), _start(), DATA, 4 * ROUND, watch=Watch(journal=journal, resume=True))
    assert resumed.params["x"].tobytes() == whole.params["x"].tobytes()
    assert resumed.params["y"].tobytes() == whole.params["y"].tobytes()
    assert (resumed.loss, resumed.iterations, resumed.losses) == (whole.loss, whole.iterations, whole.losses)


def test_every_stage_goes_on_where_it_was(tmp_path):
    """Two stages, the second from the first's result, stopped in the second."""

    def both(watch):
        watch.plan(4 * ROUND)
        first = minimise(Rosenbrock(), _start(), DATA, 2 * ROUND, watch=watch, stage="first")
        return minimise(Rosenbrock(50.0), first.params, DATA, 2 * ROUND, watch=watch, stage="second")

    whole = both(Watch())
    with pytest.raises(KeyboardInterrupt):
        both(Watch(_StopAt(3 * ROUND + 9), tmp_path / "j"))
    seen = []
    resumed = both(Watch(lambda done, total: seen.append((done, total)), tmp_path / "j", resume=True))
    assert resumed.params["x"].tobytes() == whole.params["x"].tobytes()
    assert seen[0] == (2 * ROUND, 4 * ROUND)
    assert seen[-1] == (4 * ROUND, 4 * ROUND)
    assert seen == sorted(seen)


def test_what_was_finished_is_not_learnt_again(tmp_path):
    done = minimise(Rosenbrock(), _start(), DATA, 90, watch=Watch(journal=tmp_path / "j"))
    again = minimise(Rosenbrock(), _start(), DATA, 90, watch=Watch(_StopAt(3), tmp_path / "j", resume=True))
    assert again.params["x"].tobytes() == done.params["x"].tobytes()


def test_progress_counts_to_the_end_also_where_it_ends_early():
    seen = []
    watch = Watch(lambda done, total: seen.append((done, total)))
    watch.plan(5000)
    minimise(Rosenbrock(), _start(4), DATA, 5000, watch=watch)
    assert len(seen) < 1000
    assert seen[-1] == (5000, 5000)


@pytest.mark.parametrize("other", ["data", "settings", "iterations", "start", "bounds"])
def test_the_journal_of_another_fit_is_refused(tmp_path, other):
    minimise(Rosenbrock(), _start(), DATA, 80, watch=Watch(journal=tmp_path / "j"))
    objective = Rosenbrock(99.0) if other == "settings" else Rosenbrock()
    start = _start(41) if other == "start" else _start()
    data = {"target": DATA["target"] + 1.0} if other == "data" else DATA
    bounds = {"x": (-9.0, 9.0)} if other == "bounds" else None
    with pytest.raises(FileError, match="other clips or settings; learn anew"):
        minimise(
            objective, start, data, 81 if other == "iterations" else 80, bounds=bounds,
            watch=Watch(journal=tmp_path / "j", resume=True),
        )  # fmt: skip


def test_foreign_and_truncated_journals_are_one_sentence(tmp_path):
    minimise(Rosenbrock(), _start(), DATA, 10, watch=Watch(journal=tmp_path / "j"))
    good = (tmp_path / "j").read_bytes()
    np.savez(tmp_path / "foreign.npz", a=np.zeros(3))
    heads = [b"[1, 2]", b"3", b'{"learn": {}}', b'{"learn": {"digest": 1, "iterations": "x"}}']
    bad = [good[: len(good) // 2], good[:-9], b"PK", b"walk", (tmp_path / "foreign.npz").read_bytes()]
    for head in heads:
        np.savez(tmp_path / "odd.npz", head=np.frombuffer(head, dtype=np.uint8), stage_0=np.zeros((2, 2)))
        bad.append((tmp_path / "odd.npz").read_bytes())
    for content in bad:
        (tmp_path / "bad").write_bytes(content)
        with pytest.raises(FileError, match="no journal of a fit; learn anew"):
            Watch(journal=tmp_path / "bad", resume=True)
    with pytest.raises(FileError, match="no such file"):
        Watch(journal=tmp_path / "none", resume=True)


def test_kernels_in_a_digest_read_the_same_in_every_process():
    assert "0x" not in repr(kernels.linear_second_order(3))
    assert repr(kernels.velocity_product(2)) == repr(kernels.velocity_product(2))


def test_steps_over_the_edge_are_taken_back():
    learnt = minimise(Cliff(), {"x": np.full(3, -5.0)}, {}, 300)
    assert np.isfinite(learnt.loss)
    np.testing.assert_allclose(learnt.params["x"], 0.9, atol=1e-2)


def test_learning_that_goes_nowhere_stops_where_it_was_best_and_says_so():
    start = {"x": np.array([0.5, -0.2])}
    learnt = minimise(Liar(), start, {}, 500)
    assert learnt.trouble is not None
    assert "no step made it better" in learnt.trouble
    np.testing.assert_array_equal(learnt.params["x"], start["x"])


def test_a_start_that_is_no_number_is_a_sentence():
    with pytest.raises(JostleError, match="no number"):
        minimise(Cliff(), {"x": np.full(3, 2.0)}, {}, 10)
