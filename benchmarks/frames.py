"""What more frames cost a motion model: python -m benchmarks.frames [--plot FILE] [--gpu] [--json]

The connected model learns from the shipped walks and pushed walks: exactly up to `sparse.EXACT` frames, by inducing
inputs beyond, and once exactly at the first size beyond, to show what was saved. Each size in a process of its own, so
that its peak of memory is its own. Seconds are those of one processor, the median over learning steps, compilation left
out; run time is the pose with its Jacobian and variance at one latent point. Everything in one run, on one thread.

With --gpu the same code learns once more where jax finds one; then seconds are those of the clock, on both, and the
largest difference between the latent positions that came of it stands beside them.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

SIZES = (300, 1000, 3000, 10000)
STEPS = 8


def measure(frames: int, *, exact: bool = False, steps: int = STEPS, keep: Path | None = None) -> dict[str, float]:
    """In this process; latent positions go into the file `keep`."""
    import numpy as np

    from jostle.assets import clip_path, pushed_clips
    from jostle.clips import load_clip
    from jostle.clips.edit import trim_frames
    from jostle.models import sparse
    from jostle.models.connected import fit_connected
    from jostle.models.learn import Watch

    if exact:
        sparse.EXACT = frames
    paths = [clip_path(name) for name in ("walk", "turn_left", "turn_right", "weave")]
    paths += [path for path, _ in pushed_clips()]
    clips, left = [], frames
    for path in paths:
        clip = load_clip(path)
        if left > 3:
            clips.append(trim_frames(clip, 0, min(left, clip.frame_count)).renamed(path.stem))
            left -= clips[-1].frame_count
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ticks: list[tuple[float, float]] = []
    watch = Watch(progress=lambda done, total: ticks.append((time.process_time(), time.perf_counter())))
    model = fit_connected(clips, iterations=steps, watch=watch)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    spent_s, wall_s = (statistics.median(b[i] - a[i] for a, b in pairwise(ticks)) for i in range(2))
    x = model.latent_rows[:50]
    if keep is not None:
        np.save(keep, model.latent_rows)

    def see(point) -> None:
        model.pose_rows(point)
        model.poses.jacobian(point)
        model.variance(point)

    see(x[0])
    start = time.process_time()
    for point in x:
        see(point)
    spent = time.process_time() - start
    return {
        "frames": sum(model.lengths),
        "inputs": len(model.poses.inputs),
        "step_s": spent_s,
        "wall_s": wall_s,
        "memory_mb": (peak - before) / 1024,
        "run_ms": 1e3 * spent / len(x),
    }


def elsewhere(frames: int, *options: str, device: str = "cpu") -> dict[str, float]:
    """In a process of its own."""
    command = [sys.executable, "-m", "benchmarks.frames", "--one", str(frames), *options]
    flags = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_multi_thread_eigen=false"
    one = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "XLA_FLAGS": flags.strip(), "JAX_PLATFORMS": device}
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | one, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    return json.loads(done.stdout)


def on_gpu(sizes: Sequence[int]) -> list[dict[str, float]]:
    """The same learning on the processor and on a GPU: seconds of the clock, and how far apart what they learn is."""
    import numpy as np

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            kept = {device: Path(folder) / f"{device}_{size}.npy" for device in ("cpu", "cuda")}
            cpu, gpu = (elsewhere(size, "--keep", str(kept[device]), device=device) for device in kept)
            here, there = (np.load(path) for path in kept.values())
            row = {"frames": cpu["frames"], "inputs": cpu["inputs"], "cpu_s": cpu["wall_s"], "gpu_s": gpu["wall_s"]}
            rows.append({**row, "apart": float(np.max(np.abs(here - there)))})
    return rows


def plot(rows: list[dict[str, float]], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
    titles = (
        ("step_s", "processor seconds a learning step"),
        ("memory_mb", "megabytes at the peak"),
        ("run_ms", "ms a pose"),
    )
    full = [row for row in rows if row["inputs"] == row["frames"]]
    few = [row for row in rows if row["inputs"] < row["frames"]]
    for ax, (key, title) in zip(axes, titles, strict=True):
        for own, label, style in ((full, "exact", "o-"), (few, f"{few[0]['inputs']:.0f} inducing inputs", "s-")):
            ax.plot([row["frames"] for row in own], [row[key] for row in own], style, label=label)
        ax.set(xscale="log", yscale="log", xlabel="frames", title=title)
        ax.grid(visible=True, which="both", alpha=0.25)
    axes[0].legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.frames", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--exact", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--keep", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--gpu", action="store_true")
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(args.one, exact=args.exact, steps=3 if args.exact else STEPS, keep=args.keep)))
        return
    if args.gpu:
        _show_gpu(on_gpu(args.sizes), args.json)
        return
    from jostle.models.sparse import EXACT

    beyond = [size for size in args.sizes if size > EXACT]
    rows = [elsewhere(size) for size in args.sizes]
    rows += [elsewhere(beyond[0], "--exact")] if beyond else []
    rows.sort(key=lambda row: (row["frames"], row["inputs"]))
    if args.plot:
        plot(rows, args.plot)
    if args.json:
        print(json.dumps({"rows": rows}, indent=1))
        return
    print(f"{'frames':>7} {'inputs':>7} {'s a step':>9} {'us a frame':>11} {'MB':>7} {'ms a pose':>10}")
    for row in rows:
        each = 1e6 * row["step_s"] / row["frames"]
        first = f"{row['frames']:7.0f} {row['inputs']:7.0f} {row['step_s']:9.2f} {each:11.0f}"
        print(f"{first} {row['memory_mb']:7.0f} {row['run_ms']:10.3f}")


def _show_gpu(rows: list[dict[str, float]], as_json: bool) -> None:
    if as_json:
        print(json.dumps({"rows": rows}, indent=1))
        return
    print(f"{'frames':>7} {'inputs':>7} {'CPU s':>9} {'GPU s':>9} {'apart':>9}")
    for row in rows:
        seconds = f"{row['cpu_s']:9.4f} {row['gpu_s']:9.4f}"
        print(f"{row['frames']:7.0f} {row['inputs']:7.0f} {seconds} {row['apart']:9.1e}")


if __name__ == "__main__":
    main()
