"""`evaluate reconstruction`: the latent space of Ye & Liu 2010, there and back, and on and on.

heldout_…    angles of a clip that was not learnt: through the back map alone, with every frame optimised, with Q = 10;
             beside the nearest frame, principal components and, where it is installed, GPy
rollout_…    2,000 frames of mean prediction of the responsive model, from walks of three cycles or more
"""

from __future__ import annotations

import time
from typing import Any

from jostle.evaluate.experiments import Request
from jostle.evaluate.jobs import Job, run_jobs
from jostle.evaluate.reconstruction import rollouts
from jostle.evaluate.reconstruction.angles import cmu_figures, has_peer, peer_figures, shipped_figures
from jostle.evaluate.report import Report

FRAMES, STARTS = 2000, 3
GPY = {"heldout_back_deg": 5.06, "heldout_deg": 2.70}  # as measured once elsewhere, of 71 angles with the root's
_NOTES = (
    "heldout: Euler angles of all joints but the root that move (68 columns), 60 Hz, CMU 07_01 learnt and 07_02 told; "
    "root mean square. In brackets GPy 1.15, as measured with the root's three angles among them.",
    "rollout: the worst of the starts. drift: median distance to the nearest training latent over the last hundred "
    "frames, over that of the first hundred.",
)


def run(request: Request) -> Report:
    """The report, and with `request.plots` its picture."""
    begun = time.perf_counter()
    data = str(request.data) if request.data else None
    jobs, skipped = plan_jobs(data, request.seed, request.quick)
    done = run_jobs(list(jobs.values()), request.workers, request.checkpoint, request.progress)
    found = {name: done[job.key] for name, job in jobs.items()}
    if request.plots is not None:
        from jostle.evaluate.reconstruction.plots import draw_rollout

        draw_rollout(request.plots / "rollout.png", request.seed, FRAMES)
    rows = [{"experiment": kind, "of": of, **figures} for (kind, of), figures in found.items()]
    seconds, paper = time.perf_counter() - begun, GPY if data else {}
    return Report("reconstruction", request.seed, seconds, data, summarise(found), rows, paper, skipped, list(_NOTES))


def plan_jobs(data: str | None, seed: int, quick: bool) -> tuple[dict[tuple[str, str], Job], list[str]]:
    """What there is to do, by experiment and clip, and what is left out."""
    jobs, skipped = {("shipped", "walk"): Job(f"shipped {seed}", shipped_figures, (seed,), 5.0)}, []
    walks = [rollouts.SHIPPED]
    if data is None:
        skipped.append("heldout, and rollouts of CMU's walks: they need cmu_bvh, named with --data.")
    else:
        jobs["heldout", "07_02"] = Job(f"heldout {data} {seed}", cmu_figures, (data, seed), 5.0)
        walks += [] if quick else list(rollouts.CMU)
        if not has_peer():
            skipped.append("gpy: not installed.")
        else:
            arguments = (data, seed, not quick)
            jobs["gpy", "07_02"] = Job(f"gpy {data} {seed} {quick}", peer_figures, arguments, 10.0 if quick else 60.0)
        if quick:
            skipped.append("gpy_deg and rollouts of CMU's walks: only in full.")
    starts = 1 if quick else STARTS
    for name in walks:
        arguments = (name, data, FRAMES, starts, seed)
        jobs["rollout", name] = Job(f"rollout {arguments}", rollouts.roll, arguments, 6.0 * starts)
    return jobs, skipped


def summarise(found: dict[tuple[str, str], dict[str, Any]]) -> dict[str, Any]:
    """Figures under their names: those of the shipped walk alone, and of others by clip."""
    summary: dict[str, Any] = {}
    for kind in ("heldout", "gpy"):
        for name, value in found.get((kind, "07_02"), {}).items():
            summary[f"heldout_{name}"] = value
    shipped = found["shipped", "walk"]
    summary |= {f"shipped_{name}": shipped[name] for name in ("back_deg", "deg", "nearest_deg")}
    walks = {of: figures for (kind, of), figures in found.items() if kind == "rollout"}
    own = walks.pop(rollouts.SHIPPED)
    summary |= {"rollout_drift": own["drift"], "rollout_skate": own["skate"], "source_skate": own["source_skate"]}
    if walks:
        for name in ("drift", "skate", "source_skate", "slide_cm", "source_slide_cm"):
            summary[f"cmu_{name}"] = {of: figures[name] for of, figures in walks.items()}
    return summary
