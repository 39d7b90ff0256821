"""A picture of a motion model: its trajectories in three dimensions, how sure it is, and where it goes by itself.

On the left every training clip is a line through the latent space, and its mean rollouts are dashed; the haze is warm
where the model is sure of the pose (-ln variance, as in figures 5.1 to 5.4 of Wang 2010). On the right the same on the
plane of its two widest directions; what is not seen there is as it is at the near training frame where the model is
surest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jostle.files import replacing
from jostle.models import MotionModel
from jostle.models.projection import Projection, widest
from jostle.models.sequences import slices
from jostle.types import Array, Float, PathLike

MARGIN = 0.18  # of the data's width, around it
HAZE, PLANE = 28, 110  # samples along a side, at most
NEAR = 10  # frames that a point of the plane may belong to
EFFORT = 4e10  # multiplications that a picture is worth
START = 16  # latent rows that a rollout begins with
_LINES = ("#2f8094", "#e4653a", "#7060a8", "#528e58", "#c49a34", "#bc546e")


def plot_model(
    model: MotionModel,
    path: PathLike,
    *,
    frames: int = 240,
    rollouts: int = 3,
    title: str | None = None,
    progress: Callable[[float, float], None] = lambda done, total: None,
) -> None:
    """Write the picture as PNG. `frames` is the length of each rollout; there is one from each of the first clips."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 6), layout="constrained")
    FigureCanvasAgg(figure)
    paths = _rollouts(model, frames, rollouts)
    progress(1, 3)
    _draw_space(figure.add_subplot(1, 2, 1, projection="3d"), model, paths)
    progress(2, 3)
    if model.latent_rows.shape[1] > 1:
        draw_plane(figure, figure.add_subplot(1, 2, 2), model, paths)
    figure.suptitle(
        title or f"{model.kind}: {len(model.latent_rows)} frames of {len(model.lengths)} clips", x=0.02, ha="left"
    )
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=110, format="png")
    progress(3, 3)


def _rollouts(model: MotionModel, frames: int, count: int) -> list[Float[Array, "T Q"]]:
    starts = [model.latent_rows[rows][:START] for rows in slices(model.lengths)[:count]]
    return [np.concatenate([start[-1:], model.rollout(start, frames)]) for start in starts]


def _box(seen: Float[Array, "N k"]) -> tuple[Float[Array, "k"], Float[Array, "k"]]:
    low, high = seen.min(axis=0), seen.max(axis=0)
    room = max(MARGIN * float(np.max(high - low)), 1e-6)
    return low - room, high + room


def _sureness(model: MotionModel, x: Float[Array, "n Q"]) -> Float[Array, "n"]:
    return -np.log(np.maximum(model.variance(x), 1e-12))


def _grid(
    model: MotionModel, view: Projection, side: int, near: int = 1
) -> tuple[Float[Array, "n k"], Float[Array, "n"]]:
    """Points of the picture, and how sure the model is there, in -ln variance."""
    low, high = _box(view(model.latent_rows))
    near = min(near, len(model.latent_rows))
    worth = (EFFORT / near / len(model.latent_rows) ** 2) ** (1.0 / len(low))
    side = int(np.clip(worth, 12, side))
    sides = (np.linspace(a, b, side) for a, b in zip(low, high, strict=True))
    points = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, len(low))
    lifted = view.lift(points, model.latent_rows, near)
    return points, _sureness(model, lifted.reshape(-1, lifted.shape[-1])).reshape(-1, near).max(axis=1)


def _draw_space(axes: Any, model: MotionModel, paths: list[Float[Array, "T Q"]]) -> None:
    view = widest(model.latent_rows, 3)
    low, high = _box(_three(view(model.latent_rows)))
    points, sure = _grid(model, view, HAZE)
    best = float(np.median(_sureness(model, model.latent_rows)))
    share = np.clip((sure - sure.min()) / max(best - sure.min(), 1e-9), 0.0, 1.0)
    warm = share > 0.6
    alpha = 0.5 * share[warm] ** 3
    axes.scatter(*_three(points[warm]).T, c=share[warm], cmap="YlOrRd", alpha=alpha, s=40, lw=0, vmin=0.5, vmax=1)
    _draw_lines(axes, model, view, paths, "0.3")
    axes.set(xlabel="1", ylabel="2", zlabel="3", xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
    axes.set_box_aspect(np.maximum(high - low, 0.2 * np.max(high - low)))


def draw_plane(figure: Any, axes: Any, model: MotionModel, paths: Sequence[Float[Array, "T Q"]] = ()) -> None:
    view = widest(model.latent_rows, 2)
    low, high = _box(view(model.latent_rows))
    sure = _grid(model, view, PLANE, NEAR)[1]
    side = round(len(sure) ** 0.5)
    extent = (low[0], high[0], low[1], high[1])
    shown = axes.imshow(
        sure.reshape(side, side).T,
        origin="lower",
        extent=extent,
        cmap="inferno",
        aspect="equal",
        interpolation="bilinear",
    )
    figure.colorbar(shown, ax=axes, shrink=0.8, label="-ln variance")
    _draw_lines(axes, model, view, paths, "white")
    axes.set(xlabel="1", ylabel="2", xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    axes.legend(loc="upper right", fontsize=8, facecolor="0.55")


def _draw_lines(
    axes: Any, model: MotionModel, view: Projection, paths: Sequence[Float[Array, "T Q"]], colour: str
) -> None:
    """Clips as they are, rollouts as far as they stay in the picture."""
    solid = axes.name == "3d"
    low, high = _box(view(model.latent_rows))
    for i, rows in enumerate(slices(model.lengths)):
        line = view(model.latent_rows[rows])
        line, label = _three(line) if solid else line, "training clips" if i == 0 else None
        axes.plot(*line.T, ".-", color=_LINES[i % len(_LINES)], ms=2.5, lw=1.1, label=label)
    for i, path in enumerate(paths):
        seen = view(path)
        seen = np.where(((seen >= low) & (seen <= high)).all(axis=1, keepdims=True), seen, np.nan)
        line, label = _three(seen) if solid else seen, "mean rollouts" if i == 0 else None
        axes.plot(*line.T, "--", color=colour, lw=1.0, label=label)
        axes.plot(*line[-1:].T, "o", color=colour, ms=5)


def _three(points: Float[Array, "n k"]) -> Float[Array, "n 3"]:
    return np.pad(points, ((0, 0), (0, 3 - points.shape[1])))
