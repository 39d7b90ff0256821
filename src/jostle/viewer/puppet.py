"""One character in viser's scene: a frame per joint that carries something, and the meshes that hang in it."""

from __future__ import annotations

import colorsys
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any

import numpy as np

from jostle.maths import quat
from jostle.skeleton.mannequin import Part
from jostle.types import Array, Float
from jostle.viewer import look
from jostle.viewer.drag import grab, nearest_vertex
from jostle.viewer.frames import Figure, FigureFrame
from jostle.viewer.handles import LabelHandle, LineSegmentsHandle, MeshHandle, ViserServer
from jostle.viewer.limbs import Limbs
from jostle.viewer.lines import segments, way_colours
from jostle.viewer.skinned import Skinned

RING = look.ring(0.085, 0.115)
UPRIGHT = quat.identity()
LIFT = 0.004  # metres above the ground, so that marks do not fight with it


class Puppet:
    """Made once from a figure; `show` moves it. Everything hangs below `root`."""

    def __init__(self, server: ViserServer, figure: Figure, root: str, index: int = 0, labelled: bool = False) -> None:
        self.figure = figure
        self.scene = server.scene
        self.root = root
        self.size = look.size_of([figure.skeleton.height])
        self.base = self.scene.add_frame(root, show_axes=False)
        self.meshes: dict[str, int] = {}  # node name -> joint
        self.handles: list[Any] = []  # what a hand can grab
        self.skinned: Skinned | None = None
        self.limbs: Limbs | None = None
        self._add_body(index)
        self.rings = [self._add_ring(foot) for foot in range(figure.feet)]
        self.marked = True
        self.label = self._add_label(index) if labelled else None
        self.top, self.above = crown(figure)
        self.tail: LineSegmentsHandle | None = None

    def _add_body(self, index: int) -> None:
        if self.figure.skin is not None:
            self.skinned = Skinned(self.scene, self.figure.skin, self.root)
            self.handles = list(self.skinned.handles)
            return
        carried = sorted(self.figure.parts, key=lambda p: p.joint)
        self.limbs = Limbs(self.scene, self.figure.skeleton, [*{p.joint for p in carried}], self.root)
        for joint, parts in groupby(carried, key=lambda p: p.joint):
            name = self.limbs.names[joint]
            for k, (colour, vertices, faces) in enumerate(merge(parts)):
                handle = self.scene.add_mesh_simple(
                    f"{name}/mesh{k}", vertices, faces, color=look.bytes_of(dyed(colour, index)), side="front"
                )
                self.meshes[handle.name] = joint
                self.handles.append(handle)

    def _add_ring(self, foot: int) -> MeshHandle:
        return self.scene.add_mesh_simple(
            f"{self.root}/contact{foot}", self.size * RING[0], RING[1], color=look.CONTACT, cast_shadow=False,
            receive_shadow=False, visible=False, side="double",
        )  # fmt: skip

    def _add_label(self, index: int) -> LabelHandle:
        """Below no frame that moves: viser places a label by where its parents were a frame ago."""
        return self.scene.add_label(f"/names/{index}", self.figure.name, anchor="bottom-center", font_screen_scale=1.1)

    def show(self, frame: FigureFrame, shift: Float[Array, "3"], tilt: Float[Array, "4"] = UPRIGHT) -> None:
        """`shift` is how far the page has moved the figure back, `tilt` the ground. Call inside `server.atomic()`."""
        if self.skinned is not None:
            self.skinned.show(frame)
        if self.limbs is not None:
            self.limbs.show(frame)
        for foot, ring in enumerate(self.rings):
            down = self.marked and foot < len(frame.planted) and bool(frame.planted[foot])
            if down:
                ring.position = frame.touching[foot] + quat.apply(tilt, np.array([0.0, 0.0, LIFT * self.size]))
                ring.wxyz = tilt
            ring.visible = down
        if self.label is not None:
            self.label.position = frame.positions[self.top] - shift + [0.0, 0.0, self.above]

    def show_tail(self, way: Float[Array, "N T 3"] | None) -> None:
        """Lines along `way`; None hides them."""
        if way is None:
            if self.tail is not None:
                self.tail.visible = False
            return
        points, colours = segments(way), way_colours(way, oldest=1.0)
        if self.tail is None or self.tail.points.shape != points.shape:
            self.tail = self.scene.add_line_segments(
                f"{self.root}/tail", points, colours, thickness=look.TRAIL_WIDTH * self.size
            )
        self.tail.points = points.astype(np.float32)
        self.tail.visible = True

    def grab(self, node: str, point: Float[Array, "3"], frame: FigureFrame) -> tuple[int, Float[Array, "3"]]:
        """The joint that carries `node` and the point of its surface nearest to `point`, in the joint's frame."""
        if self.skinned is not None:
            return self.skinned.joint_at(node, point, frame)
        joint = self.meshes[node]
        surface = np.concatenate([part.vertices for part in self.figure.parts if part.joint == joint])
        return joint, nearest_vertex(grab(point, joint, frame), surface)

    def on_drag(self, callback: Callable) -> None:
        """`callback(event)` for every drag that starts on this body, whatever modifier is held."""
        for handle in self.handles:
            for modifier in (None, "shift", "alt", "cmd/ctrl"):
                handle.on_drag("left", modifier=modifier)(callback)


def crown(figure: Figure) -> tuple[int, float]:
    """The highest joint, and how far above it a name floats clear of everything that the figure wears."""
    rest = figure.skeleton.rest_positions
    top = int(np.argmax(rest[:, 2]))
    return top, float(figure.surface[:, 2].max() - rest[top, 2]) + 0.06 * figure.skeleton.height


def merge(parts: Iterable[Part]) -> list[tuple[tuple[float, float, float], Float[Array, "n 3"], Array]]:
    """Parts of one joint, those of one colour joined to one mesh: fewer nodes to draw."""
    merged = []
    ordered = sorted(parts, key=lambda p: p.colour)
    for colour, group in groupby(ordered, key=lambda p: p.colour):
        pieces = list(group)
        starts = np.cumsum([0, *(len(p.vertices) for p in pieces)])
        faces = np.concatenate([p.faces + start for p, start in zip(pieces, starts[:-1], strict=True)])
        merged.append((colour, np.concatenate([p.vertices for p in pieces]), faces))
    return merged


def dyed(colour: tuple[float, float, float], index: int) -> tuple[float, float, float]:
    """The same colour for the first character; for the others its vivid parts take the hue of their accent."""
    accent = look.ACCENTS[index % len(look.ACCENTS)]
    if index % len(look.ACCENTS) == 0:
        return colour
    _, lightness, saturation = colorsys.rgb_to_hls(*colour)
    other, _, vivid = colorsys.rgb_to_hls(*(c / 255 for c in accent))
    if lightness > 0.6:  # the wood itself: a breath of the accent only
        return colorsys.hls_to_rgb(other, lightness, 0.35 * saturation)
    return colorsys.hls_to_rgb(other, lightness, 0.5 * (saturation + vivid))
