"""`evaluate control`: characters that are steered, after a few seconds of motion (Levine et al. 2012, section 7).

reward, acceleration_ratio       a step of 1,000 with random directions; joint acceleration beside that of the data
…_fields, …_graph, …_noconn      motion fields, a motion graph, and ours without the prior of connectivity
turn_s, missed                   after 90 and 180 degrees until it travels within 15 degrees for good, of 20 turns each
reachable, inter_clip            of the latent space: which share of the data runs come near; how near clips lie
quality                          variance of poses over its mean at the data: 99th percentile, and escapes
skate_ratio, ik_cm, switch_seam_cm    feet, hands, and changing from walking to running
hit_rate, hit_rate_raw           strikes, with inverse kinematics at the strike and by the policy alone

Settings of all methods were chosen on walk 1, walk 2 and run; none on what is held out.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from jostle.evaluate.control import takes, trials
from jostle.evaluate.control.trials import QUICK, Effort
from jostle.evaluate.experiments import Request
from jostle.evaluate.jobs import Job, run_jobs
from jostle.evaluate.report import Report

W_C = 0.1
ABLATED = ("walk 1", "walk 2", "mixed")
LONGEST, FEWER = "walk 2", 20_000  # the set whose runs are followed for all steps; for how many the others are
SWEPT = ("walk 1", "walk 2")
METHODS = {"": "ours", "_fields": "fields", "_graph": "graph", "_noconn": "noconn"}
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_NOTES = (
    "reward: e^(-2 |off|) a step, 0.16 by chance; acceleration_ratio: rms joint acceleration over that of the clips; "
    "turn_s: medians and 90th percentiles, empty where more commands than that were missed.",
    "Peers clean up no feet. Ours does, and is measured as it is shown.",
)


def run(request: Request) -> Report:
    begun = time.perf_counter()
    jobs = plan_jobs(request.seed, request.quick, request.data)
    with _single():
        done = run_jobs(list(jobs.values()), request.workers, request.checkpoint, request.progress)
    found = {name: done[job.key] for name, job in jobs.items()}
    if request.plots is not None:
        from jostle.evaluate.control.plots import draw

        draw(request.plots, found)
    skipped = [] if request.data is not None else ["all but shipped clips: name a folder of motion capture, --data."]
    skipped += ["all but walk 1, trained and measured little: --quick."] if request.quick else []
    rows = [{"experiment": name, **row} for name, result in found.items() for row in _rows(result)]
    data = None if request.data is None else str(request.data)
    seconds = time.perf_counter() - begun
    return Report("control", request.seed, seconds, data, summarise(found), rows, {}, skipped, list(_NOTES))


def plan_jobs(seed: int, quick: bool, data: Path | None) -> dict[str, Job]:
    effort = QUICK if quick else Effort()
    names = (takes.SHIPPED,) if data is None else ("walk 1",) if quick else tuple(takes.SETS)
    ablated = names if quick or data is None else ABLATED
    plan: dict[str, tuple[Callable[..., Any], tuple[Any, ...], float]] = {}
    shorter = effort if quick else replace(effort, steps=FEWER)
    for name in names:
        own = effort if name == LONGEST else shorter
        plan[f"ours {name}"] = (trials.ours, (name, data, W_C, own, seed), 10.0)
        plan[f"fields {name}"] = (trials.fields, (name, data, effort, seed), 1.0)
        plan[f"graph {name}"] = (trials.graph, (name, data, effort, seed), 0.5)
    for name in ablated:
        plan[f"noconn {name}"] = (trials.ours, (name, data, 0.0, shorter, seed), 9.0)
    if not quick and data is not None:
        for name in SWEPT:
            for method, cost in (("ours", 20.0), ("fields", 3.0), ("graph", 2.0)):
                plan[f"swept {name}, {method}"] = (trials.swept, (name, data, method, effort, seed), cost)
        plan["switched"] = (trials.switched, (data, effort, seed), 12.0)
        from jostle.evaluate.control import strike_tables

        for name in strike_tables.TRAININGS:
            plan[f"strikes {name}"] = (trials.strikes, (name, data, seed), 10.0)
        plan["strikes_connected"] = (trials.strikes_connected, (data, seed), 20.0)
    return {name: Job(f"{name} {work.__name__} {arguments}", work, arguments, cost)
            for name, (work, arguments, cost) in plan.items()}  # fmt: skip


def summarise(found: dict[str, Any]) -> dict[str, Any]:
    summary: dict[str, Any] = {}
    for suffix, method in METHODS.items():
        for name, result in _of(found, method).items():
            for figure in ("reward", "acceleration_ratio", "foot_skate"):
                summary.setdefault(figure + suffix, {})[name] = result[figure]
            summary.setdefault(f"turn_s{suffix}", {})[name] = {
                "90": result["turn_90_s"], "90_90th": result["turn_90_90th_s"],
                "180": result["turn_180_s"], "180_90th": result["turn_180_90th_s"],
            }  # fmt: skip
            summary.setdefault(f"missed{suffix}", {})[name] = result["missed_90"] + result["missed_180"]
            if method in ("ours", "noconn"):
                summary.setdefault(f"reachable{suffix}", {})[name] = result["reachable"]
                summary.setdefault(f"inter_clip{suffix}", {})[name] = result["inter_clip"]
                summary.setdefault(f"quality{suffix}", {})[name] = {
                    "variance_99": result["variance_99"], "escapes": result["escapes"],
                }  # fmt: skip
    for name, result in _of(found, "ours").items():
        summary.setdefault("skate_ratio", {})[name] = result["feet_skate_ratio"]
        summary.setdefault("ik_cm", {})[name] = result["ik_cm"]
    if "switched" in found:
        summary |= {key: found["switched"][key] for key in ("switch_seam_cm", "switch_seam_worst_cm", "clips_seam_cm")}
    for name, result in _of(found, "strikes").items():
        for figure in ("hit_rate", "hit_rate_raw", "chance_raw"):
            summary.setdefault(figure, {})[name] = result[figure]
    return summary


def _of(found: dict[str, Any], what: str) -> dict[str, Any]:
    return {name.removeprefix(what + " "): result for name, result in found.items() if name.startswith(what + " ")}


def _rows(result: dict[str, Any]) -> list[dict[str, Any]]:
    return result.get("rows", [result])


@contextmanager
def _single() -> Iterator[None]:
    """Processes that start within use one thread each for linear algebra; two that share a core wait for each other."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
