"""`evaluate compliance`: clips that give way to small pushes (Ye & Liu 2008). All of it with one set of parameters.

idle_deg, growth_per_s    unpushed for a minute; how a small disturbance grows (below zero: dies out)
literal_lost_s    seconds until the paper to the letter is 30 degrees off, unpushed
k_sweep, wrong_basis_ratio    more and fewer near-unactuated directions; the most actuated ones in their place
by_part, by_phase, by_direction, by_style    one push of 100 N for 0.1 s, over parts, phases, sides and takes
swapped_basis    the directions of somebody else, or of another style
recovered, recover_s, beyond_deg    five hundred random pushes
root_return_s, slide_cm, ground_…    the pelvis pushed; the ground pulled away at 1 m/s
cup_…    a cup in the right hand while the left arm is pushed (…_own_arm: the right one): how far it is tilted, and
    which share of the work that answers the push the trunk does
cycles_…    directions from other cycles of the take, and from noisy ones
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jostle.evaluate.compliance import trials
from jostle.evaluate.compliance.summary import summarise
from jostle.evaluate.compliance.takes import MAIN, SHIPPED, TAKES, WALKS, path_of
from jostle.evaluate.experiments import Request
from jostle.evaluate.jobs import Job, run_jobs
from jostle.evaluate.report import Report

SWEEP = (2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24)
SWEPT = ("normal", "sneaky", "cmu_35")
FULL, QUICK = (60.0, 500, 12), (10.0, 40, 3)  # seconds unpushed, random pushes, random cycles
SWAPS = {  # whose motion, by whose directions
    "same person and style": ("normal", "normal_2"),
    "other style": ("normal", "sneaky"),
    "other style, back": ("normal", "backward"),
    "other person": ("cmu_07", "cmu_35"),
    "yet another person": ("cmu_07", "cmu_136"),
}
_NOTES = (
    "peak: the largest angle of a joint of the upper body against the source, degrees; back_s: seconds after a push "
    "until all joints stay within 2 degrees; recovered: the share that is back within 3 s.",
    "Takes of walks are one cycle, closed and repeated; jabs is played as it is.",
)


def run(request: Request) -> Report:
    begun = time.perf_counter()
    jobs = plan_jobs(request.seed, request.quick, request.data)
    done = run_jobs(list(jobs.values()), request.workers, request.checkpoint, request.progress)
    found = {name: done[job.key] for name, job in jobs.items()}
    skipped = [] if request.data is not None else ["all but the shipped walk: name a folder of motion capture, --data."]
    skipped += ["most trials: --quick."] if request.quick else []
    if request.plots is not None:
        from jostle.evaluate.compliance.plots import draw

        swept = {name.split()[1]: {} for name in found if name.startswith("sweep ")}
        for name, result in found.items():
            if name.startswith("sweep "):
                swept[name.split()[1]][result["k"]] = result
        draw(request.plots, path_of("normal", request.data), swept)
    rows = [{"experiment": name, **row} for name, result in found.items() for row in _rows(result)]
    data = None if request.data is None else str(request.data)
    seconds = time.perf_counter() - begun
    return Report("compliance", request.seed, seconds, data, summarise(found), rows, {}, skipped, list(_NOTES))


def plan_jobs(seed: int, quick: bool, data: Path | None) -> dict[str, Job]:
    main = (SHIPPED,) if data is None else MAIN[::4] if quick else MAIN
    walks = tuple(name for name in main if name in (*WALKS, SHIPPED))
    everyone = main if data is None or quick else tuple(TAKES)
    at = {name: path_of(name, data) for name in ((SHIPPED,) if data is None else TAKES)}
    seconds, pushes, cycles = QUICK if quick else FULL
    count = -(-pushes // len(main))
    plan: dict[str, tuple[Callable[..., Any], tuple[Any, ...], float]] = {}
    for name in main:
        plan[f"idle {name}"] = (trials.idle, (at[name], seconds), 1.0)
        plan[f"growth {name}"] = (trials.growth, (at[name], seed), 0.3)
        plan[f"literal {name}"] = (trials.literal, (at[name],), 0.1)
        plan[f"wrong {name}"] = (trials.wrong_basis, (at[name], 6.0), 0.3)
        plan[f"wild {name}"] = (trials.wild, (at[name], count, seed), 0.1 * count)
        plan[f"cup {name}"] = (trials.cup, (at[name],), 3.0)
    for name in walks:
        plan[f"rooted {name}"] = (trials.rooted, (at[name],), 2.0)
    for name in walks if data is None or quick else SWEPT:
        for k in SWEEP[::3] if quick else SWEEP:
            plan[f"sweep {name} {k}"] = (trials.sweep, (at[name], k, 10.0), 3.0)
    for name in everyone if not quick else main[:1]:
        if name != "jabs":
            plan[f"responses {name}"] = (trials.responses, (at[name],), 20.0)
    if data is not None and not quick:
        for title, (own, other) in SWAPS.items():
            plan[f"swapped {title}"] = (trials.swapped, (at[own], at[other]), 3.0)
    long_take = SHIPPED if data is None else "normal"
    plan["cycles"] = (trials.random_cycles, (at[long_take], cycles, seed), 3.0)
    return {name: Job(f"{name} {work.__name__} {arguments}", work, arguments, cost)
            for name, (work, arguments, cost) in plan.items()}  # fmt: skip


def _rows(result: Any) -> list[dict[str, Any]]:
    if result is None:
        return []
    lists = {name: rows for name, rows in result.items() if isinstance(rows, list)}
    return [{"of": name, **row} for name, rows in lists.items() for row in rows] if lists else [result]
