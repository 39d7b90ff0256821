"""Frames into viser: one atomic batch each, flushed at once, so that a pose is never shown half.

Following a character does not move anyone's camera. The world slides under it instead, and the ground by whole
squares less, so that a person may orbit and zoom all the while, in as many browsers as they like. Characters that
would leave each other behind slide back each in its own lane, as on treadmills side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jostle.controllers import Floor
from jostle.maths import quat
from jostle.types import Array, Float
from jostle.viewer import look
from jostle.viewer.frames import Arrow, Figure, Frame
from jostle.viewer.handles import BoxHandle, LineSegmentsHandle, ViserServer
from jostle.viewer.layout import NARROW_ASPECT, USUAL_ASPECT, View
from jostle.viewer.lines import segments, way_colours
from jostle.viewer.puppet import Puppet

FOLLOW_HALFLIFE = 0.12  # seconds
SNAP = 1.5  # metres, for a person: a jump this far (a loop's seam, a reset) is followed at once
LARGEST_BATCH = 4096  # messages in one atomic batch; viser's own limit of 128 would split a crowd's frame


class Scene:
    """Made once from figures; `show` draws a frame of them."""

    def __init__(self, server: ViserServer, figures: Sequence[Figure], shadows: bool = True) -> None:
        server._websock_server._broadcast_buffer.max_window_size = LARGEST_BATCH
        self.server = server
        self.size = look.size_of(figure.skeleton.height for figure in figures)
        self.ground = look.dress_stage(server, shadows, self.size)
        self.section = look.section_of(self.size)
        self.beam: BoxHandle | None = None  # where the ground has edges
        self.world = server.scene.add_frame("/world", show_axes=False)
        several = len(figures) > 1
        self.puppets = [Puppet(server, f, f"/world/{i}", i, several) for i, f in enumerate(figures)]
        self.arrows = Arrows(server, self.size)
        self.trails: list[LineSegmentsHandle] = []
        self.offset = np.zeros(2)  # the point of the ground that is in the middle of the page
        self.rise = 0.0  # and how high it is
        self.lanes = np.zeros((len(figures), 2))  # how far each character is moved back in its own lane

    def show(
        self,
        frame: Frame,
        middle: Float[Array, "2"] | None = None,
        dt: float = 0.0,
        lanes: Float[Array, "N 2"] | None = None,
        rise: float = 0.0,
    ) -> None:
        """Draw `frame`, with the point `middle` of the ground, `rise` high, and the ways back `lanes` soon reached."""
        if middle is not None:
            self.offset = followed(self.offset, middle, dt, self.size)
        self.rise = float(followed(np.array([self.rise, 0.0]), np.array([rise, 0.0]), dt, self.size)[0])
        if lanes is not None:
            self.lanes = np.stack([followed(a, b, dt, self.size) for a, b in zip(self.lanes, lanes, strict=True)])
        with self.server.atomic():
            for puppet, lane in zip(self.puppets, self.lanes, strict=True):
                puppet.base.position = (-lane[0], -lane[1], 0.0)
            self.world.position = tuple(-self.shift)
            self._lay_ground(frame.floor)
            for puppet, figure, lane in zip(self.puppets, frame.figures, self.lanes, strict=True):
                puppet.show(figure, self.shift + np.append(lane, 0.0), frame.floor.wxyz)
            self.arrows.show([arrow for figure in frame.figures for arrow in figure.arrows], self.shift)
        self.server.flush()

    @property
    def shift(self) -> Float[Array, "3"]:
        """How far the page has moved the world back."""
        return np.append(self.offset, self.rise)

    def _lay_ground(self, floor: Floor) -> None:
        """The ground below the middle of the page, moved back along itself by less than a square, never the others."""
        x, y = self.offset
        ahead = quat.apply(floor.wxyz, np.array([1.0, 0.0, 0.0]))
        back = floor.distance(float(x)) % self.section
        below = np.array([0.0, -(y % self.section), floor.height(float(x)) - self.rise])
        self._lay_beam(floor, below)
        if self.beam is not None:
            below = below - look.BEAM_HIGH * floor.normal
        self.ground.position, self.ground.wxyz = tuple(below - back * ahead), tuple(floor.wxyz)

    def _lay_beam(self, floor: Floor, below: Float[Array, "3"]) -> None:
        """The beam, where the ground is one, with the page's ground far below it."""
        if not floor.width:
            return
        if self.beam is None:
            self.beam = look.add_beam(self.server, floor.width)
        middle = below - 0.5 * look.BEAM_THICK * floor.normal
        self.beam.position = (float(middle[0]), -float(self.offset[1]), float(middle[2]))
        self.beam.wxyz = tuple(floor.wxyz)

    def rests(self, middle: Float[Array, "2"], lanes: Float[Array, "N 2"]) -> bool:
        """Whether everything has arrived where it was to go."""
        return bool(np.all(np.abs(middle - self.offset) < 1e-4) and np.all(np.abs(lanes - self.lanes) < 1e-4))

    def draw_ways(self, ways: Sequence[Float[Array, "_ _ 3"]]) -> None:
        """Lines along whole ways, one array per character; they stay until drawn anew."""
        for handle in self.trails:
            handle.remove()
        self.trails = [
            self.server.scene.add_line_segments(
                f"{self.puppets[i].root}/way", segments(way), way_colours(way),
                thickness=look.TRAIL_WIDTH * self.puppets[i].size, visible=True,
            )
            for i, way in enumerate(ways)
            if way.shape[1] > 1
        ]  # fmt: skip

    def show_tails(self, histories: Sequence[Sequence[Float[Array, "N 3"]]]) -> None:
        """Lines along the last moments of each character, oldest first; hidden where there is no history."""
        for i, puppet in enumerate(self.puppets):
            history = histories[i] if i < len(histories) else []
            puppet.show_tail(np.stack(history, axis=1) if len(history) > 1 else None)

    def show_ways(self, visible: bool) -> None:
        for handle in self.trails:
            handle.visible = visible

    def mark_contacts(self, visible: bool) -> None:
        for puppet in self.puppets:
            puppet.marked = visible

    def look_from(self, view_at: Callable[[float], View]) -> None:
        """Where a page that opens looks from; a window narrower than most has a view of its own, by its aspect."""
        view, camera = view_at(USUAL_ASPECT), self.server.initial_camera
        camera.position, camera.look_at, camera.fov = tuple(view.position), tuple(view.look_at), float(view.fov)
        camera.near = 0.05 * min(1.0, self.size)

        def fit(page: Any) -> None:
            """A narrow window that looks from where all begin, or has returned there, stands further back."""
            if page.aspect < NARROW_ASPECT and np.allclose(page.position, view.position, atol=1e-3 * self.size):
                fitting = view_at(float(page.aspect))
                page.position, page.look_at = tuple(fitting.position), tuple(fitting.look_at)

        @self.server.on_client_connect
        async def _(client: Any) -> None:
            client.camera.on_update(fit)
            fit(client.camera)


