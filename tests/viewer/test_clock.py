"""The beat: on time, without drift, without spinning, and never more than a few ticks at once."""

import threading

from jostle.viewer.clock import MOST_AT_ONCE, Beat


class FakeTime(threading.Event):
    """A clock that moves only when someone waits, and an event that takes a little longer than asked."""

    def __init__(self, late: float = 0.0) -> None:
        super().__init__()
        self.now, self.late, self.waits = 0.0, late, []

    def __call__(self) -> float:
        return self.now

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(timeout)
        self.now += timeout + self.late
        return False


def test_ticks_do_not_drift_though_every_wait_is_late():
    time = FakeTime(late=0.003)
    beat = Beat(60.0, clock=time, stop=time)
    ticks = sum(beat.wait() for _ in range(6000))
    assert abs(ticks - time.now * 60.0) <= 1.0
    assert ticks == 6000


def test_it_sleeps_between_ticks():
    time = FakeTime()
    beat = Beat(50.0, clock=time, stop=time)
    for _ in range(100):
        beat.wait()
    assert len(time.waits) == 100
    assert min(time.waits) > 0.019


def test_a_short_delay_is_made_up_for():
    time = FakeTime()
    beat = Beat(60.0, clock=time, stop=time)
    beat.wait()
    time.now += 2.5 / 60
    assert beat.wait() == 2
    assert beat.wait() == 1


def test_after_a_long_sleep_it_starts_anew():
    time = FakeTime()
    beat = Beat(60.0, clock=time, stop=time)
    time.now += 3600.0
    assert beat.wait() == MOST_AT_ONCE
    assert beat.wait() == 1
    assert time.waits[-1] > 0.01


def test_stopping_ends_the_wait():
    stop = threading.Event()
    beat = Beat(0.01, stop=stop)
    threading.Timer(0.05, stop.set).start()
    assert beat.wait() == 0
