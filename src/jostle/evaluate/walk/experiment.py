"""`evaluate walk`: every figure of Wang 2010, chapter 3, for the walkers that are shipped or named."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from jostle.evaluate.experiments import Request
from jostle.evaluate.jobs import Job, run_jobs
from jostle.evaluate.report import Report
from jostle.evaluate.walk.ablations import effect, find_pairs
from jostle.evaluate.walk.endure import walk_on
from jostle.evaluate.walk.humans import Humans, human_walks
from jostle.evaluate.walk.pushes import FULL, QUICK, Protocol, push_tolerance, tolerance
from jostle.evaluate.walk.steady import walk_steadily
from jostle.evaluate.walk.subjects import Subject, find_subjects
from jostle.evaluate.walk.thesis import PAPER, TOLERANCE
from jostle.evaluate.walk.throughput import throughput

FIGURES = ("seconds_walked", "symmetry_ms", "line_m_per_10m", "speed", "step_m", "cadence", "power_share", "e_power")
FIGURES += ("double_support", "heel_off", "toe_off", "flat", "push_off_j", "knee_at_strike_deg", "arm_leg")
FIGURES += ("head_acceleration", "head_speed_sd", "turning_torque", "angular_momentum", "foot_skate", "slide_cm")
STEPS = {"stocky": 3000, "simbicon": 3000}  # how many these must take
_NOTES = (
    "Tolerances are newtons of each component of the push, as in table 3.2, on the mean over the offsets of the "
    "pushes: the first failure from below, to 3.2 N (50 N with --quick).",
    "The thesis's speed, power and shares are of walkers without user constraints, its shares of 'short' at 1.0 m/s.",
)


@dataclass(frozen=True)
class Plan:
    """How long and how much."""

    seconds: float = 100.0
    steps: bool = True  # the thousands
    pushes: Protocol = FULL
    pushed: tuple[str, ...] = tuple(TOLERANCE)  # of the shipped walkers, those of table 3.2
    clock: float = 9.0  # seconds in which throughput is measured


_QUICK = Plan(seconds=6.0, steps=False, pushes=QUICK, pushed=("stocky",), clock=3.0)


@dataclass(frozen=True, eq=False)
class Measured:
    """All that was measured. Rows go by walker."""

    steady: dict[str, dict[str, Any]]
    pushed: dict[str, dict[str, Any]]
    steps: dict[str, dict[str, Any]]
    effects: dict[str, Any]  # of leaving out a term, by its name
    throughput: dict[str, Any]
    rows: list[dict[str, Any]]


def run(request: Request) -> Report:
    """The report, and with `request.plots` its pictures."""
    begun, plan = time.perf_counter(), _QUICK if request.quick else Plan()
    subjects = find_subjects(request.subjects)
    if request.subjects:
        plan = replace(plan, pushed=tuple(subject.name for subject in subjects))
    humans = human_walks(request.data) if request.data is not None else None
    measured = measure(request, plan, subjects)
    if request.plots is not None:
        from jostle.evaluate.walk.plots import draw_all

        draw_all(request.plots, measured.steady, measured.pushed, humans)
    return Report(
        "walk",
        request.seed,
        time.perf_counter() - begun,
        None if request.data is None else str(request.data),
        summarise(measured, humans),
        measured.rows,
        PAPER,
        skips(request, humans, measured),
        [*_NOTES, *_about(humans)],
    )


def measure(request: Request, plan: Plan, subjects: Sequence[Subject]) -> Measured:
    """Throughput first, alone on the machine; then everything else side by side."""
    speed = throughput(_usual(subjects), plan.clock)
    pairs = {} if request.quick or request.subjects else find_pairs()
    jobs = plan_jobs(subjects, pairs, plan, request.seed)
    found = run_jobs(list(jobs.values()), request.workers, request.checkpoint, request.progress)
    by_kind: dict[str, dict[str, Any]] = {"steady": {}, "pushes": {}, "steps": {}, "without": {}, "with": {}}
    rows = []
    for (kind, name), job in jobs.items():
        row = {**found[job.key], "walker": name}
        by_kind[kind][name] = row
        rows.append({"experiment": kind} | {key: value for key, value in row.items() if key != "curve"})
    effects = {name: effect(name, by_kind["without"][name], by_kind["with"][name]) for name in pairs}
    rows.append({"experiment": "throughput"} | speed)
    return Measured(by_kind["steady"], by_kind["pushes"], by_kind["steps"], effects, speed, rows)


def _usual(subjects: Sequence[Subject]) -> Subject:
    """Whose speed is measured: stocky, where it is there."""
    return next((subject for subject in subjects if subject.name == "stocky"), subjects[0])


def plan_jobs(
    subjects: Sequence[Subject], pairs: dict[str, tuple[Subject, Subject]], plan: Plan, seed: int
) -> dict[tuple[str, str], Job]:
    """What there is to do, by experiment and name."""
    jobs = {("steady", subject.name): _steady_job(subject, plan) for subject in subjects}
    for name, (without, usual) in pairs.items():
        jobs |= {("without", name): _steady_job(without, plan), ("with", name): _steady_job(usual, plan)}
    for subject in subjects:
        if subject.name in plan.pushed:
            cost = 3.0 * plan.pushes.ticks * len(plan.pushes.offsets) * len(plan.pushes.directions)
            key = f"pushes {subject.digest} {seed} {sorted(asdict(plan.pushes).items())}"
            arguments = (subject, plan.pushes, seed)
            jobs["pushes", subject.name] = Job(key, push_tolerance, arguments, cost, plan.pushes.ticks)
        if plan.steps and subject.name in STEPS:
            steps = STEPS[subject.name]
            key, cost = f"steps {subject.digest} {steps}", 0.5 * steps
            jobs["steps", subject.name] = Job(key, walk_on, (subject, steps), cost, 0.05 * steps)
    return jobs


def _steady_job(subject: Subject, plan: Plan) -> Job:
    return Job(f"steady {subject.digest} {plan.seconds:g}", walk_steadily, (subject, plan.seconds), plan.seconds)


def summarise(measured: Measured, humans: Humans | None) -> dict[str, Any]:
    """The figures under the names by which they are known: figure, walker, and what else there is to tell apart."""
    steady = measured.steady
    summary: dict[str, Any] = {}
    for figure in FIGURES:
        summary[figure] = {name: row[figure] for name, row in steady.items() if row.get(figure) is not None}
    summary["objective"] = {
        name: {key.removeprefix("E_"): value for key, value in row.items() if key.startswith("E_")}
        for name, row in steady.items()
    }
    if humans is not None:
        curves = {name: np.array(row["curve"]) for name, row in steady.items() if row["curve"] is not None}
        summary["gait_sd"] = {name: humans.distance(curve) for name, curve in curves.items()}
    summary["tolerance"] = {name: tolerance(row) for name, row in measured.pushed.items()}
    if "simbicon" in steady:
        summary["against_simbicon"] = _against("simbicon", summary)
    if measured.steps:
        summary["steps_walked"] = {name: row["steps"] for name, row in measured.steps.items()}
    if measured.effects:
        summary["ablations"] = measured.effects
    return summary | {"throughput": measured.throughput["simulated_per_second"]}


def _against(peer: str, summary: dict[str, Any]) -> dict[str, Any]:
    """Everyone's power, and distance from people in knee and foot, over SIMBICON's."""
    against: dict[str, Any] = {}
    for name, power in summary["e_power"].items():
        if name != peer:
            against[name] = {"e_power": power / summary["e_power"][peer]}
            gaits = summary.get("gait_sd", {})
            if name in gaits and peer in gaits:
                against[name] |= {f"gait_sd_{a}": gaits[name][a] / gaits[peer][a] for a in ("knee", "foot")}
    return against


def skips(request: Request, humans: Humans | None, measured: Measured) -> list[str]:
    """What was not measured, and why."""
    skipped = []
    if humans is None:
        lack = "no folder of motion capture was named (--data)" if request.data is None else "it holds no CMU walks"
        skipped.append(f"gait_sd: {lack}.")
    if request.quick:
        skipped += ["steps_walked: --quick.", "ablations: --quick."]
    elif not measured.effects:
        skipped.append("ablations: only measured of the shipped walkers, where they are there.")
    return skipped


def _about(humans: Humans | None) -> list[str]:
    if humans is None:
        return []
    return [
        f"People: {humans.people}, {len(humans.curves)} curves, {humans.speed:.2f} m/s on the mean; "
        f"{humans.bent:.0f} degrees were taken off their knees, which is what they show when people stand."
    ]