def followed(offset: Float[Array, "2"], middle: Float[Array, "2"], dt: float, size: float = 1.0) -> Float[Array, "2"]:
    """A step of exponential approach, or the whole way where it is far."""
    gap = middle - offset
    if float(np.hypot(*gap)) > SNAP * size:
        return np.array(middle, dtype=float)
    return offset + (1.0 - 0.5 ** (dt / FOLLOW_HALFLIFE)) * gap


class Arrows:
    """Forces, each a thick arrow with its newtons written at the tip. Made when first needed, hidden when not."""

    def __init__(self, server: ViserServer, size: float = 1.0) -> None:
        self.scene = server.scene
        self.size = size
        self._drawn = 0
        self._handle = None
        self._labels = []

    def show(self, arrows: Sequence[Arrow], shift: Float[Array, "3"]) -> None:
        if not arrows and not self._drawn:
            return
        self._drawn = len(arrows)
        if self._handle is None:
            blank = np.zeros((1, 2, 3), dtype=np.float32)
            self._handle = self.scene.add_arrows(
                "/world/forces", blank, look.FORCE, shaft_radius=0.022 * self.size, head_radius=0.055 * self.size,
                head_length=0.13 * self.size,
            )  # fmt: skip
        self._handle.visible = bool(arrows)
        if arrows:
            self._handle.points = np.array([[a.tail, a.tip] for a in arrows], dtype=np.float32)
        while len(self._labels) < len(arrows):
            name = f"/newtons/{len(self._labels)}"  # below no frame that moves, as names
            self._labels.append(self.scene.add_label(name, "", anchor="bottom-center", font_screen_scale=1.2))
        for i, label in enumerate(self._labels):
            label.visible = i < len(arrows)
            if i < len(arrows):
                label.text = f"{arrows[i].newtons:.0f} N"
                label.position = arrows[i].tip - shift + np.array([0.0, 0.0, 0.08 * self.size])
