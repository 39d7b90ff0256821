"""A picture of a policy: its latent space, and what states are worth there for some of the wishes.

On the left, on the plane of the two widest directions, training clips are lines, samples that refinement added are
points, and what is dark is what the model is unsure of. On the right are the values of all samples for four wishes,
each on its own scale, and the ways that the policy takes from a few frames while that wish is kept to.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jostle.controllers.policy.planning import Plan
from jostle.controllers.policy.tasks import Step
from jostle.export.latent import draw_plane
from jostle.files import replacing
from jostle.models.projection import widest
from jostle.types import Array, Float, PathLike

SHOWN, WAYS, FRAMES = 4, 6, 45  # wishes, ways of each, frames of a way


def plot_policy(plan: Plan, path: PathLike, *, title: str = "") -> None:
    """Write the picture as PNG."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(14, 6.4), layout="constrained")
    FigureCanvasAgg(figure)
    parts = figure.add_gridspec(2, 4)
    embedding = figure.add_subplot(parts[:, :2])
    draw_plane(figure, embedding, plan.model)
    view, known = widest(plan.model.latent_rows, 2), len(plan.paths.samples)
    embedding.plot(*view(plan.samples.x[known:]).T, ".", color="0.8", ms=1.5, zorder=1)
    for i, cell in enumerate(_cells(plan)):
        axes = figure.add_subplot(parts[i // 2, 2 + i % 2])
        _draw_values(figure, axes, plan, cell)
    figure.suptitle(
        title or f"{plan.task.name}: {len(plan.model.latent_rows)} frames, {len(plan.samples.x)} samples",
        x=0.02,
        ha="left",
    )
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=110, format="png")


def _cells(plan: Plan) -> list[tuple[int, ...]]:
    """Grid points: round the first parameter, the others in their middle."""
    first, *others = (axis.count for axis in plan.task.axes)
    along = np.unique((np.arange(SHOWN) * first / SHOWN).astype(int))
    return [(int(i), *(count // 2 for count in others)) for i in along]


def _draw_values(figure: Any, axes: Any, plan: Plan, cell: tuple[int, ...]) -> None:
    view = widest(plan.model.latent_rows, 2)
    theta = np.array([axis.values[i] for axis, i in zip(plan.task.axes, cell, strict=True)])
    worth = plan.values[(slice(None), *cell)]
    order = np.argsort(worth)  # the best on top
    shown = axes.scatter(*view(plan.samples.x[order]).T, c=worth[order], cmap="viridis", s=5, lw=0)
    figure.colorbar(shown, ax=axes, shrink=0.8)
    for way in np.moveaxis(_ways(plan, theta), 1, 0):
        axes.plot(*view(way).T, "-", color="#e4653a", lw=0.9)
        axes.plot(*view(way[-1:]).T, "o", color="#e4653a", ms=3)
    named = ", ".join(f"{axis.name} {at:.2f}" for axis, at in zip(plan.task.axes, theta, strict=True))
    axes.set_title(f"worth for {named}", fontsize=9)
    axes.set(xticks=[], yticks=[])


def _ways(plan: Plan, theta: Float[Array, "d"]) -> Float[Array, "T n Q"]:
    known = len(plan.paths.samples)
    which = np.linspace(0, known, WAYS, endpoint=False).astype(int)
    x, step, asked = plan.samples.x[which], plan.samples.step[which], np.tile(theta, (WAYS, 1))
    ways = [x]
    for _ in range(FRAMES):
        following, _ = plan.best(x, step, asked)
        asked = plan.task.after(Step.between(plan.model, x, following), asked)
        x, step = following, following - x
        ways.append(x)
    return np.array(ways)
