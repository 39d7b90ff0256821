"""Where a motion model is in its latent space, on the panel: training clips as lines, and a point that moves.

A character of several models shows the one that it is in.

No second 3-D scene: the two widest directions of the space, drawn as SVG. The point is warm where the model is as sure
as at its training frames, and dark where it is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jostle.models.projection import widest
from jostle.models.sequences import slices
from jostle.types import Array, Float
from jostle.viewer.handles import CharacterState, GuiApi
from jostle.viewer.look import ACCENTS, BRAND

if TYPE_CHECKING:
    from jostle.models import MotionModel

WIDE = 200.0  # the picture's own units
ROOM = 12.0  # around the lines
POINTS = 400  # of all lines together: the picture is sent a dozen times a second
TAIL = 30  # places of the point that are remembered
_LOST: tuple[int, int, int] = (60, 40, 110)


class LatentPanel:
    """A picture for every controller here that plays models; nothing where none does."""

    def __init__(self, gui: GuiApi, controllers: Sequence[Any], names: Sequence[str]) -> None:
        self.pictures: dict[int, list[LatentPicture]] = {}
        models = {i: known for i, c in enumerate(controllers) if (known := motion_models(c))}
        if not models:
            return
        with gui.add_folder("Latent space"):
            for i, known in models.items():
                if len(models) > 1:
                    gui.add_markdown(f"*{names[i]}*")
                pictures = [LatentPicture(model) for model in known]
                handle = gui.add_html(pictures[0].drawn())
                for picture in pictures:
                    picture.handle = handle
                self.pictures[i] = pictures

    def show(self, states: Sequence[CharacterState]) -> None:
        for i, pictures in self.pictures.items():
            active = int(states[i].observed.quality.get("model", 0.0))
            for j, picture in enumerate(pictures):
                if j != active:
                    picture.tail.clear()
            pictures[active].move(states[i])

    def forget(self) -> None:
        """Everyone is back at the start."""
        for pictures in self.pictures.values():
            for picture in pictures:
                picture.tail.clear()


def motion_models(controller: Any) -> tuple[MotionModel, ...]:
    """The models that a controller plays: one, several, or none."""
    if hasattr(controller, "motion_models"):
        return tuple(controller.motion_models)
    return (controller.model,) if hasattr(controller, "model") else ()


class LatentPicture:
    def __init__(self, model: MotionModel) -> None:
        self.handle: Any = None
        rows = model.latent_rows
        self.view = widest(rows, 2)
        seen = self._plane(rows)
        self.low, self.span = seen.min(axis=0), max(float(np.max(np.ptp(seen, axis=0))), 1e-9)
        self.high = 2 * ROOM + (WIDE - 2 * ROOM) * float(np.ptp(seen[:, 1])) / self.span  # of the picture
        self.sure = float(np.median(_sureness(model.variance(rows))))
        every = max(1, len(rows) // POINTS)
        self.lines = "".join(
            _line(self._placed(rows[clip][::every]), ACCENTS[1 + i % (len(ACCENTS) - 1)], 0.8, 0.65)
            for i, clip in enumerate(slices(model.lengths))
        )
        self.tail: list[Float[Array, "Q"]] = []

    def move(self, state: CharacterState) -> None:
        self.tail.append(state.next.latent)
        del self.tail[:-TAIL]
        variance = float(state.observed.quality["variance"])
        share = np.clip(1.0 - 0.35 * (self.sure - _sureness(variance)), 0.0, 1.0)  # lost at e^3 times the variance
        mixed = [round(float(a + share * (b - a))) for a, b in zip(_LOST, BRAND, strict=True)]
        self.handle.content = self.drawn((mixed[0], mixed[1], mixed[2]))

    def drawn(self, colour: tuple[int, int, int] = BRAND) -> str:
        now = ""
        if self.tail:
            places = np.clip(self._placed(np.stack(self.tail)), 4.0, [WIDE - 4.0, max(self.high - 4.0, 4.0)])
            x, y = places[-1]
            now = _line(places, colour, 2.0, 0.55)
            now += f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="rgb{colour}" stroke="white" stroke-width="1.5"/>'
        return (
            f'<svg data-jostle="latent" viewBox="0 0 {WIDE:g} {self.high:.0f}" '
            f'style="width:100%;display:block;border-radius:6px;background:rgba(128,128,128,0.10)">{self.lines}{now}</svg>'
        )

    def _plane(self, x: Float[Array, "n Q"]) -> Float[Array, "n 2"]:
        seen = self.view(x)
        return np.pad(seen, ((0, 0), (0, 2 - seen.shape[1])))

    def _placed(self, x: Float[Array, "n Q"]) -> Float[Array, "n 2"]:
        """In the picture, where y looks down."""
        share = (self._plane(x) - self.low) * (WIDE - 2 * ROOM) / self.span
        return np.stack([ROOM + share[:, 0], self.high - ROOM - share[:, 1]], axis=-1)


def _sureness(variance: Any) -> Any:
    return -np.log(np.maximum(variance, 1e-12))


def _line(points: Float[Array, "n 2"], colour: tuple[int, int, int], width: float, opacity: float) -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return (
        f'<polyline points="{path}" fill="none" stroke="rgb{colour}" stroke-width="{width}" '
        f'stroke-opacity="{opacity}" stroke-linejoin="round"/>'
    )
