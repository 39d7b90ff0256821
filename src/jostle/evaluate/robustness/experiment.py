"""`evaluate robustness`: walkers in a world that is not known, as in Wang 2010, chapter 4.

tolerance     tables 4.1 and 4.2: the largest force, 0.4 s every 4 s for 40 s, by direction
gusts         figures 4.3 and 4.6: the share of a hundred trials of 10 s without a fall, against the force of gusts
turns         the same under random changes of heading, which is the measure of figure 4.4
speed, …      how it walks when nothing happens
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from jostle import assets
from jostle.controllers.walker.handover import BETWEEN
from jostle.controllers.walker.walk import STYLES
from jostle.errors import CommandError
from jostle.evaluate.experiments import Request
from jostle.evaluate.jobs import Job, run_jobs
from jostle.evaluate.report import Report
from jostle.evaluate.robustness.counts import by_count, find_counted
from jostle.evaluate.robustness.style import walk_style
from jostle.evaluate.robustness.success import SECONDS, carried, success_rate
from jostle.evaluate.robustness.thesis import APPLIED, PACES, PAPER, ROWS, TOLERANCE, TRANSITIONS, UNTABLED
from jostle.evaluate.robustness.transitions import transition_failures
from jostle.evaluate.walk.pushes import FULL, QUICK, Protocol, push_tolerance
from jostle.evaluate.walk.subjects import REPORTED, Subject, find_subjects, read_subject
from jostle.evaluate.walk.thesis import DIRECTIONS
from jostle.tuning.chance import Chance

STYLE = ("seconds_walked", "speed", "step_m", "step_width_m", "com_height", "arm_spread_deg", "hip_share", "e_power")
_NOTES = (
    "Tolerances are newtons of each component of the push, on the mean over four offsets, left and right: the first "
    "failure from below (to 50 N with --quick). Who no longer walks forward has failed, not only who fell.",
    "Gusts blow for 0.4 s, 0.6 times a second, from anywhere; headings change by 0.5 rad, 1.2 times a second.",
)


@dataclass(frozen=True)
class Plan:
    """How much."""

    forces: tuple[float, ...] = (0.0, 50.0, 100.0, 150.0, 200.0, 250.0, 300.0, 350.0, 400.0)  # newtons of gusts
    trials: int = 100
    turn: float = 0.5  # radians, the standard deviation of a change of heading
    switches: int = 500  # of walkers, in mid-stride
    trial: float = SECONDS  # seconds; on a beam four times as long
    gust: float = 30.0  # newtons, on a beam
    ahead: float = 2.0  # metres: where someone who steers on a beam wants to be over its middle
    noise: float = 25.0  # beta, for those that carry a mug
    mugs: int = 20  # trials
    seconds: float = 20.0  # of the undisturbed walk
    pushes: Protocol = FULL
    timestep: float = REPORTED


_QUICK = Plan(
    (100.0, 300.0),
    8,
    switches=8,
    seconds=5.0,
    pushes=replace(QUICK, directions=tuple(DIRECTIONS), grid=100.0),
    timestep=0.002,
)


def run(request: Request) -> Report:
    """The report, and with `request.plots` its picture."""
    begun, plan = time.perf_counter(), _QUICK if request.quick else Plan()
    subjects = find_subjects(request.subjects or _shipped())
    jobs = plan_jobs(subjects, plan, request.seed)
    if not (request.quick or request.subjects):
        jobs |= plan_counts(plan, request.seed)
    found = run_jobs(list(jobs.values()), request.workers, request.checkpoint, request.progress)
    rows = [
        {"experiment": kind, **found[job.key], "walker": name} | ({} if about is None else {"newtons": about})
        for (kind, name, about), job in jobs.items()
        if kind != "tolerance"
    ]
    measured = {key: found[job.key] for key, job in jobs.items()}
    summary = summarise(measured, [subject.name for subject in subjects])
    rows += [{"experiment": "tolerance", **row} for (kind, _, _), row in measured.items() if kind == "tolerance"]
    if request.plots is not None:
        from jostle.evaluate.robustness.plots import draw_counts, draw_success

        draw_success(request.plots / "success.png", summary["gusts"])
        if "success_over_n" in summary:
            draw_counts(request.plots / "counts.png", summary["success_over_n"])
    seconds = time.perf_counter() - begun
    skipped = [] if "success_over_n" in summary else ["success_over_n: only in full, of the shipped walkers."]
    return Report("robustness", request.seed, seconds, None, summary, rows, PAPER, skipped, list(_NOTES))


def _shipped() -> tuple[str, ...]:
    """Those that the thesis tells of."""
    named = dict.fromkeys((*TOLERANCE, *PACES, *TRANSITIONS, *APPLIED))
    known = tuple(name for name in named if name in assets.walker_names())
    if not known:
        raise CommandError("No walker that was made for an unknown world is shipped; name walkers with --walker.")
    return known


def plan_jobs(subjects: Sequence[Subject], plan: Plan, seed: int) -> dict[tuple[str, str, float | None], Job]:
    """What there is to do, by experiment, walker, and force where there are several."""
    jobs: dict[tuple[str, str, float | None], Job] = {}
    for subject in subjects:
        name = subject.name
        key = f"pushes {subject.digest} {seed} {sorted(asdict(plan.pushes).items())}"  # as `evaluate walk` has it
        cost = 3.0 * plan.pushes.ticks * len(plan.pushes.offsets) * len(plan.pushes.directions)
        arguments = (subject, plan.pushes, seed)
        if name not in UNTABLED:
            jobs["tolerance", name, None] = Job(key, push_tolerance, arguments, cost, plan.pushes.ticks)
            for force in plan.forces:
                jobs["gusts", name, force] = _trials(subject, Chance(plan.trials, force), plan, seed)
        if STYLES[subject.machine].guided:  # others do not hear of it
            jobs["turns", name, None] = _trials(subject, Chance(plan.trials, turn=plan.turn), plan, seed)
        if subject.ground.width:
            chance = Chance(plan.trials, plan.gust, middle=plan.ahead if STYLES[subject.machine].guided else None)
            jobs["beam", name, None] = _trials(subject, chance, plan, seed, 4.0 * plan.trial)
        if name.startswith("mug"):
            chance = Chance(plan.mugs, noise=plan.noise)
            jobs["mug", name, None] = _trials(subject, chance, plan, seed, plan.trial, carried)
        first = _first(subject, subjects)
        if first is not None:
            key = f"transition {first.digest} {subject.digest} {seed} {plan.switches} {plan.timestep:g}"
            arguments = (first, subject, plan.switches, seed, plan.timestep)
            jobs["transitions", name, None] = Job(key, transition_failures, arguments, 14.0 * plan.switches)
        key = f"style {subject.digest} {plan.seconds:g} {plan.timestep:g}"
        jobs["style", name, None] = Job(key, walk_style, (subject, plan.seconds, plan.timestep), plan.seconds)
    return jobs


def plan_counts(plan: Plan, seed: int) -> dict[tuple[str, str, float | None], Job]:
    """Of walkers made with N walks to a judgement: figure 4.4."""
    walkers = [subject for group in find_counted().values() for subject in group]
    chance = Chance(plan.trials, turn=plan.turn)
    return {("counts", subject.name, None): _trials(subject, chance, plan, seed) for subject in walkers}


def _first(subject: Subject, subjects: Sequence[Subject]) -> Subject | None:
    """Whom a transition takes over from: one of these, or a shipped one."""
    first, to, _ = subject.name.partition(BETWEEN)
    if not to:
        return None
    known = {other.name: other for other in subjects}
    return known.get(first) or (read_subject(first) if first in assets.walker_names() else None)


def _trials(
    subject: Subject,
    chance: Chance,
    plan: Plan,
    seed: int,
    seconds: float | None = None,
    work: Callable[..., dict[str, Any]] = success_rate,
) -> Job:
    long = seconds or plan.trial
    key = f"{work.__name__} {subject.digest} {seed} {long:g} {plan.timestep:g} {sorted(asdict(chance).items())}"
    return Job(key, work, (subject, chance, seed, long, plan.timestep), long * chance.trials)


def summarise(measured: dict[tuple[str, str, float | None], dict[str, Any]], names: Sequence[str]) -> dict[str, Any]:
    """Figures by walker."""
    summary: dict[str, Any] = {}
    for figure in STYLE:
        own = {name: measured["style", name, None].get(figure) for name in names}
        summary[figure] = {name: value for name, value in own.items() if value is not None}
    summary["tolerance"] = {
        name: by_rows(row["newtons"]) for (kind, name, _), row in measured.items() if kind == "tolerance"
    }
    summary["gusts"] = {}
    for (kind, name, force), row in measured.items():
        if kind == "gusts":
            summary["gusts"].setdefault(name, {})[f"{force:g} N"] = row["success"]
    for figure, what in (("turns", "success"), ("beam", "success"), ("mug", "kept"), ("transitions", "failures")):
        summary[figure] = {name: row[what] for (kind, name, _), row in measured.items() if kind == figure}
    counted = {name: row["success"] for (kind, name, _), row in measured.items() if kind == "counts"}
    if counted:
        summary["success_over_n"] = by_count(counted)
    return summary


def by_rows(newtons: dict[str, list[float]]) -> dict[str, float]:
    """The mean over offsets, left and right."""
    return {
        row: float(np.mean([newtons[direction] for direction in directions]))
        for row, directions in ROWS.items()
        if all(direction in newtons for direction in directions)
    }
