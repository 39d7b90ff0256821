"""Real pushes: a person who stands and is pushed by hand, from behind and from in front (`snu_ys2010/push`).

Each file of the data is ten pushes of one kind. In some the person steps once and comes back at once (`BACK`), in
others they step several times and stay a while where they are (`AWAY`), and the pushes do not tell which: they overlap.
So there are two characters, each of whom learns standing and the first `LEARNT` pushes of every file of a kind, and
answers the others, from the pose and with the speed in which they began. A third never saw the file `UNSEEN` and
answers all of it. Replay means the nearest recorded answer of the same kind. Who stays away walks back to their place
after a while, of their own accord; recordings end there.

Standing is learnt from the beginnings of all files, for stances differ by centimetres, and a stance that nobody showed
is far from the normal motion. Of characters that learnt for so many `ITERATIONS` the one counts that answers the pushes
it learnt best.

No force was recorded: all impulses are estimated (`controllers.dynamic.estimate`), those that are learnt and those that
are answered. Files in which the person stands with one foot forward are left out; that is another normal motion.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from jostle.body import Body, build_body
from jostle.clips import Clip, load_clip
from jostle.clips.edit import concatenate, move, trim_frames, turn
from jostle.controllers import NEUTRAL, Start
from jostle.controllers.dynamic.align import headings
from jostle.controllers.dynamic.dynamic import Dynamic
from jostle.controllers.dynamic.estimate import estimate_pushes
from jostle.controllers.dynamic.learn import Example, fit_dynamic
from jostle.evaluate.response.cases import FPS, Case, answered, figures_of, miss, path_of

FOLDER = Path("snu_ys2010") / "push"
EVENTS = "push_events.csv"  # when each push begins, by eye and by the speed of the centre of mass
BACK = ("wd2_Physics_2_Push01", "wd2_Physics_2_Push02", "wd2_PushBack01")
AWAY = ("wd2_PushBackStep00", "wd2_PushStep00")
UNSEEN = "wd2_Physics_2_Push02"
LEARNT = 3  # of the ten pushes of a file
BEFORE, AFTER, CLEAR = 20, 90, 6  # frames of a clip before and after a push, and before the next
LATE = 12  # frames by which an estimated push may begin off the listed one
STANDING = 600.0  # seconds
ITERATIONS = 15, 30, 60
STANCE, BLEND = 14, 0.15  # frames of each stance, and seconds in which one becomes another

_LOOK, _WINDOW = 15, 20  # frames between looks, and looks of ten seconds


@dataclass(frozen=True, eq=False)
class Take:
    """One file: how the person stands in it, and its pushes."""

    stand: Clip
    cases: tuple[Case, ...]
    missed: int  # pushes of which the estimate finds nothing


def has_pushes(data: Path | None) -> bool:
    wanted = (EVENTS, *(f"{name}.bvh" for name in (*BACK, *AWAY)))
    return data is not None and all((data / FOLDER / name).exists() for name in wanted)


def heldout_real(data: str, quick: bool, seed: int, tick: Callable[[float], None]) -> dict[str, Any]:
    """Pushes of the learnt kinds, those of a file that was not learnt, and ten minutes of standing."""
    takes = {name: read_take(Path(data) / FOLDER, name) for name in (*BACK, *AWAY)}
    stand = stances([take.stand for take in takes.values()])
    every, seconds, candidates = (4, 0.1 * STANDING, ITERATIONS[:1]) if quick else (1, STANDING, ITERATIONS)
    rows, standing = [], []
    for kind in (BACK, AWAY):
        known = [case for name in kind for case in takes[name].cases[:LEARNT]]
        held = [case for name in kind for case in takes[name].cases[LEARNT:][::every]]
        person = stander(stand, known, candidates, seed)
        rows += _answers(person, held, known, tick)
        standing.append(stood(person, seconds, tick))
    known = [case for name in BACK if name != UNSEEN for case in takes[name].cases[:LEARNT]]
    other = _answers(stander(stand, known, candidates, seed), takes[UNSEEN].cases[::every], known, tick)
    return {"same": rows, "other": other, "standing": standing, "missed": sum(take.missed for take in takes.values())}


def _answers(
    person: Dynamic, held: Sequence[Case], known: Sequence[Case], tick: Callable[[float], None]
) -> list[dict[str, Any]]:
    """Figures; no answer at all is to stay where one stands."""
    rows = figures_of(person, held, known, tick)
    truths = [case.truth(person.body) for case in held]
    return [row | {"none_cm": miss(np.zeros_like(truth), truth)} for row, truth in zip(rows, truths, strict=True)]


def read_take(folder: Path, name: str) -> Take:
    clip = load_clip(folder / f"{name}.bvh")
    with (folder / EVENTS).open() as file:
        rows = [row for row in csv.DictReader(file) if row["file"] == f"{name}.bvh"]
    pushes = [int(row["onset_frame"]) for row in rows if row["kind"] == "push"]
    ends = [int(row["onset_frame"]) for row in rows if name in AWAY or row["kind"] == "push"]
    stand, body = trim_frames(clip, 0, pushes[0] - CLEAR), build_body(clip.skeleton)
    cases = []
    for onset in pushes:
        end = next((later - CLEAR for later in ends if later > onset), clip.frame_count)
        cases.append(_case(clip, onset, min(end, onset + AFTER), stand, body))
    seen = tuple(case for case in cases if case is not None)
    return Take(stand, seen, len(cases) - len(seen))


def _case(clip: Clip, onset: int, end: int, stand: Clip, body: Body) -> Case | None:
    cut = trim_frames(clip, onset - BEFORE, end)
    near = [found for found in estimate_pushes(cut, body, stand) if abs(found[0] * FPS - BEFORE) <= LATE]
    if not near:
        return None
    time, push = near[0]
    return Case(cut, round(time * FPS), headings([stand, cut], 0, FPS)[1], push, 0.0, push.part)


def stances(stands: Sequence[Clip]) -> Clip:
    """One after another, in one place and facing one way."""
    ways, place = headings(list(stands), 0, FPS), stands[0].root[0, :2]
    parts = []
    for stand, way in zip(stands, ways, strict=True):
        part = turn(trim_frames(stand, 0, STANCE), ways[0] - way, stand.root[0, :2])
        parts.append(move(part, np.append(place - part.root[0, :2], 0.0)))
    return concatenate(*parts, halflife=BLEND)


def stander(stand: Clip, cases: Sequence[Case], iterations: Sequence[int], seed: int) -> Dynamic:
    """The best of some, by the pushes that they learnt."""
    pushed = [Example(case.clip, ((case.onset / FPS, case.push),)) for case in cases]
    made = [fit_dynamic([Example(stand), *pushed], iterations=n, title="stander", seed=seed) for n in iterations]
    return min(made, key=lambda person: sum(_off(person, case) ** 2 for case in cases))


def _off(person: Dynamic, case: Case) -> float:
    return miss(path_of(person, answered(person, case), case.way), case.truth(person.body))


def stood(person: Dynamic, seconds: float, tick: Callable[[float], None]) -> dict[str, float]:
    """Unpushed: how far they drift and sway, and how far from the data the latent position comes."""
    state = person.init(Start())
    com, latent = [], []
    for frame in range(int(seconds / person.dt)):
        state = person.step(state, NEUTRAL)
        if frame % _LOOK == 0:
            com.append(person.body.total_com(state.pose))
            latent.append(state.latent)
        if frame % 900 == 0:
            tick(1.0)
    places = np.array(com)
    windows = np.array_split(places, max(1, len(places) // _WINDOW))
    return {
        "away_cm": 100.0 * float(np.max(np.linalg.norm((places - places[0])[:, :2], axis=1))),
        "sway_cm": 100.0 * max(float(np.max(np.ptp(window[:, :2], axis=0))) for window in windows),
        "rise_cm": 100.0 * float(np.ptp(places[:, 2])),
        "steps_off": float(np.max(person.models[0].flow.distance(np.array(latent)))),
    }
